"""What a site says of RoCE, switches and cables is compared with itself, before any switch is asked."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.filter.filters import FilterModule

site_problems = FilterModule().filters()["site_problems"]
switch_problems = FilterModule().filters()["site_switch_problems"]

SMALL = {"gpu": {"mode": "vgpu", "profile": "grid_a100-40c"}, "vms": [{"name": "train-01"}]}
PVRDMA = {"path": "pvrdma", "nics": ["vmnic2"], "vmknic": "vmk1"}
CABLE = {"host": "esx-01", "nic": "vmnic2", "switch": "leaf-01", "port": "swp1"}
UPLINK = {"switch": "leaf-01", "port": "swp31", "peer": "spine-01", "peer_port": "swp1"}


def site(**parts):
    return {**SMALL, **parts}


SOUND = {
    "another priority with a DSCP of its own": site(network=PVRDMA, roce={"priority": 5, "dscp": 46}),
    "a DSCP that switches map, where ESXi has no part in it": site(roce={"priority": 4, "dscp": 26}),
    "cables": site(fabric={"cables": [CABLE, UPLINK]}),
    "a quarter of the switches at a time": site(fabric={"serial": "25%"}),
    "no marking where ports pause": site(roce={"ecn": {"state": "disabled"}}),
}


@pytest.mark.parametrize("given", SOUND.values(), ids=SOUND.keys())
def test_consistent_site_has_no_problems(given):
    assert site_problems(given) == []


PROBLEMS = {
    "no priority": (site(roce={"priority": 8}), "site.roce.priority: 8 is out of range. Use a number from 0 to 7."),
    "no DSCP": (
        site(network=PVRDMA, roce={"dscp": 64}),
        "site.roce.dscp: 64 is out of range. Use a number from 0 to 63.",
    ),
    "DSCP that ESXi maps to another priority": (
        site(network=PVRDMA, roce={"priority": 4}),
        "map DSCP 26 to priority 3, but the priority is 4. Use a DSCP from 32 to 39, or the priority 3.",
    ),
    "notifications in the queue of the data": (site(roce={"cnp_priority": 3}), "site.roce.cnp_priority: 3 is the"),
    "switches smaller than their hosts": (
        site(network=PVRDMA, roce={"mtu": 4300}),
        "site.roce.mtu: 4300 is less than the 9000 of the adapters behind the switch",
    ),
    "nothing that slows senders down": (
        site(roce={"mode": "lossy", "ecn": {"state": "disabled"}}),
        "site.roce.ecn: it is disabled, and the mode lossy has no PFC.",
    ),
    "thresholds the wrong way round": (
        site(roce={"ecn": {"by_speed": [{"speed": 400, "min_kb": 9000}]}}),
        "site.roce.ecn at 400 Gbit/s: min_kb 9000 and max_kb 1500 are not a valid range.",
    ),
    "wave of none": (site(fabric={"serial": "0"}), "site.fabric.serial: 0 is not a valid number of switches"),
    "no time": (site(fabric={"confirm_timeout_s": 0}), "site.fabric.confirm_timeout_s: 0 is not a valid timeout."),
    "cable that ends nowhere": (
        site(fabric={"cables": [{"switch": "leaf-01", "port": "swp1"}]}),
        "site.fabric.cables[0]: the other end is missing or ambiguous.",
    ),
    "cable with half an end": (
        site(fabric={"cables": [{**CABLE, "nic": None}]}),
        "site.fabric.cables[0]: the other end is missing or ambiguous.",
    ),
    "cable with three ends": (
        site(fabric={"cables": [{**CABLE, **UPLINK}]}),
        "site.fabric.cables[0]: the other end is missing or ambiguous.",
    ),
    "two cables in one port": (
        site(fabric={"cables": [CABLE, {**CABLE, "nic": "vmnic3"}]}),
        "site.fabric.cables[1]: leaf-01 swp1 is also in site.fabric.cables[0].",
    ),
    "ports in the wrong place": (
        site(fabric={"host_ports": ["swp1"]}),
        "site.fabric.host_ports: the key is unknown. Set the variable switch_host_ports of each switch",
    ),
    "password in the site": (site(fabric={"password": "x"}), "Set site_switch_password in a vault."),
    "word that YAML makes something else of": (
        site(roce={"dcbx": False}),
        "site.roce.dcbx: False is not one of ignore, ieee, off. YAML reads yes, no, on and off as true and false",
    ),
}


@pytest.mark.parametrize("given, problem", PROBLEMS.values(), ids=PROBLEMS.keys())
def test_contradiction_is_reported_with_a_way_out(given, problem):
    (reported,) = site_problems(given)
    assert problem in reported


def test_fabric_cannot_differ_between_hosts():
    (reported,) = site_problems(site(), {"fabric": {"serial": "2"}})
    assert reported == "site_host.fabric: it cannot differ between hosts. Set site.fabric for all of them."


SWITCH = {
    "unknown key": ({"roce": {"prio": 3}}, ["swp1"], "site_switch.roce.prio: it cannot differ between switches."),
    "what has to agree": ({"roce": {"dscp": 34}}, ["swp1"], "site_switch.roce.dscp: it cannot differ"),
    "another part of the site": ({"vms": []}, ["swp1"], "site_switch.vms: it cannot differ between switches."),
    "list": (["swp1"], ["swp1"], "site_switch: expected a dictionary."),
    "wrong value": ({"roce": {"mtu": 1500}}, ["swp1"], "site_switch.roce.mtu: 1500 is too small"),
    "wrong type": ({"roce": {"mtu": "large"}}, ["swp1"], "site.roce.mtu: expected a whole number, but there is large."),
    "no ports": ({}, [], "switch_host_ports, switch_fabric_ports: both are empty"),
}


@pytest.mark.parametrize("override, ports, problem", SWITCH.values(), ids=SWITCH.keys())
def test_switch_that_cannot_be_is_reported_by_its_name(override, ports, problem):
    variables = {"leaf-01": {"site_switch": override, "switch_host_ports": ports}}
    (reported,) = switch_problems(site(), ["leaf-01"], variables)
    assert reported.startswith(f"leaf-01: {problem}")


def test_switch_may_have_its_ports_from_cables_and_differ_where_no_packet_notices():
    given = site(fabric={"cables": [CABLE, UPLINK]})
    names = ["leaf-01", "spine-01"]
    variables = {name: {"site_switch": {"roce": {"cable_length_m": 300, "ecn": {"min_kb": 200}}}} for name in names}
    assert switch_problems(given, names, variables, names) == []


def test_problems_of_all_switches_are_reported_at_once():
    reported = switch_problems(site(), ["leaf-01", "leaf-02"])
    assert [problem.partition(":")[0] for problem in reported] == ["leaf-01", "leaf-02"]


def test_cable_to_a_switch_that_nobody_knows_is_reported_once_with_what_may_be_meant():
    given = site(fabric={"cables": [UPLINK]})
    (reported,) = switch_problems(
        given, ["leaf-01", "spine-1"], {"spine-1": {"switch_host_ports": ["swp1"]}}, ["leaf-01", "spine-1"]
    )
    assert reported == "site.fabric.cables[0].peer: spine-01 is not in the group switches. Did you mean spine-1?"
