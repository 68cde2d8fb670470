"""When a training starts again from its checkpoint, what it costs, and when it does not start again."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.training import restarts, verdict
from ansible_collections.aiready.vsphere.plugins.module_utils.training.params import MOST_RESTARTS, check_params
from ansible_collections.aiready.vsphere.plugins.module_utils.training.progress import Progress

from .runs import params, request

LOST = verdict._verdict("failed", "guest_unreachable", "The guest job-02 no longer answers", "Look", host="job-02")


def seen(*iterations, lines=0):
    made = Progress(["job-01", "job-02"])
    made.iterations = [{"rank": 0, "iteration": number} for number in iterations]
    made.lines = lines
    return made


def attempt(first, last, code="guest_unreachable"):
    return restarts.Attempt(code, "job-02", "It is lost", first, last)


@pytest.mark.parametrize(
    "code, allowed, iterations, lines, expected",
    [
        pytest.param("guest_unreachable", 1, (0, 1), 9, True, id="a guest is lost"),
        pytest.param("guest_unreachable", 0, (0, 1), 9, False, id="no restarts"),
        pytest.param("guest_unreachable", 1, (), 9, True, id="a guest is lost before the first iteration"),
        pytest.param("guest_unreachable", 1, (), 0, False, id="a guest was never there"),
        pytest.param("container_gone", 1, (0,), 9, True, id="a container is lost"),
        pytest.param("rank_failed", 1, (0, 1), 9, True, id="a rank fails while it trains"),
        pytest.param("rank_failed", 1, (), 9, False, id="a rank fails before it trains"),
        pytest.param("too_long", 1, (0, 1), 9, False, id="a limit"),
        pytest.param("no_space", 1, (0, 1), 9, False, id="a full disk"),
        pytest.param("trained", 1, (0, 1), 9, False, id="it ended well"),
    ],
)
def test_a_loss_is_a_reason_for_a_restart_and_an_error_that_repeats_is_none(code, allowed, iterations, lines, expected):
    course = seen(*iterations, lines=lines)
    one = restarts.attempt({**LOST, "code": code}, course)
    assert restarts.due(request(engine="torchrun", restarts=allowed), [one], course) is expected


def test_restarts_have_an_end():
    requested = request(engine="torchrun", restarts=2)
    course = seen(0, 1, lines=9)
    attempts = [attempt(0, 9)]
    assert restarts.due(requested, attempts, course)
    attempts += [attempt(5, 9), attempt(5, 9)]
    assert not restarts.due(requested, attempts, course)
    reported = restarts.final(requested, attempts, LOST)
    assert (reported["code"], reported["host"]) == ("restarts_exhausted", "job-02")
    assert reported["reason"] == "It was restarted 2 times and failed again. The guest job-02 no longer answers"


@pytest.mark.parametrize(
    "attempts, lost",
    [
        pytest.param([attempt(0, 18)], 0, id="no restart"),
        pytest.param([attempt(0, 18), attempt(14, 39)], 5, id="since the checkpoint"),
        pytest.param([attempt(0, 18), attempt(19, 39)], 0, id="a checkpoint of each iteration"),
        pytest.param([attempt(0, 18), attempt(0, 39)], 19, id="no checkpoint"),
        pytest.param([attempt(0, 18), attempt(None, None), attempt(14, 39)], 5, id="an attempt without iterations"),
        pytest.param([attempt(0, 18), attempt(14, 30), attempt(28, 39)], 8, id="two restarts"),
    ],
)
def test_steps_since_the_checkpoint_are_counted(attempts, lost):
    reported = restarts.reported(request(engine="torchrun", restarts=3), attempts)
    assert (reported["lost_steps"], reported["used"], reported["allowed"]) == (lost, len(attempts) - 1, 3)


def test_a_guest_that_does_not_return_is_the_reason_of_the_end():
    reported = restarts.final(
        request(engine="torchrun", restarts=3), [attempt(0, 18)], LOST, "job-02: no route to host."
    )
    assert (reported["code"], reported["host"]) == ("guest_unreachable", "job-02")
    assert reported["reason"].endswith("The guests were not ready for a restart in time: job-02: no route to host")


def test_a_run_that_passes_after_a_restart_has_passed():
    passed = verdict._verdict("passed", "trained", "", "")
    assert restarts.final(request(engine="torchrun", restarts=1), [attempt(0, 9), attempt(5, 39)], passed) == passed


@pytest.mark.parametrize(
    "changes, problem",
    [
        ({"engine": "torchrun", "restarts": -1}, "restarts: -1 is not between 0 and 100."),
        ({"engine": "torchrun", "restarts": MOST_RESTARTS + 1}, "restarts: 101 is not between 0 and 100."),
        (
            {"engine": "ray", "restarts": 1},
            "restarts: Ray restarts its own tasks, as the job defines it. Remove it, or",
        ),
        ({"engine": "ray", "shm_size": "64m"}, "shm_size: 64m is too small for the object store of Ray. Use 128m or"),
        ({"engine": "horovod", "restarts": 1}, "restarts: Horovod continues by itself after a loss. Use elastic, or "),
    ],
)
def test_number_of_restarts_has_bounds(changes, problem):
    (reported,) = check_params(params(**changes))
    assert reported.startswith(problem)
