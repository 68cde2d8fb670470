# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.rest import Answered
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.supervisor import vm_class
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.supervisor.noun import VmClasses

from unit.plugins.modules import described

NEW, OLD = (8, 0, 3), (7, 0, 3)
PROFILE = "grid_a100-40c"
USED = vm_class.VmClass(cpus=8, namespaces=("a",), vms=("vm-1",))
LABEL = "VM class gpu"


def params(**given):
    options = {**described.LOGIN, "name": "gpu", "cpus": 8, "memory_mb": 65536, **given}
    return described.checked(options, vm_class.ARGUMENTS)


def requested(**given):
    return vm_class.request_of(params(**given))


def wanted(now=vm_class.ABSENT, release=NEW, **given):
    return vm_class.want(LABEL, now, requested(**given), release)


def again(made, release=NEW):
    """The class as vCenter returns it after the request."""
    return vm_class.parsed({"id": "gpu", **vm_class.body(vm_class.ABSENT, made, release)})


@pytest.mark.parametrize(
    "given, reported",
    [
        ({"name": "GPU"}, "name is 'GPU'; use up to 63 lower-case letters"),
        ({"cpus": 0}, "cpus is 0; use at least 1."),
        ({"memory_mb": 1001}, "memory_mb is 1001; use a multiple of 4 MB."),
        ({"cpu_reservation": 101}, "cpu_reservation is 101; use a percentage"),
        ({"devices": [{"vendor_id": "nvidia", "device_id": "20b5"}]}, "devices[0].vendor_id is 'nvidia'; use a PCI"),
        ({"vgpu_profiles": [PROFILE], "memory_reservation": 50}, "memory_reservation is 50; a class with a vGPU"),
        ({"namespaces": ["a"], "withdraw_from": ["a"]}, "namespaces and withdraw_from have a;"),
        ({"mmio_gb": 8, "extra_config": {vm_class.MMIO_SIZE: "8"}}, "extra_config has pciPassthru.64bitMMIOSizeGB"),
    ],
)
def test_a_wrong_parameter_is_named(given, reported):
    (problem,) = vm_class.check_params(params(**given))
    assert problem.startswith(reported)


@pytest.mark.parametrize("release", [OLD, NEW])
def test_what_is_sent_is_what_is_read(release):
    more = {"mmio_gb": 256, "firmware": "efi"} if release == NEW else {}
    device = {"vendor_id": "0x15b3", "device_id": "1021", "label": "rail-1"}
    made = wanted(release=release, vgpu_profiles=[PROFILE, PROFILE], devices=[device], description="GPU", **more)
    read = again(made, release)
    assert vm_class.compare(read, made) == []
    assert (read.vgpu_profiles, read.memory_reservation) == ((PROFILE, PROFILE), 100)
    assert [str(one) for one in read.devices] == ["15b3:1021 (rail-1)"]


def test_the_older_lists_have_no_effect_beside_a_config_spec():
    info = {"cpu_count": 8, "memory_MB": 8, "devices": {"vgpu_devices": [{"profile_name": PROFILE}]}}
    assert vm_class.parsed(info).vgpu_profiles == (PROFILE,)
    spec = {"_typeName": "VirtualMachineConfigSpec", "firmware": "efi"}
    assert vm_class.parsed({**info, "config_spec": spec}).vgpu_profiles == ()


def test_only_changed_fields_are_sent():
    now = again(wanted(vgpu_profiles=[PROFILE]))
    assert vm_class.body(now, wanted(now, cpus=16), NEW) == {"cpu_count": 16}
    changed = vm_class.compare(now, wanted(now, cpus=16, mmio_gb=64))
    assert [str(one) for one in changed] == [
        "cpus: 8 -> 16",
        "extra_config.pciPassthru.64bitMMIOSizeGB: none -> 64",
        "extra_config.pciPassthru.use64bitMMIO: none -> TRUE",
    ]


def test_a_change_of_the_firmware_keeps_devices_and_settings_as_they_were_written():
    allowed = [{"vendorId": 0x10DE, "deviceId": one} for one in (0x20B5, 0x20F1)]
    backing = {"_typeName": "VirtualPCIPassthroughDynamicBackingInfo", "deviceName": "", "allowedDevice": allowed}
    device = {"_typeName": "VirtualPCIPassthrough", "key": -7, "backing": backing}
    written = {
        "_typeName": "VirtualMachineConfigSpec",
        "deviceChange": [{"_typeName": "VirtualDeviceConfigSpec", "operation": "add", "device": device}],
        "extraConfig": [{"key": "a", "value": {"_typeName": "int", "_value": 1}}],
    }
    now = vm_class.parsed({"id": "gpu", "cpu_count": 8, "memory_MB": 4096, "config_spec": written})
    made = vm_class.body(now, wanted(now, firmware="efi"), NEW)
    assert made["config_spec"] == {**written, "firmware": "efi"}


