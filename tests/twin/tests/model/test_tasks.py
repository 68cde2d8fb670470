"""Tasks: their states, their ends, and the trouble that a test plans for them."""

from __future__ import annotations

import threading

import pytest

from vsphere_twin.model import tasks
from vsphere_twin.model.world import World


@pytest.fixture
def world():
    return World()


def test_a_task_is_queued_runs_and_ends_with_its_result(world):
    states = []
    task = tasks.start(world, "ReconfigVM_Task", None, lambda: "done")
    states.append(task.state)
    task_touch = world.touch
    world.touch = lambda *entities: (states.append(task.state), task_touch(*entities))
    world.timeline.settle()
    assert list(dict.fromkeys(states)) == ["queued", "running", "success"]
    assert (task.result, task.error) == ("done", None)


def test_a_planned_fault_hits_as_many_tasks_of_the_kind_as_were_planned(world):
    world.faults.fail_tasks("ReconfigVM_Task", count=1, fault="InvalidState", message="Not now.")
    ended = [tasks.start(world, "ReconfigVM_Task", None, lambda: None) for _number in range(2)]
    other = tasks.start(world, "CloneVM_Task", None, lambda: None)
    world.timeline.settle()
    assert [task.state for task in ended] == ["error", "success"]
    assert ended[0].error.msg == "Not now."
    assert other.state == "success"


def test_a_cancelled_task_does_nothing(world):
    done = []
    task = tasks.start(world, "CloneVM_Task", None, lambda: done.append(1))
    tasks.cancel(world, task)
    world.timeline.settle()
    assert (task.state, done) == ("error", [])


def test_a_defect_in_the_model_ends_its_own_task_and_no_other(world):
    bad = tasks.start(world, "CloneVM_Task", None, lambda: 1 / 0)
    good = tasks.start(world, "CloneVM_Task", None, lambda: "fine")
    world.timeline.settle()
    assert "ZeroDivisionError" in bad.error.reason
    assert good.result == "fine"


def test_time_runs_on_one_thread_and_stops(world):
    before, happened = set(threading.enumerate()), threading.Event()
    world.timeline.start()
    (thread,) = set(threading.enumerate()) - before
    world.timeline.after(0, happened.set)
    assert happened.wait(120)
    world.close()
    assert not thread.is_alive()


def test_an_event_in_a_thousand_years_does_not_end_time(world):
    before = set(threading.enumerate())
    world.timeline.after(3e10, lambda: None)
    world.timeline.start()
    (thread,) = set(threading.enumerate()) - before
    thread.join(0.2)
    assert thread.is_alive()
    world.close()


def test_unknown_faults_are_refused_when_they_are_planned(world):
    with pytest.raises(ValueError, match="NoSuchFault"):
        world.faults.fail_tasks("ReconfigVM_Task", fault="NoSuchFault")


@pytest.mark.parametrize(
    "plan,take",
    [
        (lambda faults: faults.close_after("PowerOnVM_Task", 2), lambda faults: faults.take_closing("PowerOnVM_Task")),
        (lambda faults: faults.unavailable(2), lambda faults: faults.take_unavailable()),
    ],
    ids=["closed connections", "503"],
)
def test_what_is_planned_is_used_up(world, plan, take):
    plan(world.faults)
    assert [take(world.faults) for _number in range(3)] == [True, True, False]
