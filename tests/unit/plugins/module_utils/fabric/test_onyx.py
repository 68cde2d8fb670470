"""Commands for Onyx switches: the preset if it matches the intent, single lines otherwise."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import compare
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Ecn, Intent, Thresholds, Watchdog
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Edit
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.onyx.platform import CONFIG, Onyx
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import Lost, Refused

SAMPLES = Path(__file__).parent / "samples" / "onyx"
PRESET = (SAMPLES / "show_roce_lossless_3.10.4006_sn2700.txt").read_text(encoding="utf-8")
OFF = "\nRoCE mode: N/A\n"
USUAL = Intent()
PORTS = ["Eth1/1", "Eth1/2"]
BOTH = "interface ethernet 1/1-1/2"
# The configuration of Onyx guides from before the preset, with the weights of the module.
BY_HAND = f"""
   traffic pool roce type lossless
   traffic pool roce memory percent 50.00
   traffic pool roce map switch-priority 3
   {BOTH} qos trust L3
   {BOTH} traffic-class 3 congestion-control ecn minimum-absolute 150 maximum-absolute 1500
   {BOTH} traffic-class 3 dcb ets wrr 50
   {BOTH} traffic-class 6 dcb ets strict
   {BOTH} mtu 9216 force
   {BOTH} pfc-wd
   dcb priority-flow-control enable force
   dcb priority-flow-control priority 3 enable
   {BOTH} dcb priority-flow-control mode on force
