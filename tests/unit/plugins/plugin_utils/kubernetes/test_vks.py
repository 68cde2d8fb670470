"""The VKS cluster of a site: its VM classes, its Cluster object, and causes of faults."""

from __future__ import annotations

import base64

import pytest
from ansible_collections.aiready.vsphere.plugins.filter.filters import FilterModule
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.supervisor import vm_class
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes import schema, vks
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.checks import problems
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.kubernetes import kubernetes
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.vks import ALIASES

from house.collection import filter_example, filter_sample
from unit.plugins.plugin_utils.kubernetes import clusters

OWN = {
    "supervisor": "supervisor.example.com",
    "namespace": "training",
    "cluster": "gpu",
    "version": "v1.33.4",
    "storage_class": "fast",
}
CLASS = "builtin-generic-v3.6.0"
NAMES = ["best-effort-medium", "gpu-train"]


def site(**more):
    whole = more.pop("whole", {})
    section = {"kind": more.pop("kind", "vks"), "kubeconfig": more.pop("kubeconfig", None), "vks": {**OWN, **more}}
    machine = {"cpus": 16, "memory_gb": 64}
    return {**clusters.SITE, "machine": machine, "kubernetes": section, **whole}


def requested(**more):
    return kubernetes(site(**more))["cluster"]


def seen(version="v1beta2", variables=("vsphereOptions", "volumes"), vm_classes=NAMES, name=CLASS):
    rows = [{"name": one} for one in variables]
    return {
        "versions": [version],
        "cluster_classes": [{"metadata": {"name": name}, "status": {"variables": rows}}],
        "vm_classes": list(vm_classes),
    }


def planned(found, **more):
    made = vks.plan(requested(**more), found)
    assert made["problems"] == []
    return made["objects"][0]


@pytest.mark.parametrize("version", vks.VERSIONS)
@pytest.mark.parametrize("variables", [("vsphereOptions", "volumes"), ("defaultStorageClass", "nodePoolVolumes")])
def test_cluster_fits_the_published_schema(version, variables):
    made = planned(seen(version, variables), pods_cidr="172.20.0.0/16", services_cidr="172.21.0.0/16")
    assert list(schema.problems(clusters.schema("cluster.x-k8s.io", "Cluster", version), made)) == []


def test_node_pools_come_from_the_vms_of_the_site():
    vms = [{"prefix": "train-", "count": 2}, {"name": "Big", "cpus": 32, "profiles": ["grid_a100-10c"] * 2}]
    made = requested(whole={"vms": vms})
    assert [(one["name"], one["nodes"], one["vm_class"]) for one in made["pools"]] == [
        ("train", 2, "gpu-train"),
        ("big", 1, "gpu-big"),
    ]
    first, second = made["classes"]
    assert (first["cpus"], first["memory_mb"], first["vgpu_profiles"]) == (16, 65536, ["grid_a100-40c"])
    assert (second["cpus"], second["vgpu_profiles"], second["namespaces"]) == (32, ["grid_a100-10c"] * 2, ["training"])


def test_whole_gpu_and_port_become_devices_of_the_class():
    gpu = {"mode": "passthrough", "per_vm": 2, "passthrough": {"assignment": "dynamic", "devices": ["10de:20b5"]}}
    network = {"path": "passthrough", "devices": ["15b3:1021"], "label": "rail"}
    (made,) = requested(whole={"gpu": gpu, "network": network})["classes"]
    assert [one["device_id"] for one in made["devices"]] == ["0x20b5", "0x20b5", "0x1021"]
    assert made["extra_config"] == {"pciPassthru.allowP2P": True, "pciPassthru.RelaxACSforP2P": True}


@pytest.mark.parametrize(
    "devices, adapters, ports",
    [
        (["15b3:1021"], 2, ["0x1021", "0x1021"]),
        (["15b3:1021", "15b3:101d"], 2, ["0x1021", "0x101d"]),
        (["15b3:1021", "15b3:101d"], 1, None),
    ],
)
def test_class_has_one_device_for_each_adapter(devices, adapters, ports):
    network = {"path": "passthrough", "assignment": "dynamic", "devices": devices, "adapters": adapters}
    whole = {"network": network}
    reported = [one for one in problems(site(whole=whole)) if one.startswith("site.network.devices: it has 2 entries")]
    assert bool(reported) is (ports is None)
    if ports:
        assert [one["device_id"] for one in requested(whole=whole)["classes"][0]["devices"]] == ports


@pytest.mark.parametrize(
    "more, gpu, firmware",
    [({}, {}, "efi"), ({}, {"mmio": "ignore"}, ""), ({"firmware": "bios"}, {}, "bios")],
)
def test_firmware_of_a_class_with_an_mmio_window(more, gpu, firmware):
    (made,) = requested(whole={"gpu": {**clusters.SITE["gpu"], **gpu}}, **more)["classes"]
    assert made["firmware"] == firmware


def test_classes_are_calls_that_the_module_takes():
    for one in requested()["classes"]:
        unknown = set(one) - set(vm_class.ARGUMENTS)
        assert (unknown, one["mmio_gb"] > 0) == (set(), True)


