"""A run is watched to its end, whatever its end is, and nothing is left behind."""

from __future__ import annotations

import itertools
import threading

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.training import scripts, verdict
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.interruption import Interrupted
from ansible_collections.aiready.vsphere.plugins.plugin_utils.training import watch as training_watch
from ansible_collections.aiready.vsphere.plugins.plugin_utils.training.reach import Guest, Guests

from unit.plugins.module_utils.training.runs import IMAGE, planned, rdma
from unit.plugins.module_utils.training.runs import guests as guests_of

from .world import Clock, Last, Steps, watched

BEGUN = "".join(f'AIREADY {{"event": "rank", "rank": {rank}, "size": 2}}\n' for rank in (0, 1))
ENDED = "".join(
    f'AIREADY {{"event": "end", "rank": {rank}, "weights": "same", "loss_first": 2.0, "loss_last": 1.0}}\n'
    for rank in (0, 1)
)
KILLED = "mpirun noticed that process rank 1 with PID 0 on node job-02 exited on signal 9 (Killed).\n"


def test_a_training_that_ends_well_is_passed_and_tidied_up():
    clock = Clock()
    steps = Steps(clock, {1: BEGUN, 30: ENDED}, (31, 0))
    course, judged = watched(steps, clock)
    assert (judged["state"], judged["code"]) == ("passed", "trained")
    assert sorted(entry for entry in steps.done if entry[0] == "stop") == [("stop", "job-01"), ("stop", "job-02")]
    assert ("launch", "job-02") not in steps.done
    assert course.build["version"] == "1"


def test_the_operator_hears_of_it_all_the_time():
    clock = Clock()
    watched(Steps(clock, {1: BEGUN, 90: ENDED}, (91, 0)), clock, limits={"stall_s": 100, "wall_s": 600})
    reported = Last.watch.reported
    assert reported[:2] == ["reading the build options of Horovod on job-01.", "2 rank(s) start on job-01, job-02."]
    assert len(reported) >= 2 + 90 // training_watch.SILENT_TELL_S
    assert "2 of 2 ranks" in reported[-1]


@pytest.mark.parametrize(
    "output, status, states, lost, code, host",
    [
        ({1: BEGUN}, (6, 124), {}, {}, "too_long", None),
        ({1: BEGUN, 5: KILLED}, (6, 137), {}, {}, "rank_failed", "job-02"),
        ({1: BEGUN}, (6, 1), {}, {}, "launcher_failed", "job-01"),
        ({1: BEGUN}, None, {}, {}, "stalled", None),
        ({second: f"{second}\n" for second in range(700)}, None, {}, {}, "too_long", None),
        ({1: BEGUN}, None, {"job-02": (9, {"running": False, "gone": True})}, {}, "container_gone", "job-02"),
        (
            {1: BEGUN, 9: KILLED},
            (10, 1),
            {"job-02": (9, {"running": False, "out_of_memory": True})},
            {},
            "out_of_memory",
            "job-02",
        ),
        (
            {1: BEGUN},
            None,
            {"job-01": (9, {"running": False, "exit_status": scripts.NO_STATUS})},
            {},
            "no_space",
            "job-01",
        ),
        ({1: BEGUN}, None, {"job-02": (9, {"room": 4})}, {}, "no_space", "job-02"),
        ({1: BEGUN}, (20, 1), {"job-01": (9, {"room": 0})}, {}, "no_space", "job-01"),
        ({1: BEGUN}, None, {}, {"job-02": 9}, "guest_unreachable", "job-02"),
        ({1: BEGUN}, None, {}, {"job-01": 9}, "guest_unreachable", "job-01"),
        ({1: BEGUN}, (9, 0), {}, {}, "ranks_missing", None),
        ({1: BEGUN, 3: ENDED.replace('"same"', '"other"', 1)}, (9, 0), {}, {}, "weights_differ", None),
        ({1: BEGUN, 3: ENDED.replace("1.0", "3.0")}, (9, 0), {}, {}, "loss_did_not_fall", None),
    ],
    ids=[
        "time limit of the launcher",
        "rank killed",
        "launcher",
        "stall",
        "wall",
        "container removed",
        "out of memory goes before the rank",
        "folder full, the container says",
        "folder full and nobody says",
        "folder full and a rank fails of it",
        "worker silent",
        "launcher's guest silent",
        "ranks missing",
        "weights",
        "loss",
    ],
)
def test_a_training_that_goes_wrong_says_where_and_is_tidied_up(output, status, states, lost, code, host):
    clock = Clock()
    steps = Steps(clock, output, status, states)
    course, judged = watched(steps, clock, lost)
    assert (judged["state"], judged["code"], judged["host"]) == ("failed", code, host)
    reached = [name for name in ("job-01", "job-02") if name not in lost]
    assert sorted(entry[1] for entry in steps.done if entry[0] == "stop") == reached
    assert course.not_tidied == sorted(lost)
    assert verdict.error(Last.made, judged).code == code


