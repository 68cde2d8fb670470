"""An ESXi host: its hardware, its state, and the GPUs in it."""

from __future__ import annotations

from dataclasses import dataclass, field

from pyVmomi import vim, vmodl

from . import gpu as gpus
from .inventory import Managed, reference
from .world import Entity

NO_GRAPHICS = "The amount of graphics resource available in the parent resource pool is insufficient for the operation."
# The managers below a host that have a managed object of their own.
MANAGERS = {
    "advancedOption": ("OptionManager", "EsxHostAdvSettings"),
    "datastoreSystem": ("HostDatastoreSystem", "datastoreSystem"),
    "dateTimeSystem": ("HostDateTimeSystem", "dateTimeSystem"),
    "firewallSystem": ("HostFirewallSystem", "firewallSystem"),
    "graphicsManager": ("HostGraphicsManager", "graphicsManager"),
    "networkSystem": ("HostNetworkSystem", "networkSystem"),
    "pciPassthruSystem": ("HostPciPassthruSystem", "pciPassthruSystem"),
    "powerSystem": ("HostPowerSystem", "powerSystem"),
    "serviceSystem": ("HostServiceSystem", "serviceSystem"),
    "storageSystem": ("HostStorageSystem", "storageSystem"),
    "virtualNicManager": ("HostVirtualNicManager", "virtualNicManager"),
    "vmotionSystem": ("HostVMotionSystem", "vmotionSystem"),
}


@dataclass
class Driver:
    """The NVIDIA host driver that is loaded: the compute (NVAIE) family, the graphics family, or none."""

    family: str = "none"
    version: str = ""


@dataclass
class Hardware:
    """The machine itself."""

    vendor: str = "Dell Inc."
    model: str = "PowerEdge R750xa"
    cpu_model: str = "Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz"
    sockets: int = 2
    cores_per_socket: int = 32
    mhz: int = 2000
    memory_gb: int = 512
    serial: str = ""

    @property
    def cores(self):
        return self.sockets * self.cores_per_socket


@dataclass
class Nic:
    """A physical network port."""

    device: str
    mac: str
    pci: str
    driver: str = "nmlx5_core"
    speed_mbps: int = 100000
    vendor_id: int = 0x15B3
    device_id: int = 0x101D
    model: str = "MT2892 Family [ConnectX-6 Dx]"


@dataclass
class VmkernelNic:
    """A vmkernel port."""

    device: str
    ip: str
    netmask: str
    mac: str
    portgroup: str
    services: tuple = ("management",)
    mtu: int = 1500


@dataclass
class Service:
    """A daemon that the host's service system lists."""

    key: str
    label: str
    running: bool = False
    policy: str = "off"
    ruleset: list = field(default_factory=list)


class HostManager(Entity):
    """One of the managers below a host, such as its graphics manager."""

    def __init__(self, kind, moid, host):
        self.kind = kind
        super().__init__(moid)
        self.host = host


class Host(Managed):
    kind = "HostSystem"

    def __init__(self, world, name, compute, release, hardware):
        super().__init__(world.new_moid("host"), name, compute)
        self.number = int(self.moid.rpartition("-")[2])
        self.release = release
        self.hardware = hardware
        self.uuid = world.new_uuid("host")
        self.connection = "connected"  # connected | disconnected | notResponding
        self.power = "poweredOn"
        self.maintenance = False
        self.reboot_required = False
        self.driver = Driver()
        self.default_graphics_type = "shared"
        self.assignment_policy = "performance"
        self.gpus: list[gpus.Gpu] = []
        self.nics: list[Nic] = []
        self.vmkernel: list[VmkernelNic] = []
        self.options: dict = {}
        self.services: list[Service] = []
        self.rulesets: dict[str, bool] = {}
        self.allowed_hosts: dict = {}  # by ruleset, where not everyone is allowed
        self.ntp_servers: list[str] = []
        self.dns_servers: list[str] = []
        self.domain = ""
        self.datastores: dict = {}
        self.networks: dict = {}  # standard networks and port groups alike
        self.switches: dict = {}
        self.vms: dict = {}
        self.managers = {}
        for prop, (kind, prefix) in MANAGERS.items():
            self.managers[prop] = world.add(HostManager(kind, f"{prefix}-{self.number}", self))
        self.browser = world.add(HostManager("HostDatastoreBrowser", f"datastoreBrowser-{self.moid}", self))

    @property
    def compute(self):
        return self.parent

    @property
    def vgpu_types(self):
        """What the host offers as shared passthrough types, without regard to room."""
        names = {entry.name: entry for gpu in self.gpus for entry in gpu.types(self.release)}
        return [names[name] for name in sorted(names)]

    def running_vms(self):
        return [vm for vm in self.vms.values() if vm.power == "poweredOn"]


