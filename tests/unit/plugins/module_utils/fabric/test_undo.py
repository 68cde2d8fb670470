"""Settings before a run, those that it left, and those now: what restore sends on each platform, and what it keeps."""

from __future__ import annotations

import json

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import platform_of
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.undo import facts

VERSIONS = {"sonic": "SONiC.202511"}
PROFILE = "qos profile AIREADY\n   priority-flow-control on\n   tx-queue 3\n      bandwidth percent 50\n"
POLICY = "policy-map type queuing AIREADY\n  class type queuing c-out-8q-q3\n    bandwidth remaining percent 50\n"
MAP = "trust dscp-map AIREADY\n qos-group 3 dscp 26\n"


def sonic(mtu, **tables):
    return json.dumps({"PORT": {"Ethernet0": {"mtu": mtu}}, **tables})


def cumulus(mtu, **qos):
    return json.dumps({"interface": {"swp1": {"link": {"mtu": mtu}, **qos}}})


# {platform: (name of the MTU of a port, before, left, commands, a value of another client)}
TABLE = {
    "eos": (
        "interface Ethernet1 mtu",
        "interface Ethernet1\n   mtu 1500\n   no qos trust\n",
        "qos map dscp 26 to traffic-class 3\n"
        f"{PROFILE}interface Ethernet1\n   mtu 9214\n   qos trust dscp\n   service-profile AIREADY\n",
        "interface Ethernet1; no service-profile AIREADY; mtu 1500; no qos trust; exit; no qos profile AIREADY; "
        "no qos map dscp 26",
        ("mtu 9214", "mtu 4000"),
    ),
    "nxos": (
        "interface Ethernet1/1 mtu",
        "interface Ethernet1/1\n  flowcontrol receive on\n",
        f"{POLICY}interface Ethernet1/1\n  mtu 9216\n  priority-flow-control mode on\n"
        "  service-policy type queuing output AIREADY\n",
        "interface Ethernet1/1; no mtu; priority-flow-control mode auto; "
        "no service-policy type queuing output AIREADY; flowcontrol receive on; exit; "
        "no policy-map type queuing AIREADY",
        ("mtu 9216", "mtu 4000"),
    ),
    "os10": (
        "interface ethernet1/1/1 mtu",
        "interface ethernet1/1/1\n mtu 1532\n",
        f"{MAP}interface ethernet1/1/1\n mtu 9216\n trust-map dscp AIREADY\n",
        "interface ethernet1/1/1; mtu 1532; no trust-map dscp AIREADY; exit; no trust dscp-map AIREADY",
        ("mtu 9216", "mtu 4000"),
    ),
    "onyx": (
        "mtu Eth1/1",
        "interface ethernet 1/1 mtu 1600 force",
        "interface ethernet 1/1 mtu 9216 force\ninterface ethernet 1/1 qos trust L3",
        "interface ethernet 1/1 mtu 1600 force; interface ethernet 1/1 qos trust L2",
        ("9216", "4000"),
    ),
    "enterprise_sonic": (
        "interface Eth1/1 mtu",
        "interface Eth1/1\n mtu 9100\n",
        "interface Eth1/1\n mtu 9216\n queue 3 wred-policy AIREADY\n",
        "configure terminal; interface Eth1/1; mtu 9100; no queue 3 wred-policy; exit; end",
        ("mtu 9216", "mtu 4000"),
    ),
    "cumulus": (
        "interface swp1 link mtu",
        cumulus(1500),
        cumulus(9216, qos={"remark": {"profile": "x"}}),
        "nv unset interface swp1 qos; nv set interface swp1 link mtu 1500",
        ("9216", "4000"),
    ),
    "sonic": (
        "PORT Ethernet0 mtu",
        sonic("9100"),
        sonic("9216", PORT_QOS_MAP={"Ethernet0": {"pfc_enable": "3"}}),
        '[{"op": "replace", "path": "/PORT/Ethernet0/mtu", "value": "9100"}, '
        '{"op": "remove", "path": "/PORT_QOS_MAP"}]',
        ("9216", "4000"),
    ),
}


def read(platform, text):
    """The switch with this configuration."""
    if platform == "sonic":
        switch = platform_of(platform, None).parse({"show runningconfiguration all": text})
        switch.version = VERSIONS["sonic"]
        return switch
    if platform == "cumulus":
        return platform_of(platform, None).parse({"nv config show -o json": json.dumps([{"set": json.loads(text)}])})
    words = "configuration" if platform in ("os10", "enterprise_sonic") else "config"
    return platform_of(platform, None).parse({f"show running-{words}": text})


def judged(platform, before, left, now):
    reader = platform_of(platform, None)
    switch = read(platform, now)
    wanted = facts.settings(reader.facts(read(platform, before).config), reader.facts(read(platform, left).config))
    present = reader.facts(switch.config)
    rows = facts.judge(wanted, present, reader.object_of, reader.lacks)
    then = facts.target(present, rows)
    edit = reader.undo(switch, then) if then != present else None
    return {row.setting: row.state for row in rows}, edit


def sent(platform, edit):
    if edit is None:
        return ""
    return json.dumps(edit.payload["patch"]) if platform == "sonic" else "; ".join(edit.commands)


@pytest.mark.parametrize("platform", TABLE)
def test_left_settings_return_to_their_values_before(platform):
    _mtu, before, left, commands, _other = TABLE[platform]
    states, edit = judged(platform, before, left, left)
    assert {*states.values()} == {"due"}
    assert sent(platform, edit) == commands


