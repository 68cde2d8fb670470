# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import compare
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Ecn, Intent, Thresholds, Watchdog
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.eos.platform import Eos

INTENT = Intent(mtu=9214)
OWN = "AIREADY-ROCE-PFC3-Q3-50-ECN-150-1500-100-CNP6"
LOSSY = "AIREADY-ROCE-LOSSY-Q3-50-ECN-150-1500-100-CNP6"
GUARD = "priority-flow-control pause watchdog"
ECN = "random-detect ecn minimum-threshold {} kbytes maximum-threshold {} kbytes max-mark-probability 100 weight 0"
FACTORY = "interface Ethernet1\n   mtu 9214\ninterface Ethernet2\n   mtu 9214\n"
QUEUES = ["tx-queue 3", "no priority", "bandwidth percent 50", ECN.format(150, 1500), "exit"]
QUEUES += ["tx-queue 6", "priority strict", "exit"]
LOSSLESS = ["priority-flow-control on", "priority-flow-control priority 3 no-drop"]
TIMES = [f"{GUARD} default timeout 0.2", f"{GUARD} default recovery-time 1", f"{GUARD} default polling-interval 0.1"]
SET = f"""
qos profile {OWN}
   priority-flow-control on
   priority-flow-control priority 3 no-drop
   !
   tx-queue 3
      no priority
      bandwidth percent 50
      {ECN.format(150, 1500)}
   !
   tx-queue 6
      priority strict
!
interface Ethernet1
   mtu 9214
   qos trust dscp
   service-profile {OWN}
!
interface Ethernet2
   mtu 9214
   qos trust dscp
   service-profile {OWN}
!
{GUARD} default timeout 0.2
{GUARD} default recovery-time 1
{GUARD} default polling-interval 0.1
"""
# The same QoS by an operator: other names and order, queues and classes in the interface itself, old syntax.
BY_HAND = f"""
{GUARD} default timeout 1
interface Ethernet1
   dcbx mode ieee
   qos trust dscp
   mtu 9214
   priority-flow-control mode on
   uc-tx-queue 6
      priority strict
   uc-tx-queue 3
      {ECN.format(150, 1500)}
      bandwidth percent 50
      no priority
   priority-flow-control priority 3 no-drop
interface Ethernet2
   mtu 9214
   qos trust dscp
   service-profile storage
qos profile storage
   uc-tx-queue 3
      no priority
      bandwidth percent 50
      random-detect ecn minimum-threshold 150000 bytes maximum-threshold 1500000 bytes max-mark-probability 100
   priority-flow-control on
   priority-flow-control priority 3 no-drop
qos map dscp 24-31 to traffic-class 3
qos map traffic-class 3 to uc-tx-queue 3
"""


def switch(text):
    return Eos().parse({"show running-config": text})


def rendered(text, requested=INTENT, ports=("Ethernet1",), exact=True, fabric=()):
    """Return (commands, different keys) for some ports of a switch with this configuration."""
    platform, there = Eos(), switch(text)
    wants = {name: compare.wanted(requested, platform, "fabric" if name in fabric else "host") for name in ports}
    now = {name: compare.effect(there.ports[name], requested) for name in ports}
    keys = {key for name in ports for key in compare.differing(now[name], wants[name], exact)}
    return platform.render(there, wants, requested, exact).commands, keys


def test_from_the_factory_everything_is_made_before_ports_use_it():
    commands, _keys = rendered(FACTORY)
    assert commands == [
        *TIMES,
        f"qos profile {OWN}",
        *LOSSLESS,
        *QUEUES,
        "exit",
        "interface Ethernet1",
        "qos trust dscp",
        f"service-profile {OWN}",
        GUARD,
        "exit",
    ]


@pytest.mark.parametrize("text", [SET, BY_HAND], ids=["as we set it", "by an operator, in another form"])
def test_what_is_as_wanted_is_left_alone(text):
    commands, keys = rendered(text, ports=("Ethernet1", "Ethernet2"))
    assert (commands, keys) == ([], set())


