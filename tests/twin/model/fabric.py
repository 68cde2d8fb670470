"""Datastores, networks and distributed switches."""

from __future__ import annotations

from .files import Files
from .inventory import Managed

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
        self.files = Files()

    @property
    def url(self):
        return f"ds:///vmfs/volumes/{self.uuid}/"

    @property
    def free(self):
        return max(0, self.base_free - self.files.used - sum(vm.disk_bytes for vm in self.vms.values()))


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

    def __init__(self, world, name, parent, mtu=9000, version="8.0.3"):
        super().__init__(world.new_moid("dvs"), name, parent)
        self.uuid = _switch_uuid(world.new_uuid("switch"))
        self.mtu = mtu
        self.product_version = version
        self.uplinks = ["Uplink 1", "Uplink 2"]
        self.hosts: dict = {}
        self.portgroups: dict = {}
        self.config_version = 1
        self.description = ""


class Portgroup(Managed):
    kind = "DistributedVirtualPortgroup"

    def __init__(self, world, name, parent, switch, vlan=0, uplink=False, ports=8):
        super().__init__(world.new_moid("dvportgroup"), name, parent)
        self.switch = switch
        self.vlan = vlan
        self.uplink = uplink
        self.ports = ports
        self.vms: dict = {}
        self.config_version = 1
        self.description = ""
        switch.portgroups[self.moid] = self

    @property
    def key(self):
        return self.moid

    @property
    def hosts(self):
        return self.switch.hosts


def _switch_uuid(text):
    """Switches write their UUID as sixteen bytes with one dash."""
    digits = text.replace("-", "")
    pairs = [digits[at : at + 2] for at in range(0, 32, 2)]
    return f"{' '.join(pairs[:8])}-{' '.join(pairs[8:])}"
