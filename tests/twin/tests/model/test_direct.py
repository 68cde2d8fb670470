"""Passed-through devices and virtual functions: what a request may ask for, what power-on takes and gives back."""

from __future__ import annotations

import pytest
from pyVmomi import vim

from vsphere_twin.esxcli.commands import network as esxcli_network
from vsphere_twin.model import cloning, passthru, power

DEVICE = vim.vm.device
ROOT = "0000:36:02.0"
A100 = {"board": "a100_pcie_40gb", "root": ROOT, "numa_node": 0}
FIRMWARE = {"ats": True, "sriov": True, "num_vfs": 4}
NICS = [
    {"device": "vmnic0", "model": "i350", "uplink_of": "vSwitch0"},
    {"device": "vmnic1", "model": "cx6dx", "root": ROOT, "uplink_of": "dvs", "firmware": FIRMWARE},
    {"device": "vmnic2", "model": "cx6dx", "root": ROOT, "passthrough": True, "label": "fabric", "firmware": FIRMWARE},
    {"device": "vmnic3", "model": "cx7", "root": ROOT, "passthrough": True},
]
GPU_ID, NIC_ID = "10de:20f1", "15b3:101d"
PF, PORT, OTHER_PORT, GPU = "0000:3a:00.0", "0000:3a:00.1", "0000:3b:00.0", "0000:39:00.0"
SPLIT = {"nmlx5_core": "max_vfs=2,0,0"}
FUNCTIONS = ["0000:3a:00.2", "0000:3a:00.3"]
STATIC = {"pci_devices": [{"id": PORT}]}
DYNAMIC = {"pci_devices": [{"allowed": [NIC_ID], "label": "fabric"}]}
SRIOV = {"adapters": [{"type": "sriov", "network": "train", "physical_function": PF}]}


def host(name="esx-1", **more):
    return {
        "name": name,
        "gpus": [{**A100, "passthrough": True, "label": "training"}],
        "nics": NICS,
        "module_options": SPLIT,
        **more,
    }


@pytest.fixture
def here(lab):
    """A host with a GPU, two ports and a split port to give away, and VMs as the test wants them."""
    return lambda *vms, **more: lab(
        hosts=more.pop("hosts", None) or [host()],
        vms=[{"name": f"vm-{number}", "host": "esx-1", **one} for number, one in enumerate(vms)],
        **more,
    )


def held(world):
    return {address: holder.vm.name for one in world.hosts for address, holder in one.claimed.items()}


TAKES = {
    "a device by its address": (STATIC, [PORT]),
    "a device by vendor, model and label": (DYNAMIC, [PORT]),
    "a device of a model, whatever its label": ({"pci_devices": [{"allowed": [NIC_ID]}]}, [PORT]),
    "one of several models": ({"pci_devices": [{"allowed": ["15b3:1021", "15b3:ffff"]}]}, [OTHER_PORT]),
    "a GPU and a port": ({"pci_devices": [{"allowed": [GPU_ID]}, {"id": PORT}]}, [GPU, PORT]),
    "two, in the only order that serves both": (
        {"pci_devices": [{"allowed": [NIC_ID, "15b3:1021"]}, {"allowed": [NIC_ID]}]},
        [PORT, OTHER_PORT],
    ),
    "three, of which the first has to leave its first choice to others": (
        {
            "pci_devices": [
                {"allowed": [GPU_ID, NIC_ID]},
                {"allowed": [GPU_ID, "15b3:1021"]},
                {"allowed": [GPU_ID, "15b3:1021"]},
            ]
        },
        [GPU, PORT, OTHER_PORT],
    ),
    "a function of the wanted port": (SRIOV, FUNCTIONS[:1]),
    "a function of an uplink of its switch": ({"adapters": [{"type": "sriov", "network": "train"}]}, FUNCTIONS[:1]),
    "two functions": ({"adapters": [SRIOV["adapters"][0], SRIOV["adapters"][0]]}, FUNCTIONS),
    "a function that is passed through by its address": ({"pci_devices": [{"id": FUNCTIONS[1]}]}, FUNCTIONS[1:]),
}


@pytest.mark.parametrize("vm,addresses", TAKES.values(), ids=TAKES)
def test_power_on_takes_and_power_off_gives_back(here, vm, addresses):
    world = here(vm)
    assert world.power_on("vm-0").error is None
    assert held(world) == dict.fromkeys(addresses, "vm-0")
    assert world.power_off("vm-0").state == "success"
    assert held(world) == {}


