"""The state of the way between two VMs: what each part of the model does to it, in words."""

from __future__ import annotations

import pytest

from twin_labs.guest_pair import LEAF, Pair
from vsphere_twin.model import ends

PFC_OFF = "interface Ethernet2\n no service-profile"
DAPC = {"bios": {"vendor": "dell", "attributes": {"SysProfile": "PerfPerWattOptimizedDapc"}}}
MMIO = {"pciPassthru.use64bitMMIO": "TRUE", "pciPassthru.64bitMMIOSizeGB": "512"}
FAR = {"extra_config": {**MMIO, "numa.nodeAffinity": "1"}}


def state(pair, first=0, second=1, dscp=26):
    one, other = (ends.End(guest.vm, ends.keys_of(guest.vm)[0], dscp=dscp) for guest in pair.guests)
    found = (one, other)
    return ends.between(pair.world, found[first], found[second])


STATES = {
    "PVRDMA": ({}, {"carrier": "port", "rdma": True, "loses": False, "hops": 1}, ""),
    "a virtual function": ({"path": "sriov"}, {"carrier": "port", "rdma": True, "loses": False}, ""),
    "one host": ({"there": {"host": "esx-01.lab.example"}}, {"carrier": "memory", "rdma": True}, "one host"),
    "functions of one port": (
        {"path": "sriov", "there": {"host": "esx-01.lab.example"}},
        {"carrier": "card", "rdma": True},
        "",
    ),
    "no tag": ({"second": {"options": {}}}, {"carrier": "port", "rdma": False}, "Net.PVRDMAVmknic is not set"),
    "no pauses": ({"leaf": PFC_OFF}, {"loses": True, "drop_at": f"{LEAF}/Ethernet2"}, "are not heeded"),
    "a small hop": ({"leaf": "interface Ethernet2\n mtu 1500"}, {"frame": 1500, "loses": False}, "the MTU is 1500"),
    "a small hop by TCP": (
        {"leaf": "interface Ethernet2\n mtu 1500", "second": {"options": {}}},
        {"frame": 1500, "rdma": False},
        "is not set",
    ),
    "saving power": ({"second": DAPC}, {"saving": ("esx-02.lab.example",)}, "save power"),
    "another node": ({"here": FAR}, {"apart": ("job-01",)}, "another node than the port"),
    "a slow port": ({"speed": 25}, {"line_gbps": 25.0}, ""),
}


@pytest.mark.parametrize("how, wanted, why", STATES.values(), ids=STATES)
def test_state(how, wanted, why):
    found = state(Pair(**how))
    assert {name: getattr(found, name) for name in wanted} == wanted
    assert why in " ".join(found.why)


def test_a_cable_that_is_out_is_no_way():
    pair = Pair()
    pair.world.fabric.link(LEAF, "Ethernet2", False)
    assert not state(pair).reached


def test_other_vlans_are_not_reached():
    pair = Pair()
    group = next(one for one in pair.world.of_kind("DistributedVirtualPortgroup") if one.name == "pg-rdma")
    assert state(pair).reached
    other = pair.guests[1].vm.nics[1]
    more = type(group)(pair.world, "pg-other", group.parent, group.switch, vlan=7)
    pair.world.add(more)
    other.backing.port.portgroupKey = more.moid
    found = state(pair)
    assert (found.carrier, found.why) == ("none", ("job-01 is in VLAN 0, job-02 in 7",))


def test_a_feature_that_the_hardware_does_not_do_is_found_though_it_is_configured():
    pair = Pair()
    pair.world.fabric.switch(LEAF).dead_features.add("pfc")
    assert state(pair).loses


def test_a_look_from_outside_says_what_every_direction_would_show():
    pair = Pair(second={"module_options": {"nmlx5_core": "pfctx=0x08 pfcrx=0x08 trust_state=2"}})
    rows = {(one["from"], one["to"]): (one["gbps"], one["loses"]) for one in ends.look(pair.world)}
    assert rows == {("job-01", "job-02"): (86.9, False), ("job-02", "job-01"): (26.9, True)}
