# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""EOS, NX-OS and OS10: each value that was not understood is unknown and in `unread`, as are lines without a port."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import offline
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import platform_of

from .test_unknown_values import EOS, FLOW, GUARD, NXOS, at


@dataclass(frozen=True)
class Shown:
    """An output in which one part is another one, and what is then neither known nor silent."""

    platform: str
    command: str
    text: str
    before: str
    after: str
    port: str
    path: str
    unread: str


def eos(command, text, before, after, path, unread):
    return Shown("eos", command, text, before, after, "Ethernet1", path, unread)


def nxos(command, text, before, after, path, unread):
    return Shown("nxos", command, text, before, after, "Ethernet1/1", path, unread)


def os10(command, text, before, after, path, unread):
    return Shown("os10", command, text, before, after, "ethernet1/1/1", path, unread)


PFC, DETAILS = "show priority-flow-control", "show interface priority-flow-control details"
QUEUE, TRUST = "Ethernet1:\n   tx-queue 3\n   Minimum threshold: 150 kbytes\n", "Ethernet1:\n   Trust Mode: DSCP\n"
UP = "Ethernet1 is up, line protocol is up (connected)\n  Ethernet MTU 9214 bytes, BW 100000000 kbit\n"
NEXUS_UP = "Ethernet1/1    to a host    connected    trunk     full    100G    QSFP-100G-CR4\n"
NEXUS_FLOW = "Port     Mode  Oper(VL bmap)  RxPPP  TxPPP\nEthernet1/1   On   On (8)   1   2\n"
STORM = GUARD + "| QOS GROUP 3 [Shutdown] PFC [YES] PFC-COS [3]\n"
COS = "Ingress Queuing for Ethernet1/1\nCOS QOS Group PG TxPause TxCount RxPause RxCount\n  3 3 3 Active 7 Inactive 8\n"
LINK = (
    "Ethernet 1/1/1 is up, line protocol is up\nMTU 9216 bytes, IP MTU 9184 bytes\n"
    "LineSpeed 100G, Auto-Negotiation on\nFlowcontrol rx on tx off\n"
)
PAUSES = FLOW + "  Priority  Rx Frames  Tx Frames\n  3  17  19\n"
PROFILE = (
    "qos map dscp 26 to traffic-class 5\nqos profile R\n   qos trust dscp\n   priority-flow-control on\n   tx-queue 3\n"
    "      bandwidth percent 50\n      random-detect ecn minimum-threshold 150 kbytes maximum-threshold 300 kbytes\n"
    "interface Ethernet1\n   service-profile R\n"
)
CLASSES = (
    "class-map type qos match-all R\n  match dscp 26\npolicy-map type qos IN\n  class R\n    set qos-group 3\n"
    "policy-map type queuing OUT\n  class type queuing c-out-8q-q3\n    bandwidth remaining percent 50\n"
    "    random-detect minimum-threshold 150 kbytes maximum-threshold 300 kbytes drop-probability 100 ecn\n"
    "interface Ethernet1/1\n  priority-flow-control mode on\n  service-policy type qos input IN\n"
    "  service-policy type queuing output OUT\n"
)
DELL = (
    "trust dscp-map T\n qos-group 3 dscp 26\nwred W\n"
    " random-detect color green minimum-threshold 150 maximum-threshold 300 drop-probability 100\n random-detect ecn\n"
    "class-map type queuing Q\n match queue 3\npolicy-map type queuing OUT\n class Q\n  bandwidth percent 50\n"
    "  random-detect W\ninterface ethernet1/1/1\n mtu 9216\n flowcontrol receive on\n priority-flow-control mode on\n"
    " ets mode on\n trust-map dscp T\n service-policy output type queuing OUT\n"
)
SHOWN = {
    "eos: priorities": eos(
        PFC, "Et1  E A W  3  drop  0.2\n", " 3 ", " high ", "running.pfc", "priorities of Ethernet1"
    ),
    "eos: a row": eos(PFC, "Et1  17  18\nEt1  Yes  3  Yes\n", "3  Yes", "3  Maybe", "running.pfc", "'Et1 Yes 3 Maybe'"),
    "eos: a watchdog": eos(
        f"{PFC} counters watchdog", "Et1  UC3  5  4\n", "5  4", "x  4", "running.storms", "'Et1 UC3 x 4'"
    ),
    "eos: trust": eos("show qos interfaces", TRUST, "DSCP", "OUTER", "running.trust", "'OUTER'"),
    "eos: trust of a table": eos(
        "show qos interfaces trust", "Ethernet1   DSCP   DSCP\n", "DSCP   D", "OUTER   D", "running.trust", "OUTER"
    ),
    "eos: a unit": eos("show qos interfaces ecn", EOS, "kbytes", "cells ", "running.ecn", "cells"),
    "eos: a threshold": eos("show qos interfaces ecn", EOS, "1500", "many", "running.ecn", "many"),
    "eos: a unit behind a colon": eos("show qos interfaces", QUEUE, "kbytes", "cells", "running.ecn.3", "150 cells"),
    "eos: a link": eos("show interfaces", UP, "up (connected)", "odd (weird)", "running.up", "'odd'"),
    "eos: a link as JSON": eos(
        "show interfaces | json",
        '{"interfaces": {"Ethernet1": {"interfaceStatus": "connected", "mtu": 9214}}}',
        *("connected", "weird", "running.up", "'weird'"),
    ),
    "nxos: priorities": nxos(
        "show interface priority-flow-control", NEXUS_FLOW, "On (8)", "On (x)", "running.pfc", "Ethernet1/1"
    ),
    "nxos: a state": nxos(
        "show interface priority-flow-control", NEXUS_FLOW, "On (8)", "Odd (8)", "running.pfc", "Ethernet1/1"
    ),
    "nxos: a counter": nxos(
        *("show interface priority-flow-control", NEXUS_FLOW, "1   2", "x   2"),
        *("running.counters.pauses_received", "counters of Ethernet1/1, 'x   2'"),
    ),
    "nxos: a link": nxos("show interface status", NEXUS_UP, "connected", "weird    ", "running.up", "'weird'"),
    "nxos: a unit": nxos("show policy-map interface", NXOS, "1500 kbytes", "1500 cells", "running.ecn.3", "1500 cells"),
    "nxos: a watchdog": nxos("show queuing pfc-queue", GUARD, "Enabled", "Armed", "running.watchdog", "'Armed'"),
    "nxos: a storm": nxos("show queuing pfc-queue", STORM, "[Shutdown]", "[Odd]", "running.storms", "'Odd'"),
    "nxos: a class": nxos("show queuing interface", COS, "3 Active", "3 Odd", "running.pfc", "3 3 3 Odd"),
    "os10: a link": os10("show interface", LINK, "is up, line protocol is up", "is odd", "running.up", "'odd'"),
    "os10: an MTU": os10("show interface", LINK, "MTU 9216", "MTU big", "running.mtu", "'MTU big"),
    "os10: a speed": os10("show interface", LINK, "LineSpeed 100G", "LineSpeed fast", "speed", "'LineSpeed fast"),
    "os10: a pause": os10("show interface", LINK, "rx on tx off", "rx odd tx off", "pause", "'Flowcontrol rx odd"),
    "os10: a state": os10(DETAILS, FLOW, "Operstatus: true", "Operstatus: odd", "running.pfc", "Operstatus: odd"),
    "os10: priorities": os10(DETAILS, FLOW, "Priorities: 3", "Priorities: high", "running.pfc", "Priorities: high"),
    "os10: a counter": os10(DETAILS, PAUSES, "17  19", "x  19", "running.counters.pauses_received.3", "'3 x 19'"),
}


