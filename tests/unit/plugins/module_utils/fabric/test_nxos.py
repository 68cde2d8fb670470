# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import compare
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Ecn, Intent, Thresholds
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.nxos.platform import Nxos

INTENT = Intent()
IN, OUT, NETWORK = "AIREADY-ROCE-IN-26-3-48-6", "AIREADY-ROCE-OUT-3-50-150-1500-100-6", "AIREADY-ROCE-NQ"
ECN = "random-detect minimum-threshold {} kbytes maximum-threshold {} kbytes drop-probability 100 weight 0 ecn"
PFC, GUARD = "priority-flow-control mode", "priority-flow-control watch-dog-interval"
FACTORY = "interface Ethernet1/1\n  mtu 9216\ninterface Ethernet1/2\n  mtu 9216\n"
CLASSES = [
    "class-map type qos match-any AIREADY-ROCE-DSCP26",
    "match dscp 26",
    "class-map type qos match-any AIREADY-ROCE-DSCP48",
    "match dscp 48",
    f"policy-map type qos {IN}",
    "class AIREADY-ROCE-DSCP26",
    "set qos-group 3",
    "class AIREADY-ROCE-DSCP48",
    "set qos-group 6",
]
QUEUES = [
    f"policy-map type queuing {OUT}",
    "class type queuing c-out-8q-q6",
    "priority level 1",
    "class type queuing c-out-8q-q3",
    "bandwidth remaining percent 50",
    ECN.format(150, 1500),
    "class type queuing c-out-8q-q-default",
    "bandwidth remaining percent 50",
]
NO_DROP = [
    f"policy-map type network-qos {NETWORK}",
    "class type network-qos c-8q-nq3",
    "pause pfc-cos 3",
    "mtu 9216",
    "class type network-qos c-8q-nq-default",
    "mtu 9216",
    "system qos",
    f"service-policy type network-qos {NETWORK}",
]
PORT = [f"service-policy type qos input {IN}", f"service-policy type queuing output {OUT}", f"{PFC} on", f"{GUARD} on"]
INDENTS = ("class-map ", "policy-map ", "interface ", "system qos", "priority-flow-control watch-dog-interval")


def nested(commands):
    """Return commands in the form of a configuration, where a class of a policy has sub-lines."""
    shown, inside = [], False
    for command in commands:
        top = command.startswith(INDENTS[:4]) or (command.startswith(INDENTS[4]) and not inside)
        inside = command.startswith("interface ") if top else inside
        inner = command.startswith("class ")
        depth = 0 if top else 1 if inner or not (shown and shown[-1].startswith(("  class ", "    "))) else 2
        shown.append("  " * depth + command)
    return "\n".join(shown) + "\n"


SET = nested(
    [f"{GUARD} on", *CLASSES, *QUEUES, *NO_DROP]
    + ["interface Ethernet1/1", "mtu 9216", *PORT, "interface Ethernet1/2", "mtu 9216", *PORT]
)
# The same QoS by an operator: other names and order, policies for the whole switch, a range of ports.
BY_HAND = f"""
interface Ethernet1/1-2
  {GUARD} on
  {PFC} on send-tlv
  mtu 9216
policy-map type qos Classify
  class Storage
    set qos-group 3
  class Signals
    set qos-group 6
class-map type qos match-any Storage
  match dscp 24-31
class-map type qos match-all Signals
  match dscp cs6
policy-map type network-qos Fabric
  class type network-qos c-8q-nq-default
    mtu 9216
  class type network-qos c-8q-nq3
    mtu 9216
    pause pfc-cos 3
policy-map type queuing Out
  class type queuing c-out-8q-q3
    bandwidth remaining percent 50
    {ECN.format(150, 1500)}
  class type queuing c-out-8q-q-default
    bandwidth remaining percent 30
  class type queuing c-out-8q-q1
    bandwidth remaining percent 20
  class type queuing c-out-8q-q6
    priority level 1
system qos
  service-policy type qos input Classify
  service-policy type queuing output Out
  service-policy type network-qos Fabric
{GUARD} on
"""


def switch(text):
    return Nxos().parse({"show running-config": text})


