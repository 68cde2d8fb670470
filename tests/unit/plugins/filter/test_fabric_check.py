"""What is compared of switches, hosts and guests, and what is reported of it."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.fabric_check import read, report

LEAF = {"name": "leaf-01"}
SEEN = {
    "leaf-01": {"__fabric_check_switch": {"switch": LEAF}},
    "leaf-02": {"__fabric_check_switch": {"unreachable": True}},
    "leaf-03": {},
    "job-01": {"__fabric_check_guest": {"guest": {"name": "job-01"}}},
    "job-02": {"__fabric_check_guest": {"failed": True}},
    "job-03": {},
    "esx-01": {"esxi_host_undone": ["mtu"]},
    "esx-02": {"esxi_host_undone": []},
    "esx-03": {},
}
GROUPS = {
    "switches": ["leaf-01", "leaf-02", "leaf-03"],
    "training_guests": ["job-01", "job-02", "job-03"],
    "esxi_hosts": ["esx-01", "esx-02", "esx-03"],
}
SITE = {
    "vcenter": {"hostname": "vcenter.example.com", "username": "automation"},
    "cluster": "gpu",
    "gpu": {"mode": "vgpu", "profile": "grid_a100-40c"},
    "vms": [{"prefix": "job-", "count": 2}],
    "network": {"path": "pvrdma"},
    "fabric": {"cables": [{"host": "esx-01", "nic": "vmnic2", "switch": "leaf-01", "port": "Ethernet2"}]},
}


def test_what_was_asked_and_gave_no_answer_could_not_be_read():
    found = read(SEEN, GROUPS)
    # One that a limit left out was not asked.
    assert found["unread"] == ["leaf-02", "job-02"]
    assert (found["switches"], found["guests"]) == ([LEAF], [{"name": "job-01"}])
    assert found["known"] == GROUPS["switches"]


@pytest.mark.parametrize(
    "network, facts, direct",
    [
        (
            {"path": "directpath", "nics": ["0000:3a:00.1"]},
            {"host": "esx-01"},
            {"host": "esx-01", "nic": "0000:3a:00.1"},
        ),
        (
            {"path": "passthrough", "nics": ["0000:3a:00.1"]},
            {"host": "esx-01"},
            {"host": "esx-01", "nic": "0000:3a:00.1"},
        ),
        ({"path": "directpath", "nics": ["0000:3a:00.0", "0000:3a:00.1"]}, {"host": "esx-01"}, None),
        ({"path": "directpath", "nics": ["0000:3a:00.1"]}, {}, None),
        ({"path": "sriov", "nics": ["vmnic2"]}, {"host": "esx-01"}, None),
    ],
    ids=["directpath", "passthrough", "two ports", "an unknown host", "a virtual function"],
)
def test_a_guest_has_the_port_of_its_host_in_passthrough_mode(network, facts, direct):
    own = {**SEEN["job-01"], "aiready_guest": facts}
    (guest,) = read({**SEEN, "job-01": own}, GROUPS, {**SITE, "gpu": {"mode": "passthrough"}, "network": network})[
        "guests"
    ]
    assert guest.get("direct") == direct


def test_without_a_site_the_ports_of_the_inventory_are_those_of_each_switch():
    own = {**SEEN["leaf-01"], "switch_host_ports": ["Ethernet1"], "switch_fabric_ports": ["Ethernet9"]}
    found = read({**SEEN, "leaf-01": own}, GROUPS)
    assert found["host_ports"] == {"leaf-01": ["Ethernet1"], "leaf-02": []}
    assert found["fabric_ports"] == {"leaf-01": ["Ethernet9"], "leaf-02": []}


def test_with_a_site_its_cables_name_ports_too():
    own = {**SEEN["leaf-01"], "switch_host_ports": ["Ethernet1"]}
    found = read({**SEEN, "leaf-01": own}, GROUPS, SITE)
    assert found["host_ports"] == {"leaf-01": ["Ethernet1", "Ethernet2"], "leaf-02": []}


@pytest.mark.parametrize("check_mode, waiting", [(True, ["leaf-02", "esx-01"]), (False, [])])
def test_in_check_mode_what_has_changes_waits_for_the_run(check_mode, waiting):
    looked = {"leaf-01": {"__switch_look": {"changed": False}}, "leaf-02": {"__switch_look": {"changed": True}}}
    seen = {name: {**own, **looked.get(name, {})} for name, own in SEEN.items()}
    assert read(seen, GROUPS, check_mode=check_mode)["waiting"] == waiting


def seen(**changes):
    return {"switches": [LEAF], "unread": [], "known": ["leaf-01"], "waiting": [], **changes}


COMPARISON = {
    "agreed": False,
    "paths": [{}, {}],
    "summary": [
        "error    esx-01 port vmnic2: the MTU is 1500.",
        "warning  esx-02 port vmnic2: no LLDP.",
        "error    esx-011 port vmnic2: the MTU is 1500.",
    ],
    "disagreements": [{"severity": "error"}, {"severity": "warning"}, {"severity": "error"}],
}


def test_lines_are_counted_by_their_level():
    reported = report(COMPARISON, seen(unread=["job-02"]))
    assert reported["lines"] == [
        *COMPARISON["summary"],
        "unknown  job-02 could not be read.",
        "1 switch, 2 cables with RoCE, 2 errors, 1 warning.",
    ]


def test_the_verdict_names_the_first_three_problems_and_counts_the_rest():
    summary = [f"error    esx-0{number} port vmnic2: the MTU is 1500." for number in (1, 2, 3)]
    one = report({**COMPARISON, "summary": summary[:1]}, seen())["verdict"]
    assert one.endswith("See above. esx-01 port vmnic2: the MTU is 1500.")
    reported = report({**COMPARISON, "summary": summary}, seen(unread=["job-02"]))["verdict"]
    assert reported.endswith("esx-03 port vmnic2: the MTU is 1500. 1 more.")
    assert "warning" not in report(COMPARISON, seen())["verdict"]


def test_a_line_about_what_the_run_will_change_first_is_planned():
    reported = report(COMPARISON, seen(waiting=["leaf-01", "esx-01"]))
    assert reported["lines"] == [
        "planned  esx-01 port vmnic2: the MTU is 1500.",
        *COMPARISON["summary"][1:],
        "1 switch, 2 cables with RoCE, 1 error, 1 warning.",
        "1 line is about leaf-01, esx-01, which this run will change first.",
    ]


@pytest.mark.parametrize(
    "agreed, changes, verdict",
    [
        (True, {}, "Switches, hosts and guests have the same RoCE QoS"),
        (False, {}, "The RoCE QoS of switches, hosts and guests differs"),
        (True, {"unread": ["job-02"]}, "The RoCE QoS of switches, hosts and guests differs"),
        (True, {"switches": [], "unread": ["leaf-01"]}, "The RoCE QoS of switches, hosts and guests differs"),
        (True, {"switches": []}, "Each switch failed before this task, or the limit excludes it"),
        (True, {"switches": [], "known": []}, "The group switches of the inventory is empty"),
    ],
)
def test_an_agreement_needs_a_switch_and_an_answer_of_all(agreed, changes, verdict):
    reported = report({**COMPARISON, "agreed": agreed}, seen(**changes))
    assert reported["agreed"] is (agreed and not changes)
    assert verdict in reported["verdict"]


def test_an_agreement_without_a_cable_has_compared_nothing():
    reported = report({**COMPARISON, "agreed": True, "paths": []}, seen())
    assert reported["agreed"]
    assert reported["verdict"].startswith("No cable was compared. LLDP shows no cable")
