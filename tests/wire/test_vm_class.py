"""VM classes of the Supervisor: parts that the task does not name, namespaces, and requests that vCenter rejects."""

from __future__ import annotations

import contextlib

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import session
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.rest import Answered, Rest

from .drive import connection
from .rows.vm_class import NAME, PROFILE, config, extra, found, shape, vgpu
from .vib_lab import ready

WAYS = {"validate_certs": True, "request_timeout_s": 60}
CLASSES = "/api/vcenter/namespace-management/virtual-machine-classes"


@contextlib.contextmanager
def administrator(running, tmp_path):
    """The REST services, as an administrator in vCenter uses them."""
    params = {**connection(running, tmp_path / "others"), "session": "once", **WAYS}
    vcenter = session.connect(params, lambda text: None)
    rest = Rest(vcenter)
    with contextlib.closing(vcenter), contextlib.closing(rest):
        yield rest


def namespace(rest, running, name, *classes):
    with running.world.lock:
        cluster = running.world.of_kind("ClusterComputeResource")[0].moid
    spec = {"content_libraries": ["library-1"], "vm_classes": list(classes)}
    rest.call(
        "POST", "/api/vcenter/namespaces/instances", {"cluster": cluster, "namespace": name, "vm_service_spec": spec}
    )


def test_a_class_is_offered_in_a_namespace_and_then_not_removed(twin, drive, tmp_path):
    running = twin(seed=ready())
    module = drive(running)
    with administrator(running, tmp_path) as rest:
        rest.call("POST", CLASSES, {"id": "other", "cpu_count": 2, "memory_MB": 4096})
        namespace(rest, running, "training", "other")
    missing = module("vm_class", check=True, **shape(PROFILE, namespaces=["trainings"]))
    assert missing["failure"]["code"] == "namespace_not_found"
    made = module("vm_class", **shape(PROFILE, namespaces=["training"]))
    assert made["vm_class"]["after"]["namespaces"] == ["training"]
    assert not module("vm_class", **shape(PROFILE, namespaces=["training"]))["changed"]
    held = running.world.workloads.namespaces["training"]
    assert (held.classes, held.libraries) == ([NAME, "other"], ["library-1"])
    refused = module("vm_class", check=True, name=NAME, state="absent")
    assert (refused["failure"]["code"], refused["failure"]["namespaces"]) == ("vm_class_in_use", ["training"])
    with running.world.lock:
        vm = running.world.of_kind("HostSystem")[0].moid  # any object
        running.world.workloads.vms[vm] = NAME
    refused = module("vm_class", name=NAME, withdraw_from=["training"])
    assert (refused["failure"]["code"], refused["failure"]["vms"]) == ("vm_class_in_use", [vm])
    with running.world.lock:
        running.world.workloads.vms.clear()
    gone = module("vm_class", name=NAME, state="absent", withdraw_from=["training"])
    assert gone["vm_class"]["after"] == {"exists": False, "namespaces": []}
    assert (held.classes, held.libraries, found(running)) == (["other"], ["library-1"], {})


def test_other_parts_of_a_class_stay(twin, drive, tmp_path):
    running = twin(seed=ready())
    network = {"_typeName": "VirtualDeviceConfigSpec", "device": {"_typeName": "VirtualVmxnet3", "key": -1}}
    before = config(network, vgpu(0, "grid_a100-10c"), extraConfig=[extra("a", "1")])
    with administrator(running, tmp_path) as rest:
        rest.call(
            "POST",
            CLASSES,
            {"id": NAME, "cpu_count": 2, "memory_MB": 4096, "memory_reservation": 100, "config_spec": before},
        )
    changed = drive(running)("vm_class", **shape(PROFILE, extra_config={"b": True}))
    assert changed["changed"], changed
    spec = found(running)["config_spec"]
    assert spec == config(network, vgpu(0, PROFILE), extraConfig=[extra("a", "1"), extra("b", "TRUE")])


def test_older_vcenter_has_no_firmware_in_a_class(twin, drive):
    running = twin(seed=ready(release="7.0.3"))
    answer = drive(running)("vm_class", **shape(PROFILE, firmware="efi"))
    assert answer["failure"]["code"] == "vm_class_release"
    assert found(running) == {}


def test_vcenter_rejects_a_misspelt_class(twin, tmp_path):
    running = twin(seed=ready())
    body = {"id": NAME, "cpu_count": 2, "memory_MB": 4096}
    bad = {"_typeName": "VirtualMachineConfigSpec", "firmwares": "efi"}
    with administrator(running, tmp_path) as rest:
        for more, text in (
            ({"memory_mb": 1}, "There is no field memory_mb"),
            ({"config_spec": bad}, "config_spec.firmwares is no field of VirtualMachineConfigSpec"),
            ({"config_spec": {"firmware": "efi"}}, "config_spec has no _typeName"),
            ({"devices": {"vgpu_devices": [{"profile_name": PROFILE}]}}, "must reserve 100 percent"),
        ):
            assert text in _said(rest, {**body, **more})
    assert found(running) == {}


def _said(rest, body):
    try:
        rest.call("POST", CLASSES, body)
    except Answered as refused:
        return str(refused)
    return ""
