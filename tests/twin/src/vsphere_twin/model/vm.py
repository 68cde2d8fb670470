"""A virtual machine: its configuration and its state."""

from __future__ import annotations

import datetime

from pyVmomi import vim

from .inventory import Managed

VMIOP = vim.vm.device.VirtualPCIPassthrough.VmiopBackingInfo
PASSTHROUGH = vim.vm.device.VirtualPCIPassthrough
DISK = vim.vm.device.VirtualDisk
NIC = vim.vm.device.VirtualEthernetCard
THIN_BYTES = 16 * 1024**3
GUEST_NAMES = {
    "ubuntu64Guest": "Ubuntu Linux (64-bit)",
    "rhel8_64Guest": "Red Hat Enterprise Linux 8 (64-bit)",
    "rhel9_64Guest": "Red Hat Enterprise Linux 9 (64-bit)",
    "rockylinux_64Guest": "Rocky Linux (64-bit)",
    "debian12_64Guest": "Debian GNU/Linux 12 (64-bit)",
    "otherLinux64Guest": "Other Linux (64-bit)",
    "otherGuest": "Other (32-bit)",
    "windows2022srvNext_64Guest": "Microsoft Windows Server 2025 (64-bit)",
}


class VirtualMachine(Managed):
    kind = "VirtualMachine"

    def __init__(self, world, name, folder=None):
        super().__init__(world.new_moid("vm"), name, folder)
        self.host = None
        self.pool = None
        self.datastores: dict = {}
        self.networks: dict = {}
        self.home = ""  # "[datastore] directory/name.vmx"
        self.uuid = world.new_uuid("vm bios")
        self.instance_uuid = world.new_uuid("vm instance")
        self.hardware_version = "vmx-21"
        self.guest_id = "ubuntu64Guest"
        self.annotation = ""
        self.template = False
        self.unfinished = False  # still being made: in the inventory, and nothing else is known of it
        self.power = "poweredOff"
        self.connection = "connected"
        self.cpus = 1
        self.cores_per_socket = 1
        self.memory_mb = 1024
        self.firmware = "bios"
        self.boot_options = None
        self.flags = None
        self.kept: dict = {}  # settings without a rule, by their names in a ConfigSpec
        self.policies: dict = {}  # key of a disk, or None for the home: the association with a storage policy
        self.cpu_hot_add = False
        self.memory_hot_add = False
        self.memory_locked = False
        self.memory_allocation = _allocation()
        self.cpu_allocation = _allocation()
        self.latency_sensitivity = "normal"
        self.devices: list = []
        self.device_groups: dict[int, str] = {}  # instance key: name of the vendor device group
        self.own_gpus: dict[int, object] = {}  # device key of a vGPU: the GPU that a capture found it on
        self.extra: dict[str, str] = {}
        self.change_count = 0
        self.created = _now()
        self.modified = _now()
        self.booted = None
        self.tools_installed = True
        self.tools_running = False
        self.host_name = name
        self.installed_firmware = None  # installation data of the guest, if there is one
        self.cores_per_numa_node = None  # of the virtual machine's own topology; None: vSphere decides
        self.addresses: dict[int, str] = {}  # device key of a NIC: the address that the guest gives it
        self.port_addresses: dict[str, str] = {}  # MAC of a port that it has in whole: address and prefix of the guest
        self.prefixes: dict[int, int] = {}  # device key of a NIC: the prefix length that a real guest reports
        self.fixed_addresses: dict[str, object] = {}  # MAC of a NIC: the interface that the guest has configured
        self.customization = None  # settings that VMware Tools applies at the next boot
        self.instance_id = None  # the instance of cloud-init at its last boot
        self.snapshots: list = []
        self.current_snapshot = None
        self.browser = None
        self.shutdown_pending = False

    @property
    def change_version(self):
        return f"{self.modified:%Y-%m-%dT%H:%M:%S.%f}Z-{self.change_count}"

    @property
    def vgpus(self):
        """(device key, profile name) of the vGPUs, in the order of their keys."""
        found = [(one.key, one.backing.vgpu) for one in self.devices if isinstance(one.backing, VMIOP)]
        return sorted(found)

    @property
    def passthrough_devices(self):
        """PCI devices that are passed through in whole."""
        return [one for one in self.devices if isinstance(one, PASSTHROUGH) and not isinstance(one.backing, VMIOP)]

    @property
    def disks(self):
        return [one for one in self.devices if isinstance(one, DISK)]

    def ports_of(self, group):
        """The connections of its adapters to a distributed port group."""
        ports = [getattr(nic.backing, "port", None) for nic in self.nics]
        return [port for port in ports if port is not None and port.portgroupKey == group.key]

    @property
    def nics(self):
        return [one for one in self.devices if isinstance(one, NIC)]

    @property
    def disk_bytes(self):
        return sum(written(disk) for disk in self.disks)

    @property
    def promised_bytes(self):
        """Return the bytes that thin disks may still allocate."""
        return sum((disk.capacityInKB or 0) * 1024 for disk in self.disks) - self.disk_bytes

    def bytes_on(self, moid):
        """Return the bytes of the VM's disks on a datastore."""
        return sum(written(disk) for disk in self.disks if _store_of(disk) == moid)

    @property
    def hardware_number(self):
        """21 of vmx-21."""
        return int(self.hardware_version.partition("-")[2])

    @property
    def memory_reserved_mb(self):
        return self.memory_mb if self.memory_locked else (self.memory_allocation.reservation or 0)

    @property
    def fully_reserved(self):
        return self.memory_reserved_mb >= self.memory_mb

    @property
    def guest_name(self):
        return GUEST_NAMES.get(self.guest_id, "Other (64-bit)")

    @property
    def ip_address(self):
        return next(iter(self.addresses.values()), None) if self.tools_running else None

    def setting(self, key):
        """An extraConfig value; keys are compared without regard to case, as in a VMX file."""
        wanted = key.casefold()
        return next((value for name, value in self.extra.items() if name.casefold() == wanted), None)

    def changed(self):
        """A change of the configuration: the next change must name the new version."""
        self.change_count += 1
        self.modified = _now()


def written(disk):
    """Return the bytes that a disk occupies: all of a thick one, and the written part of a thin one [a model]."""
    size = (disk.capacityInKB or 0) * 1024
    return min(size, THIN_BYTES) if getattr(disk.backing, "thinProvisioned", False) else size


def _store_of(disk):
    store = getattr(disk.backing, "datastore", None)
    return store._moId if store is not None else None


def _allocation():
    return vim.ResourceAllocationInfo(
        reservation=0,
        expandableReservation=False,
        limit=-1,
        shares=vim.SharesInfo(shares=1000, level="normal"),
    )


def _now():
    return datetime.datetime.now(datetime.timezone.utc)
