"""Cumulus switches of the twin: presets, what hardware does, what is refused, what is shown."""

from __future__ import annotations

import pytest

from twin_labs import fabric_lab

from .linux_switch_lab import Console, neighbours, seed

ROCE = "nv set qos roce mode lossless"


def cumulus(user="cumulus", **switch):
    return Console(seed("cumulus", **switch), user)


@pytest.fixture
def console():
    return cumulus()


def test_a_bare_roce_is_lossless_and_keeps_a_mode_that_is_there(console):
    console("nv set qos roce", "nv config apply -y")
    assert console.document("nv show qos roce -o json")["mode"] == "lossless"
    console("nv set qos roce mode lossy", "nv config apply", "nv set qos roce")
    assert console("nv config diff") == ""
    assert console.document("nv show qos roce -o json")["mode"] == "lossy"


PRESETS = [
    ("lossless", {3}, {3}, {0, 3}),
    ("lossless-single-ipool", {3}, {3}, {0, 3}),
    ("lossy", set(), set(), {0, 3}),
    ("lossy-multi-tc", set(), set(), {1, 2, 3}),
]


@pytest.mark.parametrize("mode, paused, kept, marked", PRESETS, ids=[row[0] for row in PRESETS])
def test_a_preset_is_what_hardware_does(console, mode, paused, kept, marked):
    console(f"nv set qos roce mode {mode}", "nv config apply -y")
    found = console.treatment("swp1")
    assert (found.trust, found.pauses_sent, found.pauses_heeded, found.no_drop) == ("both", paused, paused, kept)
    assert {number for number, one in found.marking.items() if one.mark} == marked
    if mode != "lossy-multi-tc":
        assert (found.queues, found.strict, found.shares) == ((0, 0, 0, 3, 0, 0, 6, 0), {6}, {0: 50, 3: 50})


def test_a_factory_switch_trusts_pcp_and_pauses_nothing(console):
    found = console.treatment("swp1")
    assert (found.trust, found.pauses_sent, found.no_drop, found.mtu) == ("pcp", frozenset(), frozenset(), 9216)


OTHER_PRIORITY = """
    nv set qos roce mode lossless
    nv set qos pfc default-global switch-priority 4
    nv set qos egress-queue-mapping default-global switch-priority 4 traffic-class 3
    nv set qos egress-queue-mapping default-global switch-priority 3 traffic-class 0
    nv set qos mapping default-global trust both
    nv set qos mapping default-global dscp 26 switch-priority 4
    nv config apply -y
"""


def test_what_is_set_by_hand_comes_on_top_of_the_preset_and_is_listed_as_an_exception(console):
    console(*fabric_lab.lines(OTHER_PRIORITY))
    found = console.treatment("swp1")
    assert (found.priorities[26], found.queues[4], found.pauses_sent, found.no_drop) == (4, 3, {4}, {4})
    exceptions = console.document("nv show qos roce -o json")["exception-list"]
    assert exceptions["1"]["description"] == "RoCE PFC Priority Mismatch.Expected pfc-priority: 3."


def test_pfc_without_a_lossless_pool_pauses_nothing(console):
    flow = [f"nv set qos pfc default-global {word}" for word in ("switch-priority 3", "tx enable", "rx enable")]
    console(*flow, "nv config apply -y")
    assert (console.treatment("swp1").pauses_sent, console.treatment("swp1").no_drop) == (frozenset(), frozenset())
    pools = [f"nv set qos traffic-pool default-{kind} memory-percent 50" for kind in ("lossless", "lossy")]
    console(*pools, "nv config apply")
    assert (console.treatment("swp1").pauses_sent, console.treatment("swp1").no_drop) == ({3}, {3})


def test_obeying_alone_sends_no_pauses(console):
    console(ROCE, "nv set qos pfc default-global tx disable", "nv config apply -y")
    found = console.treatment("swp1")
    assert (found.pauses_sent, found.pauses_heeded) == (frozenset(), {3})