@pytest.mark.parametrize(
    "requested, text, expected",
    [
        (
            Intent(mtu=9000),
            SET,
            ["interface Ethernet1", "mtu 9000", "exit"],
        ),
        (
            INTENT,
            SET.replace("   qos trust dscp\n", ""),
            ["interface Ethernet1", "qos trust dscp", "exit"],
        ),
        (
            INTENT,
            SET.replace("interface Ethernet1\n", "interface Ethernet1\n   priority-flow-control priority 4 no-drop\n"),
            ["interface Ethernet1", "no priority-flow-control priority 4", "exit"],
        ),
        (
            INTENT,
            SET.replace("interface Ethernet1\n", f"interface Ethernet1\n   no {GUARD}\n"),
            ["interface Ethernet1", GUARD, "exit"],
        ),
        (
            INTENT,
            SET.replace("interface Ethernet1\n", "interface Ethernet1\n   flowcontrol receive on\n"),
            ["interface Ethernet1", "no flowcontrol send", "no flowcontrol receive", "exit"],
        ),
        (
            Intent(mtu=9214, dcbx="ieee"),
            SET,
            ["interface Ethernet1", "dcbx mode ieee", "exit"],
        ),
        (
            Intent(mtu=9214, watchdog=Watchdog(False)),
            SET,
            ["interface Ethernet1", f"no {GUARD}", "exit"],
        ),
        (
            Intent(mtu=9214, watchdog=Watchdog(detection_ms=500, recovery_ms=50, action="forward")),
            SET,
            [
                f"{GUARD} default timeout 0.5",
                f"{GUARD} default recovery-time 0.05",
                f"{GUARD} default polling-interval 0.025",
                f"{GUARD} action no-drop",
                "interface Ethernet1",
                GUARD,
                "exit",
            ],
        ),
        (
            Intent(mtu=9214, dscp=34),
            SET,
            ["qos map dscp 34 to traffic-class 3"],
        ),
        (
            INTENT,
            "qos map traffic-class 1 3 to tx-queue 3\n" + SET,
            [
                "qos map traffic-class 1 to tx-queue 1",
            ],
        ),
        (
            INTENT,
            SET.replace("interface Ethernet1\n", "interface Ethernet1\n   tx-queue 3\n      bandwidth percent 10\n"),
            ["interface Ethernet1", "tx-queue 3", "bandwidth percent 50", "exit", "exit"],
        ),
        (
            INTENT,
            "class-map type qos match-any all\n   match dscp 26\npolicy-map type quality-of-service low\n"
            "   class all\n      set traffic-class 1\n"
            + SET.replace("interface Ethernet1\n", "interface Ethernet1\n   service-policy type qos input low\n"),
            ["interface Ethernet1", "no service-policy type qos input low", "exit"],
        ),
    ],
    ids=[
        "mtu",
        "trust of a switched port",
        "a stale lossless priority",
        "watchdog off at the port",
        "link-level pause",
        "dcbx",
        "watchdog not wanted",
        "times and action",
        "another code point",
        "a shared queue",
        "a share against the profile",
        "a policy against the map",
    ],
)
def test_only_what_differs_is_sent(requested, text, expected):
    commands, _keys = rendered(text, requested)
    assert commands == expected


def test_lossy_takes_another_profile_and_the_old_one_goes_when_nobody_uses_it():
    lossy = Intent(mode="lossy", mtu=9214)
    made = [f"qos profile {LOSSY}", *QUEUES, "exit"]
    one, _keys = rendered(SET, lossy)
    assert one == [*made, "interface Ethernet1", f"service-profile {LOSSY}", "exit"]
    both, _keys = rendered(SET, lossy, ports=("Ethernet1", "Ethernet2"))
    assert both[-1] == f"no qos profile {OWN}"


def test_lossy_takes_back_what_an_interface_says_itself():
    commands, _keys = rendered(BY_HAND, Intent(mode="lossy", mtu=9214))
    port = commands[commands.index("interface Ethernet1") :]
    assert port[1:4] == [
        f"service-profile {LOSSY}",
        "no priority-flow-control",
        "no priority-flow-control priority 3",
    ]
    assert "uc-tx-queue 3" in commands, "the keyword is the switch's own"


def test_merged_leaves_other_lossless_priorities():
    text = SET.replace("interface Ethernet1\n", "interface Ethernet1\n   priority-flow-control priority 4 no-drop\n")
    assert rendered(text, exact=False) == ([], set())


def test_thresholds_may_differ_by_the_speed_of_ports():
    platform, there = Eos(), switch(FACTORY)
    requested = Intent(mtu=9214, ecn=Ecn(by_speed={400: Thresholds(600, 6000, 50)}))
    wants = {
        name: compare.wanted(requested, platform, speed=speed)
        for name, speed in (("Ethernet1", 100), ("Ethernet2", 400))
    }
    commands = platform.render(there, wants, requested).commands
    fast = "AIREADY-ROCE-PFC3-Q3-50-ECN-600-6000-50-CNP6"
    assert commands.count(f"qos profile {OWN}") == commands.count(f"qos profile {fast}") == 1
    assert commands[commands.index("interface Ethernet2") + 2] == f"service-profile {fast}"


