"""Links, VLANs and addresses of a data path: each disagreement with its port, and what is not known."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Port

from .agreement_lab import HOST_PORT, UPLINK, Lab

HOSTS = {"leaf-01": [HOST_PORT], "leaf-02": [HOST_PORT]}
FABRIC = {"leaf-01": [UPLINK], "leaf-02": [UPLINK], "spine-01": ["Ethernet1/1-2"]}
TRUNK = {"enabled": True, "vlan_mode": "trunk", "untagged": None, "tagged": "111"}


def lab():
    """The fabric that agrees, in one VLAN."""
    found = Lab()
    found.everywhere(**TRUNK)
    for number in (1, 2):
        one = found.at(number)
        one.up, one.switch = True, "dvs-train"
        one.portgroups = [{"name": "pg-rdma", "vlan": 111}, {"name": "pg-other", "vlan": 333}]
        one.addresses = [vmk(number)]
        guest = found.guests[f"train-0{number}"][0]
        guest.up, guest.addresses = True, [address(f"192.0.2.{20 + number}")]
    return found


def vmk(number, **changes):
    reported = {"device": "vmk1", "ip": f"198.51.100.{number}", "netmask": "255.255.255.0", "vlan": 111}
    return {**reported, "portgroup": "pg-rdma", "pvrdma": True, **changes}


def address(ip, prefix="24"):
    return {"device": "ens192", "ip": ip, "netmask": prefix, "vlan": None, "portgroup": "", "pvrdma": False}


def ask(found, portgroups=("pg-rdma",)):
    return found.ask(listed=(HOSTS, FABRIC), portgroups=portgroups)


def test_a_fabric_in_one_vlan_agrees():
    answer = ask(lab())
    assert answer["disagreements"] == []
    assert not [one for one in answer["not_known"] if "VLAN" in one]


def shut(found):
    found.leaf().enabled = False
    found.switches["leaf-01"].oper[HOST_PORT].up = False


def shut_and_unseen(found):
    shut(found)
    found.at().up, found.at().lldp = False, None
    found.switches["leaf-01"].neighbours.pop(HOST_PORT)


def dark_uplink(found):
    found.switches["leaf-01"].oper[UPLINK].up = False
    found.switches["leaf-01"].neighbours.pop(UPLINK)


def elsewhere(found):
    found.leaf().vlan_mode, found.leaf().untagged, found.leaf().tagged = "access", 5, ""


def not_on_spine(found):
    found.leaf("Ethernet1/2", "spine-01").tagged = "5"


def native(found):
    found.leaf().untagged, found.leaf().tagged = 111, ""


def native_between(found):
    found.leaf(UPLINK).untagged, found.leaf(UPLINK).tagged = 111, ""


def routed(found):
    found.leaf().vlan_mode, found.leaf().untagged, found.leaf().tagged = "routed", None, None


def other_vlan(found):
    found.at(2).addresses = [vmk(2, vlan=222, portgroup="pg-b")]
    found.leaf(HOST_PORT, "leaf-02").tagged = "111,222"


def other_subnet(found):
    found.at(2).addresses = [vmk(2, ip="203.0.113.2")]


def narrow_mask(found):
    found.at(2).addresses = [vmk(2, ip="198.51.100.130", netmask="255.255.255.128")]


def same_vmk(found):
    found.at(2).addresses = [vmk(2, ip="198.51.100.1")]


def no_address(found):
    found.at(2).addresses = [vmk(2, ip="0.0.0.0", netmask="0.0.0.0")]


def group_changed(found):
    found.at(2).portgroups = [{"name": "pg-rdma", "vlan": 333}]


def same_guest(found):
    found.guests["train-02"][0].addresses = [address("192.0.2.21")]


def guest_elsewhere(found):
    found.guests["train-02"][0].addresses = [address("203.0.113.22")]


def guest_like_vmk(found):
    found.guests["train-02"][0].addresses = [address("192.0.2.22"), address("198.51.100.1")]


def dark_host(found):
    found.at().up = False


CASES = [
    (shut, "port_shut_down", "leaf-01 Ethernet1/1 is administratively down", "esx-01 vmnic2"),
    (shut_and_unseen, "port_shut_down", "leaf-01 Ethernet1/1 is administratively down", "no RoCE packet"),
    (shut_and_unseen, "no_link", "esx-01 vmnic2 has no link, and is an uplink of dvs-train", "no RoCE packet"),
    (dark_uplink, "no_link", f"leaf-01 {UPLINK} has no link", "no RoCE packet"),
    (dark_host, "no_link", "esx-01 vmnic2 has no link", "leaf-01"),
    (elsewhere, "vlan", "leaf-01 Ethernet1/1 carries VLAN 5 untagged, but not 111", "vmk1, pg-rdma"),
    (not_on_spine, "vlan", "spine-01 Ethernet1/2 carries VLAN 5, but not 111", f"leaf-02 {UPLINK}"),
    (native, "vlan", "leaf-01 Ethernet1/1 sends VLAN 111 untagged", "esx-01 vmnic2"),
    (native_between, "vlan", f"leaf-01 {UPLINK} sends VLAN 111 untagged", "spine-01 Ethernet1/1"),
    (routed, "vlan", "leaf-01 Ethernet1/1 is routed and in no VLAN", "esx-01 vmnic2"),
    (other_vlan, "vlan_differs", "esx-02 vmk1 is in VLAN 222 (pg-b), while esx-01 vmk1 is in VLAN 111", "TCP"),
    (other_subnet, "subnet_differs", "esx-02 vmk1 is in the subnet 203.0.113.0/24, while esx-01 vmk1", "TCP"),
    (narrow_mask, "subnet_differs", "esx-02 vmk1 is in the subnet 198.51.100.128/25", "esx-01 vmk1"),
    (same_vmk, "duplicate_address", "esx-02 vmk1 has the address 198.51.100.1, while esx-01 vmk1 has it too", "other"),
    (no_address, "no_address", "esx-02 vmk1 has no address", "TCP"),
    (group_changed, "vlan", "leaf-02 Ethernet1/1 carries VLAN 111, but not 333", "pg-rdma"),
    (same_guest, "duplicate_address", "train-02 ens192 has the address 192.0.2.21, while train-01 ens192", "other"),
    (guest_elsewhere, "subnet_differs", "192.0.2.0/24", "203.0.113.0/24"),
    (guest_like_vmk, "duplicate_address", "198.51.100.1", "esx-01 vmk1"),
]


@pytest.mark.parametrize("breaks, code, says, also", CASES, ids=[f"{case[0].__name__}-{case[1]}" for case in CASES])
def test_each_fault_is_an_error_that_names_its_port(breaks, code, says, also):
    found = lab()
    breaks(found)
    answer = ask(found)
    named = [
        one for one in answer["disagreements"] if one["code"] == code and says in one["msg"] and also in one["msg"]
    ]
    assert len(named) == 1, [one["msg"] for one in answer["disagreements"]]
    assert named[0]["severity"] == "error"
    assert not answer["agreed"]


def test_a_host_on_a_port_that_is_not_listed_is_an_error():
    answer = lab().ask(listed=({"leaf-01": ["Ethernet1/2"], "leaf-02": [HOST_PORT]}, FABRIC))
    (one,) = answer["disagreements"]
    assert (one["code"], one["a"], one["b"]["name"]) == (
        "port_not_listed",
        {"name": "leaf-01", "port": HOST_PORT},
        "esx-01",
    )


def test_without_a_list_no_port_is_missing_in_it():
    assert lab().ask()["disagreements"] == []


def test_a_dark_uplink_that_does_not_carry_the_data_path_is_no_error():
    found = lab()
    shut_and_unseen(found)
    one = found.at()
    one.switch, one.portgroups, one.addresses = "vSwitch0", [{"name": "Management Network", "vlan": 0}], []
    assert [one["code"] for one in ask(found)["disagreements"]] == ["port_shut_down"]


def with_hyperbus(found, ip="169.254.1.1"):
    for number in (1, 2):
        more = vmk(number, device="vmk50", ip=ip, netmask="255.255.0.0", vlan=None, pvrdma=False)
        found.at(number).addresses = [vmk(number), more]
    return found


def test_vmkernel_adapters_beside_the_data_path_may_have_one_address():
    assert ask(with_hyperbus(lab()))["disagreements"] == []


def test_an_adapter_beside_the_data_path_with_an_address_of_it_is_an_error():
    reported = ask(with_hyperbus(lab(), "198.51.100.1"))["disagreements"]
    assert [(one["code"], one["msg"].partition(" has ")[0]) for one in reported] == [
        ("duplicate_address", "esx-01 vmk50"),
        ("duplicate_address", "esx-02 vmk50"),
    ]


def test_a_port_that_nothing_needs_may_be_dark_or_shut_down():
    found = lab()
    found.switches["leaf-01"].ports["Ethernet1/9"] = Port(enabled=False)
    assert ask(found)["disagreements"] == []


def test_what_a_platform_does_not_report_is_not_known():
    found = lab()
    found.everywhere(enabled=None, vlan_mode=None, untagged=None, tagged=None)
    answer = ask(found)
    assert answer["disagreements"] == []
    reported = [one for one in answer["not_known"] if "VLAN 111" in one]
    assert any(one.startswith("leaf-01 Ethernet1/1 does not report") for one in reported)
    assert any(one.startswith("spine-01 Ethernet1/1 does not report") for one in reported)


def test_routed_cables_between_switches_are_not_known():
    found = lab()
    for switch, name in (("leaf-01", UPLINK), ("spine-01", "Ethernet1/1")):
        one = found.leaf(name, switch)
        one.vlan_mode, one.untagged, one.tagged = "routed", None, None
    answer = ask(found)
    assert answer["disagreements"] == []
    assert any("are routed" in one and "VLAN 111" in one for one in answer["not_known"])


def test_vlans_of_port_groups_that_are_not_of_the_data_path_do_not_matter():
    found = lab()
    assert [one["code"] for one in ask(found, portgroups=("pg-other",))["disagreements"]] != []
    assert ask(found, portgroups=())["disagreements"] == []


def test_hosts_without_tags_are_in_one_vlan():
    found = lab()
    for number in (1, 2):
        found.at(number).addresses, found.at(number).portgroups = [vmk(number, vlan=0)], []
    found.everywhere(vlan_mode="access", untagged=111, tagged="")
    assert ask(found)["disagreements"] == []
    found.leaf(HOST_PORT, "leaf-02").untagged = 5
    codes = {(one["code"], one["a"]["name"]) for one in ask(found)["disagreements"]}
    assert ("vlan", "leaf-02") in codes


def test_guests_with_a_network_for_each_adapter_reach_each_other():
    found = lab()
    for number in (1, 2):
        found.guests[f"train-0{number}"][0].addresses.append(address(f"203.0.113.{number}"))
    assert ask(found)["disagreements"] == []


def test_one_address_in_two_vlans_is_no_duplicate():
    found = lab()
    for number, vlan in ((1, 5), (2, 6)):
        found.at(number).addresses.append(vmk(number, device="vmk2", ip="10.0.0.1", vlan=vlan, pvrdma=False))
    assert ask(found)["disagreements"] == []


def leaves_that_route(found):
    """Each leaf has a VLAN and a subnet of its own, without tags, and the cables to the spine are routed."""
    for number in (1, 2):
        uplink, port = found.leaf(UPLINK, f"leaf-0{number}"), found.leaf(HOST_PORT, f"leaf-0{number}")
        for one in (uplink, found.leaf(f"Ethernet1/{number}", "spine-01")):
            one.vlan_mode, one.untagged, one.tagged = "routed", None, None
        port.vlan_mode, port.untagged, port.tagged = "access", 10 * number, ""
        found.at(number).addresses, found.at(number).portgroups = [], [{"name": "pg-rdma", "vlan": 0}]
        found.guests[f"train-0{number}"][0].addresses = [address(f"192.0.{number}.20")]
    return found


def test_leaves_that_route_have_vlans_and_subnets_of_their_own():
    answer = ask(leaves_that_route(lab()))
    assert answer["disagreements"] == []
    (reported,) = [one for one in answer["not_known"] if "subnet" in one]
    assert reported == (
        "train-01 ens192 is in the subnet 192.0.1.0/24, while train-02 ens192 is in the subnet 192.0.2.0/24: it is "
        "unknown whether the switches route between these subnets."
    )


def test_one_cable_that_is_switched_makes_one_network_of_leaves_again():
    found = leaves_that_route(lab())
    for one in (found.leaf(UPLINK, "leaf-01"), found.leaf("Ethernet1/1", "spine-01")):
        one.vlan_mode, one.untagged, one.tagged = "trunk", None, "10,20"
    assert {one["code"] for one in ask(found)["disagreements"]} == {"vlan", "subnet_differs"}
