"""Distributed switches: members, their ports, and the uplinks that these take."""

from __future__ import annotations

import pytest
from pyVmomi import vim

from vsphere_twin.model import members

SWITCHES = [
    {"name": "one", "uplinks": 1, "portgroups": [{"name": "train"}]},
    {"name": "two", "members": "uplinks", "portgroups": [{"name": "other"}]},
]
NICS = [
    {"device": "vmnic0", "uplink_of": "vSwitch0"},
    {"device": "vmnic1", "uplink_of": "one"},
    {"device": "vmnic2"},
    {"device": "vmnic3"},
]


@pytest.fixture
def here(lab):
    return lambda *vms: lab(
        hosts=[{"name": f"esx-{number}", "nics": NICS} for number in (1, 2)], switches=SWITCHES, vms=vms
    )


def switch(world, name):
    return next(one for one in world.world.of_kind("VmwareDistributedVirtualSwitch") if one.name == name)


def change(world, name, operation, number=0, ports=None):
    """The host part of a reconfiguration: ports are (device, uplink port) pairs."""
    backing = None
    if ports is not None:
        rows = [vim.dvs.HostMember.PnicSpec(pnicDevice=device, uplinkPortKey=key) for device, key in ports]
        backing = vim.dvs.HostMember.PnicBacking(pnicSpec=rows)
    spec = vim.dvs.HostMember.ConfigSpec(
        operation=operation, host=vim.HostSystem(world.hosts[number].moid), backing=backing
    )
    members.change(world.world, switch(world, name), [spec])


def plugged(world, name, number=0):
    return {nic.device: (key, uplink) for nic, key, uplink in members.plug(switch(world, name), world.hosts[number])}


def test_every_member_has_uplink_ports_of_its_own(here):
    world = here()
    one = switch(world, "one")
    ports = [key for host in world.hosts for key in members.keys(one, host)]
    assert len(set(ports)) == one.uplink_group.ports == 2
    assert [plugged(world, "one", number)["vmnic1"] for number in (0, 1)] == [(key, "Uplink 1") for key in ports]


def test_a_host_without_uplinks_is_a_member_only_where_the_seed_says_all(here):
    world = here()
    assert [list(switch(world, name).hosts) for name in ("one", "two")] == [[host.moid for host in world.hosts], []]
    assert "other" not in [one.name for one in world.hosts[0].networks.values()]


def test_a_host_joins_with_ports_and_leaves_with_all(here):
    world = here()
    (host, _other), two = world.hosts, switch(world, "two")
    change(world, "two", "add", ports=[("vmnic2", None)])
    assert plugged(world, "two")["vmnic2"][1] == "Uplink 1"
    assert "other" in [one.name for one in host.networks.values()]
    change(world, "two", "edit", ports=[("vmnic3", members.keys(two, host)[1])])
    assert {device: name for device, (_key, name) in plugged(world, "two").items()} == {"vmnic3": "Uplink 2"}
    change(world, "two", "remove")
    assert (two.hosts, two.uplinks_of(host), [nic.device for nic in host.nics if nic.switch is two]) == ({}, [], [])
    assert "other" not in [one.name for one in host.networks.values()]


REFUSED = {
    "a host twice": (("one", "add"), vim.fault.AlreadyExists),
    "a stranger's ports": (("two", "edit"), vim.fault.NotFound),
    "a port that is not there": (("one", "edit", 0, [("vmnic9", None)]), vim.fault.NotFound),
    "a port of another switch": (("one", "edit", 0, [("vmnic0", None)]), vim.fault.ResourceInUse),
    "more ports than uplinks": (("one", "edit", 0, [("vmnic1", None), ("vmnic2", None)]), vim.fault.ResourceInUse),
    "the host of an adapter away": (("one", "remove"), vim.fault.ResourceInUse),
}


@pytest.mark.parametrize("asked,fault", REFUSED.values(), ids=REFUSED)
def test_a_switch_does_not_take(here, asked, fault):
    world = here({"name": "vm", "networks": ["train"]})
    before = plugged(world, "one")
    with pytest.raises(fault):
        change(world, *asked)
    assert plugged(world, "one") == before


def test_uplinks_are_renamed_but_not_taken_from_under_a_port(here):
    world = here()
    members.rename_uplinks(switch(world, "one"), ["fabric"])
    assert plugged(world, "one")["vmnic1"][1] == "fabric"
    with pytest.raises(vim.fault.ResourceInUse):
        members.rename_uplinks(switch(world, "one"), [])