TAKEN = "is already in use"
REFUSED = {
    "a device that another VM has": ([STATIC, STATIC], TAKEN),
    "a port behind a function that another VM has": ([SRIOV, SRIOV, SRIOV], f"given physical function (PF) ({PF})"),
    "a label that no free device has": (
        [{"pci_devices": [{"allowed": [NIC_ID], "label": "other"}]}],
        "'PCI device 0' is not available",
    ),
    "more devices of a model than there are": (
        [{"pci_devices": [{"allowed": [NIC_ID]}, {"allowed": [NIC_ID]}]}],
        "is not available on the host",
    ),
    "a dynamic device that is the static one of the same VM": (
        [{"pci_devices": [{"id": PORT}, {"allowed": [NIC_ID]}]}],
        "is not available on the host",
    ),
    "a port without functions": (
        [{"adapters": [{"type": "sriov", "network": "train", "physical_function": "0000:3b:00.0"}]}],
        "No SR-IOV virtual function (VF) is available for given physical function (PF) (0000:3b:00.0)",
    ),
    "a switch whose uplinks have no functions": (
        [{"adapters": [{"type": "sriov", "network": "VM Network"}]}],
        "No SR-IOV virtual function (VF) is available",
    ),
    "passthrough with memory that is not reserved": (
        [{**STATIC, "memory_reservation": "none"}],
        "memory reservation (sched.mem.min) should be equal to memsize(32768)",
    ),
    "a function with memory that is not reserved": (
        [{**SRIOV, "memory_reservation": "none"}],
        "memory reservation (sched.mem.min) should be equal to memsize(32768)",
    ),
    "a PVRDMA adapter with memory that is not reserved": (
        [{"adapters": [{"type": "pvrdma", "network": "train"}], "memory_reservation": "none"}],
        "memory reservation (sched.mem.min) should be equal to memsize(32768)",
    ),
}


@pytest.mark.parametrize("vms,words", REFUSED.values(), ids=REFUSED)
def test_power_on_is_refused_for(here, vms, words):
    world = here(*vms)
    *others, last = (f"vm-{number}" for number in range(len(vms)))
    assert [world.power_on(name).error for name in others] == [None] * len(others)
    before = held(world)
    refusal = world.power_on(last).error
    assert isinstance(refusal, vim.fault.GenericVmConfigFault)
    assert words in refusal.msg
    assert (held(world), world.vm(last).power) == (before, "poweredOff")


STRANGE = {
    "on another host": {"systemId": "0000-0000"},
    "of another model": {"deviceId": "101e"},
    "of another vendor": {"vendorId": 0x10DE},
    "in an empty slot": {"id": "0000:99:00.0"},
}


@pytest.mark.parametrize("field", STRANGE.values(), ids=STRANGE)
def test_a_recorded_device_that_is_now(here, field):
    world = here(STATIC)
    (device,) = world.vm("vm-0").passthrough_devices
    for name, value in field.items():
        setattr(device.backing, name, value)
    assert "systemId does not match" in world.power_on("vm-0").error.msg


def test_a_device_that_was_given_back_to_esxi_is_not_there_for_vms(here):
    world = here(STATIC)
    off = vim.host.PciPassthruConfig(id=PORT, passthruEnabled=False)
    passthru.configure(world.world, world.hosts[0], [off])
    assert "unavailable hardware or software support" in world.power_on("vm-0").error.msg


@pytest.mark.parametrize("vm,address", [(STATIC, PORT), (SRIOV, PF)], ids=["a device", "a port by its function"])
def test_what_a_running_vm_holds_is_not_reconfigured(here, vm, address):
    world = here(vm)
    world.power_on("vm-0")
    entry = vim.host.PciPassthruConfig(id=address, passthruEnabled=address == PF)
    with pytest.raises(vim.fault.ResourceInUse):
        passthru.configure(world.world, world.hosts[0], [entry])
    world.power_off("vm-0")
    passthru.configure(world.world, world.hosts[0], [entry])
    assert world.hosts[0].passthru[address].enabled is (address == PF)


def test_the_assigned_device_is_shown_while_the_vm_runs_and_no_change_is_counted(here):
    world = here(DYNAMIC)
    version = world.vm("vm-0").change_version
    world.power_on("vm-0")
    (device,) = world.vm("vm-0").passthrough_devices
    assert device.backing.assignedId == PORT
    world.power_off("vm-0")
    (device,) = world.vm("vm-0").passthrough_devices
    assert device.backing.assignedId is None
    assert world.vm("vm-0").change_version == version


@pytest.mark.parametrize("requested", [{}, {"physical_function": PF}])
def test_the_index_of_a_function_is_shown_while_the_vm_runs(here, requested):
    world = here({"adapters": [{"type": "sriov", "network": "train", **requested}]})
    vm = world.vm("vm-0")
    (before,) = vm.nics
    world.power_on("vm-0")
    (running,) = vm.nics
    assert running.sriovBacking.virtualFunctionIndex == 0
    world.power_off("vm-0")
    (after,) = vm.nics
    assert str(after.sriovBacking) == str(before.sriovBacking)


def test_a_clone_of_a_running_vm_has_the_request_and_not_the_device(here):
    world = here({"pci_devices": DYNAMIC["pci_devices"], "adapters": SRIOV["adapters"], "power": "on"})
    vm = world.vm("vm-0")
    spec = vim.vm.CloneSpec(location=vim.vm.RelocateSpec(), powerOn=False, template=False)
    made = world.task("CloneVM_Task", vm, lambda: cloning.clone(world.world, vm, vm.parent, "copy", spec))
    assert made.error is None
    copied = world.vm("copy")
    assert [one.backing.assignedId for one in copied.passthrough_devices] == [None]
    assert [one.sriovBacking.virtualFunctionIndex for one in copied.nics] == [None]
    assert set(held(world).values()) == {"vm-0"}


