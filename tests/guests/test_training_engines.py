"""DeepSpeed and Ray on two real guests: they train over the data path, and a guest that cannot join is named."""

from __future__ import annotations

import contextlib

import pytest

from . import engines
from .trainings import LIMITS, NOTHING, PAIR, SHORT, Trainings, measures_an_all_reduce, trained_over_the_data_path

# A head of Ray starts more than ten programs, which takes a while on a busy machine.
PATIENT = {**LIMITS, "start_s": 240, "wall_s": 800, "stall_s": 400}
pytestmark = pytest.mark.turn(engines.TURN, of=engines.EVERY)
SMALL = {"shm_size": "256m"}  # of Ray's store, which lies in memory


@pytest.fixture(scope="module", name="trainings")
def _trainings(guests, engines_registry):
    return Trainings(guests, engines_registry.endpoint())


@contextlib.contextmanager
def blocked(trainings, port):
    """The second guest does not reach a port of the first one."""
    rule = f"OUTPUT -o ens224 -p tcp --dport {port} -j DROP"
    trainings.do(PAIR[1], f"iptables -I {rule}")
    try:
        yield
    finally:
        trainings.do(PAIR[1], f"iptables -D {rule}")


@pytest.mark.parametrize("engine", ["deepspeed", "ray"])
def test_two_guests_train_over_the_data_path(trainings, engine):
    trained_over_the_data_path(trainings.run(arguments=SHORT, engine=engine, limits=PATIENT, **SMALL))
    measures_an_all_reduce(trainings, engine, limits=PATIENT, **SMALL)
    assert trainings.left() == NOTHING


def test_a_guest_that_does_not_join_the_cluster_of_ray_is_named_and_nothing_is_left(trainings):
    with blocked(trainings, 6379):
        answer = trainings.run(arguments=SHORT, engine="ray", limits={**LIMITS, "start_s": 30}, **SMALL)
    failure = answer["failure"]
    assert (failure["code"], failure["host"]) == ("launcher_failed", PAIR[1]), answer
    assert failure["known"]["code"] == "ray_nodes_missing"
    assert "Open the ports of Ray between the guests" in answer["msg"]
    assert trainings.left() == NOTHING
