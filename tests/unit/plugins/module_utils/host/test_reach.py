"""Addresses of one data path: VLAN, subnet and duplicates, and which of two is reported to be wrong."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.host import reach


def end(owner, ip="192.0.2.1", netmask="255.255.255.0", vlan=111, **more):
    return reach.End(owner, "vmk1", ip, netmask, vlan, **more)


def said(*ends):
    return [(one.code, one.text) for one in reach.troubles(list(ends))]


def test_addresses_of_one_network_have_no_trouble():
    assert said(end("a"), end("b", "192.0.2.2"), end("c", "192.0.2.3", netmask="24")) == []


@pytest.mark.parametrize(
    "ends, code, text",
    [
        (
            [end("a", vlan=222, portgroup="pg-b"), end("b", "192.0.2.2"), end("c", "192.0.2.3")],
            "vlan_differs",
            "a vmk1 is in VLAN 222 (pg-b), while b vmk1 is in VLAN 111",
        ),
        (
            [end("a"), end("b", "192.0.2.2", vlan=0, portgroup="pg-b")],
            "vlan_differs",
            "b vmk1 is in no VLAN (pg-b), while a vmk1 is in VLAN 111",
        ),
        (
            [end("a"), end("b", "198.51.100.2")],
            "subnet_differs",
            "b vmk1 is in the subnet 198.51.100.0/24, while a vmk1 is in the subnet 192.0.2.0/24",
        ),
        (
            [end("a"), end("b", "192.0.2.2", netmask="255.255.0.0")],
            "subnet_differs",
            "b vmk1 is in the subnet 192.0.0.0/16, while a vmk1 is in the subnet 192.0.2.0/24",
        ),
        ([end("a"), end("b")], "duplicate_address", "b vmk1 has the address 192.0.2.1, while a vmk1 has it too"),
        ([end("a"), end("b", "")], "no_address", "b vmk1 has no address"),
        ([end("a"), end("b", "0.0.0.0", "0.0.0.0")], "no_address", "b vmk1 has no address"),
    ],
)
def test_the_one_that_differs_from_most_is_named(ends, code, text):
    assert said(*ends) == [(code, text)]


def test_what_is_not_known_is_no_trouble():
    assert said(end("a", vlan=None), end("b", "192.0.2.2", vlan=111), end("c", "192.0.2.3", netmask="nonsense")) == []


def test_one_address_in_two_vlans_is_reported_as_two_vlans_alone():
    assert [code for code, _text in said(end("a"), end("b", vlan=222))] == ["vlan_differs"]


def test_each_holder_of_an_address_but_the_first_is_reported_once():
    assert [one.end.owner for one in reach.duplicates([end("a"), end("b"), end("c")])] == ["b", "c"]


def test_two_ends_that_differ_are_enough_for_a_trouble():
    assert [code for code, _text in said(end("a"), end("b", "192.0.2.2", vlan=222))] == ["vlan_differs"]
    assert reach.duplicates([end("a", vlan=None), end("b", vlan=222)])[0].end.owner == "b"
    assert reach.duplicates([end("a", vlan=111), end("b", vlan=222)]) == []
    assert [one.end.owner for one in reach.duplicates([end("a", ""), end("b", "")])] == []
