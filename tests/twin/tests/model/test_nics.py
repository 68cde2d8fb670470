"""Network adapters of VMs: networks, hardware versions, protocols, and what a running VM takes."""

from __future__ import annotations

import pytest
from pyVmomi import vim

from vsphere_twin.model import seed_devices

DEVICE = vim.vm.device
SWITCHES = [
    {"name": "dvs", "portgroups": [{"name": "train"}]},
    {"name": "far", "members": "uplinks", "portgroups": [{"name": "far-away"}]},
]
HOSTS = [
    {"name": "esx-1", "nics": [{"device": "vmnic0", "uplink_of": "vSwitch0"}]},
    {
        "name": "esx-2",
        "nics": [{"device": "vmnic0", "uplink_of": "vSwitch0"}, {"device": "vmnic1", "uplink_of": "far"}],
    },
]


@pytest.fixture
def here(lab):
    return lambda *vms, **more: lab(
        hosts=HOSTS,
        switches=SWITCHES,
        vms=[{"name": f"vm-{number}", "host": "esx-1", **one} for number, one in enumerate(vms)],
        **more,
    )


def network(world, name):
    return next(one for one in world.hosts[1].networks.values() if one.name == name)


def add(world, vm, place="train", **row):
    """Ask for an adapter of a kind on a network; the answer is the refusal, or None."""
    device = seed_devices.adapter(network(world, place), row)
    change = vim.vm.device.VirtualDeviceSpec(operation="add", device=device)
    return world.reconfigure(vm, deviceChange=[change]).error


def edit(world, vm, device):
    change = vim.vm.device.VirtualDeviceSpec(operation="edit", device=device)
    return world.reconfigure(vm, deviceChange=[change]).error


def only(world, vm):
    (adapter,) = world.vm(vm).nics
    return adapter


PROTOCOL = {
    (12, None): vim.fault.DeviceUnsupportedForVmVersion,
    (13, None): None,
    (13, "rocev2"): vim.fault.InvalidDeviceSpec,
    (14, "rocev1"): None,
    (19, "rocev2"): None,
    (19, "rocev3"): vim.fault.InvalidDeviceSpec,
    (20, None): None,
    (20, "rocev2"): vim.fault.InvalidDeviceSpec,
}


@pytest.mark.parametrize("given,fault", PROTOCOL.items())
def test_the_protocol_of_pvrdma_goes_with_the_hardware_version(here, given, fault):
    hardware, protocol = given
    world = here({"hardware_version": hardware})
    row = {"type": "pvrdma", **({"protocol": protocol} if protocol else {})}
    assert add(world, "vm-0", **row).__class__ is (fault or type(None))
    assert len(world.vm("vm-0").nics) == (0 if fault else 1)


def test_pvrdma_is_refused_on_a_standard_network(here):
    world = here({})
    assert isinstance(add(world, "vm-0", "VM Network", type="pvrdma"), vim.fault.InvalidDeviceBacking)
    assert add(world, "vm-0", type="pvrdma") is None
    moved = seed_devices.adapter(network(world, "VM Network"), {"type": "pvrdma"})
    moved.key = only(world, "vm-0").key
    assert isinstance(edit(world, "vm-0", moved), vim.fault.InvalidDeviceBacking)


@pytest.mark.parametrize("hardware,most", [(13, 1), (16, 1), (17, 10), (20, 10)])
def test_only_so_many_pvrdma_adapters_fit(here, hardware, most):
    world = here({"hardware_version": hardware})
    assert [add(world, "vm-0", type="pvrdma") for _number in range(most)] == [None] * most
    assert isinstance(add(world, "vm-0", type="pvrdma"), vim.fault.TooManyDevices)


def test_ten_adapters_are_the_most(here):
    world = here({"networks": ["train"] * 10})
    assert isinstance(add(world, "vm-0"), vim.fault.TooManyDevices)


@pytest.mark.parametrize("kind", ["pvrdma", "sriov", "vmxnet3"])
@pytest.mark.parametrize("other", ["pvrdma", "sriov", "vmxnet3"])
def test_an_adapter_is_not_changed_into_another_kind(here, kind, other):
    world = here({"adapters": [{"type": kind, "network": "train"}]})
    wanted = seed_devices.adapter(network(world, "train"), {"type": other})
    wanted.key = only(world, "vm-0").key
    refusal = edit(world, "vm-0", wanted)
    assert refusal.__class__ is (type(None) if kind == other else vim.fault.InvalidDeviceSpec)


def test_a_running_vm_gets_a_vmxnet3_adapter_but_no_pvrdma_one(here):
    world = here({"adapters": [{"type": "pvrdma", "network": "train"}], "power": "on"})
    assert isinstance(add(world, "vm-0", type="pvrdma"), vim.fault.InvalidPowerState)
    assert add(world, "vm-0") is None
    pvrdma, _vmxnet3 = world.vm("vm-0").nics
    change = vim.vm.device.VirtualDeviceSpec(operation="remove", device=pvrdma)
    assert isinstance(world.reconfigure("vm-0", deviceChange=[change]).error, vim.fault.InvalidPowerState)


def test_a_pvrdma_adapter_of_a_running_vm_is_disconnected(here):
    world = here({"adapters": [{"type": "pvrdma", "network": "train"}], "power": "on"})
    wanted = only(world, "vm-0")
    wanted.connectable = DEVICE.VirtualDevice.ConnectInfo(startConnected=False, connected=False, allowGuestControl=True)
    assert edit(world, "vm-0", wanted) is None
    assert only(world, "vm-0").connectable.startConnected is False


def test_a_port_group_whose_switch_the_host_is_no_member_of_is_refused(here):
    world = here({})
    assert isinstance(add(world, "vm-0", "far-away"), vim.fault.InvalidDeviceSpec)
    assert world.vm("vm-0").nics == []


def test_a_vm_does_not_start_where_its_port_group_is_not(here):
    world = here({"host": "esx-2", "networks": ["far-away"]})
    there, (switch,) = world.vm("vm-0"), [one for one in world.hosts[1].switches.values() if one.name == "far"]
    group = network(world, "far-away")
    switch.hosts.pop(there.host.moid)
    there.host.networks.pop(group.moid)
    refusal = world.power_on("vm-0").error
    assert isinstance(refusal, vim.fault.CannotAccessNetwork)
    assert (refusal.device, refusal.backing) == ("Network adapter 1", "far-away")


REPLUGGED = {
    "an address": ({"macAddress": "00:50:56:00:00:01"}, "vmxnet3"),
    "an address of PVRDMA": ({"macAddress": "00:50:56:00:00:01"}, "pvrdma"),
    "a protocol": ({"deviceProtocol": "rocev1"}, "pvrdma"),
}


@pytest.mark.parametrize("fields,kind", REPLUGGED.values(), ids=REPLUGGED)
def test_a_running_vm_keeps(here, fields, kind):
    world = here({"adapters": [{"type": kind, "network": "train"}], "power": "on", "hardware_version": 19})
    adapter = only(world, "vm-0")
    wanted = type(adapter)(key=adapter.key, **fields)
    assert isinstance(edit(world, "vm-0", wanted), vim.fault.InvalidPowerState)
    world.power_off("vm-0")
    assert edit(world, "vm-0", wanted) is None