def functions(world):
    rows = esxcli_network.vf_list(world.world, world.hosts[0], "vmnic1").entries
    return [(row["Active"], row["Owner World ID"] != "-") for row in rows]


def test_the_functions_in_use_are_listed_with_their_owner(here):
    world = here(SRIOV)
    assert functions(world) == [(False, False), (False, False)]
    world.power_on("vm-0")
    assert functions(world) == [(True, True), (False, False)]
    world.power_off("vm-0")
    assert functions(world) == [(False, False), (False, False)]


def passed(backing):
    return vim.vm.device.VirtualDeviceSpec(
        operation="add", device=DEVICE.VirtualPCIPassthrough(key=-1, backing=backing)
    )


def dynamic(*ids):
    allowed = [DEVICE.VirtualPCIPassthrough.AllowedDevice(vendorId=0x15B3, deviceId=one) for one in ids]
    return DEVICE.VirtualPCIPassthrough.DynamicBackingInfo(deviceName="", allowedDevice=allowed)


def static(address):
    return DEVICE.VirtualPCIPassthrough.DeviceBackingInfo(
        deviceName="", id=address, deviceId="101d", systemId="", vendorId=0x15B3
    )


@pytest.mark.parametrize(
    "hardware,backings,fault",
    [
        (16, [dynamic(0x101D)], vim.fault.DeviceUnsupportedForVmVersion),
        (17, [dynamic(0x101D)], None),
        (19, [dynamic()], vim.fault.InvalidDeviceSpec),
        (19, [static(PORT), static(PORT)], vim.fault.InvalidDeviceSpec),
        (19, [dynamic(0x101D)] * 16, None),
        (19, [dynamic(0x101D)] * 17, vim.fault.TooManyDevices),
        (20, [dynamic(0x101D)] * 32, None),
        (20, [dynamic(0x101D)] * 33, vim.fault.TooManyDevices),
    ],
)
def test_a_request_for_devices_is_looked_at_as_a_whole(here, hardware, backings, fault):
    world = here({"hardware_version": hardware})
    task = world.reconfigure("vm-0", deviceChange=[passed(one) for one in backings])
    assert task.error.__class__ is (fault or type(None))
    assert len(world.vm("vm-0").passthrough_devices) == (0 if fault else len(backings))


@pytest.mark.parametrize("operation", ["add", "remove"])
def test_a_running_vm_neither_gets_nor_loses_a_function(here, operation):
    world = here(SRIOV)
    world.power_on("vm-0")
    (adapter,) = [one for one in world.vm("vm-0").devices if isinstance(one, DEVICE.VirtualSriovEthernetCard)]
    change = vim.vm.device.VirtualDeviceSpec(operation=operation, device=adapter)
    assert isinstance(world.reconfigure("vm-0", deviceChange=[change]).error, vim.fault.InvalidPowerState)


def test_drs_finds_the_host_that_has_the_device(here):
    bare = {"name": "esx-1", "nics": NICS[:2]}
    world = here(DYNAMIC, hosts=[bare, host("esx-2")], drs="fullyAutomated")
    assert world.power_on("vm-0").error is None
    assert world.vm("vm-0").host.name == "esx-2"


def test_a_running_vm_keeps_the_network_and_the_port_of_its_function(here):
    world = here({**SRIOV, "power": "on"})
    (card,) = world.vm("vm-0").nics
    other = next(one for one in world.hosts[0].networks.values() if one.name == "VM Network")
    backing = DEVICE.VirtualEthernetCard.NetworkBackingInfo(deviceName=other.name, network=vim.Network(other.moid))
    port = DEVICE.VirtualPCIPassthrough.DeviceBackingInfo(
        id=OTHER_PORT, deviceName="", deviceId="1021", systemId="", vendorId=0x15B3
    )
    moved = DEVICE.VirtualSriovEthernetCard(key=card.key, backing=backing)
    split = DEVICE.VirtualSriovEthernetCard.SriovBackingInfo(physicalFunctionBacking=port)
    elsewhere = DEVICE.VirtualSriovEthernetCard(key=card.key, sriovBacking=split)
    for wanted in (moved, elsewhere):
        change = vim.vm.device.VirtualDeviceSpec(operation="edit", device=wanted)
        assert isinstance(world.reconfigure("vm-0", deviceChange=[change]).error, vim.fault.InvalidPowerState)
    world.power_off("vm-0")
    for wanted in (moved, elsewhere):
        change = vim.vm.device.VirtualDeviceSpec(operation="edit", device=wanted)
        assert world.reconfigure("vm-0", deviceChange=[change]).error is None


@pytest.mark.parametrize("vm", [STATIC, DYNAMIC, SRIOV], ids=["static", "dynamic", "function"])
def test_a_running_vm_with_a_device_of_its_host_is_not_suspended(here, vm):
    world = here({**vm, "power": "on"})
    with pytest.raises(vim.fault.GenericVmConfigFault, match="cannot be suspended"):
        power.suspend(world.world, world.vm("vm-0"))
    assert world.vm("vm-0").power == "poweredOn"