def parsed(one, text):
    reported = offline.parsed(platform_of(one.platform, None), {one.command: text})
    return at(reported["ports"].get(one.port), one.path), reported["unread"]


@pytest.mark.parametrize("one", SHOWN.values(), ids=SHOWN.keys())
def test_a_value_in_another_form_is_unknown_and_unread(one):
    assert one.before in one.text
    value, unread = parsed(one, one.text)
    assert value is not None
    assert unread == []
    value, unread = parsed(one, one.text.replace(one.before, one.after))
    assert value is None
    assert [one.unread in sentence for sentence in unread] == [True], unread


CONFIGURED = {
    "eos: trust": ("eos", PROFILE, "qos trust dscp", "qos trust outer"),
    "eos: flow control": ("eos", PROFILE, "priority-flow-control on", "priority-flow-control maybe"),
    "eos: a unit": ("eos", PROFILE, "300 kbytes", "300 cells"),
    "eos: a share": ("eos", PROFILE, "bandwidth percent 50", "bandwidth percent half"),
    "eos: a code point": ("eos", PROFILE, "qos map dscp 26", "qos map dscp video"),
    "nxos: flow control": ("nxos", CLASSES, "mode on", "mode maybe"),
    "nxos: a unit": ("nxos", CLASSES, "300 kbytes", "300 cells"),
    "nxos: a share": ("nxos", CLASSES, "remaining percent 50", "remaining ratio 50"),
    "nxos: a code point": ("nxos", CLASSES, "match dscp 26", "match dscp video"),
    "nxos: a group": ("nxos", CLASSES, "set qos-group 3", "set qos-group fast"),
    "os10: a code point": ("os10", DELL, "dscp 26", "dscp video"),
    "os10: a threshold": ("os10", DELL, "minimum-threshold 150", "minimum-threshold 10%"),
    "os10: a queue": ("os10", DELL, "match queue 3", "match queue fast"),
    "os10: a share": ("os10", DELL, "bandwidth percent 50", "bandwidth percent half"),
    "os10: pauses": ("os10", DELL, "receive on", "receive maybe"),
    "os10: flow control": ("os10", DELL, "flow-control mode on", "flow-control mode maybe"),
    "os10: an MTU": ("os10", DELL, "mtu 9216", "mtu big"),
}