@pytest.mark.parametrize(
    "step, code, limit",
    [("pull", "pull_too_long", "limits.pull_s"), ("start", "not_ready", "limits.start_s")],
)
def test_what_takes_too_long_before_the_training_names_its_limit(monkeypatch, step, code, limit):
    monkeypatch.setattr(training_watch, "PATIENCE_S", 0)
    clock = Clock()
    steps, held = Steps(clock), threading.Event()
    setattr(steps, step, lambda *_arguments: held.wait())
    with pytest.raises(OperatorError) as trouble:
        watched(steps, clock, pull="always", limits={"pull_s": 1, "start_s": 1})
    held.set()
    assert (trouble.value.code, trouble.value.failure["host"]) == (code, "job-01")
    assert f"within 1 seconds. The {'pull' if step == 'pull' else 'engine'} is still" in trouble.value.message
    assert limit in trouble.value.message
    # Before containers were begun, there is nothing to tidy up.
    assert Last.watch.course.not_tidied == ([] if step == "pull" else ["job-01", "job-02"])


def test_what_follows_from_the_image_is_known_when_it_is_fetched():
    clock = Clock()
    steps = Steps(clock, {1: BEGUN, 2: ENDED}, (3, 0))
    image = dict(IMAGE, environment={"NCCL_VERSION": "2.21.5"})
    steps.look = lambda guest: rdma(guest.name, gpus=1, image=image)
    made = planned(guests_of(2, rdma, gpus=1, image=None), gpus="all", data_path="sriov", check_build=False)
    guests = Guests([Guest(place.name, None) for place in made.places])
    watch = training_watch.Watch(made, guests, steps, guests_of(2, rdma), lambda _text: None, clock)
    watch.run({})
    reported = [{setting.name for setting in one.settings if "_IB_" in setting.name} for one in (made, watch.made)]
    assert ["NCCL_IB_GID_INDEX" in names for names in reported] == [True, False]


@pytest.mark.parametrize("room", [0, None], ids=["full in the end", "a guest that cannot report"])
def test_a_training_that_ended_well_is_passed_whatever_room_there_is(room):
    clock = Clock()
    _course, judged = watched(Steps(clock, {1: BEGUN, 9: ENDED}, (9, 0), {"job-02": (8, {"room": room})}), clock)
    assert judged["state"] == "passed"


def test_a_guest_that_is_silent_for_a_moment_is_not_lost():
    clock = Clock()

    class Moment(dict):
        def __contains__(self, name):
            return name == "job-02" and 9 <= clock.time < 20

        def __missing__(self, name):
            return 0

    _course, judged = watched(Steps(clock, {1: BEGUN, 30: ENDED}, (31, 0)), clock, Moment(x=1))
    assert judged["state"] == "passed"