def test_check_mode_plans_a_cluster_later_only_if_a_class_is_new():
    offered = vks.plan(requested(), {**seen(), "planned": True})
    new = vks.plan(requested(), {**seen(vm_classes=NAMES[:1]), "planned": True})
    assert (offered["later"], offered["problems"]) == ([], [])
    assert (new["later"], new["problems"]) == (["gpu-train"], [])
    # Without check mode, the role has created the class, and the namespace must offer it.
    created = vks.plan(requested(), seen(vm_classes=NAMES[:1]))
    assert (created["later"], len(created["problems"])) == ([], 1)


@pytest.mark.parametrize("more", [{}, {"storage_class": "vsan.fast", "vm_class": "gpu-40c"}])
def test_longest_names_of_pools(more):
    longest = 63 if more else 63 - len("gpu-")
    assert problems(site(whole={"vms": [{"name": "a" * longest}]}, **more)) == []


@pytest.mark.parametrize("kind", ALIASES)
def test_earlier_names_are_the_same_cluster(kind):
    assert requested(kind=kind) == requested()


def test_existing_vm_class_is_not_managed():
    made = requested(vm_class="gpu-40c")
    assert (made["classes"], made["pools"][0]["vm_class"]) == ([], "gpu-40c")


def test_port_in_the_address_is_that_of_login_and_api():
    assert (requested()["login_url"], requested()["api_url"]) == (
        "https://supervisor.example.com",
        "https://supervisor.example.com:6443",
    )
    own = requested(supervisor="[fd00::1]:8443")
    assert own["login_url"] == own["api_url"] == "https://[fd00::1]:8443"


@pytest.mark.parametrize(
    "whole, reported",
    [
        (site(kubeconfig="/k"), "site.kubernetes.vks.supervisor: set either"),
        (site(supervisor=None), "site.kubernetes.vks.supervisor: set either"),
        (site(kind="yours", kubeconfig="/k"), "site.kubernetes.vks: site.kubernetes.kind is yours"),
        (site(whole={"machine": {"cpus": 8}}), "site.machine.memory_gb: it is not set, and a VM class needs it"),
        (site(whole={"gpu": {"mode": "passthrough"}}), "site.gpu.passthrough.devices: it is not set"),
        (site(whole={"network": {"path": "sriov"}}), "site.network.devices: it is not set"),
        (site(whole={"vms": [{"name": "a"}, {"name": "A"}]}), "site.vms: two entries have the node pool a"),
        (site(whole={"vms": [{"name": "a_b"}]}), "site.vms[0]: a_b is not a valid name of a node pool"),
        (site(whole={"vms": [{"name": "a.b"}]}), "site.vms[0]: a.b is not a valid name of a node pool"),
        (site(whole={"vms": [{"prefix": "-", "count": 1}]}), "site.vms[0]: an empty text is not a valid name of a"),
        (site(whole={"vms": [{"name": "a" * 64}]}), f"site.vms[0]: {'a' * 64} is not a valid name of a node pool"),
        (site(whole={"vms": [{"name": "a" * 60}]}), "site.vms[0]: the VM class gpu-aaa"),
        (site(cluster="GPU"), "site.kubernetes.vks.cluster: GPU is not a valid name in Kubernetes"),
        (site(namespace="a.b"), "site.kubernetes.vks.namespace: a.b is not a valid name in Kubernetes"),
        (site(storage_class="Fast"), "site.kubernetes.vks.storage_class: Fast is not a valid name in Kubernetes"),
        (site(vm_class=""), "site.kubernetes.vks.vm_class: an empty text is not a valid name in Kubernetes"),
    ],
)
def test_site_that_no_supervisor_can_run(whole, reported):
    assert [one for one in problems(whole) if one.startswith(reported)]


@pytest.mark.parametrize(
    "found, reported",
    [
        ({**seen(), "versions": []}, "The Supervisor does not serve Cluster of cluster.x-k8s.io"),
        (seen(name="builtin-generic-v3.3.0"), "The namespace vmware-system-vks-public has builtin-generic-v3.3.0"),
        (seen(vm_classes=["gpu-train"]), "with the VM class best-effort-medium. The namespace training does not offer"),
    ],
)
def test_supervisor_that_cannot_run_the_cluster(found, reported):
    (problem,) = vks.plan(requested(), found)["problems"]
    assert reported in problem


def row(kind, status="True", message="", **more):
    return {"type": kind, "status": status, "message": message, **more}


def state(*rows, version="v1beta2", workers=2):
    counts = {"workers": {"availableReplicas": workers, "desiredReplicas": 2}}
    status = {"conditions": list(rows), **(counts if version == "v1beta2" else {"v1beta2": counts})}
    return {"apiVersion": f"cluster.x-k8s.io/{version}", "metadata": {"name": "gpu", "generation": 2}, "status": status}


GOOD = [row(kind, observedGeneration=2) for kind in vks.CONDITIONS["v1beta2"]]