REFUSED_AT_APPLY = [
    ("watchdog without pfc", ["nv set interface swp1 qos pfc-watchdog"], "swp1.qos.pfc-watchdog: the port has neither"),
    ("pools too large", [ROCE, "nv set qos traffic-pool roce-lossless memory-percent 60"], "together is 110"),
    (
        "thresholds crossed",
        ["nv set qos congestion-control default-global traffic-class 3 min-threshold 2000000"],
        "min-threshold is above max-threshold",
    ),
    (
        "shares too large",
        [ROCE, "nv set qos egress-scheduler default-global traffic-class 3 mode dwrr bw-percent 60"],
        "bw-percent",
    ),
    ("no such profile", ["nv set interface swp2 qos pfc profile NOPE"], "there is no profile NOPE"),
    (
        "link pause beside pfc",
        [
            ROCE,
            "nv set qos link-pause all rx enable",
            "nv set interface swp1 qos link-pause profile all",
        ],
        "link pause and PFC",
    ),
]


@pytest.mark.parametrize(
    "lines, complaint", [row[1:] for row in REFUSED_AT_APPLY], ids=[row[0] for row in REFUSED_AT_APPLY]
)
def test_an_impossible_configuration_is_refused_as_a_whole(console, lines, complaint):
    console(*lines)
    said = console.refused("nv config apply -y")
    assert said.startswith("Invalid config [rev_id: ")
    assert complaint in said
    assert console.treatment("swp1") == cumulus().treatment("swp1")


REFUSED_AT_ONCE = [
    ("nv set qos roze", "Invalid Command: qos roze"),
    ("nv set qos roce mode bogus", "'bogus' is not one of ['lossless', 'lossy',"),
    ("nv set qos roce mode", "Incomplete Command: set qos roce mode"),
    ("nv set interface swp1 link mtu 99999", "99999 is greater than the maximum of 9216"),
    ("nv set qos mapping default-global dscp 64 switch-priority 3", "'64' is not of type 'integer' from 0 to 63"),
    ("nv set qos egress-queue-mapping other switch-priority 3 traffic-class 3", "'other' is not one of"),
    ("nv set interface swp1 qos pfc-watchdog state enabled", "'enabled' is not one of ['enable', 'disable']"),
    ("nv unset", "Incomplete Command: unset"),
    ("nv frobnicate", "Invalid Command: frobnicate"),
    ("nv show qos nothing", "Invalid Command: show qos nothing"),
    ("nv show interface swp99", "The requested item does not exist."),
    ("nv config patch /tmp/absent.yaml", "No such file or directory"),
]


@pytest.mark.parametrize("line, complaint", REFUSED_AT_ONCE, ids=[row[0] for row in REFUSED_AT_ONCE])
def test_a_wrong_line_is_refused_and_begins_no_revision(console, line, complaint):
    assert console.refused(line).startswith("Error: ")
    assert complaint in console.refused(line)
    assert "There is no pending revision" in console.refused("nv config apply -y")


RENAMED = [
    ("5.14.0", "nv set qos roce enable on", "nv set qos roce state enabled"),
    ("5.15.0", "nv set qos roce state enabled", "nv set qos roce enable on"),
    ("5.14.0", "nv set interface swp1 lldp dcbx-pfc-tlv on", "nv set interface swp1 lldp dcbx-pfc-tlv enabled"),
    ("5.16.0", "nv set interface swp1 lldp dcbx-pfc-tlv enabled", "nv set interface swp1 lldp dcbx-pfc-tlv on"),
    ("5.14.0", "nv set service lldp tx-interval 30", "nv set system lldp tx-interval 30"),
    ("5.15.0", "nv set system lldp tx-interval 30", "nv set service lldp tx-interval 30"),
    ("5.9.1", "nv set qos roce mode lossless-single-ipool", "nv set qos roce mode lossy-multi-tc"),
    ("4.4.5", "nv set qos roce mode lossy", "nv set interface swp1 qos pfc-watchdog"),
]


@pytest.mark.parametrize("version, known, strange", RENAMED, ids=[f"{row[0]}: {row[1]}" for row in RENAMED])
def test_a_release_knows_its_own_words(version, known, strange):
    console = cumulus(version=version)
    console(known)
    console.refused(strange)


def test_4_4_has_net_beside_nv():
    console = cumulus(version="4.4.5")
    console("net add roce lossless")
    assert "roce" in console("net pending")
    console("net commit")
    assert console.treatment("swp1").pauses_sent == {3}
    console("net del roce", "net commit")
    assert console.treatment("swp1").pauses_sent == frozenset()
    assert cumulus().run("net add roce lossless").rc == 127


