"""Slots of adapters and overheads, as public recordings of vCenter have them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from pyVmomi import vim

from twin_labs.captures import guest, guests
from twin_labs.rule_examples import vgpu
from vsphere_twin import calibrate
from vsphere_twin.guests.programs import hardware
from vsphere_twin.model import adapters, resources, slots, started_keys

DEVICE = vim.vm.device


@pytest.mark.parametrize(
    "controllers, first",
    [
        ([], 160),
        ([DEVICE.VirtualLsiLogicController], 160),
        ([DEVICE.ParaVirtualSCSIController], 192),
        ([DEVICE.VirtualLsiLogicSASController, DEVICE.VirtualLsiLogicController], 192),
        ([DEVICE.ParaVirtualSCSIController, DEVICE.ParaVirtualSCSIController], 224),
    ],
)
def test_controllers_on_pci_express_take_the_slots_before_those_of_adapters(lab, controllers, first):
    here = lab(vms=[{"name": "vm", "networks": ["VM Network"] * 3}])
    machine = here.vm("vm")
    machine.devices = [
        *(one for one in machine.devices if not isinstance(one, DEVICE.VirtualSCSIController)),
        *(kind(key=1000 + number) for number, kind in enumerate(controllers)),
    ]
    assert here.power_on("vm").state == "success"
    expected = slots.SERIES[slots.SERIES.index(first) :][:3]
    assert [machine.setting(f"ethernet{number}.pciSlotNumber") for number in range(3)] == list(map(str, expected))
    assert slots.names(machine)[:3] == tuple(f"ens{one % 1024 + one // 1024}" for one in expected)


@pytest.mark.parametrize("controllers, buses", [(1, ["0b", "13", "1b", "04"]), (4, ["04", "0c", "14", "1c"])])
def test_each_adapter_has_a_bus_of_its_slot(controllers, buses):
    disks = [DEVICE.ParaVirtualSCSIController(key=1000 + number) for number in range(controllers)]
    found = [hardware.nic_address(SimpleNamespace(devices=disks), position) for position in range(4)]
    assert found == [f"0000:{bus}:00.0" for bus in buses]


@pytest.mark.parametrize("cpus, memory_gb, overhead_mb", [(1, 2, 67), (4, 8, 99), (4, 24, 193), (8, 28, 225)])
def test_the_overhead_of_a_vm_is_that_of_a_public_recording(cpus, memory_gb, overhead_mb):
    assert resources.overhead_of(cpus, memory_gb * 1024) == overhead_mb


def test_the_overhead_never_falls_with_processors_or_memory():
    sizes = [2**power for power in range(8, 23)]
    table = [[resources.overhead_of(cpus, memory_mb) for memory_mb in sizes] for cpus in (1, 2, 8, 64, 256)]
    assert all(row == sorted(row) for row in table)
    assert all(list(column) == sorted(column) for column in zip(*table, strict=True))


@pytest.mark.parametrize(
    "hosts_mb, effective_mb",
    [
        ([524143], 459877),
        ([524143], 460959),
        ([391745, 391742, 391745, 391745], 1410026),
        ([262109] * 3, 694524),
        ([130968], 106603),
    ],
)
def test_the_memory_that_a_cluster_counts_is_near_that_of_public_recordings(hosts_mb, effective_mb):
    lost, expected = sum(hosts_mb) - effective_mb, sum(hosts_mb) - sum(map(resources.effective_of, hosts_mb))
    assert abs(lost - expected) <= 0.25 * expected


@pytest.mark.parametrize(
    "cores, mhz, lost_mhz",
    [(36, 2299, 8390), (36, 2299, 8045), (24, 2593, 7292), (20, 2792, 7144), (6, 1899, 2716)],
)
def test_the_processors_that_a_host_keeps_are_near_those_of_public_recordings(cores, mhz, lost_mhz):
    host = SimpleNamespace(hardware=SimpleNamespace(cores=cores, mhz=mhz))
    assert abs(cores * mhz - resources.cpu_capacity_mhz(host) - lost_mhz) <= 0.07 * lost_mhz


def _result(made, name):
    return next(one.result for one in calibrate.calibrate(made) if one.rule == name)


@pytest.mark.parametrize(
    "made, result",
    [
        (guest(160, 192, controller="VirtualLsiLogicController"), "confirmed"),
        (guest(192, 224, controller="VirtualLsiLogicController"), "refuted"),
        (guest(224), "refuted"),
        (guest(160, 224, controller="VirtualLsiLogicController"), "undetermined"),
        (guest(224, 192), "refuted"),
        (guest(192, 193), "refuted"),
        (guest(-1, 192), "undetermined"),
    ],
)
def test_a_gap_behind_the_first_adapter_is_no_evidence(made, result):
    assert _result(made, "guest-adapter-names") == result


LSI_LOGIC = "VirtualLsiLogicController"


@pytest.mark.parametrize(
    "all_slots, result",
    [
        ([(192,)] * 3, "refuted"),
        ([(160,), (192,), (192,)], "refuted"),
        ([(160,), (192,)], "refuted"),
        ([(160,), (160,), (192,)], "confirmed"),
    ],
)
def test_most_vms_of_a_layout_decide_on_the_first_slot(all_slots, result):
    assert _result(guests(*all_slots, controller=LSI_LOGIC), "guest-adapter-names") == result


def test_a_device_in_front_of_the_first_adapter_is_a_reason_for_a_later_slot():
    made = guests((192,), controller=LSI_LOGIC, others=[vgpu()])
    assert _result(made, "guest-adapter-names") == "undetermined"


SRIOV, VMXNET3 = DEVICE.VirtualSriovEthernetCard, DEVICE.VirtualVmxnet3


def machine(*kinds, ports=0):
    """A VM behind one controller, with adapters of these kinds and this number of whole ports."""
    cards = [kind(key=4000 + number, macAddress="") for number, kind in enumerate(kinds)]
    made = SimpleNamespace(nics=cards, devices=[DEVICE.ParaVirtualSCSIController(key=1000), *cards], extra={})
    made.setting = made.extra.get
    about = {"mac": "", "device_id": 1, "vendor_id": adapters.MELLANOX, "speed_mbps": 1, "link_up": True}
    about["firmware"] = SimpleNamespace(version="1")
    whole = [SimpleNamespace(pci=f"0000:3b:{number:02x}.0", **about) for number in range(ports)]
    claimed = {one.pci: SimpleNamespace(vm=made, device_key=13000 + number) for number, one in enumerate(whole)}
    made.host = SimpleNamespace(ports=whole, claimed=claimed)
    return made


def test_an_adapter_behind_an_sriov_adapter_has_one_slot_and_its_name():
    vm = machine(SRIOV, VMXNET3)
    started_keys.write(vm)
    assert vm.extra == {"ethernet1.pciSlotNumber": "224"}
    assert slots.names(vm)[1] == "ens224"
    assert hardware.kinds_of_nics(vm) == [(1, f"0000:{slots.bus_of(224):02x}:00.0", hardware.VMXNET3)]


def test_each_adapter_counts_once_before_whole_ports(monkeypatch):
    vm = machine(SRIOV, VMXNET3, SRIOV, ports=2)
    monkeypatch.setattr(hardware, "_port_of", lambda vm, nic: vm.host.ports[0])
    found = [one.address for one in hardware.rdma_of(None, vm)]
    assert found == [hardware.nic_address(vm, position) for position in (0, 2, 3, 4)]


def test_whole_ports_without_a_free_slot_have_no_device():
    vm = machine(*[VMXNET3] * 10, ports=30)
    free = len(slots.of(vm)) - 10
    assert [one.key for one in hardware.rdma_of(None, vm)] == [13000 + number for number in range(free)]