def load_driver(host, family, version=""):
    """The driver after a boot: without one, every GPU is of the basic type."""
    host.driver = Driver(family, version)
    for gpu in host.gpus:
        gpu.driver = family
        if gpu.passthrough:
            gpu.active_type = "direct"
        elif family == "none":
            gpu.active_type = "basic"
        else:
            gpu.active_type = gpu.configured_type


def require_usable(host):
    """A host must be connected, and not in maintenance, to start a VM."""
    if host.connection != "connected":
        raise vmodl.fault.HostNotConnected(
            msg="Unable to communicate with the remote host, since it is disconnected.",
        )
    if host.maintenance:
        raise vim.fault.InvalidHostState(
            msg="The operation is not allowed in the current state of the host.",
            host=reference(host),
        )


def enter_maintenance(world, host):
    """Maintenance mode asks for a host without running VMs; nothing evacuates them here."""
    if host.maintenance:
        raise vim.fault.InvalidState(msg="The operation is not allowed in the current state.")
    if host.running_vms():
        raise vim.fault.Timedout(msg="Operation timed out.")
    host.maintenance = True
    world.touch(host)


def leave_maintenance(world, host):
    """Back to work."""
    if not host.maintenance:
        raise vim.fault.InvalidState(msg="The operation is not allowed in the current state.")
    host.maintenance = False
    world.touch(host)


def set_graphics(world, host, config):
    """UpdateGraphicsConfig: the wish is kept at once, it acts after a restart of Xorg or of the host."""
    if config.hostDefaultGraphicsType not in ("shared", "sharedDirect"):
        raise vmodl.fault.InvalidArgument(invalidProperty="config.hostDefaultGraphicsType")
    if config.sharedPassthruAssignmentPolicy not in ("performance", "consolidation"):
        raise vmodl.fault.InvalidArgument(invalidProperty="config.sharedPassthruAssignmentPolicy")
    by_id = {gpu.pci_id: gpu for gpu in host.gpus}
    for entry in config.deviceType or []:
        if entry.deviceId not in by_id or entry.graphicsType not in ("shared", "sharedDirect"):
            raise vmodl.fault.InvalidArgument(invalidProperty="config.deviceType")
    host.default_graphics_type = config.hostDefaultGraphicsType
    host.assignment_policy = config.sharedPassthruAssignmentPolicy
    for entry in config.deviceType or []:
        gpu = by_id[entry.deviceId]
        gpu.configured_type = entry.graphicsType
        if entry.vgpuMode in ("sameSize", "mixedSize") and host.release.mixed_size:
            gpu.vgpu_mode = entry.vgpuMode
    world.touch(host, host.managers["graphicsManager"])


def restart_xorg(world, host):
    """The graphics types that are configured become the active ones."""
    if any(gpu.vms() for gpu in host.gpus):
        return
    load_driver(host, host.driver.family, host.driver.version)
    world.touch(host, host.managers["graphicsManager"])


def reboot(world, host):
    """What a restart of the host settles at once; its VMs must be off."""
    if host.running_vms():
        raise vim.fault.InvalidState(msg="The operation is not allowed in the current state.")
    host.reboot_required = False
    restart_xorg(world, host)


def pick_gpus(host, vm, wanted):
    """GPUs for the vGPUs of a VM, or the vendor's refusal."""
    placements = gpus.place_all(host.gpus, wanted, host.assignment_policy, host.release, vm)
    if placements is None:
        raise vim.fault.InsufficientGraphicsResourcesFault(msg=NO_GRAPHICS)
    return placements
