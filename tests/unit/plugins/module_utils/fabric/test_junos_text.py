# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Each kind of Junos statement alone: complete, truncated, and with undefined names."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.junos import text as junos_text

CLASSES = ("forwarding-classes class F queue-num 4", "forwarding-classes class G queue-num 6")
CLASSIFIER = ("classifiers dscp C forwarding-class F loss-priority low code-points 011010",)
PROFILE = "congestion-notification-profile P"
BIT4 = "ieee-802.1 code-point 100"


def read(*lines):
    return junos_text.ClassOfService([tuple(line.split()) for line in lines])


def words(*lines):
    return [tuple(line.split()) for line in lines]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("a { b c; }", ["a b c"]),
        ("a { ; b; }", ["a b"]),
        ("a { b } c;", ["c"]),
        ("} a;", ["a"]),
        ("a [ b c ];", ["a b c"]),
        ("set a b\nc { d; }", ["a b", "c d"]),
        ("set a [ b c ];", ["a b c"]),
        ("set a b\nset a c\ndelete a b", ["a c"]),
        ("a { b; } /* c; */ ## d;", ["a b"]),
        ("a { inactive: b; c; }", ["a c"]),
    ],
)
def test_statements_of_both_forms(text, expected):
    assert junos_text.statements(text.splitlines()) == words(*expected)


def test_interfaces_are_those_with_a_name():
    assert read("interfaces", "interfaces b", "interfaces a unit 0").interfaces == ["a", "b"]


def test_statements_of_an_interface_come_before_those_of_its_patterns():
    found = read("interfaces et-* x", "interfaces et-0 y", "interfaces xe-* z", "interfaces et-0")
    assert found.of_interface("et-0") == words("y", "x")
    assert found.of_interface("et-*") == words("x")
    assert found.of_interface("et-1") == words("x")
    assert found.of_interface("ge-1") == []


@pytest.mark.parametrize(
    "own, expected",
    [
        (["unit 0 classifiers dscp C"], "dscp"),
        (["unit 0 classifiers ieee-802.1 C"], "pcp"),
        (["unit 0 classifiers dscp C", "unit 0 classifiers ieee-802.1 C"], "both"),
        (["classifiers dscp C"], "dscp"),
        (["classifiers ieee-802.1 C"], "pcp"),
        (["classifiers dscp C", "unit 0 classifiers ieee-802.1 C"], "both"),
        (["unit 0 classifiers dscp"], None),
        (["unit 0 rewrite-rules dscp C"], None),
        (["classifiers dscp"], None),
        (["classifiers"], None),
        (["rewrite-rules dscp C"], None),
        ([], None),
    ],
)
def test_trust(own, expected):
    assert read().trust(words(*own)) == expected


@pytest.mark.parametrize(
    "own, expected",
    [
        (["unit 0 classifiers dscp C"], {26: 3}),
        (["unit 0 classifiers dscp D", "unit 0 classifiers dscp C"], {48: 6}),
        (["unit 0 rewrite-rules dscp C"], {}),
        (["unit 0 classifiers ieee-802.1 C"], {}),
        ([], {}),
    ],
)
def test_dscp_map(own, expected):
    found = read(
        *CLASSES,
        *CLASSIFIER,
        "classifiers dscp C forwarding-class",
        "classifiers dscp C forwarding-class F",
        "classifiers dscp C forwarding-class other code-points 000000",
        "classifiers dscp D forwarding-class G code-points 110000",
    )
    assert found.dscp_map(words(*own)) == expected


@pytest.mark.parametrize(
    "lines, pfc, queues, sends",
    [
        (["input dscp code-point 011010 pfc"], [3], {}, True),
        (["input ieee-802.1 code-point 100 pfc"], [4], {}, True),
        (["input ieee-802.1 code-point 100 pfc", "input ieee-802.1 code-point 011 pfc"], [3, 4], {}, True),
        (["input ieee-802.1 code-point 100 pfc"] * 2, [4], {}, True),
        ([f"input {BIT4} pfc", "output ieee-802.1 code-point 011 flow-control-queue 5"], [4], {3: 5}, True),
        (["output ieee-802.1 code-point 011 flow-control-queue 5"], [3], {3: 5}, False),
        (["output ieee-802.1 code-point 011"], [], {}, False),
        (["output ieee-802.1 flow-control-queue 5"], [], {}, False),
        (["input ieee-802.1 code-point 011 flow-control-queue 5"], [], {}, False),
        (["input dscp code-point 011010"], [], {}, False),
        (["input dscp pfc"], [], {}, False),
        (["input dscp code-point 111111 pfc"], [], {}, False),
        (["input dscp code-point unknown pfc"], [], {}, False),
        (["input ieee-802.1 code-point 0110 pfc"], [], {}, False),
    ],
)
def test_priorities_and_queues_of_a_profile(lines, pfc, queues, sends):
    found = read(*CLASSES, *CLASSIFIER, *(f"{PROFILE} {line}" for line in lines)).profile(
        words("congestion-notification-profile P")
    )
    assert (found.pfc, found.queues, found.sends) == (pfc, queues, sends)
    assert (found.watchdog, found.cable_length_m) == (False, None)


