"""Checks of nodes in pods: the pods run on the simulated cluster, and the check suite judges their output."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network import rdma
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.judge import judge
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.probe import collect
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes import checks, recorded
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.checks import problems

from vsphere_twin.kubernetes.cluster import Cluster
from vsphere_twin.kubernetes.operators.world import World

from .clusters import SITE, node, requested, site
from .test_network_operator import with_network

IMAGE = {"image": "images.example.org/cuda:12.4"}
RESOURCE = "nvidia.com/roce"


def with_checks(rdma=True, **network):
    whole = with_network(**network) if rdma else site()
    whole["kubernetes"]["checks"] = dict(IMAGE)
    return whole


def ran(world, made):
    """What the role reads of pods that the cluster runs, and deletes afterwards."""
    cluster = world.cluster
    for one in made:
        cluster.create("pods", {key: one[key] for key in ("metadata", "spec")}, "aiready")
    world.settle()
    found = cluster.list("pods", "aiready")
    logs = {name: log for (_namespace, name, _container), log in cluster.logs.items()}
    for one in found:
        cluster.remove("pods", one)
    return {"made": made, "pods": found, "events": cluster.list("events"), "logs": logs}


def checked(whole, nodes=2, fault=None, between=None):
    """{id: row} of the nodes, whose pods a simulated cluster runs. fault and between get the world before both runs."""
    request = requested(whole)
    cluster = Cluster()
    world = World(cluster, installed=("network-operator",))
    for name in ("aiready", "nvidia-network-operator"):
        labels = {"pod-security.kubernetes.io/enforce": "privileged"}
        cluster.create("namespaces", {"metadata": {"name": name, "labels": labels}})
    for number in range(1, nodes + 1):
        world.add_node(f"gpu-0{number}", labels={"nvidia.com/gpu.present": "true"}, vgpu=True, host_branch="550")
    for one in cluster.list("nodes"):
        size = {**one["status"]["allocatable"], "nvidia.com/gpu": "1", RESOURCE: "1"}
        cluster.set_status("nodes", one, {**one["status"], "allocatable": size}, "kubelet")
    if request["network_operator"]:
        attachment = {"metadata": {"name": "roce"}, "spec": {"config": "{}"}}
        cluster.create("network-attachment-definitions", attachment, request["network_operator"]["pods"])
        pool = {"subnet": "192.168.50.0/24", "perNodeBlockSize": 8}
        cluster.create("ippools", {"metadata": {"name": "roce"}, "spec": pool}, "nvidia-network-operator")
    if fault:
        fault(world)
    seen = ran(world, checks.pods(request, cluster.list("nodes")))
    late = checks.pods(request, cluster.list("nodes"), checks.results(request, seen)["guests"])
    if between:
        between(world)
    inputs = checks.results(request, seen, ran(world, late))
    measurements, _files = collect.collect(inputs, lambda path: "")
    judged = judge(measurements, inputs["intent"])
    return {row["id"]: row for row in judged["rows"]}


def wrong(rows):
    return {key: row for key, row in rows.items() if row["verdict"] not in ("pass", "skipped")}


def test_good_nodes():
    rows = checked(with_checks())
    assert wrong(rows) == {}
    passed = {row["check"] for row in rows.values() if row["verdict"] == "pass"}
    assert passed == {*checks.ALL, *checks.WITH_RDMA}


def test_nodes_without_rdma():
    rows = checked(with_checks(rdma=False), nodes=1)
    assert wrong(rows) == {}
    assert rows["guest.licence gpu-01 (before)"]["measured"] == "Licensed"


def test_remarks_and_relaxed_settings_of_the_site_reach_the_report():
    whole = {**with_checks(rdma=False), "validation": {"seconds": 1, "notes": {"guest.driver": "Of a lab."}}}
    made = requested(whole)["checks"]
    assert made["notes"] == {"guest.driver": "Of a lab."}
    assert [one["setting"] for one in made["relaxed"]] == ["site.validation.seconds"]


def test_a_module_that_is_built_into_the_kernel_is_loaded():
    end = f"{recorded.END}0\n"
    log = f"{recorded.RUN}ls /sys/module\nib_core\nloop\n{end}{recorded.FILES}\n{end}"
    files = recorded.RecordedFiles(recorded.Recording(log))
    assert rdma.loaded(files) == ["ib_core"]


@pytest.mark.parametrize("late", ["dcgmi diag --run 1 --json", "gdscheck -p"])
def test_a_diagnostic_that_did_not_end_or_begin_in_time_is_late(late):
    log = f"{recorded.RUN}{late}\n"
    done = recorded.RecordedCommands(recorded.Recording(log)).run(["dcgmi", "diag", "--run", "1", "--json"])
    assert (done.timed_out, done.missing) == (True, False)
    other = recorded.RecordedCommands(recorded.Recording("")).run(["dcgmi", "diag", "--run", "1", "--json"])
    assert other.missing


def hardware(**more):
    def fault(world):
        for name, value in more.items():
            setattr(world.hardware["gpu-02"], name, value)

    return fault


@pytest.mark.parametrize(
    "fault, row, words",
    [
        (hardware(licensed=False), "guest.licence gpu-02 (before)", "A vGPU has no licence"),
        (hardware(xids=(79,)), "guest.xid gpu-02", "Xid 79"),
        (hardware(memlock="64"), "guest.memlock gpu-02", "64 kB instead of unlimited"),
        (hardware(mtu=1500), "fabric.settings", "net1 of a pod on gpu-02 has an MTU of 1500"),
        (hardware(mtu=1500), "guest.mtu gpu-02", "1500 instead of 9000"),
        (
            hardware(environment={"NCCL_IB_TC": "96"}),
            "fabric.settings",
            "NCCL_IB_TC is 96 in a pod on gpu-02, but site.roce requires 106.",
        ),
    ],
)
def test_fault_of_a_node_is_named(fault, row, words):
    bad = wrong(checked(with_checks(), fault=fault))
    assert words in bad[row]["why"]
    assert not any("gpu-01" in key for key in bad)


@pytest.mark.parametrize(
    "network, words",
    [
        ({"gid_index": 2}, "GID index 2 of site.kubernetes.network_operator.gid_index is roce_v1"),
        ({"devices": ["mlx5_7"]}, "has no RDMA device mlx5_7"),
    ],
)
def test_site_and_pods_differ(network, words):
    assert words in checked(with_checks(**network))["fabric.settings"]["why"]


def test_pod_without_the_resource_has_no_device(monkeypatch):
    monkeypatch.setattr(checks.network_operator, "resources", lambda network: {})
    assert "has no /dev/infiniband/uverbs device" in checked(with_checks())["fabric.settings"]["why"]


def test_pod_that_does_not_start():
    def missing(world):
        world.images.missing.add(IMAGE["image"])

    rows = checked(with_checks(), nodes=1, fault=missing)
    assert "The registry has no image with this name and tag" in rows["guest.kernel gpu-01"]["why"]
    assert rows["guest.driver gpu-01"]["verdict"] == "not_run"


def test_busy_gpus():
    def busy(world):
        (node,) = world.cluster.list("nodes")
        size = {**node["status"]["allocatable"], "nvidia.com/gpu": "0"}
        world.cluster.set_status("nodes", node, {**node["status"], "allocatable": size}, "kubelet")

    rows = checked(with_checks(), nodes=1, fault=busy)
    assert "No node has enough free GPUs" in rows["guest.kernel gpu-01"]["why"]


NAMED = {"metadata": {"name": "aiready-check-1", "annotations": {checks.OF_NODE: "gpu-01"}}}


def trouble(phase, log="", **more):
    pod = {**NAMED, "status": {"phase": phase}}
    seen = {"made": [NAMED], "pods": [pod], "events": [], "logs": {"aiready-check-1": log}, **more}
    return checks.results(requested(with_checks()), seen)["guests"]["gpu-01"]["before"]["msg"]


def test_cause_of_a_pod_without_a_result():
    unread = {"aiready-check-1": {"msg": 'pods "a" is forbidden: User "ops" cannot get resource "pods/log"'}}
    assert trouble("Succeeded", unread=unread).startswith(
        "Cannot read the log of the pod aiready-check-1. The user of the kubeconfig may not read these objects."
    )
    assert "ended with the phase Failed, but its log has no complete result. The last line is ok" in trouble(
        "Failed", "sh\nok\n"
    )
    assert "It is empty" in trouble("Succeeded")
    status = '{"reason": "Forbidden", "message": "exceeded quota: gpus"}'
    failed = {"item": {"kind": "Pod", **NAMED}, "msg": f"Failed to create object: {status}"}
    said = trouble("Failed", pods=[], refused=[failed])
    assert said.startswith("Cannot apply the Pod aiready-check-1. The API server reports: exceeded quota: gpus.")
    assert trouble("Failed", pods=[]) == "The pod aiready-check-1 does not exist"
    left = {**NAMED, "metadata": {**NAMED["metadata"], "deletionTimestamp": "x"}, "spec": {"nodeName": "gpu-01"}}
    assert "is being deleted and does not end. Check its node gpu-01" in trouble("Succeeded", pods=[left])
    assert checks.current({"pods": [left], "logs": {"aiready-check-1": "old", "two": "new"}}) == {"two": "new"}
    assert "printed no complete result within" in trouble("Running")
    assert "printed no complete result within" in trouble("Pending", unread=unread)


def test_checks_do_not_move_the_networks():
    whole = with_checks()
    assert requested(whole)["network_operator"]["pods"] == "default"
    (pod,) = checks.pods(requested(whole), [node("gpu-01")])
    assert pod["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"] == "default/roce"
    whole["kubernetes"]["training"] = {"namespace": "aiready"}
    whole["training"] = {"image": "images.example.org/pytorch:24.05", "builtin": "small"}
    (pod,) = checks.pods(requested(whole), [node("gpu-01")])
    assert pod["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"] == "roce"


def test_log_of_another_program():
    found = recorded.Recording(
        "### run uname -r\n5.15\n### end x\nnoise\n### end 0\n### files\nrelative:1\n/a\n### end 0\n"
    )
    assert (found.commands, found.files) == ({"uname -r": ("5.15\n### end x\nnoise\n", 0)}, {})
    assert not found.complete


def test_no_secret_of_the_image_is_printed():
    assert recorded.Recording("### run printenv\nNCCL_IB_TC=1\nTOKEN=x\n### end 0\n").environment() == {
        "NCCL_IB_TC": "1"
    }
    assert "grep -E '^(NCCL|UCX)_'" in recorded.script()


@pytest.mark.parametrize(
    "status, done",
    [
        ({"phase": "Succeeded"}, True),
        ({"phase": "Running"}, False),
        ({"containerStatuses": [{"state": {"waiting": {"reason": "ErrImagePull"}}}]}, False),
        ({"containerStatuses": [{"state": {"waiting": {"reason": "ImagePullBackOff"}}}]}, True),
    ],
)
def test_end_of_the_pods(status, done):
    assert checks.ended([{"status": status}]) is done
    assert checks.ended([]) is False


@pytest.mark.parametrize(
    "more, words",
    [
        ({"checks": {}}, "site.kubernetes.checks.image: it is not set"),
        ({"checks": {**IMAGE, "limit_s": 0}}, "site.kubernetes.checks.limit_s: 0 is not a valid time"),
        ({"checks": IMAGE, "gpu_operator": {"mig_strategy": "mixed"}}, "pods of site.kubernetes.checks"),
        (
            {"checks": {**IMAGE, "gds_claim": "samples"}},
            "site.kubernetes.checks.gds_claim: site.stack.gds.read_file is not",
        ),
    ],
)
def test_sites_that_are_rejected(more, words):
    assert words in " ".join(problems(site(**more)))


def test_driver_of_the_operator_is_required():
    whole = site(checks=IMAGE, gpu_operator={"driver": {"version": "550.54.15-rhcos4.15"}})
    assert requested({**whole, "gpu": {"mode": "passthrough"}})["checks"]["intent"]["driver"] == "550.54.15"
    assert requested(SITE)["checks"] == {}


def test_a_capability_lifts_the_limit_of_locked_memory():
    for capabilities, limit in (("00000000a80465fb", "unlimited"), ("00000000a80425fb", "64")):
        log = f"{recorded.RUN}{recorded.ULIMIT}\n64\n64\n{recorded.END}0\n{recorded.FILES}\n"
        log += f"/proc/self/status:CapEff:\t{capabilities}\n{recorded.END}0\n"
        done = recorded.RecordedCommands(recorded.Recording(log)).run(["su", "root"])
        assert done.stdout.split() == [limit, limit]


def of_log(whole, files):
    """The inputs of the judge for one pod that printed these files."""
    log = f"{recorded.RUN}uname -r\n5.15\n{recorded.END}0\n{recorded.FILES}\n{files}\n{recorded.END}0\n"
    made = [{"metadata": {"name": "aiready-check-1", "annotations": {checks.OF_NODE: "gpu-01"}}}]
    seen = {"made": made, "pods": [], "events": [], "logs": {"aiready-check-1": log}}
    return checks.results(requested(whole), seen)


def test_a_value_that_cannot_be_read_is_a_failure_of_its_node():
    inputs = of_log(with_checks(), "/sys/class/infiniband/mlx5_0/ports/abc/state:4: ACTIVE")
    assert "cannot be read" in inputs["guests"]["gpu-01"]["before"]["msg"]


def test_each_network_of_a_pod_is_compared():
    whole = with_checks(subnets=["192.168.50.0/24", "192.168.51.0/24"])
    agreement = of_log(whole, "/sys/class/net/net1/mtu:9000")["agreement"]
    wrong = [one["msg"] for one in agreement["disagreements"]]
    assert any("net2 of a pod on gpu-01 has an MTU of not set" in one for one in wrong)
    assert not any(one.startswith("net1 ") for one in wrong)
    assert any("no RoCE v2 GID with an address of 192.168.50.0/24, 192.168.51.0/24" in one for one in wrong)
