"""An elastic training goes on without guests that it can spare, and ends without those that it cannot."""

from __future__ import annotations

import itertools

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.training import watch

from .world import Clock, Steps, watched

ELASTIC = {"guest_count": 3, "launcher": "horovodrun", "controller": "gloo", "builtin": None, "command": ["x"]}
ELASTIC["check_build"] = False  # it was built with MPI
GONE = {"running": False, "gone": True}
# Iterations, which keep the run from standing still.
GOES_ON = {second: f"Iter #{second}: 9.0 img/sec per CPU\n" for second in range(2, 300, 5)}


@pytest.mark.parametrize(
    "states, lost, said",
    [
        (
            {"job-02": (9, GONE)},
            {},
            "job-02 was lost, and the training continued without it. The container of the run was",
        ),
        (
            {},
            {"job-03": 9},
            "job-03 was lost, and the training continued without it. It no longer answers: no route.",
        ),
        ({"job-02": (9, {"room": 0})}, {}, "No space is left in /run/aiready-training."),
        ({"job-02": (298, GONE)}, {}, "job-02 was lost"),
    ],
    ids=["container", "guest", "full folder", "shortly before the end"],
)
def test_an_elastic_training_goes_on_without_some_of_its_guests(states, lost, said):
    clock = Clock()
    steps = Steps(clock, GOES_ON, (300, 0), states)
    course, judged = watched(steps, clock, lost, elastic={"min_ranks": 2}, **ELASTIC)
    assert (judged["state"], judged["code"]) == ("passed", "trained")
    (remark,) = course.remarks
    assert said in remark
    assert clock.time >= 300


@pytest.mark.parametrize(
    "least, states, lost, code, host",
    [
        (3, {"job-02": (9, GONE)}, {}, "container_gone", "job-02"),
        (3, {}, {"job-02": 9}, "guest_unreachable", "job-02"),
        (2, {"job-02": (9, GONE), "job-03": (60, GONE)}, {}, "container_gone", "job-02"),
        (1, {"job-01": (9, GONE)}, {}, "container_gone", "job-01"),
        (1, {}, {"job-01": 9}, "guest_unreachable", "job-01"),
    ],
    ids=["too few ranks", "too few ranks, a guest", "one after the other", "the launcher's", "the launcher's guest"],
)
def test_an_elastic_training_ends_without_its_launcher_or_with_too_few_ranks(least, states, lost, code, host):
    clock = Clock()
    steps = Steps(clock, GOES_ON, None, states)
    _course, judged = watched(steps, clock, lost, elastic={"min_ranks": least}, **ELASTIC)
    assert (judged["state"], judged["code"], judged["host"]) == ("failed", code, host)
    assert clock.time < 250


def test_an_elastic_training_that_fails_after_it_lost_a_guest_fails_of_what_its_launcher_says():
    clock = Clock()
    steps = Steps(clock, {**GOES_ON, 99: "Process 2 exit with status code 3.\n"}, (100, 1), {"job-02": (9, GONE)})
    course, judged = watched(steps, clock, elastic={"min_ranks": 1}, **ELASTIC)
    assert (judged["code"], judged["rank"], judged["host"], judged["also"]) == ("rank_failed", 2, "job-03", ["job-02"])
    assert "job-02 was lost" in course.remarks[0]


def test_a_lost_guest_keeps_the_others_from_hearing_that_they_are_wanted_no_longer_than_it_must():
    clock = Clock()
    steps = Steps(clock, GOES_ON, (300, 0))
    watched(steps, clock, {"job-03": 9}, elastic={"min_ranks": 2}, **ELASTIC)
    times = sorted({at for at, name in steps.asked if name == "job-02" and at > 90})
    pauses = [after - before for before, after in itertools.pairwise(times)]
    assert max(pauses) < watch.BEATS_S