@pytest.mark.parametrize(
    "lines, expected",
    [
        ([], (False, None, None, None)),
        (["pfc-watchdog"], (True, None, None, None)),
        (["pfc-watchdog detection 200"], (True, 200, None, None)),
        (["pfc-watchdog recovery 400ms"], (True, None, 400, None)),
        (["pfc-watchdog pfc-watchdog-action drop"], (True, None, None, "drop")),
        (["pfc-watchdog pfc-watchdog-action"], (True, None, None, None)),
    ],
)
def test_watchdog_of_a_profile(lines, expected):
    found = read(*(f"{PROFILE} {line}" for line in lines)).profile(words(PROFILE))
    assert (found.watchdog, found.detection_ms, found.recovery_ms, found.action) == expected


@pytest.mark.parametrize(
    "own, pfc",
    [
        (["congestion-notification-profile P", "congestion-notification-profile Q"], [3]),
        (["congestion-notification-profile Q", "congestion-notification-profile P"], [5]),
        (["congestion-notification-profile"], []),
        (["scheduler-map P"], []),
        ([], []),
    ],
)
def test_the_first_profile_of_an_interface_counts(own, pfc):
    found = read(
        f"{PROFILE} input ieee-802.1 code-point 011 pfc",
        "congestion-notification-profile Q input ieee-802.1 code-point 101 pfc",
    )
    assert found.profile(words(*own)).pfc == pfc


@pytest.mark.parametrize(
    "own, expected",
    [
        (["scheduler-map M"], {4: 10}),
        (["scheduler-map M", "scheduler-map N"], {4: 10}),
        (["scheduler-map N"], {6: 20}),
        (["scheduler-map"], {}),
        (["congestion-notification-profile M"], {}),
        (["forwarding-class-set S output-traffic-control-profile T"], {4: 10}),
        (["scheduler-map N", "forwarding-class-set S output-traffic-control-profile T"], {6: 20}),
        (["forwarding-class-set S"], {}),
        (["other S output-traffic-control-profile T"], {}),
        ([], {}),
    ],
)
def test_scheduler_map_of_an_interface(own, expected):
    found = read(
        *CLASSES,
        "scheduler-maps M forwarding-class F scheduler X",
        "scheduler-maps M forwarding-class G",
        "scheduler-maps M other G scheduler Y",
        "scheduler-maps M forwarding-class unknown scheduler Y",
        "scheduler-maps M",
        "scheduler-maps N forwarding-class G scheduler Y",
        "schedulers X transmit-rate percent 10",
        "schedulers Y transmit-rate percent 20",
        "traffic-control-profiles T scheduler-map M",
        "traffic-control-profiles T guaranteed-rate percent 50",
    )
    assert {queue: one.share for queue, one in found.schedulers(words(*own)).items()} == expected


@pytest.mark.parametrize(
    "lines, expected",
    [
        ([], junos_text.Scheduler()),
        (["explicit-congestion-notification"], junos_text.Scheduler(ecn=True)),
        (["drop-profile-map loss-priority any drop-profile D"], junos_text.Scheduler(profile="D", probability=80)),
        (["drop-profile-map loss-priority any drop-profile E"], junos_text.Scheduler(profile="E")),
        (["drop-profile-map loss-priority any"], junos_text.Scheduler()),
        (["other drop-profile D"], junos_text.Scheduler()),
        (["priority strict-high"], junos_text.Scheduler(strict=True)),
        (["priority low"], junos_text.Scheduler()),
        (["priority"], junos_text.Scheduler()),
        (["transmit-rate percent 45"], junos_text.Scheduler(share=45)),
        (["transmit-rate percent"], junos_text.Scheduler()),
        (["transmit-rate exact 45"], junos_text.Scheduler()),
    ],
)
def test_scheduler(lines, expected):
    found = read(
        *CLASSES,
        "scheduler-maps M forwarding-class F scheduler X",
        "drop-profiles D interpolate fill-level 90 drop-probability 0",
        "drop-profiles D interpolate fill-level 90 drop-probability 80",
        "drop-profiles D interpolate fill-level 99",
        "drop-profiles E interpolate fill-level 90",
        *(f"schedulers X {line}" for line in lines),
    )
    assert found.schedulers(words("scheduler-map M")) == {4: expected}


