"""The playbook kubernetes plans, applies and verifies on a simulated cluster, and names the cause of a fault."""

from __future__ import annotations

import json
import re

from house.collection import ROOT
from rehearse import playbook

from . import kubernetes_lab

TOKEN = "not-a-real-token"
SITE = {
    "gpu": {"mode": "vgpu", "profile": "grid_a100-40c"},
    "vms": [{"prefix": "train-", "count": 2}],
    "training": {"image": "images.example.org/pytorch:24.05", "builtin": "small"},
    "kubernetes": {"training": {}, "gpu_operator": {"driver": kubernetes_lab.DRIVER}},
}


NETWORK = {"version": "network-operator-v26.4.1", "subnets": ["192.168.50.0/24"], "interfaces": ["ens224"]}
RDMA = {"network": {"path": "sriov", "nics": ["vmnic4"]}, "training": {**SITE["training"], "engine": "horovod"}}


def run(server, tmp_path, *arguments, more=None, wait_s=20, **cluster):
    own = {**SITE["kubernetes"], "kubeconfig": str(server.kubeconfig_file), **cluster}
    site = {**SITE, "kubernetes": own, **(more or {})}
    given = {"site": site, "site_licence_token": TOKEN, "kubernetes_poll_s": 1, "kubernetes_wait_s": wait_s}
    file = tmp_path / "variables.json"
    file.write_text(json.dumps(given))
    where = tmp_path / "hosts.json"
    local = {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}
    where.write_text(json.dumps({"all": {"hosts": {"localhost": local}}}))
    path = ROOT / "playbooks" / "kubernetes.yml"
    return playbook.run(path, "-e", f"@{file}", *arguments, env=playbook.environment(tmp_path), inventory=where)


def test_plan_and_fault(tmp_path):
    with kubernetes_lab.launch() as server, kubernetes_lab.working(server):
        before = server.cluster.list("clusterpolicies")
        planned = run(server, tmp_path, "--check", "--diff")
        assert planned.status == 0, planned.output
        # Nothing was written, and no secret shown.
        assert server.cluster.list("clusterpolicies") == before
        assert "licensingConfig" in planned.output
        assert re.findall(rf"managedFields|{TOKEN}|bm90LWEt", planned.output) == []
        server.world.images.missing.add("images.example.org/nvidia/vgpu-guest-driver:550.54.15-ubuntu22.04")
        failed = run(server, tmp_path, wait_s=3)
        assert failed.status != 0
        assert "the pod does not run. The registry has no image with this name and tag." in failed.text
        assert "The GPU Operator is not ready. Its ClusterPolicy has the state notReady." in failed.text
        assert server.cluster.list("trainjobs") == []


def test_the_playbook_names_a_server_without_an_answer(tmp_path):
    """ansible-core 2.19 drops the message of a module that ends with a traceback if failed_when is false."""
    with kubernetes_lab.launch(nodes=0) as server:
        server.kubeconfig_file.write_text(server.kubeconfig().replace(server.url, "https://127.0.0.1:1"))
        failed = run(server, tmp_path)
    assert failed.status != 0
    assert "Cannot read the cluster. The controller cannot connect to the API server." in failed.text


def changed(finished):
    return re.findall(r"changed=(\d+)", finished.output)[-1]


def test_pods_get_rdma(tmp_path):
    def play(*arguments, **network):
        return run(server, tmp_path, *arguments, more=RDMA, wait_s=10, network_operator={**NETWORK, **network})

    with kubernetes_lab.launch() as server, kubernetes_lab.working(server):
        kubernetes_lab.restrict(server)
        done = play("--diff")
        assert done.status == 0, done.output
        attachment = server.cluster.get("network-attachment-definitions", "roce", "aiready")
        assert json.loads(attachment["spec"]["config"])["type"] == "host-device"
        (job,) = server.cluster.list("mpijobs", "aiready")
        (worker,) = job["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"]["containers"]
        assert worker["resources"]["limits"] == {"nvidia.com/gpu": 1, "nvidia.com/roce": 1}
        again = play("--check")
        assert (again.status, changed(again)) == (0, "0"), again.output
        failed = play(interfaces=["ens999"])
        assert failed.status != 0
        output = " ".join(failed.output.split())
        assert "Pods of the cluster cannot use RDMA: - Node train-01 does not offer nvidia.com/roce." in output