"""
SHARES = [
    f"{BOTH} traffic-class {tc} dcb ets {how}"
    for tc, how in enumerate(["wrr 8", "wrr 8", "wrr 9", "wrr 50", "wrr 8", "wrr 8", "strict", "wrr 9"])
]


def switch(config="", roce=OFF, version="3.10.4006", up=tuple(PORTS)):
    table = [{"header": name, "Operational state": "Up", "Actual speed": "100 Gbps"} for name in up]
    texts = {
        CONFIG: config,
        "show version": f"Product release:   {version}\n",
        "show interfaces ethernet | json-print": json.dumps(table),
    }
    return Onyx().parse(texts if roce is None else {**texts, "show roce": roce})


def commands(found, intent=USUAL, ports=tuple(PORTS), exact=True):
    onyx = Onyx()
    if intent is None:
        blank = {name: compare.effect(onyx.blank(found, name), Intent()) for name in ports}
        return onyx.render(found, blank, None).commands
    wants = {name: compare.wanted(intent, onyx, speed=found.ports[name].speed) for name in ports}
    return onyx.render(found, wants, intent, exact).commands


def differing(found, intent=USUAL):
    wants = {name: compare.wanted(intent, Onyx()) for name in PORTS}
    effects = {name: compare.effect(found.ports[name], intent) for name in PORTS}
    return compare.changes(effects, wants)


def test_from_the_factory_the_preset_is_one_line():
    assert commands(switch()) == ["roce lossless", f"{BOTH} pfc-wd", f"{BOTH} mtu 9216 force"]


@pytest.mark.parametrize(
    "mode, sent",
    [
        ("lossy", ["roce lossy", f"{BOTH} mtu 9216 force"]),
        ("semi_lossless", ["roce semi-lossless", f"{BOTH} pfc-wd", f"{BOTH} mtu 9216 force"]),
    ],
    ids=["lossy", "semi"],
)
def test_each_mode_is_named(mode, sent):
    assert commands(switch(), Intent(mode=mode)) == sent


@pytest.mark.parametrize("version", ["3.6.5000", "3.8.1208"])
def test_releases_without_the_preset_get_single_lines_what_is_used_last(version):
    assert commands(switch(roce=None, version=version)) == [
        "traffic pool aiready-roce-3 type lossless",
        "traffic pool aiready-roce-3 memory percent 50.00",
        "traffic pool aiready-roce-3 map switch-priority 3",
        "dcb priority-flow-control enable force",
        "dcb priority-flow-control priority 3 enable",
        f"{BOTH} traffic-class 3 congestion-control ecn minimum-absolute 150 maximum-absolute 1500",
        *SHARES,
        f"{BOTH} dcb priority-flow-control mode on force",
        f"{BOTH} pfc-wd",
        f"{BOTH} mtu 9216 force",
        f"{BOTH} qos trust L3",
    ]


def test_what_an_operator_wrote_by_hand_is_equal():
    assert differing(switch(BY_HAND, roce=None)) == []
    assert commands(switch(BY_HAND, roce=None)) == []


def test_the_preset_with_an_mtu_and_a_watchdog_is_equal():
    found = switch(f"{BOTH} mtu 9216 force\n{BOTH} pfc-wd\nroce lossless\n", PRESET)
    assert differing(found) == []
    assert commands(found) == []


def test_a_form_that_is_there_is_kept():
    found = switch(BY_HAND)
    intent = Intent(ecn=Ecn(default=Thresholds(150, 1500)), watchdog=Watchdog(enabled=False))
    assert commands(found, intent) == [f"{BOTH} no pfc-wd"]


def test_from_half_of_it_only_the_rest_is_sent():
    half = BY_HAND.replace(f"   {BOTH} qos trust L3\n", "").replace("priority 3 enable", "priority 4 enable")
    assert commands(switch(half, roce=None)) == [
        "dcb priority-flow-control priority 3 enable",
        f"{BOTH} qos trust L3",
        "no dcb priority-flow-control priority 4 enable",
    ]


def test_merged_leaves_the_priorities_of_others():
    other = BY_HAND + "   dcb priority-flow-control priority 4 enable\n"
    assert commands(switch(other, roce=None), exact=False) == []
    assert commands(switch(other, roce=None)) == ["no dcb priority-flow-control priority 4 enable"]


def test_merged_takes_marks_from_the_class_that_roce_leaves():
    sent = commands(switch(BY_HAND, roce=None), Intent(priority=5, dscp=26), exact=False)
    assert f"{BOTH} no traffic-class 3 congestion-control" in sent
    assert f"{BOTH} traffic-class 5 congestion-control ecn minimum-absolute 150 maximum-absolute 1500" in sent
    assert "no dcb priority-flow-control priority 3 enable" not in sent


def test_other_values_than_the_presets_leave_it_first():
    sent = commands(switch(f"{BOTH} mtu 9216 force\n{BOTH} pfc-wd\n", PRESET), Intent(priority=4, dscp=34))
    assert sent[0] == f"{BOTH} no pfc-wd"
    assert sent[1] == "no roce"
    assert "traffic pool aiready-roce-4 map switch-priority 4" in sent
    assert not [line for line in sent if "mtu" in line]


def test_another_priority_is_ready_before_packets_go_there_and_the_old_one_goes_after():
    found = switch(BY_HAND.replace("pool roce", "pool aiready-roce-3"), roce=None)
    sent = commands(found, Intent(priority=5, dscp=26))
    new, moved, old = (
        sent.index(line)
        for line in (
            "dcb priority-flow-control priority 5 enable",
            f"{BOTH} qos map dscp 26 to switch-priority 5",
            "no dcb priority-flow-control priority 3 enable",
        )
    )
    assert new < moved < old
    assert sent[-1] == "no traffic pool aiready-roce-3"
    assert f"{BOTH} no traffic-class 3 congestion-control" in sent


def test_pools_of_others_stay():
    sent = commands(switch(BY_HAND, roce=None), Intent(mode="lossy"))
    assert sent == [
        f"{BOTH} no pfc-wd",
        f"{BOTH} dcb priority-flow-control mode off force",
        "no dcb priority-flow-control priority 3 enable",
        "no dcb priority-flow-control enable force",
    ]


def test_lossy_at_some_ports_leaves_flow_control_to_the_others():
    sent = commands(switch(BY_HAND, roce=None), Intent(mode="lossy"), ports=["Eth1/2"])
    assert sent == [
        "interface ethernet 1/2 no pfc-wd",
        "interface ethernet 1/2 dcb priority-flow-control mode off force",
    ]


def test_pauses_of_all_traffic_go_before_flow_control_comes():
    found = switch("interface ethernet 1/1 flowcontrol receive on force\n", roce=None, version="3.6.5000")
    sent = commands(found)
    off = sent.index("interface ethernet 1/1 flowcontrol receive off force")
    assert off < sent.index(f"{BOTH} dcb priority-flow-control mode on force")


def test_a_map_is_set_only_where_the_factory_has_another():
    sent = commands(switch(roce=None, version="3.6.5000"), Intent(priority=4, dscp=26))
    assert [line for line in sent if "map dscp" in line] == [f"{BOTH} qos map dscp 26 to switch-priority 4"]


@pytest.mark.parametrize("exists", ["", BY_HAND], ids=["factory", "by hand"])
def test_absent_ends_where_the_factory_began(exists):
    sent = commands(switch(exists, roce=None), None)
    assert ("no dcb priority-flow-control enable force" in sent) is bool(exists)
    assert not [line for line in sent if "mtu" in line or "traffic pool" in line]


def test_absent_takes_the_preset_away():
    assert commands(switch(f"{BOTH} pfc-wd\n", PRESET), None) == [f"{BOTH} no pfc-wd", "no roce"]


def test_the_preset_is_not_taken_from_ports_that_nobody_named():
    with pytest.raises(OperatorError) as error:
        commands(switch("", PRESET, up=[*PORTS, "Eth1/9"]), None)
    assert error.value.code == "whole_switch"
    assert "Eth1/9" in error.value.message


@pytest.mark.parametrize(
    "found, intent, why",
    [
        (switch(), Intent(mode="semi_lossless", priority=4, dscp=34), "values differ"),
        (switch(roce=None, version="3.6.5000"), Intent(mode="semi_lossless"), "Release 3.6.5000"),
        (switch("interface ethernet 1/9 qos trust L3\n"), Intent(mode="semi_lossless"), "Eth1/9"),
    ],
    ids=["values", "release", "lines"],
)
def test_semi_lossless_is_the_preset_or_nothing(found, intent, why):
    with pytest.raises(OperatorError) as error:
        commands(found, intent)
    assert error.value.code == "mode_not_possible"
    assert why in error.value.message


def test_rendered_without_a_switch():
    onyx = Onyx({"version": "3.10.4006"})
    found = onyx.parse({})
    found.raw = None
    found.ports = {name: onyx.blank(found, name) for name in PORTS}
    assert commands(found)[0] == "roce lossless"


class Recorder:
    """A session that answers from texts, and fails at one command."""

    def __init__(self, texts=None, trouble=None, at=None):
        self.sent, self._texts, self._trouble, self._at = [], texts or {}, trouble, at

    def run(self, command, answers=()):
        self.sent.append(command)
        if command == self._at:
            raise self._trouble
        return self._texts.get(command, "")


def test_configuration_mode_is_left_when_a_line_is_refused():
    session = Recorder(trouble=Refused("roce lossless", "% no"), at="roce lossless")
    with pytest.raises(Refused):
        Onyx().apply(session, Edit(["lldp", "roce lossless", "lldp"]))
    assert session.sent == ["configure terminal", "lldp", "roce lossless", "exit"]


def test_nothing_is_sent_into_a_lost_session():
    session = Recorder(trouble=Lost("lldp", "gone"), at="lldp")
    with pytest.raises(Lost):
        Onyx().apply(session, Edit(["lldp", "roce"]))
    assert session.sent == ["configure terminal", "lldp"]


def test_the_way_back_undoes_what_is_there_and_not_what_was_planned():
    now = f"{BOTH} qos trust L3\ndcb priority-flow-control enable force\n"
    session = Recorder({CONFIG: now, "show roce": OFF})
    Onyx().revert(session, None, switch(f"interface ethernet 1/1 qos trust both\n{BOTH} mtu 9216 force\n"))
    assert session.sent[2:] == [
        "configure terminal",
        f"{BOTH} mtu 9216 force",
        "interface ethernet 1/1 qos trust both",
        "interface ethernet 1/2 qos trust L2",
        "no dcb priority-flow-control enable force",
        "exit",
    ]


def test_the_way_back_restores_the_mode_of_the_preset():
    session = Recorder({CONFIG: "", "show roce": PRESET.replace(": lossless\nLLDP", ": lossy\nLLDP")})
    Onyx().revert(session, None, switch("", PRESET))
    assert session.sent[-2:] == ["roce lossless", "exit"]
    session = Recorder({CONFIG: "", "show roce": PRESET})
    Onyx().revert(session, None, switch())
    assert session.sent[-2:] == ["no roce", "exit"]


def test_a_way_back_that_was_gone_sends_nothing():
    session = Recorder({CONFIG: BY_HAND, "show roce": OFF})
    Onyx().revert(session, None, switch(BY_HAND))
    assert session.sent == [CONFIG, "show roce"]


def test_ports_are_asked_for_in_runs():
    reads = Onyx().reads(["Eth1/1", "Eth1/2", "Eth1/10", "Po3"])
    assert "show qos interface ethernet 1/1-1/2 | json-print" in reads
    assert "show qos interface ethernet 1/10 | json-print" in reads
    assert not [line for line in Onyx().reads([]) if "show qos" in line]


FACTORY_WEIGHTS = {0: 12, 1: 13, 2: 12, 3: 13, 4: 12, 5: 13, 6: 12, 7: 13}


def test_a_port_without_lines_has_the_weights_of_the_factory():
    assert switch(f"   {BOTH} mtu 9216 force\n").ports["Eth1/1"].shares == FACTORY_WEIGHTS


def test_removal_restores_the_weights_of_the_factory_and_leaves_those_that_are_set_so():
    changed = "".join(f"   {BOTH} traffic-class {queue} dcb ets wrr 20\n" for queue in range(8))
    sent = commands(switch(changed), intent=None)
    assert sorted(line for line in sent if "dcb ets" in line) == [
        f"{BOTH} traffic-class {queue} dcb ets wrr {weight}" for queue, weight in FACTORY_WEIGHTS.items()
    ]
    reported = "".join(f"   {BOTH} traffic-class {queue} dcb ets wrr {FACTORY_WEIGHTS[queue]}\n" for queue in range(8))
    assert commands(switch(reported), intent=None) == []