@pytest.mark.parametrize("platform", TABLE)
def test_nothing_is_sent_to_a_switch_that_is_as_before(platform):
    _mtu, before, left, _commands, _other = TABLE[platform]
    states, edit = judged(platform, before, left, before)
    assert ({*states.values()}, edit) == ({"already as before"}, None)


@pytest.mark.parametrize("platform", TABLE)
def test_a_value_of_another_client_is_kept(platform):
    mtu, before, left, _commands, (ours, theirs) = TABLE[platform]
    states, edit = judged(platform, before, left, left.replace(ours, theirs))
    assert states.pop(mtu) == "changed since by another"
    assert {*states.values()} == {"due"}
    assert theirs not in sent(platform, edit)


def test_an_object_that_another_port_uses_is_kept():
    _mtu, before, left, _commands, _other = TABLE["eos"]
    states, edit = judged("eos", before, left, f"{left}interface Ethernet9\n   service-profile AIREADY\n")
    assert states["qos profile AIREADY"] == "changed since by another"
    assert "no qos profile AIREADY" not in edit.commands


def test_an_object_with_lines_of_another_client_is_kept():
    _mtu, before, left, _commands, _other = TABLE["nxos"]
    states, _edit = judged("nxos", before, left, left.replace("percent 50", "percent 40"))
    assert states["policy-map type queuing AIREADY"] == "changed since by another"


def test_lists_of_code_points_are_single_settings():
    reader = platform_of("eos", None)
    assert reader.facts("qos map dscp 24-26 to traffic-class 3") == {
        (f"qos map dscp {code}",): f"qos map dscp {code} to traffic-class 3" for code in (24, 25, 26)
    }


def test_a_preset_that_needs_a_restart_is_restored_only_with_permission():
    left = "roce enable pfc-priority 3\nqos map dscp-tc ROCE\n dscp 26 traffic-class 3\n"
    states, edit = judged("enterprise_sonic", "", left, left)
    assert ({*states.values()}, edit) == ({"cannot"}, None)
    allowed = platform_of("enterprise_sonic", None, {"allow": ["roce_enable_reboot"]})
    switch = read("enterprise_sonic", left)
    assert allowed.undo(switch, {}).commands[:2] == ["configure terminal", "no roce enable"]


def test_lldp_stays_on_nexus_switches_with_the_reason():
    reader = platform_of("nxos", None)
    assert "Other features may have started to use LLDP" in reader.lacks(("feature lldp",))


@pytest.mark.parametrize(
    "runs, expected",
    [
        ([[(None, "a")], [("b", "c")]], [(None, "c")]),
        ([[(None, "a")], [("a", None)]], []),
        ([[("x", "a")], [("a", "b")]], [("x", "b")]),
    ],
)
def test_runs_combine_to_the_first_value_and_the_last_one(runs, expected):
    settings = [[facts.Setting(("one",), before, left) for before, left in run] for run in runs]
    assert [(one.before, one.left) for one in facts.combined(settings)] == expected


@pytest.mark.parametrize(
    "before, left, commands, expected",
    [
        (None, "mtu 9000", ["interface Ethernet1", "mtu 9000"], True),
        (None, "mtu 4000", ["interface Ethernet1", "mtu 9000"], False),
        ("qos trust cos", None, ["interface Ethernet1", "default qos trust"], True),
        ("description x", None, ["interface Ethernet1", "default qos trust"], False),
    ],
)
def test_commands_of_a_killed_run_explain_its_changes_alone(before, left, commands, expected):
    path = ("interface Ethernet1", (left or before).rpartition(" ")[0])
    assert facts.said(facts.Setting(path, before, left), commands) is expected


TWO = ["interface Ethernet1-2", "mtu 9000", "tx-queue 3", "no priority", "exit", "qos trust dscp", "exit", "mtu 4000"]


@pytest.mark.parametrize(
    "section, line, expected",
    [
        (("interface Ethernet1",), "mtu 9000", True),
        (("interface Ethernet2",), "qos trust dscp", True),
        (("interface Ethernet3",), "mtu 9000", False),
        (("interface Ethernet12",), "mtu 9000", False),
        (("interface Ethernet1",), "mtu 4000", False),
        (("interface Ethernet1",), "no priority", False),
        (("interface Ethernet1", "tx-queue 3"), "no priority", True),
        (("interface Ethernet1", "tx-queue 4"), "no priority", False),
        ((), "mtu 4000", True),
    ],
)
def test_equal_lines_of_other_sections_are_changes_of_others(section, line, expected):
    assert facts.said(facts.Setting((*section, line.rpartition(" ")[0]), None, line), TWO) is expected


def test_a_removal_names_the_whole_setting():
    gone = facts.Setting(("qos map dscp 2",), "qos map dscp 2 to traffic-class 3", None)
    assert not facts.said(gone, ["no qos map dscp 26"])
    assert facts.said(gone, ["no qos map dscp 2"])


@pytest.mark.parametrize(
    "path, command",
    [
        (("qos map traffic-class 5 to tx-queue",), "qos map traffic-class 5 to tx-queue 5"),
        (("interface Ethernet1/1", "priority-flow-control mode"), "priority-flow-control mode auto"),
        (("class-map type qos match-any ROCE",), "no class-map type qos ROCE"),
    ],
    ids=["a queue map of EOS", "a mode of NX-OS", "a class of NX-OS"],
)
def test_a_command_that_sets_the_default_made_the_change_too(path, command):
    commands = [*path[:-1], command]
    assert facts.said(facts.Setting(path, path[-1], None), commands)
    assert not facts.said(facts.Setting(path, path[-1], None), [*path[:-1], "mtu 9216"])
