"""esxcli graphics and hardware pci: GPUs, their types, and passthrough."""

from __future__ import annotations

from pyVmomi import vim

from vsphere_twin.model import adapters, passthru

from ..command import BOOL, HEX, INT, Argument, Refused, Rows, Single, Structure, command

# esxcli's words for the API's shared, sharedDirect and so on.
TYPES = {"shared": "Shared", "sharedDirect": "SharedPassthru", "direct": "Direct", "basic": "Basic"}
POLICIES = {"performance": "Performance", "consolidation": "Consolidation"}
HOST = Structure("HostInfo", ("Default Graphics Type", "Shared Passthru Assignment Policy"))
DEVICE = Structure(
    "GraphicsDevice",
    ("Vendor Name", "Device Name", "Module Name", "Graphics Type", "Memory Size in KB", "Number of VMs"),
    types={"Memory Size in KB": INT, "Number of VMs": INT},
    hidden=("Address",),
    header="<Address>",
)
STATS = Structure(
    "GraphicsDeviceStats",
    ("Driver Version", "Number of VMs", "Memory Used in KB"),
    types={"Number of VMs": INT, "Memory Used in KB": INT},
    hidden=("Address",),
    header="<Address>",
)
VM = Structure("GraphicsVM", ("World ID", "Name", "Device", "Profile"), types={"World ID": INT})
PCI = Structure(
    "PCIDevice",
    (
        *("Address", "Segment", "Bus", "Slot", "Function", "VMkernel Name", "Vendor Name", "Device Name"),
        *("Configured Owner", "Current Owner", "Vendor ID", "Device ID", "Device Class", "Device Class Name"),
        *("Module Name", "Passthru Capable", "Parent Device", "Dependent Device", "Reset Method", "FPT Sharable"),
        "NUMA Node",
    ),
    types={
        **dict.fromkeys(("Segment", "Bus", "Slot", "Function", "Vendor ID", "Device ID", "Device Class"), HEX),
        **dict.fromkeys(("Passthru Capable", "FPT Sharable"), BOOL),
        "NUMA Node": INT,
    },
    header="<Address>",
)
CLASSES = {0x0200: "Ethernet controller", 0x0302: "3D controller", 0x0604: "PCI bridge"}
PASSTHRU = Structure("PciPassthru", ("Device ID", "Enabled"), types={"Enabled": BOOL})
OWNED = "Unable to configure the PCI device: Device owner is already configured to {}."


@command("graphics.host.get", "Get host graphics properties.")
def host_get(world, host):
    values = (TYPES[host.default_graphics_type], POLICIES[host.assignment_policy])
    return Single(HOST, dict(zip(HOST.labels, values, strict=True)))


@command(
    "graphics.host.set",
    "Set host graphics properties.",
    Argument("default-type", choices=("Shared", "SharedPassthru")),
    Argument("shared-passthru-assignment-policy", choices=("Performance", "Consolidation")),
)
def host_set(world, host, defaulttype=None, sharedpassthruassignmentpolicy=None):
    if defaulttype is not None:
        host.default_graphics_type = "shared" if defaulttype.lower() == "shared" else "sharedDirect"
    if sharedpassthruassignmentpolicy is not None:
        host.assignment_policy = sharedpassthruassignmentpolicy.lower()
    world.touch(host, host.managers["graphicsManager"])


@command("graphics.host.refresh", "Refresh host graphics properties.")
def host_refresh(world, host):
    world.touch(host, host.managers["graphicsManager"])


@command("graphics.device.list", "List graphics devices.")
def device_list(world, host):
    return Rows(DEVICE, [_device(host, gpu) for gpu in host.gpus])


@command("graphics.device.stats.list", "List graphics device statistics.")
def stats_list(world, host):
    rows = [
        {
            "Address": gpu.pci_id,
            "Driver Version": host.driver.version,
            "Number of VMs": len(gpu.vms()),
            "Memory Used in KB": gpu.load() * 1024**2,
        }
        for gpu in host.gpus
        if gpu.active_type not in ("basic", "direct")
    ]
    return Rows(STATS, rows)


