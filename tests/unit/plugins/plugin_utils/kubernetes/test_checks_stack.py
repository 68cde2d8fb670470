"""Checks of nodes in pods on request of site.stack: DCGM and GPUDirect Storage, before and after the timed runs."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes import checks, plan, schema
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.checks import problems

from vsphere_twin.kubernetes import kinds

from . import clusters
from .clusters import before, node, requested, site
from .test_checks import IMAGE, checked, with_checks


def with_stack(level=1, storage=True):
    whole = with_checks(rdma=False)
    whole["gpu"] = {"mode": "passthrough"}
    whole["kubernetes"]["gpu_operator"] = {}
    whole["stack"] = {"dcgm": {"diag": level}, "gds": {"check": "required" if storage else "ignore"}}
    return whole


def whole_gpus(world, **more):
    for one in world.hardware.values():
        one.vgpu = False
        for name, value in more.items():
            setattr(one, name, value)


@pytest.mark.parametrize(
    "faulty, row, verdict, words",
    [
        ({}, "guest.dcgm gpu-01", "pass", ""),
        ({}, "guest.gds gpu-01", "pass", ""),
        ({"failed_tests": ("memory",)}, "guest.dcgm gpu-01", "fail", "The test memory of DCGM failed"),
        ({"storage": ()}, "guest.gds gpu-01", "fail", "gdscheck cannot verify the platform"),
    ],
)
def test_options_of_the_stack_are_checks_in_pods(faulty, row, verdict, words):
    found = checked(with_stack(level=2), nodes=1, fault=lambda world: whole_gpus(world, **faulty))[row]
    assert (found["verdict"], words in found["why"]) == (verdict, True)


def test_the_stack_is_not_checked_without_a_request():
    found = checked(with_stack(level=0, storage=False), nodes=1, fault=whole_gpus)
    reasons = {row["check"]: row["why"] for row in found.values() if row["verdict"] == "skipped"}
    assert "site.stack.dcgm.diag is not set" in reasons["guest.dcgm"]
    assert "site.stack.gds.check is not set" in reasons["guest.gds"]
    assert "site.stack.dcgm.health is not set" in reasons["guest.dcgm_health"]
    assert "site.stack.gds.read_file is not set" in reasons["guest.gds_read"]


FILE = "/data/sample.bin"


def with_file(**more):
    whole = with_stack(level=0)
    whole["stack"]["gds"] = {"read_file": FILE}
    whole["kubernetes"]["checks"].update(more)
    return whole


@pytest.mark.parametrize(
    "faulty, row, verdict, words",
    [
        ({}, "guest.gds_read gpu-01", "pass", ""),
        ({"files": {FILE: 5 << 20}}, "guest.gds_read gpu-01", "pass", ""),
        ({"files": {FILE: 100}}, "guest.gds_read gpu-01", "fail", "has 100 bytes, and the read test needs at least"),
        ({"files": {"/data/other": 1}}, "guest.gds_read gpu-01", "fail", f"The file {FILE} does not exist"),
        ({"copies": True}, "guest.gds_read gpu-01", "fail", "nvidia_fs counted nothing"),
        ({"files": {}}, "guest.kernel gpu-01", "fail", "The node has no folder with the file"),
    ],
)
def test_pods_read_a_file_into_gpu_memory(faulty, row, verdict, words):
    found = checked(with_file(), nodes=1, fault=lambda world: whole_gpus(world, **faulty))[row]
    assert (found["verdict"], words in found["why"]) == (verdict, True), found["why"]


def test_a_claim_has_the_file():
    def missing(world):
        whole_gpus(world, files={})

    def there(world):
        whole_gpus(world)
        spec = {"accessModes": ["ReadOnlyMany"]}
        world.cluster.create("persistentvolumeclaims", {"metadata": {"name": "samples"}, "spec": spec}, "aiready")

    whole = with_file(gds_claim="samples")
    assert checked(whole, nodes=1, fault=there)["guest.gds_read gpu-01"]["verdict"] == "pass"
    why = checked(whole, nodes=1, fault=missing)["guest.kernel gpu-01"]["why"]
    assert "has no PersistentVolumeClaim with this name" in why


def test_the_volume_is_read_only():
    for more, volume in (
        ({}, {"hostPath": {"path": "/data", "type": "Directory"}}),
        ({"gds_claim": "samples"}, {"persistentVolumeClaim": {"claimName": "samples", "readOnly": True}}),
    ):
        (made,) = checks.pods(requested(with_file(**more)), [node()])
        assert made["spec"]["volumes"] == [{"name": checks.VOLUME, **volume}]
        mount = {"name": checks.VOLUME, "mountPath": "/data", "readOnly": True}
        assert made["spec"]["containers"][0]["volumeMounts"] == [mount]
        assert made["spec"]["activeDeadlineSeconds"] == 300 + 60
        assert checks.of_node(requested(with_file(**more))["checks"]) is not more


def test_objects_fit_their_schemas_and_the_constraint_of_openshift():
    whole = with_file(pairs={})
    whole["stack"]["dcgm"] = {"health": True}
    request = requested(whole)
    (pods,) = [one.schema for one in kinds.core() if one.kind == "Pod"]
    for guests in (None, {"gpu-01": {"before": {"measurements": []}}}):
        (made,) = checks.pods(request, [node()], guests)
        assert list(schema.problems(pods, made)) == []
        # Only the pod before the timed runs reads the file.
        assert ("volumes" in made["spec"]) is (guests is None)
    planned = plan.plan(request, before(nodes=[node()]))
    assert planned["problems"] == []
    (policy,) = [one for one in planned["objects"] if one["kind"] == "ClusterPolicy"]
    assert (policy["spec"]["dcgm"], policy["spec"]["gds"]) == ({"enabled": True}, {"enabled": True})
    assert list(schema.problems(clusters.schema("nvidia.com", "ClusterPolicy", "v1"), policy)) == []
    for more, allowed in (({}, True), ({"gds_claim": "samples"}, False)):
        on_openshift = before(nodes=[node(labels={"node.openshift.io/os_id": "rhel"})], features=[{}])
        dummy, constraint = plan.plan(requested(with_file(**more)), on_openshift)["permissions"]
        assert (constraint["allowHostDirVolumePlugin"], "hostPath" in constraint["volumes"]) == (allowed, allowed)
        assert "persistentVolumeClaim" in constraint["volumes"]


def with_watches(pairs=True):
    whole = with_stack(level=0, storage=False)
    whole["stack"] = {"dcgm": {"health": True}}
    whole["kubernetes"]["checks"].update({"pairs": {}} if pairs else {})
    return whole


def engine(world):
    """The host engines that the operator starts."""
    whole_gpus(world)
    labels = {"app": "nvidia-dcgm"}
    spec = {"containers": [{"name": "nvidia-dcgm-ctr", "image": "images.example.org/dcgm:4"}]}
    body = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}}
    world.cluster.create("namespaces", {"metadata": {"name": "gpu-operator"}})
    world.cluster.create("daemonsets", {"metadata": {"name": "nvidia-dcgm"}, "spec": body}, "gpu-operator")
    world.settle()


def broken(**more):
    return lambda world: whole_gpus(world, **more)


def restarted(world):
    for one in world.cluster.list("pods", "gpu-operator"):
        world.cluster.remove("pods", one)


@pytest.mark.parametrize(
    "fault, between, row, verdict, words",
    [
        (engine, None, "guest.dcgm_health gpu-01", "pass", ""),
        (engine, broken(failed_gpus=(0,)), "guest.dcgm_health gpu-01", "fail", "A DBE has occurred on GPU 0"),
        (engine, restarted, "guest.dcgm_health gpu-01", "fail", "Health watches not enabled"),
        (whole_gpus, None, "guest.dcgm_health gpu-01", "fail", "host: nvidia-dcgm.gpu-operator.svc:5555"),
        (engine, broken(xids=(79,)), "guest.xid gpu-01", "fail", "Xid 79"),
    ],
)
def test_gpus_are_watched_during_the_timed_runs(fault, between, row, verdict, words):
    found = checked(with_watches(), nodes=1, fault=fault, between=between)[row]
    assert (found["verdict"], words in found["why"]) == (verdict, True), found["why"]


def test_a_pod_after_the_timed_runs_that_does_not_start_leaves_the_results_before():
    def busy(world):
        (node,) = world.cluster.list("nodes")
        size = {**node["status"]["allocatable"], "nvidia.com/gpu": "0"}
        world.cluster.set_status("nodes", node, {**node["status"], "allocatable": size}, "kubelet")

    rows = checked(with_watches(), nodes=1, fault=engine, between=busy)
    assert rows["guest.driver gpu-01"]["verdict"] == "pass"
    for check in ("guest.dcgm_health", "guest.xid", "guest.ecc"):
        assert rows[f"{check} gpu-01"]["verdict"] == "fail"
        assert "No node has enough free GPUs" in rows[f"{check} gpu-01"]["why"]


def test_without_timed_runs_nothing_is_watched():
    whole = with_watches(pairs=False)
    assert requested(whole)["gpu_operator"]["dcgm"] is False
    assert requested(with_watches())["gpu_operator"]["dcgm"] is True
    rows = checked(whole, nodes=1, fault=whole_gpus).values()
    (why,) = [row["why"] for row in rows if row["check"] == "guest.dcgm_health"]
    assert "neither pairs nor jobs" in why


def test_a_licence_is_read_after_the_timed_runs_too():
    whole = with_checks(rdma=False)
    whole["kubernetes"]["checks"]["pairs"] = {}

    def lost(world):
        world.hardware["gpu-01"].licensed = False

    rows = checked(whole, nodes=1, between=lost)
    assert rows["guest.licence gpu-01 (before)"]["verdict"] == "pass"
    assert "The licence was lost during the run" in rows["guest.licence gpu-01 (after)"]["why"]


def test_a_diagnostic_has_its_own_time():
    (made,) = checks.pods(requested(with_stack(level=3)), [node()])
    assert made["spec"]["activeDeadlineSeconds"] == 300 + 3600


@pytest.mark.parametrize(
    "file, more, words",
    [
        ("/data/a b.bin", {}, "/data/a b.bin cannot be read in pods"),
        ("/data/../etc/x", {}, "cannot be read in pods"),
        ("/sample.bin", {}, "the pods mount its folder /, which would hide files of the image"),
        ("/usr/local/x", {}, "the pods mount its folder /usr/local"),
        (FILE, {"checks": {**IMAGE, "gds_claim": "A_B"}}, "gds_claim: A_B is not a valid name"),
        (FILE, {"gpu_operator": {"spec": {"driver": {"usePrecompiled": True}}}}, "precompiled driver containers"),
        (
            FILE,
            {"gpu_operator": {"spec": {"driver": {"kernelModuleType": "proprietary"}}}},
            "needs the open kernel modules",
        ),
        (FILE, {}, ""),
    ],
)
def test_read_tests_that_are_rejected(file, more, words):
    whole = site(**{"checks": IMAGE, **more})
    whole.update(gpu={"mode": "passthrough"}, stack={"gds": {"read_file": file}})
    found = list(problems(whole))
    assert words in " ".join(found)
    assert bool(found) is bool(words)


def test_watches_need_timed_runs_of_pods_or_of_a_validation():
    assert "the site has no validation that runs them" in " ".join(problems(with_watches(pairs=False)))
    assert list(problems(with_watches())) == []