def test_cluster_is_ready_with_all_conditions_of_its_generation_and_all_workers():
    assert vks.ready([state(*GOOD)])
    assert vks.ready([state(*[row(kind) for kind in vks.CONDITIONS["v1beta1"]], version="v1beta1")])
    assert not vks.ready([state(*[row(kind) for kind in vks.CONDITIONS["v1beta1"]], version="v1beta1", workers=1)])
    late = [*GOOD[:-1], row("Available", observedGeneration=1)]
    for other in (state(*GOOD[:-1]), state(*GOOD, workers=1), state(*late)):
        assert not vks.ready([other])
    assert not vks.ready([])


WAITED = {"name": "gpu", "wait_s": 60, "pools": [{"name": "train"}]}


@pytest.mark.parametrize(
    "message, reported",
    [
        ("Could not resolve KR/OSImage", "The Supervisor has no release or node image for this version."),
        ('machines "x" is forbidden: exceeded quota: training', "The quota of the namespace is exhausted."),
        ("spec.vmClass: VM class not found", "The namespace does not offer the VM class."),
        (
            "gpu-train-0: 0/1 hosts have a free device for the VM class",
            "The hosts have too few free GPUs for the node.",
        ),
        ("StorageClass fast is not assigned", "The namespace does not offer the storage class."),
    ],
)
def test_fault_is_named_by_its_cause(message, reported):
    event = {"type": "Warning", "message": message, "involvedObject": {"name": "gpu"}}
    other = {"type": "Warning", "message": "exceeded quota", "involvedObject": {"name": "other"}}
    machine = {"metadata": {"name": "gpu-train-0"}, "status": {"phase": "Provisioning"}}
    unready = {"clusters": [state(*GOOD[:-1], workers=1)], "machines": [machine], "events": [event, other]}
    first, waiting, last = vks.faults(WAITED, unready)
    assert first.startswith(reported)
    assert waiting == "These machines have no node yet: gpu-train-0. Check their VMs in vCenter."
    assert "1 of 2 workers are available. The limit site.kubernetes.wait_s is 60 s." in last


@pytest.mark.parametrize(
    "kind, name, own",
    [
        ("Cluster", "gpu", True),
        ("KubeadmControlPlane", "gpu-ml9zj", True),
        ("MachineDeployment", "gpu-train-8xkfr", True),
        ("MachineSet", "gpu-train-8xkfr-ztq56", True),
        ("VSphereMachine", "gpu-train-8xkfr-ztq56-bcdfg", True),
        ("VSphereMachineTemplate", "gpu-train-infra-8xkfr", True),
        ("Machine", "gpu-control-0", True),
        ("KubeadmControlPlane", "gpu-own", True),
        ("Cluster", "gpu-2", False),
        ("Cluster", "gpu-large", False),
        ("MachineSet", "gpu-2-train-8xkfr-ztq56", False),
    ],
)
def test_events_of_a_cluster_with_a_longer_name_are_no_cause(kind, name, own):
    reported = {"type": "Warning", "message": "exceeded quota", "involvedObject": {"kind": kind, "name": name}}
    owner = {"kind": "KubeadmControlPlane", "name": "gpu-own"}
    machine = {"metadata": {"name": "gpu-control-0", "ownerReferences": [owner]}}
    found = vks.faults(WAITED, {"clusters": [state(*GOOD[:-1])], "machines": [machine], "events": [reported]})
    assert any(one.startswith("The quota of the namespace") for one in found) is own


def test_an_event_that_is_no_warning_is_no_cause():
    reported = {"type": "Normal", "message": "exceeded quota", "involvedObject": {"kind": "Cluster", "name": "gpu"}}
    found = vks.faults(WAITED, {"clusters": [state(*GOOD[:-1])], "machines": [], "events": [reported]})
    assert not any(one.startswith("The quota of the namespace") for one in found)


def test_ready_cluster_has_no_fault():
    assert vks.faults(WAITED, {"clusters": [state(*GOOD)], "machines": [], "events": []}) == []


def test_kubeconfig_of_a_secret():
    secret = {"data": {"value": base64.b64encode(b"kind: Config").decode()}}
    assert [vks.kubeconfig(one) for one in ([secret], [], [{"data": {"value": "%"}}])] == ["kind: Config", "", ""]


@pytest.mark.parametrize(
    "answer, reported",
    [
        ({"status": 200, "json": {"session_id": "t"}}, ""),
        ({"status": 401}, "It rejects the user."),
        ({"status": 404}, "It has no login service."),
        (
            {"status": -1, "msg": "certificate verify failed"},
            "Its certificate is not trusted: certificate verify failed.",
        ),
        ({"status": -1, "msg": "timed out"}, "It answers -1: timed out."),
    ],
)
def test_login(answer, reported):
    assert vks.login_problem(answer).startswith(reported)


@pytest.mark.parametrize(
    "name, arguments",
    [
        ("kubernetes_cluster_plan", ("request", "seen")),
        ("kubernetes_cluster_faults", (None, "seen")),
    ],
)
def test_sample_of_the_filter(name, arguments):
    example = filter_example(name)
    request = example[arguments[0]] if arguments[0] else {"name": "gpu", "wait_s": 1800}
    assert FilterModule().filters()[name](request, example[arguments[1]]) == filter_sample(name)