def edit(text, requested=INTENT, ports=("Ethernet1/1",), exact=True):
    platform, there = Nxos(), switch(text)
    wants = {name: compare.wanted(requested, platform) for name in ports}
    return platform.render(there, wants, requested, exact)


def test_from_the_factory_classes_stand_before_ports_use_them():
    there = edit(FACTORY).commands
    assert there == [*CLASSES, *NO_DROP, f"{GUARD} on", *QUEUES, "interface Ethernet1/1", *PORT]


@pytest.mark.parametrize("text", [SET, BY_HAND], ids=["as we set it", "by an operator, in another form"])
def test_what_is_as_wanted_is_left_alone(text):
    assert edit(text, ports=("Ethernet1/1", "Ethernet1/2")).commands == []


def changed(line, instead):
    return SET.replace(line, instead)


@pytest.mark.parametrize(
    "requested, text, expected",
    [
        (Intent(mtu=9000), SET, ["interface Ethernet1/1", "mtu 9000"]),
        (INTENT, changed(f"  {PFC} on\n", f"  {PFC} auto\n"), ["interface Ethernet1/1", f"{PFC} on"]),
        (INTENT, changed(f"  {PFC} on\n", ""), ["interface Ethernet1/1", f"{PFC} on"]),
        (INTENT, changed(f"  {GUARD} on\n", ""), ["interface Ethernet1/1", f"{GUARD} on"]),
        (INTENT, changed(f"{GUARD} on\nclass", "class"), [f"{GUARD} on"]),
        (
            INTENT,
            changed(f"  {PFC} on\n", f"  {PFC} on\n  flowcontrol receive on\n"),
            ["interface Ethernet1/1", "flowcontrol receive off"],
        ),
        (
            Intent(dcbx="ieee"),
            SET,
            ["feature lldp", "interface Ethernet1/1", f"{PFC} on send-tlv"],
        ),
        (
            INTENT,
            changed("pause pfc-cos 3", "pause pfc-cos 4"),
            [
                f"policy-map type network-qos {NETWORK}",
                "class type network-qos c-8q-nq3",
                "no pause pfc-cos 4",
                "pause pfc-cos 3",
                "mtu 9216",
            ],
        ),
        (
            INTENT,
            changed(" weight 0 ecn", " weight 0"),
            [*QUEUES, "interface Ethernet1/1", f"service-policy type queuing output {OUT}"],
        ),
        (
            INTENT,
            changed("match dscp 26", "match dscp 24"),
            [*CLASSES[:2], "no match dscp 24", "interface Ethernet1/1", f"service-policy type qos input {IN}"],
        ),
    ],
    ids=[
        "mtu",
        "auto waits for a peer",
        "auto by default",
        "watchdog of the port",
        "watchdog of the switch",
        "link-level pause",
        "hosts are to be reported",
        "pauses for another priority",
        "drops instead of marking",
        "a class that somebody changed",
    ],
)
def test_only_what_differs_is_sent(requested, text, expected):
    assert edit(text, requested).commands == expected


def test_what_an_operator_has_for_the_whole_switch_is_extended():
    text = BY_HAND.replace("    pause pfc-cos 3\n", "")
    assert edit(text).commands == [
        "policy-map type network-qos Fabric",
        "class type network-qos c-8q-nq3",
        "pause pfc-cos 3",
        "mtu 9216",
    ]


def test_another_priority_is_lossless_before_packets_go_there_and_the_old_one_after():
    commands = edit(SET, Intent(priority=5, dscp=40), ports=("Ethernet1/1", "Ethernet1/2")).commands
    made, moved = commands.index("pause pfc-cos 5"), commands.index("interface Ethernet1/1-2")
    assert made < moved < commands.index("no pause pfc-cos 3")
    assert commands[-3:] == [
        f"no policy-map type queuing {OUT}",
        f"no policy-map type qos {IN}",
        "no class-map type qos AIREADY-ROCE-DSCP26",
    ]


def test_what_other_ports_rely_on_is_not_taken_away():
    with pytest.raises(OperatorError) as refusal:
        edit(SET, Intent(priority=5, dscp=40))
    assert refusal.value.code == "lossless_for_others"
    assert refusal.value.data["ports"] == ["Ethernet1/2"]
    merged = edit(SET, Intent(priority=5, dscp=40), exact=False).commands
    assert "pause pfc-cos 5" in merged
    assert "no pause pfc-cos 3" not in merged