def test_an_own_profile_that_somebody_changed_is_made_anew():
    commands, _keys = rendered(SET.replace("bandwidth percent 50", "bandwidth percent 20"))
    assert commands == [f"no qos profile {OWN}", f"qos profile {OWN}", *LOSSLESS, *QUEUES, "exit"]


def test_a_switch_for_which_the_priority_is_not_free_gets_another_queue():
    commands, _keys = rendered(SET, Intent(mtu=9214, priority=5, dscp=40))
    assert "priority-flow-control priority 5 no-drop" in commands
    assert commands[-1] != f"no qos profile {OWN}", "Ethernet2 still uses it"


def test_ports_with_the_same_lines_share_them():
    text = FACTORY + "interface Ethernet3\n   mtu 1500\ninterface Ethernet4\n   mtu 9214\n"
    commands, _keys = rendered(text, ports=("Ethernet1", "Ethernet2", "Ethernet3", "Ethernet4"))
    blocks = [command for command in commands if command.startswith("interface ")]
    assert blocks == ["interface Ethernet1-2", "interface Ethernet3", "interface Ethernet4"]
    assert commands.count("mtu 9214") == 1


def test_an_action_that_eos_does_not_have_is_refused():
    with pytest.raises(OperatorError) as refusal:
        rendered(FACTORY, Intent(mtu=9214, watchdog=Watchdog(action="alert")))
    assert refusal.value.code == "watchdog_action_not_supported"


def absent(text, ports):
    platform, there = Eos(), switch(text)
    wants = {name: compare.effect(platform.blank(there, name), INTENT) for name in ports}
    return platform.render(there, wants, None).commands


def test_absent_leaves_other_ports_and_what_they_use():
    assert absent(SET, ["Ethernet1"]) == [
        "interface Ethernet1",
        f"no service-profile {OWN}",
        "default qos trust",
        "exit",
    ]


def test_absent_everywhere_leaves_the_factory_and_the_mtu():
    text = "qos map dscp 34 to traffic-class 3\nqos map dscp 20 to traffic-class 1\n" + SET
    commands = absent(text, ["Ethernet1", "Ethernet2"])
    assert commands[:4] == ["interface Ethernet1-2", f"no service-profile {OWN}", "default qos trust", "exit"]
    assert commands[4:] == [
        f"no qos profile {OWN}",
        f"no {GUARD} default timeout",
        f"no {GUARD} default recovery-time",
        f"no {GUARD} default polling-interval",
        "no qos map dscp 34",
    ]
    assert not any("mtu" in command for command in commands)


def test_absent_takes_a_port_out_of_what_an_operator_made_and_leaves_that():
    commands = absent(BY_HAND, ["Ethernet1", "Ethernet2"])
    assert "no service-profile storage" in commands
    assert not any(command.startswith("no qos profile") for command in commands)
    assert "no priority-flow-control priority 3" in commands


@pytest.mark.parametrize(
    "lines, commands",
    [
        ("priority-flow-control on", ["no priority-flow-control"]),
        ("priority-flow-control priority 4 drop", ["no priority-flow-control priority 4"]),
        (GUARD, [f"default {GUARD}"]),
        (f"no {GUARD}", [f"default {GUARD}"]),
        (f"{GUARD} port timer timeout 1 polling-interval auto", [f"no {GUARD} port timer"]),
        (f"{GUARD} port timer recovery-time 1 polling-interval auto", [f"no {GUARD} port timer"]),
        (f"{GUARD} port action drop", [f"no {GUARD} port action"]),
        ("qos trust cos", ["default qos trust"]),
        ("dcbx mode ieee", ["no dcbx mode"]),
        ("tx-queue 3\n      no priority", ["tx-queue 3", "priority strict", "exit"]),
        ("tx-queue 3\n      priority strict\n      bandwidth percent 20", []),
        ("mtu 9214", []),
    ],
)
def test_absent_takes_back_each_line_of_an_interface_and_no_other(lines, commands):
    ports = ["Ethernet1"]
    made = absent(f"interface Ethernet1\n   {lines}\n", ports)
    assert made == (["interface Ethernet1", *commands, "exit"] if commands else [])
