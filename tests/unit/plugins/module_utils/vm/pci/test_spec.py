# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci import plan, spec
from pyVmomi import vim

from .worlds import (
    A100,
    CLASS,
    CX6,
    GPU,
    PCI,
    PORT,
    device,
    dvx,
    dynamic,
    dynamic_device,
    enhanced,
    group,
    groups,
    host,
    member,
    offer,
    requested,
    state,
    static,
    static_device,
    vgpu,
)

NAME = "Nvidia:1@near"


def built(now, *devices, offered=None, **options):
    wanted = plan.want(now, requested(*devices, **options))
    return spec.reconfiguration(now, wanted, offered or offer(now.host))


def operations(made):
    return [(one.operation, one.device.key) for one in made.deviceChange]


def component(backing, sequence=None):
    part = PCI(key=-1, backing=backing, controllerKey=100)
    if sequence is not None:
        part.deviceGroupInfo = member(0, sequence)["deviceGroupInfo"]
    return vim.vm.VendorDeviceGroupInfo.ComponentDeviceInfo(
        type="pciPassthru", vendorName="", deviceName="", isConfigurable=False, device=part
    )


def offering(*sequences):
    parts = [
        component(PCI.VmiopBackingInfo(vgpu="grid_a100-40c"), sequences[0] if sequences else None),
        component(dynamic_device(0, CX6).backing, sequences[1] if sequences else None),
    ]
    info = vim.vm.VendorDeviceGroupInfo(name=NAME, deviceGroupName=NAME, componentDeviceInfo=parts)
    return offer(host(), groups={NAME: info})


def test_a_static_device_goes_with_the_numbers_as_its_host_has_them():
    around = host(devices=[device(PORT, "8086:f1a5")])
    (change,) = built(state(around=around), static(PORT)).deviceChange
    backing = change.device.backing
    assert (backing.id, backing.deviceId, backing.systemId) == (PORT, "f1a5", "4c4c4544")
    assert backing.vendorId == vim.host.PciDevice(vendorId=-32634).vendorId == 0x8086 - 0x10000


def test_a_dynamic_device_goes_with_its_kinds_and_its_label():
    change, plain = built(state(), dynamic("10de:20b5", A100, label="near"), dynamic(CX6)).deviceChange
    kinds = [(one.vendorId, one.deviceId) for one in change.device.backing.allowedDevice]
    assert (change.operation, kinds) == ("add", [(0x10DE, 0x20B5), (0x10DE, 0x20F1)])
    assert (change.device.backing.customLabel, plain.device.backing.customLabel) == ("near", None)


def test_an_enhanced_device_goes_with_its_class():
    (change,) = built(state(around=enhanced()), dvx()).deviceChange
    backing = change.device.backing
    assert (change.operation, type(backing), backing.deviceClass) == ("add", PCI.DvxBackingInfo, CLASS)


def test_new_devices_differ_within_one_request_and_get_their_node():
    made = built(state(), dynamic(CX6), dynamic(CX6, numa_node=1))
    assert operations(made) == [("add", -1), ("add", -2)]
    assert sorted(str(one.device.numaNode) for one in made.deviceChange) == ["1", "None"]
    assert made.deviceGroups is None


def test_a_new_node_is_an_edit_and_none_is_a_negative_one():
    now = state(dynamic_device(13000, CX6, numaNode=1), dynamic_device(13001, A100))
    made = built(now, dynamic(CX6, numa_node=plan.NO_NODE), dynamic(A100, numa_node=0))
    edits = {one.device.key: one.device.numaNode for one in made.deviceChange if one.operation == "edit"}
    assert edits == {13000: -1, 13001: 0}
    assert now.devices[0].devices[0].numaNode == 1


def test_a_group_brings_all_its_devices_in_one_request():
    made = built(state(), group(NAME), offered=offering())
    (new,) = made.deviceGroups.deviceGroup
    assert (new.groupInstanceKey < 0, new.deviceGroupName) == (True, NAME)
    parts = [one.device.deviceGroupInfo for one in made.deviceChange]
    assert [(one.groupInstanceKey, one.sequenceId) for one in parts] == [(new.groupInstanceKey, n) for n in (0, 1)]
    assert operations(made) == [("add", -1), ("add", -2)]


def test_the_sequence_in_a_group_is_that_of_the_hosts_template():
    made = built(state(), group(NAME), offered=offering(2, 1))
    assert [one.device.deviceGroupInfo.sequenceId for one in made.deviceChange] == [2, 1]


def test_two_of_one_group_are_two_instances():
    made = built(state(), group(NAME), group(NAME), offered=offering())
    assert len({one.groupInstanceKey for one in made.deviceGroups.deviceGroup}) == 2
    assert len({one.device.deviceGroupInfo.groupInstanceKey for one in made.deviceChange}) == 2


def test_a_group_goes_with_all_its_devices_and_the_others_stay():
    now = state(
        vgpu(13000, "grid_a100-40c", **member(1, 0)),
        dynamic_device(13001, CX6, **member(1, 1)),
        vgpu(13002, "grid_a100-40c", **member(2, 0)),
        device_groups=groups(g1=NAME, g2="other"),
    )
    made = built(now, group("other"), offered=offering())
    assert operations(made) == [("remove", 13000), ("remove", 13001)]
    (left,) = made.deviceGroups.deviceGroup
    assert (left.groupInstanceKey, left.deviceGroupName) == (2, "other")


def test_a_device_is_put_back_as_it_was_even_if_its_host_does_not_offer_it_now():
    before, after = state(static_device(13000, "0000:77:00.0")), state(static_device(13000, PORT))
    was = before.devices[0].devices[0]
    was.controllerKey, was.unitNumber = 100, 18
    made = spec.reconfiguration(after, before, offer(after.host))
    # The place on its controller may be taken by now.
    assert (made.deviceChange[1].device.controllerKey, made.deviceChange[1].device.unitNumber) == (None, None)
    assert [one.operation for one in made.deviceChange] == ["remove", "add"]
    assert made.deviceChange[1].device.backing.id == "0000:77:00.0"
    assert made.deviceChange[1].device.key < 0


def test_what_the_host_has_no_more_is_an_error_with_a_way_out():
    with pytest.raises(
        OperatorError, match="The host did not offer the device when the task began. Run the task again."
    ):
        built(state(), static(GPU), offered=offer(host(), targets={}))
