"""esxcli hardware, storage core, vm process, and the clocks: the parts of the machine and its processes.

Names and order of the fields are those of printed output [unsure: MEM]. Disks are a model: one to boot from, one for
each VMFS volume.
"""

from __future__ import annotations

import datetime

from vsphere_twin.model import power

from ..command import BOOL, INT, Argument, Refused, Rows, Single, Structure, command
from .network import world_of

CPU = Structure(
    "CPU",
    (
        "CPU",
        "Id",
        "Package Id",
        "Family",
        "Model",
        "Type",
        "Stepping",
        "Brand",
        "Core Speed",
        "Bus Speed",
        "APIC ID",
        "Node",
    ),
    types=dict.fromkeys(
        ("Id", "Package Id", "Family", "Model", "Type", "Stepping", "Core Speed", "Bus Speed", "Node"), INT
    ),
    header="<CPU>",
)
CPU_GLOBAL = Structure(
    "CpuGlobal",
    (
        *("CPU Packages", "CPU Cores", "CPU Threads", "Hyperthreading Active", "Hyperthreading Supported"),
        *("Hyperthreading Enabled", "HV Support", "HV Replay Capable", "HV Replay Disabled Reasons"),
    ),
    types={
        **dict.fromkeys(("CPU Packages", "CPU Cores", "CPU Threads", "HV Support"), INT),
        **dict.fromkeys(
            ("Hyperthreading Active", "Hyperthreading Supported", "Hyperthreading Enabled", "HV Replay Capable"), BOOL
        ),
    },
    lists=("HV Replay Disabled Reasons",),
)
MEMORY = Structure(
    "MemoryGet",
    ("Physical Memory", "Reliable Memory", "NUMA Node Count"),
    types=dict.fromkeys(("Physical Memory", "Reliable Memory", "NUMA Node Count"), INT),
)
PROCESS = Structure(
    "VirtualMachine",
    ("Display Name", "World ID", "Process ID", "VMX Cartel ID", "UUID", "Config File"),
    types=dict.fromkeys(("World ID", "Process ID", "VMX Cartel ID"), INT),
    header="<Display Name>",
)
DISK = Structure(
    "ScsiDevice",
    (
        *(
            "Device",
            "Display Name",
            "Has Settable Display Name",
            "Size",
            "Device Type",
            "Multipath Plugin",
            "Devfs Path",
        ),
        *("Vendor", "Model", "Revision", "SCSI Level", "Is Pseudo", "Status", "Is RDM Capable", "Is Local"),
        *("Is Removable", "Is SSD", "Is VVOL PE", "Is Offline", "Is Perennially Reserved", "Thin Provisioning Status"),
        *("VAAI Status", "Is SAS", "Is USB", "Is Boot Device", "Device Max Queue Depth", "Drive Type"),
    ),
    types={
        **dict.fromkeys(("Size", "SCSI Level", "Device Max Queue Depth"), INT),
        **dict.fromkeys(
            (
                *("Has Settable Display Name", "Is Pseudo", "Is RDM Capable", "Is Local", "Is Removable", "Is SSD"),
                *("Is VVOL PE", "Is Offline", "Is Perennially Reserved", "Is SAS", "Is USB", "Is Boot Device"),
            ),
            BOOL,
        ),
    },
    header="<Device>",
)
ADAPTER = Structure("ScsiInterface", ("HBA Name", "Driver", "Link State", "UID", "Capabilities", "Description"))
EXTENT = Structure(
    "VMFSExtent",
    ("Volume Name", "VMFS UUID", "Extent Number", "Device Name", "Partition"),
    types={"Extent Number": INT, "Partition": INT},
)
BOOT_DISK = "t10.NVMe____BOOT"
BOOT_DISK_MB = 228_936
MB, GB = 1024**2, 1024**3


@command("hardware.cpu.list", "List all of the CPUs on this host.")
def cpu_list(world, host):
    hardware = host.hardware
    rows = [
        {
            "CPU": f"CPU:{number}",
            "Id": number,
            "Package Id": number // (2 * hardware.cores_per_socket),
            "Family": 6,
            "Model": 106,
            "Type": 0,
            "Stepping": 6,
            "Brand": "GenuineIntel" if "Intel" in hardware.cpu_model else "AuthenticAMD",
            "Core Speed": hardware.mhz * 1_000_000,
            "Bus Speed": 100_000_000,
            "APIC ID": f"0x{number:x}",
            "Node": number // (2 * hardware.cores_per_socket),
        }
        for number in range(2 * hardware.cores)
    ]
    return Rows(CPU, rows)


