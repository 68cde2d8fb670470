"""An ESXi host: its hardware, its state, and its content."""

from __future__ import annotations

import collections
import datetime
from dataclasses import dataclass, field

from pyVmomi import vim, vmodl

from . import local_users, net_stacks, snmp
from .dvx import DvxClass
from .inventory import Managed, reference
from .world import Entity

# The managers below a host that have a managed object of their own.
MANAGERS = {
    "accountManager": ("HostLocalAccountManager", "localAccountManager"),
    "advancedOption": ("OptionManager", "EsxHostAdvSettings"),
    "assignableHardwareManager": ("HostAssignableHardwareManager", "assignableHardwareManager"),
    "authenticationManager": ("HostAuthenticationManager", "authenticationManager"),
    "autoStartManager": ("HostAutoStartManager", "autoStartManager"),
    "bootDeviceSystem": ("HostBootDeviceSystem", "bootDeviceSystem"),
    "certificateManager": ("HostCertificateManager", "certificateManager"),
    "cpuScheduler": ("HostCpuSchedulerSystem", "cpuSchedulerSystem"),
    "datastoreSystem": ("HostDatastoreSystem", "datastoreSystem"),
    "dateTimeSystem": ("HostDateTimeSystem", "dateTimeSystem"),
    "diagnosticSystem": ("HostDiagnosticSystem", "diagnosticSystem"),
    "esxAgentHostManager": ("HostEsxAgentHostManager", "esxAgentHostManager"),
    "firewallSystem": ("HostFirewallSystem", "firewallSystem"),
    "firmwareSystem": ("HostFirmwareSystem", "firmwareSystem"),
    "graphicsManager": ("HostGraphicsManager", "graphicsManager"),
    "healthStatusSystem": ("HostHealthStatusSystem", "healthStatusSystem"),
    "hostAccessManager": ("HostAccessManager", "hostAccessManager"),
    "imageConfigManager": ("HostImageConfigManager", "imageConfigManager"),
    "iscsiManager": ("IscsiManager", "iscsiManager"),
    "kernelModuleSystem": ("HostKernelModuleSystem", "kernelModuleSystem"),
    "memoryManager": ("HostMemorySystem", "memoryManagerSystem"),
    "networkSystem": ("HostNetworkSystem", "networkSystem"),
    "pciPassthruSystem": ("HostPciPassthruSystem", "pciPassthruSystem"),
    "powerSystem": ("HostPowerSystem", "powerSystem"),
    "serviceSystem": ("HostServiceSystem", "serviceSystem"),
    "snmpSystem": ("HostSnmpSystem", "snmpSystem"),
    "storageSystem": ("HostStorageSystem", "storageSystem"),
    "userDirectory": ("UserDirectory", "userDirectory"),
    "virtualNicManager": ("HostVirtualNicManager", "virtualNicManager"),
    "vmotionSystem": ("HostVMotionSystem", "vmotionSystem"),
}
STORES_OF_USERS = (
    ("HostLocalAuthentication", "localAuthentication"),
    ("HostActiveDirectoryAuthentication", "activeDirectoryAuthentication"),
)
GB = 1024**3
NOT_CONNECTED = "Unable to communicate with the remote host, since it is disconnected."
NO_ANSWER = "Unable to communicate with the remote host."


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
    memory_bytes: int = 0  # where it is no whole number of GB

    def __post_init__(self):
        self.memory_bytes = self.memory_bytes or self.memory_gb * GB

    @property
    def cores(self):
        return self.sockets * self.cores_per_socket


@dataclass
class VmkernelNic:
    """A vmkernel port, on a port group of a standard switch or of a distributed one."""

    device: str
    ip: str
    netmask: str
    mac: str
    portgroup: str = ""
    services: tuple = ("management",)
    mtu: int = 1500
    dv_portgroup: object = None
    dhcp: bool = False
    stack: str = net_stacks.DEFAULT

    @property
    def switch(self):
        """The distributed switch, where it lies on one."""
        return self.dv_portgroup.switch if self.dv_portgroup is not None else None


@dataclass
class StandardSwitch:
    """A standard switch, which belongs to one host."""

    name: str
    mtu: int = 1500
    portgroups: list = field(default_factory=list)  # (name, VLAN) besides the datacenter's networks
    ports: int = 128
    policy: object = None  # the vim.host.NetworkPolicy that clients set


@dataclass
class Service:
    """A daemon that the host's service system lists."""

    key: str
    label: str
    running: bool = False
    policy: str = "off"
    ruleset: list = field(default_factory=list)


@dataclass
class Passthru:
    """Passthrough of one PCI device: the configured state, and the effective one since its binding."""

    enabled: bool = False
    active: bool = False
    label: str | None = None
    # VMs get it through the vendor's code (DVX): the class, the configured state, and the effective one.
    dvx: DvxClass | None = None
    enhanced: bool = False
    enhanced_active: bool = False