def test_lossy_turns_ports_off_and_frees_the_buffers_with_the_last_one():
    lossy = Intent(mode="lossy")
    one = edit(SET, lossy).commands
    assert one == ["interface Ethernet1/1", f"{PFC} off"]
    both = edit(SET, lossy, ports=("Ethernet1/1", "Ethernet1/2")).commands
    assert both[-3:] == [
        "system qos",
        f"no service-policy type network-qos {NETWORK}",
        f"no policy-map type network-qos {NETWORK}",
    ]
    theirs = edit(BY_HAND, lossy, ports=("Ethernet1/1", "Ethernet1/2")).commands
    assert theirs[-3:] == [
        "policy-map type network-qos Fabric",
        "class type network-qos c-8q-nq3",
        "no pause pfc-cos 3",
    ]


def test_thresholds_may_differ_by_the_speed_of_ports():
    platform, there = Nxos(), switch(FACTORY)
    requested = Intent(ecn=Ecn(by_speed={400: Thresholds(600, 6000, 50)}))
    ports = (("Ethernet1/1", 100), ("Ethernet1/2", 400))
    wants = {name: compare.wanted(requested, platform, speed=speed) for name, speed in ports}
    commands = platform.render(there, wants, requested).commands
    fast = "AIREADY-ROCE-OUT-3-50-600-6000-50-6"
    assert f"service-policy type queuing output {fast}" in commands[commands.index("interface Ethernet1/2") :]
    assert commands.count(f"policy-map type queuing {fast}") == commands.count(f"policy-map type queuing {OUT}") == 1


@pytest.mark.parametrize(
    "requested, text, code",
    [
        (Intent(cable_length_m=300), FACTORY, "cable_too_long"),
        (Intent(mode="lossy", dcbx="ieee"), SET, "dcbx_needs_flow_control"),
    ],
)
def test_what_nxos_cannot_do_is_refused(requested, text, code):
    with pytest.raises(OperatorError) as refusal:
        edit(text, requested)
    assert refusal.value.code == code


def test_long_cables_are_right_where_somebody_gave_sizes():
    sized = "pause buffer-size 27456 pause-threshold 12480 resume-threshold 12480 pfc-cos 3"
    assert edit(SET.replace("pause pfc-cos 3", sized), Intent(cable_length_m=300)).commands == []


def absent(text, ports):
    platform, there = Nxos(), switch(text)
    wants = {name: compare.effect(platform.blank(there, name), INTENT) for name in ports}
    return platform.render(there, wants, None).commands


BACK = [
    f"{PFC} auto",
    f"{GUARD} off",
    f"no service-policy type qos input {IN}",
    f"no service-policy type queuing output {OUT}",
]


def test_absent_leaves_other_ports_and_what_they_use():
    assert absent(SET, ["Ethernet1/1"]) == ["interface Ethernet1/1", *BACK]


def test_absent_everywhere_leaves_the_factory_and_the_mtu():
    commands = absent(SET, ["Ethernet1/1", "Ethernet1/2"])
    assert commands[:5] == ["interface Ethernet1/1-2", *BACK]
    assert commands[5:] == [
        "system qos",
        f"no service-policy type network-qos {NETWORK}",
        f"no policy-map type network-qos {NETWORK}",
        f"{GUARD} off",
        f"no policy-map type queuing {OUT}",
        f"no policy-map type qos {IN}",
        "no class-map type qos AIREADY-ROCE-DSCP26",
        "no class-map type qos AIREADY-ROCE-DSCP48",
    ]


def test_absent_leaves_what_an_operator_made_for_the_whole_switch():
    commands = absent(BY_HAND, ["Ethernet1/1", "Ethernet1/2"])
    assert not any("policy-map" in command or "service-policy" in command for command in commands)


def test_objects_of_ours_are_known_with_the_ports_that_use_them():
    both = ["Ethernet1/1", "Ethernet1/2"]
    assert switch(SET).own == {
        IN: both,
        OUT: both,
        NETWORK: both,
        "AIREADY-ROCE-DSCP26": both,
        "AIREADY-ROCE-DSCP48": both,
    }
    assert switch(BY_HAND).own == {}
