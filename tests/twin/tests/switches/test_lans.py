"""Ports that were taken down or are in another VLAN, on every platform: link, LLDP, and who is reached."""

from __future__ import annotations

import pytest

from vsphere_twin.model import seed as seeds
from vsphere_twin.switches import cabling, lans
from wire import host_lab
from wire.fabric_lab import HOSTS

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
        told = cabling.seen_by(self.world, *self.ends[0][:1], "vmnic2")
        return told is not None, any(port is self.port for port, _peer in self.switch.neighbours())

    @property
    def reached(self):
        return cabling.apart(self.world, *self.ends, self.vlan) is None

    @property
    def lossless_way(self):
        (row,) = cabling.look(self.world)
        return len(row["paths"])


@pytest.mark.parametrize("platform", PORTS)
def test_a_port_that_was_taken_down_has_no_link_at_both_ends(platform):
    pair = Pair(platform)
    assert (pair.links, pair.heard, pair.reached, pair.lossless_way) == ((True, True), (True, True), True, 1)
    down, up = DOWN[platform]
    pair.load(down)
    assert (pair.links, pair.heard, pair.reached, pair.lossless_way) == ((False, False), (False, False), False, 0)
    pair.load(up)
    assert (pair.links, pair.heard, pair.reached, pair.lossless_way) == ((True, True), (True, True), True, 1)


@pytest.mark.parametrize("platform", PORTS)
def test_a_port_in_another_vlan_has_its_link_and_reaches_nobody(platform):
    pair = Pair(platform)
    pair.load(AWAY[platform])
    assert (pair.links, pair.heard, pair.reached, pair.lossless_way) == ((True, True), (True, True), False, 0)


@pytest.mark.parametrize("platform", PORTS)
def test_frames_without_a_tag_are_carried_as_an_operator_sets_it_up(platform):
    assert Pair(platform, vlan=0).reached
    assert Pair(platform, vlan=0, vlans=[1, 111]).reached


def test_a_switch_from_the_factory_carries_what_has_no_tag_where_its_ports_are_switched():
    reached = {platform: Pair(platform, vlan=0, vlans=[]).reached for platform in PORTS}
    assert {name for name, one in reached.items() if not one} == {"cumulus", "sonic", "enterprise_sonic"}
    assert not any(Pair(platform, vlans=[]).reached for platform in PORTS)


def test_a_native_vlan_leaves_without_its_tag():
    pair = Pair("eos")
    pair.load(["interface Ethernet1", "switchport trunk native vlan 111"])
    assert not pair.reached


def test_a_vlan_that_was_not_made_is_not_carried():
    pair = Pair("eos")
    pair.load(["no vlan 111"])
    assert not pair.reached


@pytest.mark.parametrize(
    "lan, tag, inside, outside",
    [
        (lans.access(5, {1, 5}), 0, 5, 0),
        (lans.access(5, {1}), 0, None, None),
        (lans.trunk(1, frozenset({1, 7}), {1, 7}), 7, 7, 7),
        (lans.trunk(1, frozenset({1, 7}), {1, 7}), 0, 1, 0),
        (lans.trunk(1, frozenset({7}), {1, 7}), 0, None, None),
        (lans.Lan(), 7, None, None),
    ],
)
def test_vlans_of_a_port(lan, tag, inside, outside):
    assert (lan.enters(tag), lan.leaves(inside)) == (inside, outside)


def test_a_host_whose_port_is_dark_takes_the_link_of_the_switch_with_it():
    pair = Pair("eos")
    pair.ends[0][1].plugged = False
    assert pair.links == (False, False)