@dataclass
class DeviceModes:
    """What a host knows about modes besides the state of its devices, by PCI address."""

    left_to_host: set = field(default_factory=set)  # SYSTEM_SELECT: the host picks the mode at power-on
    until_maintenance: set = field(default_factory=set)  # changes that wait for maintenance mode


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
        self._state()
        self._contents()
        self.managers = {}
        for prop, (kind, prefix) in MANAGERS.items():
            self.managers[prop] = world.add(HostManager(kind, f"{prefix}-{self.number}", self))
        self.browser = world.add(HostManager("HostDatastoreBrowser", f"datastoreBrowser-{self.moid}", self))
        self.stores_of_users = [  # in the order in which the host asks them
            world.add(HostManager(kind, f"{prefix}-{self.number}", self)) for kind, prefix in STORES_OF_USERS
        ]

    def _state(self):
        self.connection = "connected"  # connected | disconnected | notResponding, as vCenter sees it
        self.power = "poweredOn"  # poweredOn | poweredOff | standBy, as the machine's own front panel shows it
        self.booting = False  # on, and not yet (or no longer) running ESXi
        self.leaving = False  # a restart or shutdown was requested; ESXi still runs
        self.start_number = 0  # counts power transitions, so that events planned before one do not happen after it
        self.boot_seconds = 0.3
        self.esxcli_calls = collections.Counter()  # by command, from any interface
        self.boot_time = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=1)
        self.boots = 0
        self.cold_boots = 0
        self.maintenance = False
        self.entering_maintenance = None  # the task that waits for running VMs
        self.reboot_required = False
        self.lockdown = "lockdownDisabled"
        self.lockdown_exceptions = []
        self.driver = Driver()
        self.default_graphics_type = "shared"
        self.assignment_policy = "performance"
        self.typed_gpus: set = set()  # PCI addresses of GPUs that have a configured type already
        self.autostart = {"defaults": None, "order": {}}  # start settings of VMs, as clients set them
        self.when_vms_go = []  # called once a VM has stopped or left

    def _contents(self):
        self.daemons: dict = {}  # third-party services that were started or stopped since the boot
        self.bmc = None  # twin.model.bmc.Bmc
        self.software = None  # twin.model.software.Software
        self.kernel = None  # twin.model.kernel.Kernel
        self.gpus: list = []
        self.ports: list = []  # all network ports; the property nics leaves out passthrough ports
        self.bridges: list = []
        self.nvswitches: list[str] = []  # PCI addresses
        self.fabric_manager = True  # of the NVSwitches; its name on ESXi was not found [unsure]
        self.slots: dict = {}  # by PCI address of a GPU
        self.passthru: dict[str, Passthru] = {}  # by PCI address
        self.modes = DeviceModes()
        self.claimed: dict = {}  # PCI address of a device or function: the direct.Holder that has it
        self.standard_switches: list[StandardSwitch] = []
        self.vmkernel: list[VmkernelNic] = []
        self.options: dict = {}
        self.services: list[Service] = []
        self.rulesets: dict[str, bool] = {}
        self.allowed_hosts: dict = {}  # by ruleset, where not everyone is allowed
        self.ntp_servers: list[str] = []
        self.power_policy = 2  # its key: balanced
        self.local_users = local_users.all_of()
        self.snmp = snmp.Agent()
        self.net_stacks = net_stacks.all_of()
        self.ipv6 = True
        self.ipv6_at_boot = True
        self.datastores: dict = {}
        self.networks: dict = {}  # standard networks and port groups alike
        self.group_places: dict = {}  # by the moid of a network: (standard switch, VLAN), where clients set it
        self.group_policies: dict = {}  # by the name of a standard port group: the vim.host.NetworkPolicy of clients
        self.switches: dict = {}
        self.vms: dict = {}

    @property
    def compute(self):
        return self.parent

    @property
    def running_esxi(self):
        """Return whether ESXi itself is up, whatever its state in vCenter."""
        return self.power == "poweredOn" and not self.booting

    @property
    def reachable(self):
        """Return whether the host answers: vCenter, SSH."""
        return self.running_esxi and self.connection == "connected"

    @property
    def nics(self):
        """The ports that ESXi has for itself; one that is passed through is no vmnic any more."""
        return [nic for nic in self.ports if not (nic.pci in self.passthru and self.passthru[nic.pci].active)]

    @property
    def vgpu_types(self):
        """Return the shared passthrough types of the host, without regard to capacity."""
        names = {entry.name: entry for gpu in self.gpus for entry in gpu.types(self.release)}
        return [names[name] for name in sorted(names)]

    def running_vms(self):
        return [vm for vm in self.vms.values() if vm.power == "poweredOn"]

    def service(self, key):
        """A daemon by its key."""
        return next(one for one in self.services if one.key == key)

    def vm_went(self):
        """Handle a VM that stopped or left: waiting operations check again."""
        for call in list(self.when_vms_go):
            call()


def touch(world, host):
    """Invalidate everything that shows the state of the host."""
    world.touch(host, host.compute, *host.managers.values(), *host.vms.values())


def show_connection(host, state):
    """Set vCenter's connection state of the host, and with it the state of the host's VMs."""
    host.connection = state
    for vm in host.vms.values():
        vm.connection = "connected" if state == "connected" else "disconnected"


def require_answer(host):
    """Refuse requests to a host that vCenter does not reach."""
    if host.connection == "disconnected":
        raise vmodl.fault.HostNotConnected(msg=NOT_CONNECTED)
    if not host.reachable:
        raise vmodl.fault.HostCommunication(msg=NO_ANSWER)


def require_usable(host):
    """A host must be connected, and not in maintenance, to start a VM."""
    if not host.reachable:
        raise vmodl.fault.HostNotConnected(msg=NOT_CONNECTED)
    if host.maintenance or host.leaving:
        raise vim.fault.InvalidHostState(
            msg="The operation is not allowed in the current state of the host.",
            host=reference(host),
        )


def wrong_state():
    """Return the fault for an operation that is invalid in the host's state."""
    return vim.fault.InvalidState(msg="The operation is not allowed in the current state.")
