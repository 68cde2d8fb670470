"""Containers of pods get the devices that the model gives them, and the report of a rehearsal must prove its claims."""

from __future__ import annotations

import subprocess

import pytest

from rehearse import pod_devices
from vsphere_twin.kubernetes.cluster import Cluster
from vsphere_twin.kubernetes.operators.world import World

NODE = "gpu-01"


def pod(limits, networks=""):
    annotations = {"annotations": {"k8s.v1.cni.cncf.io/networks": networks}} if networks else {}
    field = {"valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}
    own = {"name": "check", "env": [{"name": "OWN", **field}, {"name": "A", "value": "b"}]}
    own.update(resources={"limits": limits}, securityContext={"capabilities": {"add": ["IPC_LOCK"]}})
    return {"metadata": {"name": "p", **annotations}, "spec": {"nodeName": NODE, "containers": [own]}, "status": {}}


def devices(one, **hardware):
    world = World(Cluster(), installed=())
    world.add_node(NODE, vgpu=True, **hardware)
    return pod_devices.Devices(world, one, one["spec"]["containers"][0])


def unpacked(found, folder):
    subprocess.run(["tar", "-x", "-C", folder], input=found.archive(), check=True)
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_a_pod_without_requests_has_no_devices(tmp_path):
    found = devices(pod({}))
    names = unpacked(found, tmp_path)
    assert found.networks == []
    assert not any("nvidia-smi" in one or "infiniband" in one for one in names)
    assert (tmp_path / "opt/node/own_address").read_text() == "OWN"


@pytest.mark.parametrize("licensed, state", [(True, "Licensed ("), (False, "Unlicensed (")])
def test_nvidia_smi_prints_the_state_of_the_node(tmp_path, licensed, state):
    unpacked(devices(pod({"nvidia.com/gpu": 1}), licensed=licensed), tmp_path)
    program = [tmp_path / "usr/local/bin/nvidia-smi"]
    done = subprocess.run([*program, "-q"], capture_output=True, text=True, check=True)
    assert f": {state}" in done.stdout
    assert subprocess.run([*program, "-L"], capture_output=True, check=False).returncode == 2


def test_a_pod_of_a_network_has_its_interface_and_device(tmp_path):
    found = devices(pod({"nvidia.com/roce": 1}, "roce"), mtu=1500)
    names = unpacked(found, tmp_path)
    assert found.networks == ["net1"]
    assert (tmp_path / "opt/node/interfaces").read_text() == "net1 192.168.99.20/24 1500\n"
    assert (tmp_path / "opt/node/devices").read_text() == "uverbs0\nrdma_cm\n"
    assert "opt/node/class/infiniband/mlx5_0/ports/1/state" in names


def test_a_pod_keeps_only_the_capabilities_that_it_requests():
    (container,) = pod({})["spec"]["containers"]
    assert pod_devices.capabilities(container) == ["IPC_LOCK", "NET_ADMIN", "SYS_ADMIN"]
    assert "--bounding-set=-net_admin,-sys_admin" in pod_devices._ENTER
