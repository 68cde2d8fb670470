# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic import plan, pvrdma, spec, sriov
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic import state as states
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import Vm
from pyVmomi import vim

from .worlds import FABRIC, SPLIT, adapter, entry, requested, state

DEVICE = vim.vm.device
MAC = "00:50:56:01:02:03"


def pvrdma_card(one, now):
    return pvrdma.card(one, now)


def functions_card(one, now):
    port = vim.host.PciDevice(
        id=SPLIT, deviceName="ConnectX-6 Dx", vendorId=0x15B3, deviceId=-0x6FE3, vendorName="", classId=0, bus=0
    )
    target = vim.vm.SriovInfo(name="", pciDevice=port, systemId="system-1", virtualFunction=False)
    return sriov.card(one, {SPLIT: target})


def placed(one):
    """The adapter as it is read: with its place on the bus."""
    port = vim.dvs.PortConnection(switchUuid=one.switch_uuid, portgroupKey=one.network, portKey="17")
    device = DEVICE.VirtualVmxnet3Vrdma(
        controllerKey=100,
        unitNumber=8,
        wakeOnLanEnabled=False,
        addressType="assigned",
        macAddress=one.mac,
        backing=DEVICE.VirtualEthernetCard.DistributedVirtualPortBackingInfo(port=port),
        connectable=DEVICE.VirtualDevice.ConnectInfo(startConnected=True, connected=False, allowGuestControl=False),
    )
    return replace(one, device=device)


def changes(now, *entries, details=pvrdma.details, make=pvrdma_card):
    wanted = plan.want(now, requested(*entries), FABRIC, True, details)
    return list(spec.reconfiguration(now, wanted, FABRIC, make).deviceChange)


def test_a_new_adapter_leaves_its_key_and_its_address_to_vsphere():
    first, second = changes(state(), entry(), entry(mac=MAC, connected=False))
    assert (first.operation, first.device.key, second.device.key) == ("add", -1, -2)
    assert (first.device.addressType, first.device.macAddress) == ("assigned", None)
    assert (second.device.addressType, second.device.macAddress) == ("manual", MAC)
    assert first.device.backing.port.portgroupKey == "pg-1"
    assert first.device.backing.port.switchUuid == "uuid-rdma"
    assert first.device.deviceProtocol == "rocev2"
    assert (first.device.connectable.startConnected, second.device.connectable.startConnected) == (True, False)


def test_an_edit_keeps_the_place_the_address_and_all_that_nobody_asked_about():
    (change,) = changes(state(placed(adapter())), entry("pg-rdma-2"))
    device = change.device
    assert (change.operation, device.key, device.controllerKey, device.unitNumber) == ("edit", 4000, 100, 8)
    assert (device.addressType, device.macAddress, device.wakeOnLanEnabled) == ("assigned", adapter().mac, False)
    assert device.backing.port.portgroupKey == "pg-2"


def test_an_edit_that_does_not_move_an_adapter_leaves_it_on_its_port():
    (change,) = changes(state(placed(adapter(protocol="rocev2"))), entry(connected=False))
    assert change.device.backing.port.portKey == "17"
    assert change.device.connectable.allowGuestControl is False


@pytest.mark.parametrize("chosen_by", ["assigned", "generated"])
def test_an_edit_leaves_it_to_whom_it_was_to_choose_the_address(chosen_by):
    one = placed(adapter())
    one.device.addressType = chosen_by
    (change,) = changes(state(one), entry("pg-rdma-2"))
    assert change.device.addressType == chosen_by


def test_a_protocol_from_before_an_upgrade_is_not_sent_where_vsphere_takes_none():
    now = state(placed(adapter(protocol="rocev2")), hardware_version=21)
    (change,) = changes(now, entry(mac=MAC))
    assert (change.operation, change.device.deviceProtocol) == ("edit", None)


def test_an_adapter_that_is_as_wanted_is_not_sent_at_all():
    now = state(placed(adapter(protocol="rocev2")), placed(adapter(4001, "pg-2", protocol="rocev2")))
    (change,) = changes(now, entry())
    assert (change.operation, change.device.key) == ("remove", 4001)


def test_what_is_removed_goes_before_what_is_added():
    now = state(placed(adapter(4000, "pg-2")), placed(adapter(4001, "pg-2")))
    wanted = replace(now, adapters=(adapter(-1),))
    operations = [one.operation for one in spec.reconfiguration(now, wanted, FABRIC, pvrdma_card).deviceChange]
    assert operations == ["remove", "remove", "add"]


