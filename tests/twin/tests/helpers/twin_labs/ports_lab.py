"""Two hosts on one switch of any platform, with the lines that take a port down or move it to another VLAN."""

from __future__ import annotations

from vsphere_twin.model import seed as seeds
from vsphere_twin.switches import cabling

from . import host_lab
from .fabric_lab import HOSTS

A, B = HOSTS
PORTS = {
    "eos": ("Ethernet1", "Ethernet2"),
    "nxos": ("Ethernet1/1", "Ethernet1/2"),
    "onyx": ("Eth1/1", "Eth1/2"),
    "os10": ("ethernet1/1/1", "ethernet1/1/2"),
    "cumulus": ("swp1", "swp2"),
    "sonic": ("Ethernet0", "Ethernet4"),
    "enterprise_sonic": ("Eth1/1", "Eth1/2"),
}
LLDP = {"nxos": ["feature lldp"], "onyx": ["lldp"]}
DOWN = {
    "eos": (["interface Ethernet1", "shutdown"], ["interface Ethernet1", "no shutdown"]),
    "nxos": (["interface Ethernet1/1", "shutdown"], ["interface Ethernet1/1", "no shutdown"]),
    "onyx": (["interface ethernet 1/1 shutdown"], ["interface ethernet 1/1 no shutdown"]),
    "os10": (["interface ethernet1/1/1", "shutdown"], ["interface ethernet1/1/1", "no shutdown"]),
    "cumulus": (["nv set interface swp1 link state down"], ["nv unset interface swp1 link state"]),
    "sonic": (["config interface shutdown Ethernet0"], ["config interface startup Ethernet0"]),
    "enterprise_sonic": (["interface Eth1/1", "shutdown"], ["interface Eth1/1", "no shutdown"]),
}
AWAY = {
    "eos": ["interface Ethernet1", "switchport mode access", "switchport access vlan 111"],
    "nxos": ["interface Ethernet1/1", "switchport trunk allowed vlan remove 111"],
    "onyx": ["interface ethernet 1/1 switchport trunk allowed-vlan remove 111"],
    "os10": ["interface ethernet1/1/1", "no switchport trunk allowed vlan 111"],
    "cumulus": ["nv set interface swp1 bridge domain br_default access 111"],
    "sonic": ["config vlan member del 111 Ethernet0"],
    "enterprise_sonic": ["interface Eth1/1", "no switchport trunk allowed Vlan 111"],
}


def world_of(platform, vlan=111, **fabric):
    """Two hosts on one switch, whose port group has a VLAN."""
    one, other = PORTS[platform]
    seed = host_lab.seed(host_lab.esx(A), host_lab.esx(B))
    seed["datacenters"][0]["switches"][0]["portgroups"] = [{"name": "pg-rdma", "vlan": vlan}]
    seed["fabric"] = {
        "switches": [{"name": "leaf-01", "platform": platform, "config": LLDP.get(platform, [])}],
        "cables": [[f"{A}/vmnic2", f"leaf-01/{one}"], [f"{B}/vmnic2", f"leaf-01/{other}"]],
        **fabric,
    }
    return seeds.from_data(seed)


class Pair:
    """The two ports, and what is known of them."""

    def __init__(self, platform, vlan=111, **fabric):
        self.world, self.vlan = world_of(platform, vlan, **fabric), vlan
        self.switch = self.world.fabric.switches["leaf-01"]
        self.port = self.switch.ports[PORTS[platform][0]]
        self.ends = [self.world.fabric.nic(name, "vmnic2") for name in (A, B)]

    def load(self, lines):
        self.switch.device.load(lines)

    @property
    def links(self):
        return self.port.up, self.ends[0][1].link_up

    @property
    def heard(self):
        reported = cabling.seen_by(self.world, *self.ends[0][:1], "vmnic2")
        return reported is not None, any(port is self.port for port, _peer in self.switch.neighbours())

    @property
    def reached(self):
        return cabling.apart(self.world, *self.ends, self.vlan) is None

    @property
    def lossless_way(self):
        (row,) = cabling.look(self.world)
        return len(row["paths"])