@command("graphics.vm.list", "List VMs using graphics devices.")
def vm_list(world, host):
    rows = [
        {
            "World ID": _world(one.vm),
            "Name": one.vm.name,
            "Device": gpu.pci_id,
            "Profile": one.profile.name,
        }
        for gpu in host.gpus
        for one in gpu.residents
    ]
    return Rows(VM, rows, table=True)


@command(
    "hardware.pci.list",
    "List all of the PCI devices on the system.",
    Argument("class", "c"),
    Argument("mask", "m"),
)
def pci_list(world, host, mask=None, **only):
    wanted = int(only["class"], 0) if "class" in only else None
    rows = [one for one in adapters.pci_devices(host) if wanted is None or one.class_id == wanted]
    return Rows(PCI, [_pci(one) for one in rows])


@command("hardware.pci.pcipassthru.list", "Display PCI device passthru configuration.")
def passthru_list(world, host):
    rows = [
        {"Device ID": one.address, "Enabled": one.passthru_enabled}
        for one in adapters.pci_devices(host)
        if one.passthru_capable
    ]
    return Rows(PASSTHRU, rows, table=True)


@command(
    "hardware.pci.pcipassthru.set",
    "Configure PCI device for passthru.",
    Argument("apply-now", "a", type=BOOL, flag=True),
    Argument("device-id", "d", required=True),
    Argument("enable", "e", type=BOOL, required=True),
)
def passthru_set(world, host, deviceid, enable, applynow=False):
    state = host.passthru.get(deviceid.lower())
    if state is None:
        raise Refused("Unable to configure the PCI device: Invalid device ID.")
    if state.enabled == enable:
        raise Refused(OWNED.format("passthru" if enable else "vmkernel"))
    wanted = vim.host.PciPassthruConfig(id=deviceid.lower(), passthruEnabled=enable, applyNow=applynow)
    passthru.configure(world, host, [wanted])


def _world(vm):
    return 2000000 + int(vm.moid.rpartition("-")[2])


def _device(host, gpu):
    bound = {"basic": "None", "direct": "pciPassthru"}.get(gpu.active_type, "nvidia")
    return {
        "Address": gpu.pci_id,
        "Vendor Name": "NVIDIA Corporation",
        "Device Name": gpu.board.product,
        "Module Name": bound,
        "Graphics Type": TYPES[gpu.active_type],
        "Memory Size in KB": gpu.board.memory_gb * 1024**2 if bound == "nvidia" else 0,
        "Number of VMs": len(gpu.vms()),
    }


def _pci(one):
    segment, bus, rest = one.address.split(":")
    slot, function = rest.split(".")
    owner = "VM Passthru" if one.passthru_active else "VMkernel"
    return {
        "Address": one.address,
        "Segment": int(segment, 16),
        "Bus": int(bus, 16),
        "Slot": int(slot, 16),
        "Function": int(function, 16),
        "VMkernel Name": one.vmkernel_name,
        "Vendor Name": one.vendor_name,
        "Device Name": one.device_name,
        "Configured Owner": "VM Passthru" if one.passthru_enabled else "VMkernel",
        "Current Owner": owner,
        "Vendor ID": one.vendor_id,
        "Device ID": one.device_id,
        "Device Class": one.class_id,
        "Device Class Name": CLASSES.get(one.class_id, ""),
        "Module Name": one.module or "None",
        "Passthru Capable": one.passthru_capable,
        "Parent Device": _decimal(one.parent),
        "Dependent Device": _decimal(one.address),
        "Reset Method": "Function reset" if one.class_id != adapters.BRIDGE else "None",
        "FPT Sharable": one.passthru_capable,
        "NUMA Node": one.numa_node,
    }


def _decimal(address):
    """'0000:af:00.0' as PCI 0:175:0:0, the form of parents (NVIDIA AI Enterprise user guide 5.0, 4.2)."""
    if not address:
        return ""
    segment, bus, rest = address.split(":")
    slot, function = rest.split(".")
    return f"PCI {int(segment, 16)}:{int(bus, 16)}:{int(slot, 16)}:{int(function, 16)}"