ROCE_TABLE = """\
                    operational  applied
------------------  -----------  --------
enable                           on
mode                lossless     lossless
pfc
  pfc-priority      3
  rx-enabled        enabled
  tx-enabled        enabled
  cable-length      40
congestion-control
  congestion-mode   ECN
  enabled-tc        0,3
  min-threshold     146.48 KB
  max-threshold     1.43 MB
  probability       100
"""


def test_roce_is_shown_as_real_switches_show_it(console):
    console(ROCE, "nv set qos roce cable-length 40", "nv config apply -y")
    shown = console("nv show qos roce")
    assert shown.startswith(ROCE_TABLE)
    assert shown.endswith("Exception List\n=================\nNo Data\n")
    assert "    3  3    24,25,26,27,28,29,30,31  3\n" in shown
    assert "    6  6            6              strict-priority\n" in shown


def test_the_operational_view_has_no_switch_for_roce(console):
    # The command's table has it in its column of the configuration alone.
    console(ROCE, "nv config apply -y")
    assert "enable" not in console.document("nv show qos roce -o json")


def test_thresholds_of_a_port_are_those_of_the_hardware():
    console = cumulus(model="SN5600")
    console(ROCE, "nv config apply -y")
    status = console.document("nv show interface qos-roce-status -o json")["swp1"]
    assert status["congestion-control"]["min-threshold"] == "156.00 KB"
    assert console.document("nv show qos roce -o json")["congestion-control"]["min-threshold"] == "146.48 KB"


def test_a_watchdog_is_shown_with_its_classes(console):
    console(ROCE, "nv set interface swp1-2 qos pfc-watchdog", "nv config apply -y")
    shown = console("nv show interface swp1 qos pfc-watchdog")
    assert shown.splitlines()[2].split() == ["state", "enabled", "enabled"]
    assert "    3              OK        0 \n" in shown
    assert (console.treatment("swp2").watchdog, console.treatment("swp3").watchdog) == (True, False)


DEAD = [
    ("pfc", lambda tree: tree["pfc"]["pfc-priority"], "3", "-"),
    ("ecn", lambda tree: tree["congestion-control"]["enabled-tc"], "0,3", "-"),
    ("trust", lambda tree: tree["trust"]["trust-mode"], "pcp,dscp", "pcp"),
]


@pytest.mark.parametrize("feature, look, alive, dead", DEAD, ids=[row[0] for row in DEAD])
def test_what_was_never_programmed_is_seen_in_the_operational_state_alone(console, feature, look, alive, dead):
    console(ROCE, "nv config apply -y")
    assert look(console.document("nv show interface swp1 qos roce status -o json")) == alive
    console.switch.dead_features.add(feature)
    assert look(console.document("nv show interface swp1 qos roce status -o json")) == dead
    assert console.document("nv config show -o json")[1]["set"]["qos"] == {"roce": {"mode": "lossless"}}


def test_counters_are_those_of_the_class_of_roce_and_can_be_cleared(console):
    console(ROCE, "nv config apply -y")
    console.switch.ports["swp1"].counters.update({"rx_pause_3": 7, "tx_pause_3": 2, "ecn_marked_3": 5})
    counters = console.document("nv show interface qos-roce-counters -o json")["swp1"]
    assert counters["rx-stats"]["rx-pfc-stats"]["pause-packets"] == 7
    assert counters["tx-stats"]["tx-ecn-stats"]["ecn-marked-packets"] == 5
    console("nv action clear interface swp1 qos roce counters")
    counters = console.document("nv show interface swp1 qos roce counters -o json")
    assert counters["tx-stats"]["tx-pfc-stats"]["pause-packets"] == 0


def test_neighbours_are_shown_by_nv_and_lldpctl():
    console = Console(neighbours("cumulus", "swp1", "swp2"), "cumulus")
    port = console.document("nv show interface lldp -o json")["swp1"]
    assert port["lldp"]["neighbor"]["spine-01"]["port"]["name"] == "swp2"
    assert console("nv show interface lldp").splitlines()[2].split() == ["swp1", "100G", "swp", "spine-01", "swp2"]
    (interface,) = console.document("sudo lldpctl -f json")["lldp"]["interface"]
    assert interface["swp1"]["port"]["id"]["value"] == "swp2"