def test_an_empty_list_removes_the_devices_and_none_keeps_them():
    now = again(wanted(vgpu_profiles=[PROFILE]))
    assert wanted(now).vgpu_profiles == (PROFILE,)
    left = wanted(now, vgpu_profiles=[])
    assert vm_class.body(now, left, NEW) == {"config_spec": {"_typeName": "VirtualMachineConfigSpec"}}


def test_a_null_removes_a_setting():
    now = again(wanted(extra_config={"a": True, "b": 1}))
    assert (now.extra, wanted(now, extra_config={"a": None}).extra) == ({"a": "TRUE", "b": "1"}, {"b": "1"})


@pytest.mark.parametrize(
    "code, now, release, given",
    [
        ("vm_class_release", vm_class.ABSENT, OLD, {"mmio_gb": 64}),
        ("vm_class_reservation", vm_class.VmClass(cpus=8, vgpu_profiles=(PROFILE,)), NEW, {"memory_reservation": 50}),
        ("vm_class_in_use", vm_class.VmClass(cpus=8, vms=("vm-1",)), NEW, {"state": "absent"}),
        ("vm_class_in_use", USED, NEW, {"withdraw_from": ["a"]}),
        ("vm_class_in_use", replace(USED, vms=()), NEW, {"state": "absent", "withdraw_from": ["b"]}),
        ("vm_class_incomplete", vm_class.ABSENT, NEW, {"memory_mb": None}),
    ],
)
def test_a_class_that_vcenter_cannot_have_is_refused(code, now, release, given):
    with pytest.raises(OperatorError) as caught:
        wanted(now, release, **given)
    assert caught.value.code == code


@pytest.mark.parametrize(
    "given, fix",
    [
        ({"vms": ()}, "by the namespaces a. Name these namespaces in `withdraw_from`. Then run"),
        ({"namespaces": ()}, "by 1 VMs. Delete these VMs. Then run"),
        ({}, "and 1 VMs. Delete these VMs. Name these namespaces in `withdraw_from`. Then run"),
    ],
)
def test_a_class_in_use_has_the_fix_for_its_users(given, fix):
    with pytest.raises(OperatorError) as caught:
        wanted(replace(USED, **given), state="absent")
    assert fix in caught.value.message


def test_absent():
    now = vm_class.VmClass(cpus=8, memory_mb=8)
    gone = wanted(now, state="absent")
    assert [change.path for change in vm_class.compare(now, gone)][0] == "exists"
    assert vm_class.compare(gone, gone) == []
    offered = replace(now, namespaces=("a",))
    assert wanted(offered, namespaces=["b"]).namespaces == ("a", "b")
    assert wanted(offered, namespaces=["b"], withdraw_from=["a"]).namespaces == ("b",)
    assert not wanted(offered, state="absent", withdraw_from=["a"]).present
    # A class in use keeps namespaces that the task does not name.
    assert wanted(USED, withdraw_from=["b"], cpus=4).namespaces == ("a",)


def test_the_firmware_is_removed():
    now = again(wanted(firmware="efi"))
    left = wanted(now, firmware="none")
    assert vm_class.body(now, left, NEW) == {"config_spec": {"_typeName": "VirtualMachineConfigSpec"}}
    assert wanted(again(wanted(release=OLD)), OLD, firmware="none").firmware is None


class Refusing:
    """REST services that refuse each request of some methods with a status."""

    def __init__(self, status, *methods):
        self.status, self.methods, self.sent = status, methods, []

    def call(self, method, path, body=None):
        self.sent.append((method, path))
        if method in self.methods:
            raise Answered(self.status, "NOT_FOUND", ["It is gone."])
        return []


def applied(rest, now, **given):
    noun = VmClasses(params(**given), None)
    noun._rest = rest
    item = Item(LABEL, requested(**given), now=now, wanted=wanted(now, **given))
    noun.apply([item])
    return rest.sent


def test_a_class_and_a_namespace_that_somebody_deleted_since_the_read_are_no_error():
    now = vm_class.VmClass(cpus=8, namespaces=("a",))
    given = {"state": "absent", "cpus": None, "memory_mb": None, "withdraw_from": ["a"]}
    sent = applied(Refusing(404, "GET", "DELETE"), now, **given)
    assert [method for method, _path in sent] == ["GET", "DELETE"]
    with pytest.raises(OperatorError, match="cannot be removed"):
        applied(Refusing(403, "DELETE"), vm_class.VmClass(cpus=8), **given)