@pytest.mark.parametrize(
    "lines, count",
    [
        (["congestion-notification-profile", PROFILE, f"{PROFILE} input"], 0),
        ([f"{PROFILE} input dscp code-point 011010 pfc"], 0),
        ([f"{PROFILE} input dscp code-point 011010 pfc", f"{PROFILE} input ieee-802.1 code-point 011 pfc"], 1),
        ([f"{PROFILE} input dscp", f"{PROFILE} input ieee-802.1"], 1),
        ([f"{PROFILE} input dscp x", "congestion-notification-profile Q input ieee-802.1 x"], 0),
        ([f"{PROFILE} input dscp x", f"{PROFILE} output ieee-802.1 x"], 0),
        ([f"shared-buffer {side} buffer-partition lossless percent 66" for side in ("ingress", "egress")], 0),
        (["shared-buffer ingress buffer-partition lossless percent 66"], 0),
        (
            [
                "shared-buffer ingress buffer-partition lossless percent 66",
                "shared-buffer egress buffer-partition lossless percent 50",
            ],
            1,
        ),
        (["interfaces a apply-groups X"], 1),
    ],
)
def test_contradictions(lines, count):
    assert len(read(*lines).contradictions()) == count


STRANGE = [
    "classifiers dscp C forwarding-class F code-points af99",
    "classifiers dscp C forwarding-class F code-points 011010 unknown",
    "schedulers X priority highest",
    "schedulers X transmit-rate percent many",
    "forwarding-classes class F queue-num many",
    "forwarding-classes class F queue-num 4 pfc-priority many",
    f"{PROFILE} input dscp code-point af99 pfc",
    f"{PROFILE} input ieee-802.1 code-point 0110 pfc",
    f"{PROFILE} input ieee-802.1 code-point 011010 pfc",
]
USUAL = [
    "classifiers ieee-802.1 C forwarding-class F code-points af99",
    "classifiers dscp C forwarding-class F code-points 011010 af41",
    "schedulers X priority low",
    "schedulers X priority strict-high",
    "schedulers X other highest",
    "schedulers X transmit-rate percent 45",
    "schedulers X transmit-rate exact many",
    "traffic-control-profiles X priority highest",
    "traffic-control-profiles X transmit-rate percent many",
    "forwarding-classes class F queue-num 4 pfc-priority 3",
    f"{PROFILE} input dscp code-point 011010 pfc",
    f"{PROFILE} input ieee-802.1 code-point 011 pfc",
    "other P input dscp code-point af99 pfc",
]


@pytest.mark.parametrize("line", STRANGE)
def test_values_in_another_form_are_reported(line):
    assert read(*CLASSES, line, line).strange() == [line]


@pytest.mark.parametrize("line", USUAL)
def test_usual_values_are_not_reported(line):
    assert read(*CLASSES, line).strange() == []


USES = {
    "interfaces a unit 0 classifiers dscp N": "classifiers dscp N",
    "interfaces a congestion-notification-profile N": "congestion-notification-profile N",
    "interfaces a scheduler-map N": "scheduler-maps N",
    "scheduler-maps M forwarding-class F scheduler N": "schedulers N",
    "schedulers X drop-profile-map loss-priority any drop-profile N": "drop-profiles N",
}


@pytest.mark.parametrize("line, definition", USES.items())
def test_names_are_defined_somewhere(line, definition):
    (missed,) = read(*CLASSES, line).strange()
    assert missed.endswith(" N")
    assert read(*CLASSES, line, definition).strange() == []
    assert read(*CLASSES, line, definition.rpartition(" ")[0]).strange() == [missed]
    for name in ("default-N", "dscp-default"):
        assert read(*CLASSES, line.replace(" N", f" {name}")).strange() == []
    assert read(*CLASSES, line.rpartition(" ")[0]).strange() == []


