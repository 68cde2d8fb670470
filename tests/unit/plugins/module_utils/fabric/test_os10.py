"""Commands for the requested QoS on Dell OS10 in an order without loss, and the rollback."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import compare
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Ecn, Intent, Thresholds
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Edit
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.os10.platform import CONFIG, Os10
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import Lost, Refused

from .os10_lab import BY_HAND, FACTORY, PORTS, SHOWN, USUAL, commands, differing, switch

RANGE = "interface range ethernet1/1/1-1/1/2"


def test_from_the_factory_objects_are_made_before_ports_use_them_and_trust_comes_last():
    assert commands(switch(FACTORY)) == [
        "wred AIREADY-ECN-150-1500-100",
        "random-detect color green minimum-threshold 150 maximum-threshold 1500 drop-probability 100",
        "random-detect ecn",
        "exit",
        "class-map type network-qos AIREADY-PFC-3",
        "match qos-group 3",
        "exit",
        "class-map type queuing AIREADY-QUEUE-3",
        "match queue 3",
        "exit",
        "class-map type queuing AIREADY-QUEUE-6",
        "match queue 6",
        "exit",
        "trust dscp-map AIREADY-TRUST-26-3-48-6",
        "qos-group 0 dscp 0-25,27-47,49-63",
        "qos-group 3 dscp 26",
        "qos-group 6 dscp 48",
        "exit",
        "qos-map traffic-class AIREADY-QUEUES",
        *(f"queue {one} qos-group {one}" for one in range(8)),
        "exit",
        "policy-map type network-qos AIREADY-LOSSLESS-3",
        "class AIREADY-PFC-3",
        "pause",
        "pfc-cos 3",
        "exit",
        "exit",
        "policy-map type queuing AIREADY-OUT-3-50-6-150-1500-100",
        "class AIREADY-QUEUE-3",
        "bandwidth percent 50",
        "random-detect AIREADY-ECN-150-1500-100",
        "exit",
        "class AIREADY-QUEUE-6",
        "priority",
        "exit",
        "exit",
        RANGE,
        "mtu 9216",
        "service-policy input type network-qos AIREADY-LOSSLESS-3",
        "priority-flow-control mode on",
        "qos-map traffic-class AIREADY-QUEUES",
        "service-policy output type queuing AIREADY-OUT-3-50-6-150-1500-100",
        "ets mode on",
        "trust-map dscp AIREADY-TRUST-26-3-48-6",
        "exit",
    ]


def test_lossy_needs_no_class_that_pauses():
    sent = commands(switch(FACTORY), Intent(mode="lossy"))
    assert not [line for line in sent if "network-qos" in line or "priority-flow-control" in line or "pause" in line]


def test_from_an_operators_lossless_to_lossy_its_objects_stay():
    sent = commands(switch(BY_HAND), Intent(mode="lossy"))
    assert sent[-5:] == [
        RANGE,
        "qos-map traffic-class AIREADY-QUEUES",
        "no priority-flow-control mode",
        "no service-policy input type network-qos PAUSE",
        "exit",
    ]


def configured(intent=USUAL):
    """Return a switch with its rendered configuration, in the lines that the switch writes."""
    sent, depth, text = commands(switch(FACTORY), intent), 0, FACTORY
    for line in sent:
        depth -= line == "exit"
        text += "" if line == "exit" else " " * depth + line + "\n"
        opens = ("wred", "class", "trust dscp-map", "qos-map", "policy-map", "interface")
        depth += line.startswith(opens) and not (depth and line.startswith(("qos-map", "trust")))
    return text


def test_what_is_rendered_has_the_wanted_effect():
    assert differing(switch(configured())) == []


def test_the_class_of_the_old_priority_goes_only_after_packets_have_left_it():
    sent = commands(switch(configured()), Intent(priority=4, dscp=34))
    both, moved, alone = (
        sent.index(line)
        for line in (
            "service-policy input type network-qos AIREADY-LOSSLESS-3-4",
            "trust-map dscp AIREADY-TRUST-34-4-48-6",
            "service-policy input type network-qos AIREADY-LOSSLESS-4",
        )
    )
    assert both < moved < alone
    gone = [line for line in sent if line.startswith("no ")]
    assert "no policy-map type network-qos AIREADY-LOSSLESS-3-4" in gone
    assert "no class-map type network-qos AIREADY-PFC-3" in gone
    assert "no trust dscp-map AIREADY-TRUST-26-3-48-6" in gone


def test_merged_keeps_the_lossless_priorities_of_others():
    other = "class-map type network-qos NQ4\n   match qos-group 4\n"
    text = BY_HAND.replace("class NQ3\n", "class NQ4\n") + other
    text = text.replace("pfc-cos 3", "pfc-cos 4")
    sent = commands(switch(text), exact=False)
    assert "service-policy input type network-qos AIREADY-LOSSLESS-3-4" in sent
    assert not [line for line in sent if line.startswith("no policy-map")]


def test_thresholds_may_differ_by_speed_of_ports():
    found = switch(FACTORY, **{"show interface": SHOWN})
    sent = commands(found, Intent(ecn=Ecn(by_speed={25: Thresholds(40, 400, 50)})))
    assert {"wred AIREADY-ECN-150-1500-100", "wred AIREADY-ECN-40-400-50"} <= {*sent}
    assert "interface ethernet1/1/1" in sent
    assert "interface ethernet1/1/2" in sent


def test_names_fit_however_large_the_thresholds_are():
    sent = commands(switch(FACTORY), Intent(ecn=Ecn(default=Thresholds(10000, 12000, 100)), bandwidth_percent=60))
    names = [line.split()[-1] for line in sent if "AIREADY" in line]
    assert max(map(len, names)) <= 32


def test_pauses_of_all_traffic_go_before_flow_control_comes():
    text = FACTORY.replace(" no shutdown", " no shutdown\n flowcontrol transmit on")
    sent = commands(switch(text))
    assert sent.index("flowcontrol transmit off") < sent.index("priority-flow-control mode on")


def test_absent_leaves_nothing_of_ours_and_keeps_the_mtu():
    sent = commands(switch(configured()), None)
    assert sent[:8] == [
        RANGE,
        "no trust-map dscp AIREADY-TRUST-26-3-48-6",
        "no ets mode",
        "no service-policy output type queuing AIREADY-OUT-3-50-6-150-1500-100",
        "no qos-map traffic-class AIREADY-QUEUES",
        "no priority-flow-control mode",
        "no service-policy input type network-qos AIREADY-LOSSLESS-3",
        "exit",
    ]
    assert len([line for line in sent[8:] if line.startswith("no ")]) == 8


def test_absent_at_one_port_keeps_what_the_other_uses():
    sent = commands(switch(configured()), None, ports=["ethernet1/1/2"])
    assert sent[0] == "interface ethernet1/1/2"
    assert sent[-1] == "exit"


def test_who_uses_our_objects_is_known():
    own = switch(configured()).own
    assert own["wred AIREADY-ECN-150-1500-100"] == PORTS
    assert own["class-map type network-qos AIREADY-PFC-3"] == PORTS
    assert switch(BY_HAND).own == {}


class Recorder:
    """A session that answers from texts, and rejects or breaks at some commands."""

    def __init__(self, texts=None, refuses=(), breaks=()):
        self.sent, self._texts, self._refuses, self._breaks = [], texts or {}, refuses, breaks

    def run(self, command, answers=()):
        self.sent.append(command)
        if command in self._breaks:
            raise Lost(command, "gone")
        if command in self._refuses:
            raise Refused(command, "% Error: no")
        return self._texts.get(command, "")


EDIT = Edit(["dcbx enable", "wred X"])


@pytest.mark.parametrize(
    "options, refuses, sent",
    [
        ({}, (), ["start transaction", "configure terminal", "dcbx enable", "wred X", "end", "commit"]),
        ({}, ("start transaction",), ["start transaction", "configure terminal", "dcbx enable", "wred X", "end"]),
        ({"transaction": "never"}, (), ["configure terminal", "dcbx enable", "wred X", "end"]),
    ],
    ids=["has transactions", "has none", "never"],
)
def test_transactions_are_used_where_the_release_has_them(options, refuses, sent):
    session = Recorder(refuses=refuses)
    Os10(options).apply(session, EDIT)
    assert session.sent == sent


def test_a_transaction_with_a_refused_line_is_discarded():
    session = Recorder(refuses=("wred X",))
    with pytest.raises(Refused):
        Os10().apply(session, EDIT)
    assert session.sent[-2:] == ["end", "discard"]


def test_nothing_is_sent_into_a_lost_session():
    session = Recorder(breaks=("wred X",))
    with pytest.raises(Lost):
        Os10().apply(session, EDIT)
    assert session.sent[-1] == "wred X"


def test_the_way_back_undoes_what_is_there():
    session = Recorder({CONFIG: configured()}, refuses=("discard", "start transaction"))
    Os10().revert(session, EDIT, switch(BY_HAND))
    sent = session.sent
    assert sent[:4] == ["discard", CONFIG, "start transaction", "configure terminal"]
    assert "service-policy input type network-qos PAUSE" in sent
    assert "no policy-map type network-qos AIREADY-LOSSLESS-3" in sent
    assert sent.index("policy-map type network-qos PAUSE") < sent.index("service-policy input type network-qos PAUSE")


def test_a_way_back_that_was_gone_sends_nothing():
    session = Recorder({CONFIG: BY_HAND})
    Os10().revert(session, EDIT, switch(BY_HAND))
    assert session.sent == ["discard", CONFIG]


def test_an_own_object_that_was_edited_is_reported_with_both_contents():
    ready = switch(BY_HAND)
    names = {"AIREADY-ECN-150-1500-100": "minimum-threshold 150", "AIREADY-QUEUE-3": "match queue 3"}
    made = "wred AIREADY-ECN-150-1500-100\n   random-detect color green minimum-threshold 99 maximum-threshold 1500\n"
    edited = switch(f"{FACTORY}{made}")
    os10 = Os10()
    wants = {name: compare.wanted(USUAL, os10, speed=edited.ports[name].speed) for name in PORTS}
    strays = os10.strays(edited, wants, USUAL)
    assert list(strays) == ["wred AIREADY-ECN-150-1500-100"]
    now, wanted = strays["wred AIREADY-ECN-150-1500-100"]
    assert "minimum-threshold 99" in now
    assert names["AIREADY-ECN-150-1500-100"] in wanted
    assert os10.strays(ready, wants, USUAL) == {}