def test_a_container_that_does_not_start_ends_the_run_and_removes_the_others():
    clock = Clock()
    steps = Steps(clock)
    steps.refuse = "job-02"
    with pytest.raises(OperatorError, match="job-02: it was to start"):
        watched(steps, clock)
    assert sorted(entry[1] for entry in steps.done if entry[0] == "stop") == ["job-01", "job-02"]


def asked_at(steps, clock, **changes):
    """The seconds at which the launcher's guest was asked."""
    times, ask = [], steps.ask

    def noting(guest, *arguments):
        times.append(clock.time)
        return ask(guest, *arguments)

    steps.ask = noting
    watched(steps, clock, **changes)
    return sorted(set(times))


def test_a_long_run_is_asked_seldom_and_a_short_one_often():
    clock = Clock()
    steps = Steps(clock, {1: BEGUN, **dict.fromkeys(range(10, 400, 10), "going on\n"), 399: ENDED}, (400, 0))
    times = asked_at(steps, clock)
    pauses = [after - before for before, after in itertools.pairwise(times)]
    assert max(pauses[:10]) == training_watch.POLL_S
    assert max(pauses) == pytest.approx(training_watch.POLL_MOST_S)
    assert training_watch.POLL_MOST_S < training_watch.BEATS_S
    assert len(times) < 150


def test_output_that_waits_is_fetched_without_a_pause(monkeypatch):
    monkeypatch.setattr(training_watch, "CHUNK", 1000)
    clock = Clock()
    steps = Steps(clock, {1: BEGUN + "x" * 99 + "\n", 2: "long line of output\n" * 1000, 3: ENDED}, (4, 0))
    course, judged = watched(steps, clock)
    assert judged["code"] == "trained"
    assert clock.time < 6


def test_an_interrupted_run_is_tidied_up():
    clock = Clock()
    steps = Steps(clock, {1: BEGUN}, None, {"job-01": (9, "interrupt")})
    with pytest.raises(Interrupted):
        watched(steps, clock)
    assert Last.watch.course.why == "interrupted"
    judged = verdict.judge(Last.made, Last.watch.course)
    assert (judged["state"], judged["code"], judged["todo"]) == ("failed", "interrupted", "Run it again")
    assert sorted(entry[1] for entry in steps.done if entry[0] == "stop") == ["job-01", "job-02"]


def test_a_run_ends_when_the_controller_is_gone():
    clock = Clock()
    steps = Steps(clock, {1: BEGUN})
    sleep = clock.sleep

    def orphaned(seconds):
        sleep(seconds)
        clock.family = 2 if clock.time > 5 else 1

    clock.sleep = orphaned
    with pytest.raises(Interrupted):
        watched(steps, clock)
    assert clock.time < 10


def test_what_an_earlier_run_left_is_removed_first():
    clock = Clock()
    found = guests_of(2)
    steps = Steps(clock, {1: BEGUN, 2: ENDED}, (3, 0))
    made = planned(found)
    made.leftovers["job-02"].append("20260101-000000-aaaa")
    guests = Guests([Guest(place.name, None) for place in made.places])
    training_watch.Watch(made, guests, steps, found, lambda _text: None, clock).run({})
    assert steps.done[0] == ("remove", "job-02", "20260101-000000-aaaa")


def test_horovod_without_what_the_run_needs_is_refused_before_the_training():
    clock = Clock()
    steps = Steps(clock)
    steps.build = lambda _guest: ({"version": "1", "frameworks": ["pytorch"], "controllers": [], "operations": []}, "")
    with pytest.raises(OperatorError, match="mpi"):
        watched(steps, clock)
    assert ("launch", "job-01") not in steps.done


def test_horovod_that_is_too_slow_to_report_does_not_keep_the_training_back():
    clock = Clock()
    steps = Steps(clock, {1: BEGUN, 2: ENDED}, (3, 0))
    steps.build = lambda _guest: (None, "")
    course, judged = watched(steps, clock)
    assert (judged["state"], len(course.remarks)) == ("passed", 1)
