"""Ports that were taken down or are in another VLAN, on every platform: link, LLDP, and who is reached."""

from __future__ import annotations

import pytest

from twin_labs.ports_lab import AWAY, DOWN, PORTS, Pair
from vsphere_twin.switches import lans


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
