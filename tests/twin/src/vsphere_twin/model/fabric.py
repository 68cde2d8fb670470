"""Datastores, networks and distributed switches."""

from __future__ import annotations

import urllib.parse
from dataclasses import dataclass, field

from pyVmomi import vim

from .dv_features import Features
from .files import Files
from .inventory import Managed, datacenter_of
from .vm import written

GB = 1024**3


class Datastore(Managed):
    kind = "Datastore"

    def __init__(self, world, name, parent, capacity_gb, free_gb, filesystem="VMFS"):
        super().__init__(world.new_moid("datastore"), name, parent)
        self.capacity = int(capacity_gb * GB)
        self.base_free = int(free_gb * GB)
        self.filesystem = filesystem
        self.uuid = world.new_uuid("datastore")
        self.hosts: dict = {}
        self.vms: dict = {}
        self.accessible = True
        self.maintenance = "normal"
        self.remote = None  # mounts.Remote of an NFS volume that a client mounted
        self.read_only_on: dict = {}  # by host, where a client mounted it
        self.files = Files()
        self.left_disks: dict = {}  # file name: a disk that no VM has
        self.left_vms: dict = {}  # file name: a VM that was taken out of the inventory, files and all else left

    def refuse_new_files(self):
        """No VM gets files here in maintenance mode (vSphere API reference, DatastoreEnterMaintenanceMode)."""
        if self.maintenance != "normal":
            words = f"Datastore '{self.name}' is in maintenance mode."
            raise vim.fault.InvalidDatastoreState(msg=words, datastoreName=self.name)  # the fault is [unsure]

    def require_room(self, more, new=True):
        """Raise a fault unless so many bytes more fit, by default as new files."""
        if new:
            self.refuse_new_files()
        if more > self.free:
            words = f"Insufficient disk space on datastore '{self.name}'."
            raise vim.fault.NoDiskSpace(msg=words, file="", datastore=self.name)

    @property
    def url(self):
        return f"ds:///vmfs/volumes/{self.uuid}/"

    @property
    def lun(self):
        """The name of the disk below a VMFS volume, as ESXi writes it."""
        return f"naa.6{self.uuid.replace('-', '')[:31]}"

    @property
    def free(self):
        return max(0, self.room)

    @property
    def room(self):
        """Return the free space, negative if more is provisioned than available."""
        left = sum(written(disk) for disk in self.left_disks.values())
        used = sum(vm.bytes_on(self.moid) for vm in self.vms.values())
        return self.base_free - self.files.used - left - used


def datastore_at(world, center_path, name):
    """The datastore of a name, in the datacenter with this path if there is one."""
    # Clients encode an ampersand twice, since vCenter decodes it twice.
    wanted = urllib.parse.unquote(center_path).strip("/") if center_path is not None else None
    for store in world.of_kind("Datastore"):
        if store.name == name and wanted in (None, _path(datacenter_of(store))):
            return store
    return None


def _path(entity):
    """The path of a datacenter below the root folder."""
    names = []
    while entity is not None and entity.parent is not None:
        names.append(urllib.parse.unquote(entity.name))
        entity = entity.parent
    return "/".join(reversed(names))


class Network(Managed):
    """A port group of the hosts' standard switches, seen by its name."""

    kind = "Network"

    def __init__(self, world, name, parent, vlan=0):
        super().__init__(world.new_moid("network"), name, parent)
        self.vlan = vlan
        self.hosts: dict = {}
        self.vms: dict = {}


class Switch(Managed):
    """A VMware distributed switch."""

    kind = "VmwareDistributedVirtualSwitch"

    def __init__(self, world, name, parent, mtu=9000, version="8.0.3", uplinks=2):
        super().__init__(world.new_moid("dvs"), name, parent)
        self.uuid = _switch_uuid(world.new_uuid("switch"))
        self.mtu = mtu
        self.product_version = version
        self.joined_by = "all"  # which hosts of a seed are members: all, or those with uplinks
        self.uplinks = [f"Uplink {number}" for number in range(1, uplinks + 1)]
        self.hosts: dict = {}
        self.seats: dict = {}  # by host: which of the switch's sets of uplink ports it has
        self.portgroups: dict = {}
        self.config_version = 1
        self.description = ""
        self.lldp = "none"  # none, listen, advertise, both: LLDP mode of its uplinks
        self.pvlans: dict = {}  # secondary VLAN: (primary VLAN, type)
        self.kept: dict = {}  # settings without a rule, by their names in a VMwareDVSConfigSpec
        self.features = Features()

    @property
    def uplinks_name(self):
        """The name that vCenter gives the port group of the uplinks; the number is the switch's own."""
        return f"{self.name}-DVUplinks-{self.moid.rpartition('-')[2]}"

    @property
    def uplink_group(self):
        """The port group of its uplink ports."""
        return next(group for group in self.portgroups.values() if group.uplink)

    def uplinks_of(self, host):
        """The ports of a member that serve the switch, in the order of the uplinks they take."""
        return [nic for nic in host.nics if nic.switch is self]


@dataclass
class Teaming:
    """Uplinks for the traffic of a port group; None means all of the switch."""

    policy: str = "loadbalance_srcid"
    active: list | None = None
    standby: list = field(default_factory=list)


class Portgroup(Managed):
    kind = "DistributedVirtualPortgroup"

    def __init__(self, world, name, parent, switch, vlan=0, uplink=False, ports=8):
        super().__init__(world.new_moid("dvportgroup"), name, parent)
        self.switch = switch
        # A number, or the ranges of a trunk; uplinks carry all VLANs.
        self.vlan = [vim.NumericRange(start=0, end=4094)] if uplink else vlan
        self.uplink = uplink
        self.own_ports = ports
        self.kept: dict = {}  # settings without a rule, by their names in a DVPortgroupConfigSpec
        self.teaming = Teaming()
        self.vms: dict = {}
        self.config_version = 1
        self.description = ""
        switch.portgroups[self.moid] = self

    @property
    def key(self):
        return self.moid

    @property
    def ports(self):
        """Return the number of ports; those for uplinks come with the members."""
        return len(self.switch.uplinks) * len(self.switch.hosts) if self.uplink else self.own_ports

    @property
    def hosts(self):
        return self.switch.hosts

    @property
    def bound(self):
        """Return whether its ports exist before something is plugged in."""
        return self.kept.get("type") != "ephemeral"

    @property
    def first_port(self):
        """The number of its first port; no group has as many ports as lie between two groups."""
        return int(self.key.rpartition("-")[2]) * 100_000

    @property
    def port_keys(self):
        """The keys of its own ports; those of uplinks follow from the members of the switch."""
        return [str(self.first_port + number) for number in range(self.own_ports)]

    def free_port(self, vm):
        """The key of a port for an adapter of a VM; an elastic port group gets eight more when all are taken (vSphere
        Networking, Port Allocation).
        """
        taken = {port.portKey for one in (vm, *self.vms.values()) for port in one.ports_of(self)}
        while True:
            free = next((key for key in self.port_keys if key not in taken), None)
            if free is not None:
                return free
            if self.kept.get("autoExpand") is False:
                raise vim.fault.LimitExceeded(msg="A specified limit was exceeded.", property="ports", limit=self.ports)
            self.own_ports += 8


def _switch_uuid(text):
    """Switches write their UUID as sixteen bytes with one dash."""
    digits = text.replace("-", "")
    pairs = [digits[at : at + 2] for at in range(0, 32, 2)]
    return f"{' '.join(pairs[:8])}-{' '.join(pairs[8:])}"