@pytest.mark.parametrize(
    "line",
    [
        "classifiers dscp C forwarding-class {} code-points 011010",
        "classifiers dscp C forwarding-class {}",
        "scheduler-maps M forwarding-class {}",
    ],
)
def test_forwarding_classes_are_defined_or_built_in(line):
    (missed,) = read(*CLASSES, line.format("N")).strange()
    assert missed.endswith(" N")
    for known in ("F", "fcoe", "no-loss", "best-effort", "network-control"):
        assert read(*CLASSES, line.format(known)).strange() == []
    assert read(*CLASSES, line.format("N").replace("forwarding-class", "other")).strange() == []
    assert read(*CLASSES, line.partition(" {}")[0]).strange() == []


@pytest.mark.parametrize(
    "lines, queues, no_loss",
    [
        (["class A queue-num 5"], {5: 5}, []),
        (["class A queue-num 5 no-loss"], {5: 5}, [5]),
        (["class A queue-num 5", "class A no-loss"], {5: 5}, [5]),
        (["class A queue-num 5 no-loss", "class A pfc-priority 3"], {3: 5}, [3]),
        (["queue 5 A"], {5: 5}, []),
        (["queue 5 A no-loss pfc-priority 2"], {2: 5}, [2]),
        (["class A no-loss"], {}, []),
        (["class"], {}, []),
        (["queue 5"], {}, []),
        (["other 5 A"], {}, []),
        (["class A queue-num 5", "class B queue-num 5"], {5: 5, 0: 5}, []),
        (["class A queue-num 5 pfc-priority 0", "class B queue-num 0"], {0: 5, 1: 0}, []),
    ],
)
def test_forwarding_classes(lines, queues, no_loss):
    found = read(*(f"forwarding-classes {line}" for line in lines))
    assert (found.queues, found.no_loss) == (queues, no_loss)


@pytest.mark.parametrize(
    "lines, queues",
    [
        ([CLASSIFIER[0]], {3: 4, 6: 6}),
        (["classifiers dscp C forwarding-class F code-points 101000 011010"], {5: 4, 6: 6}),
        (["classifiers dscp C forwarding-class F"], {4: 4, 6: 6}),
        (["classifiers dscp C other F code-points 101000"], {4: 4, 6: 6}),
        (["forwarding-classes class F pfc-priority 2", CLASSIFIER[0]], {2: 4, 6: 6}),
        (["interfaces a forwarding-class fcoe"], {4: 4, 6: 6, 3: 3}),
        (["interfaces a forwarding-class no-loss"], {4: 4, 6: 6, 0: 4}),
    ],
)
def test_priorities_of_forwarding_classes(lines, queues):
    assert read(*CLASSES, *lines).queues == queues


def test_a_profile_counts_by_any_classifier_where_the_interface_names_none():
    lines = (*CLASSES, *CLASSIFIER, "classifiers dscp D forwarding-class G code-points 011010")
    found = read(*lines[:3], "classifiers dscp", f"{PROFILE} input dscp code-point 011010 pfc")
    assert found.profile(words(PROFILE)).pfc == [3]
    found = read(*lines, f"{PROFILE} input dscp code-point 011010 pfc")
    assert found.profile(words(PROFILE, "unit 0 classifiers dscp D")).pfc == [6]


ALIASED = ("code-point-aliases dscp storage 011010", "code-point-aliases ieee-802.1 lan 011")


@pytest.mark.parametrize("name, dscp", [("storage", 26), ("nc1", 48), ("be", 0), ("011010", 26)])
def test_names_of_code_points_are_their_bits(name, dscp):
    line = f"classifiers dscp C forwarding-class F loss-priority low code-points {name}"
    found = read(*CLASSES, *ALIASED, line)
    assert found.strange() == []
    assert found.dscp_map(words("unit 0 classifiers dscp C")) == {dscp: dscp >> 3}


def test_a_name_of_another_kind_of_code_points_is_none():
    line = "classifiers dscp C forwarding-class F loss-priority low code-points lan"
    assert read(*CLASSES, *ALIASED, line).strange() == [line]


def test_code_points_of_another_kind_keep_their_names():
    line = "classifiers ieee-802.1 C forwarding-class F loss-priority low code-points be"
    assert read(line).statements == words(line)


def test_a_profile_by_the_name_of_a_code_point_pauses_its_priority():
    found = read(*CLASSES, *ALIASED, *CLASSIFIER, f"{PROFILE} input dscp code-point storage pfc")
    assert found.profile(words(PROFILE, "unit 0 classifiers dscp C")).pfc == [3]