@pytest.mark.parametrize("name, text, before, after", CONFIGURED.values(), ids=CONFIGURED.keys())
def test_a_line_of_a_configuration_in_another_form_is_unread(name, text, before, after):
    def unread(shown):
        return offline.parsed(platform_of(name, None), {"show running-config": shown})["unread"]

    assert before in text
    assert unread(text) == []
    assert [after in sentence for sentence in unread(text.replace(before, after))] == [True]


STATES = [
    ("eos", "show interfaces", "Ethernet1 is down, line protocol is lowerlayerdown (errdisabled)", False, True),
    ("eos", "show interfaces", "Ethernet1 is administratively down, line protocol is down (disabled)", False, False),
    ("nxos", "show interface status", "Eth1/1  --  xcvrAbsen  1  full  100G  QSFP", False, None),
    ("nxos", "show interface status", "Eth1/1  --  notconnec  trunk  full  100G  QSFP", False, None),
    ("nxos", "show interface status", "Eth1/1  --  noOperMem  trunk  full  100G  QSFP", False, None),
    ("nxos", "show interface status", "Eth1/1  --  disabled  trunk  full  100G  QSFP", False, None),
    ("os10", "show interface", "Ethernet 1/1/1 is administratively down, line protocol is down", False, None),
]


@pytest.mark.parametrize("name, command, text, up, enabled", STATES)
def test_known_words_of_a_link_that_is_down(name, command, text, up, enabled):
    reported = offline.parsed(platform_of(name, None), {command: text + "\n"})
    (port,) = reported["ports"].values()
    assert (port["running"]["up"], port["enabled"], reported["unread"]) == (up, enabled, [])


def two(name):
    """An output of two ports."""
    numbers = {"eos": ("1", "2"), "nxos": ("1/1", "1/2"), "os10": ("1/1/1", "1/1/2")}[name]
    return lambda text: "".join(text.replace(numbers[0], number, 1) for number in numbers)