def test_a_standard_port_group_is_named_by_the_network_itself():
    (change,) = changes(state(), entry("VM Network"), details=sriov.details, make=functions_card)
    backing = change.device.backing
    assert (backing.deviceName, backing.network._GetMoId()) == ("VM Network", "network-1")
    assert change.device.sriovBacking is None


def test_the_port_of_a_function_is_reported_with_numbers_as_the_host_has_them():
    requested_one = entry("pg-sriov", physical_function="vmnic3", guest_mtu_change=True)
    (change,) = changes(state(), requested_one, details=sriov.details, make=functions_card)
    backing = change.device.sriovBacking.physicalFunctionBacking
    assert (backing.id, backing.deviceId, backing.vendorId, backing.systemId) == (SPLIT, "901d", 0x15B3, "system-1")
    assert change.device.allowGuestOSMtuChange is True


def test_an_edit_leaves_the_port_of_a_function_as_it_was_written():
    function = DEVICE.VirtualPCIPassthrough.DeviceBackingInfo(
        id=SPLIT, deviceName="", deviceId="0x901d", systemId="BYPASS", vendorId=0x15B3
    )
    card = DEVICE.VirtualSriovEthernetCard(
        sriovBacking=DEVICE.VirtualSriovEthernetCard.SriovBackingInfo(physicalFunctionBacking=function)
    )
    there = adapter(4000, "pg-3", physical_function=SPLIT, device=card)
    requested_one = entry("pg-sriov", physical_function="vmnic3", connected=False)
    (change,) = changes(state(there), requested_one, details=sriov.details, make=functions_card)
    kept = change.device.sriovBacking.physicalFunctionBacking
    assert (change.operation, kept.systemId, kept.deviceId) == ("edit", "BYPASS", "0x901d")


def test_a_function_that_moves_to_another_port_is_reported_by_the_new_one():
    function = DEVICE.VirtualPCIPassthrough.DeviceBackingInfo(
        id="0000:3b:00.7", deviceName="", deviceId="901d", systemId="system-1", vendorId=0x15B3
    )
    card = DEVICE.VirtualSriovEthernetCard(
        sriovBacking=DEVICE.VirtualSriovEthernetCard.SriovBackingInfo(physicalFunctionBacking=function)
    )
    there = adapter(4000, "pg-3", physical_function="0000:3b:00.7", device=card)
    requested_one = entry("pg-sriov", physical_function="vmnic3")
    (change,) = changes(state(there), requested_one, details=sriov.details, make=functions_card)
    assert (change.operation, change.device.sriovBacking.physicalFunctionBacking.id) == ("edit", SPLIT)


def test_the_vendor_of_a_port_stays_a_signed_number():
    port = vim.host.PciDevice(
        id=SPLIT, deviceName="E810", vendorId=0x8086 - 0x10000, deviceId=0x1592, vendorName="", classId=0, bus=0
    )
    target = vim.vm.SriovInfo(name="", pciDevice=port, systemId="system-1", virtualFunction=False)
    made = sriov.card(adapter(-1, "pg-3", physical_function=SPLIT), {SPLIT: target})
    assert made.sriovBacking.physicalFunctionBacking.vendorId == 0x8086 - 0x10000


@pytest.mark.parametrize(
    "kind, card",
    [
        ("pvrdma", DEVICE.VirtualVmxnet3Vrdma()),
        ("vmxnet3", DEVICE.VirtualVmxnet3()),
        ("sriov", DEVICE.VirtualSriovEthernetCard()),
        (None, DEVICE.VirtualE1000e()),
    ],
)
def test_cards_are_reported_apart_though_pvrdma_is_a_vmxnet3_by_its_type(kind, card):
    assert states.kind_of(card) == kind


def test_adapters_of_all_other_kinds_are_counted_and_those_of_the_kind_are_not():
    cards = [DEVICE.VirtualVmxnet3Vrdma(key=4001), DEVICE.VirtualVmxnet3(key=4000), DEVICE.VirtualE1000e(key=4002)]
    row = Row(vim.VirtualMachine("vm-1"), {"config.hardware.device": cards}, {})
    found = states.state_of(row, Vm(), None, "pvrdma")
    assert ([one.key for one in found.adapters], found.others, found.host) == ([4001], 2, None)
