"""Which way PVRDMA traffic takes; no fallback is seen in vCenter's API."""

from __future__ import annotations

import pytest

from vsphere_twin.model import pvrdma

HCA = {"device": "vmnic1", "model": "cx6dx", "uplink_of": "rdma"}
SWITCHES = [
    {"name": "rdma", "mtu": 9000, "portgroups": [{"name": "train"}, {"name": "train-222", "vlan": 222}]},
    {"name": "other", "mtu": 9000, "portgroups": [{"name": "train-2"}]},
]
ADAPTER = {"type": "pvrdma", "network": "train"}


def host(number, nic=None, more_nics=(), vmk=None, **more):
    return {
        "name": f"esx-{number}",
        "nics": [{"device": "vmnic0", "model": "i350", "uplink_of": "vSwitch0"}, nic or HCA, *more_nics],
        "vmkernel": [{"device": "vmk1", "portgroup": "train", "mtu": 9000, **(vmk or {})}],
        "options": {"Net.PVRDMAVmknic": "vmk1"},
        "rulesets": {"pvrdma": True},
        **more,
    }


@pytest.fixture
def way(lab):
    """Two running VMs: the way from the first to the second, and why."""

    def look(first=None, second=None, here=None, there=None, mine=None, other=None, switches=None):
        world = lab(
            hosts=[first or host(1), second or host(2)],
            switches=switches or SWITCHES,
            vms=[
                {
                    "name": "a",
                    "host": "esx-1",
                    "adapters": [{**ADAPTER, **(mine or {})}],
                    "power": "on",
                    **(here or {}),
                },
                {
                    "name": "b",
                    "host": "esx-2",
                    "adapters": [{**ADAPTER, **(other or {})}],
                    "power": "on",
                    **(there or {}),
                },
            ],
        )
        paths = pvrdma.state(world.world, world.vm("a"))
        return [(path.peer, path.way, " ".join(path.reasons)) for path in paths]

    return look


def test_between_two_ready_hosts_it_is_rdma(way):
    assert way() == [("b", "rdma", "")]


def test_on_one_host_memory_is_copied_whatever_the_host_lacks(way):
    assert way(first=host(1, options={}, rulesets={}), there={"host": "esx-1"}) == [("b", "local", "")]


def test_a_vm_that_is_off_is_no_peer_and_has_none(way):
    assert way(there={"power": "off"}) == []
    assert way(here={"power": "off"}) == []


BROKEN = {
    "no tag": (host(2, options={}), "esx-2: Net.PVRDMAVmknic is not set"),
    "a tag that names nothing": (host(2, options={"Net.PVRDMAVmknic": "vmk7"}), "names vmk7, which does not exist"),
    "a tag on another switch": (host(2, vmk={"portgroup": "train-2"}), "names vmk1, which is not on rdma"),
    "a closed firewall": (host(2, rulesets={}), "esx-2: the firewall ruleset pvrdma is closed"),
    "a second uplink": (
        host(2, more_nics=[{"device": "vmnic2", "uplink_of": "rdma"}]),
        "needs the RDMA port as its only uplink, and has vmnic1, vmnic2",
    ),
    "no uplink": (host(2, nic={"device": "vmnic1"}), "only uplink, and has none"),
    "an uplink without RDMA": (host(2, nic={**HCA, "model": "x710"}), "vmnic1 has no RDMA device"),
    "a link that is down": (host(2, nic={**HCA, "link": "down"}), "the link of vmnic1 is down"),
    "a VMkernel port in another VLAN": (
        host(2, vmk={"portgroup": "train-222"}),
        "it is in VLAN 0, vmk1 of esx-2 in 222",
    ),
    "an address of another subnet": (host(2, vmk={"ip": "198.51.100.2"}), "vmk1 of esx-2 in 198.51.0.0/16"),
    "a mask that is too long": (host(2, vmk={"netmask": "255.255.255.252"}), "vmk1 of esx-2 in"),
    "a port that was given away": (host(2, nic={**HCA, "passthrough": True}), "only uplink, and has none"),
}


@pytest.mark.parametrize("broken,reason", BROKEN.values(), ids=BROKEN)
def test_it_falls_back_to_tcp_silently_with(way, broken, reason):
    ((peer, found, why),) = way(second=broken)
    assert (peer, found) == ("b", "tcp")
    assert reason in why


def test_one_address_of_two_vmkernel_ports_ends_in_tcp(way):
    alike = {"ip": "192.0.2.7"}
    ((_peer, found, why),) = way(first=host(1, vmk=alike), second=host(2, vmk=alike))
    assert (found, why) == ("tcp", "esx-1 vmk1: vmk1 of esx-2 has the same address, 192.0.2.7")


def test_hosts_are_looked_at_on_both_sides(way):
    ((_peer, found, why),) = way(first=host(1, options={}), second=host(2, rulesets={}))
    assert found == "tcp"
    assert "esx-1: Net.PVRDMAVmknic" in why
    assert "esx-2: the firewall" in why


def test_two_switches_are_no_rdma_network(way):
    ((_peer, found, why),) = way(other={"network": "train-2"})
    assert (found, "b is on another switch, other" in why) == ("tcp", True)


def test_two_protocols_do_not_talk_rdma(way):
    hardware = {"hardware_version": 19}
    ((_peer, found, why),) = way(
        here=hardware, there=hardware, mine={"protocol": "rocev1"}, other={"protocol": "rocev2"}
    )
    assert (found, "a speaks rocev1, b rocev2" in why) == ("tcp", True)


def test_a_vmkernel_adapter_with_a_larger_mtu_than_its_switch_ends_in_tcp(way):
    ((_peer, found, why),) = way(switches=[{**SWITCHES[0], "mtu": 1500}, SWITCHES[1]])
    assert (found, "esx-1: vmk1 has MTU 9000, rdma only 1500" in why) == ("tcp", True)