LLDP = "Interface Ethernet1 detected 1 LLDP neighbors:\n\n  Neighbor aa/1, age 1\n    Chassis ID     : {}\n"
NEXUS_LLDP = "Chassis id: b8ce.f600.0001\nPort id: vmnic{0}\nLocal Port id: Eth1/{0}\nSystem Name: esx-0{0}\n"
DELL_LLDP = "Remote System Name: esx-0{0}\nRemote Port ID: vmnic{0}\nLocal Port ID: ethernet1/1/{0}\n" + "-" * 40 + "\n"
WHOLE = TRUST + "  Tx     Bandwidth    Priority   ECN/WRED\n   3      50 / 50      RR         D\n"
CASES = {
    "eos: trust": ("eos", "show qos interfaces", two("eos")(TRUST), "Ethernet2:\n", "running.trust"),
    "eos: queues": (
        "eos",
        "show qos interfaces",
        two("eos")(WHOLE),
        "Ethernet2:\n   Trust Mode: DSCP\n",
        "running.ecn",
    ),
    "eos: thresholds": ("eos", "show qos interfaces ecn", two("eos")(EOS), "Ethernet2:\n", "running.ecn"),
    "eos: queues as blocks": ("eos", "show qos interfaces", two("eos")(QUEUE), "Ethernet2:\n", "running.ecn"),
    "eos: links": (
        "eos",
        "show interfaces",
        two("eos")(UP),
        UP.replace("1", "2", 1).split("\n", maxsplit=1)[0] + "\n",
        "running.mtu",
    ),
    "eos: neighbours": (
        *("eos", "show lldp neighbors", two("eos")(LLDP.format("aa"))),
        *("Interface Ethernet2 detected 1 LLDP neighbors:\n", "neighbours"),
    ),
    "nxos: policies": ("nxos", "show policy-map interface", two("nxos")(NXOS), "Ethernet1/2\n", "running.ecn"),
    "nxos: storms": (
        *("nxos", "show queuing pfc-queue", two("nxos")(STORM)),
        *(GUARD.replace("1/1", "1/2"), "running.storms"),
    ),
    "nxos: classes": (
        *("nxos", "show queuing interface", two("nxos")(COS)),
        *("Ingress Queuing for Ethernet1/2\n", "running.pfc"),
    ),
    "nxos: links": (
        *("nxos", "show interface", two("nxos")("Ethernet1/1 is up\n  MTU 9216 bytes, BW 100000000 Kbit\n")),
        *("Ethernet1/2 is up\n", "running.mtu"),
    ),
    "nxos: neighbours": (
        *("nxos", "show lldp neighbors detail", NEXUS_LLDP.format(1) + NEXUS_LLDP.format(2)),
        *("Local Port id: Eth1/2\n", "neighbours"),
    ),
    "os10: links": (
        *("os10", "show interface", two("os10")(LINK)),
        *("Ethernet 1/1/2 is up, line protocol is up\n", "running.mtu"),
    ),
    "os10: pauses": ("os10", DETAILS, two("os10")(PAUSES), "ethernet1/1/2\n", "running.pfc"),
    "os10: neighbours": (
        *("os10", "show lldp neighbors", DELL_LLDP.format(1) + DELL_LLDP.format(2)),
        *("Local Port ID: ethernet1/1/2\n", "neighbours"),
    ),
}


@pytest.mark.parametrize("name, command, text, heading, path", CASES.values(), ids=CASES.keys())
def test_lines_whose_heading_is_lost_belong_to_no_port(name, command, text, heading, path):
    assert text.count(heading) == 1
    both = offline.parsed(platform_of(name, None), {command: text})
    first, second = sorted(both["ports"])
    assert both["unread"] == []
    assert at(both["ports"][second], path) not in (None, [])
    # Another value behind the lost heading, to see that it goes nowhere.
    above, below = text.split(heading)
    reported = offline.parsed(platform_of(name, None), {command: above + below.replace("150", "151").replace("9", "8")})
    assert reported["ports"] == {first: both["ports"][first]}
    assert [sentence.startswith("Cannot assign the lines after those of") for sentence in reported["unread"]] == [True]


@pytest.mark.parametrize(
    "name, command, text",
    [(name, command, text) for name, command, text, _heading, _path in CASES.values()],
    ids=CASES.keys(),
)
def test_lines_before_the_first_heading_belong_to_no_port(name, command, text):
    first = re.search(r"(?m)^.*(?:Ethernet ?1|ethernet1/1/1|Eth1/1).*$\n?", text)
    reported = offline.parsed(platform_of(name, None), {command: text[: first.start()] + text[first.end() :]})
    assert len(reported["ports"]) == 1
    assert reported["unread"] != []


def test_a_nexus_port_without_an_input_policy_may_have_that_of_the_switch():
    """The command need not show the policy under `system qos`, so that trust is unknown there, and not none."""
    shown = {"show policy-map interface": NXOS}
    system = "system qos\n  service-policy type qos input IN\n"

    def trust(texts):
        running = offline.parsed(platform_of("nxos", None), texts)["ports"]["Ethernet1/1"]["running"]
        return running["trust"], running["ecn"] is None

    assert trust(shown) == (None, False)
    assert trust({**shown, "show running-config ipqos": CLASSES + system}) == (None, False)
    assert trust({**shown, "show running-config ipqos": CLASSES}) == ("none", False)
    assert trust(
        {"show policy-map interface": NXOS.split("\n", maxsplit=1)[0] + "\n\n  Service-policy (qos) input:   IN\n"}
    ) == (
        "none",
        True,
    )
