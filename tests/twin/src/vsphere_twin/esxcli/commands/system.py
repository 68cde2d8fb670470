"""esxcli system: version, names, maintenance mode, and going down; hardware platform, and file systems."""

from __future__ import annotations

from vsphere_twin.model import lifecycle, maintenance, tasks

from ..command import BOOL, INT, Argument, Refused, Rows, Single, Structure, command

VERSION = Structure("Version", ("Product", "Version", "Build", "Update", "Patch"))
HOSTNAME = Structure("FullyQualifiedHostName", ("Domain Name", "Fully Qualified Domain Name", "Host Name"))
PLATFORM = Structure(
    "PlatformGet",
    (
        "UUID",
        "Product Name",
        "Vendor Name",
        "Serial Number",
        "Enclosure Serial Number",
        "BIOS Asset Tag",
        "IPMI Supported",
    ),
    types={"IPMI Supported": BOOL},
    header="Platform Information",
)
FILESYSTEM = Structure(
    "Filesystem",
    ("Mount Point", "Volume Name", "UUID", "Mounted", "Type", "Size", "Free"),
    types={"Mounted": BOOL, "Size": INT, "Free": INT},
)
FILESYSTEM_NAMES = {"VMFS": "VMFS-6", "NFS": "NFS", "NFS41": "NFS41", "vsan": "vsan"}
PATIENCE_S = 3600  # how long a command without --timeout waits for VMs to go


@command("system.version.get", "Display the product name, version and build information.")
def version_get(world, host):
    release = host.release
    build = f"Releasebuild-{release.build}"
    values = ("VMware ESXi", release.version, build, release.update, "0")
    return Single(VERSION, dict(zip(VERSION.labels, values, strict=True)))


@command("system.hostname.get", "Get the host, domain or fully qualified name of the ESX host.")
def hostname_get(world, host):
    short, _dot, domain = host.name.partition(".")
    return Single(HOSTNAME, {"Domain Name": domain, "Fully Qualified Domain Name": host.name, "Host Name": short})


@command("system.uuid.get", "Get the system UUID.")
def uuid_get(world, host):
    return host.uuid


@command("system.maintenanceMode.get", "Get the maintenance mode state of the system.")
def maintenance_get(world, host):
    return "Enabled" if host.maintenance else "Disabled"


@command(
    "system.maintenanceMode.set",
    "Enable or disable the maintenance mode of the system.",
    Argument("enable", "e", type=BOOL, required=True),
    Argument("timeout", "t", type=INT),
    Argument("vsanmode", "m"),
)
def maintenance_set(world, host, enable, timeout=0, vsanmode=None):
    if host.maintenance == enable:
        raise Refused(f"Maintenance mode is already {'enabled' if enable else 'disabled'}.")
    task = None
    if enable:
        task = tasks.start(
            world, "EnterMaintenanceMode_Task", host, lambda: maintenance.enter(world, host, task, timeout), user="root"
        )
    else:
        task = tasks.start(world, "ExitMaintenanceMode_Task", host, lambda: maintenance.leave(world, host), user="root")
    world.changed.wait_for(lambda: task.completed_at is not None or world.closed, timeout or PATIENCE_S)
    if task.completed_at is None:
        raise Refused("The operation timed out.")
    if task.error is not None:
        raise task.error


@command(
    "system.shutdown.reboot",
    "Reboot the system. The host must be in maintenance mode.",
    Argument("delay", "d", type=INT),
    Argument("reason", "r", required=True),
)
def reboot(world, host, reason, delay=10):
    _require_maintenance(host)
    lifecycle.restart(world, host)


@command(
    "system.shutdown.poweroff",
    "Power off the system. The host must be in maintenance mode.",
    Argument("delay", "d", type=INT),
    Argument("reason", "r", required=True),
)
def poweroff(world, host, reason, delay=10):
    _require_maintenance(host)
    lifecycle.shut_down(world, host)


@command("hardware.platform.get", "Get information about the platform")
def platform_get(world, host):
    hardware = host.hardware
    values = (host.uuid, hardware.model, hardware.vendor, hardware.serial, hardware.serial, "unknown", True)
    return Single(PLATFORM, dict(zip(PLATFORM.labels, values, strict=True)))


@command("storage.filesystem.list", "List the volumes available to the host.")
def filesystem_list(world, host):
    rows = [
        (
            f"/vmfs/volumes/{store.uuid}",
            store.name,
            store.uuid,
            store.accessible,
            FILESYSTEM_NAMES[store.filesystem],
            store.capacity,
            store.free,
        )
        for store in host.datastores.values()
    ]
    return Rows(FILESYSTEM, [dict(zip(FILESYSTEM.labels, row, strict=True)) for row in rows], table=True)


def _require_maintenance(host):
    if not host.maintenance:
        raise Refused("The operation is not allowed in the current state: the host is not in maintenance mode.")