@command("hardware.cpu.global.get", "List properties that are global to all CPUs.")
def cpu_global(world, host):
    hardware = host.hardware
    threads = 2 * hardware.cores
    on = 3 if host.bmc.functions()["virtualization"] else 1
    return Single(
        CPU_GLOBAL,
        dict(
            zip(
                CPU_GLOBAL.labels,
                (hardware.sockets, hardware.cores, threads, True, True, True, on, False, []),
                strict=True,
            )
        ),
    )


@command("hardware.memory.get", "Get information about memory.")
def memory_get(world, host):
    values = (host.hardware.memory_gb * GB, 0, host.hardware.sockets)
    return Single(MEMORY, dict(zip(MEMORY.labels, values, strict=True)))


@command("hardware.clock.get", "Display the current hardware clock time.")
def clock_get(world, host):
    return _stamp(world.clocks.now(host.name))


@command("system.time.get", "Display the current system clock parameters.")
def time_get(world, host):
    return _stamp(world.clocks.now(host.name))


@command("system.stats.uptime.get", "Display the number of microseconds the system has been running.")
def uptime_get(world, host):
    return int((datetime.datetime.now(datetime.timezone.utc) - host.boot_time).total_seconds() * 1_000_000)


@command("vm.process.list", "List the virtual machines on this system.")
def process_list(world, host):
    return Rows(PROCESS, [_process(vm) for vm in host.running_vms()])


@command(
    "vm.process.kill",
    "Used to forcibly kill Virtual Machines that are stuck and not responding to normal stop operations.",
    Argument("type", "t", required=True, choices=("soft", "hard", "force")),
    Argument("world-id", "w", type=INT, required=True),
)
def process_kill(world, host, worldid, **how):
    """However it is killed, the VM is off."""
    vm = next((one for one in host.running_vms() if int(world_of(one)) == worldid), None)
    if vm is None:
        raise Refused(f"Unable to find a virtual machine with the world ID {worldid}")
    power.power_off(world, vm)


@command("storage.core.device.list", "List the devices currently registered with the PSA.", Argument("device", "d"))
def device_list(world, host, device=None):
    rows = [row for row in _disks(host) if device in (None, row["Device"])]
    if not rows:
        raise Refused(f"Unable to find device with name {device}")
    return Rows(DISK, rows)


@command("storage.core.adapter.list", "List all the SCSI Host Bus Adapters on the system.")
def adapter_list(world, host):
    row = ("vmhba0", "nvme_pcie", "link-n/a", f"pcie.{BOOT_DISK}", "", "(0000:01:00.0) NVMe SSD Controller")
    return Rows(ADAPTER, [dict(zip(ADAPTER.labels, row, strict=True))], table=True)


@command("storage.vmfs.extent.list", "List the VMFS extents available on the host.")
def extent_list(world, host):
    rows = [(one.name, one.uuid, 0, one.lun, 1) for one in host.datastores.values() if one.filesystem == "VMFS"]
    return Rows(EXTENT, [dict(zip(EXTENT.labels, row, strict=True)) for row in rows], table=True)


def _disks(host):
    yield _disk(BOOT_DISK, "Local NVMe Disk", BOOT_DISK_MB, boot=True)
    for store in host.datastores.values():
        if store.filesystem == "VMFS":
            yield _disk(store.lun, "Fibre Channel Disk", store.capacity // MB)


def _disk(name, text, size_mb, boot=False):
    values = (
        *(name, f"{text} ({name})", True, size_mb, "Direct-Access", "HPP" if boot else "NMP"),
        *(
            f"/vmfs/devices/disks/{name}",
            "NVMe" if boot else "DGC",
            "SSD" if boot else "VRAID",
            "1.0",
            0 if boot else 6,
        ),
        *(False, "on", not boot, boot, False, boot, False, False, False, "yes", "supported", False, False, boot, 64),
        "physical" if boot else "logical",
    )
    return dict(zip(DISK.labels, values, strict=True))


def _process(vm):
    digits = vm.uuid.replace("-", "")
    pairs = [digits[at : at + 2] for at in range(0, 32, 2)]
    uuid = f"{' '.join(pairs[:8])}-{' '.join(pairs[8:])}"
    number = int(world_of(vm))
    store, _space, path = vm.home.partition("] ")
    file = f"/vmfs/volumes/{store[1:]}/{path}"
    return dict(zip(PROCESS.labels, (vm.name, number, 0, number - 1, uuid, file), strict=True))


def _stamp(time):
    return f"{time:%Y-%m-%dT%H:%M:%SZ}"
