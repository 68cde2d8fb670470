"""Trainings as the record of a validation has them: what was wanted, and over what they went."""

from __future__ import annotations

import pytest

from .world import World


@pytest.mark.parametrize(
    "wanted, values, went, verdict",
    [
        ("rdma", {"transport": "rdma"}, "rdma", "pass"),
        ("rdma", {"transport": "tcp"}, "tcp", "fail"),
        ("rdma", {"transport": "mixed"}, "mixed", "fail"),
        ("rdma", {"transport": None}, "", "fail"),
        ("rdma", {"transport": None, "device": "CPU"}, "", "skipped"),
        ("tcp", {"transport": "rdma"}, "rdma", "fail"),
        # Without NCCL nothing else carries the gradients.
        ("tcp", {"transport": None}, "tcp", "pass"),
    ],
)
def test_a_training_is_reported_with_what_it_went_over(wanted, values, went, verdict):
    lab = World(2, "sriov")
    lab.set("cluster.training", tuple(lab.guests), f"2:{wanted}", **values)
    (one,) = [one for one in lab.judged()["trainings"] if (one["nodes"], one["wanted"]) == (2, wanted)]
    assert (one["transport"], one["verdict"]) == (went, verdict)


def test_one_node_alone_uses_no_network_so_that_nothing_has_to_prove_it():
    reported = [one for one in World(2, "sriov").judged()["trainings"] if one["nodes"] == 1]
    assert [(one["wanted"], one["transport"]) for one in reported] == [("rdma", "rdma")] * 2


@pytest.mark.parametrize("seen, wanted", [("rdma", "rdma"), ("mixed", "rdma"), ("tcp", "tcp"), (None, "tcp")])
def test_a_training_without_a_variant_was_to_go_the_way_that_it_began(seen, wanted):
    lab = World(2, "sriov")
    lab.drop("cluster.training")
    lab.add("cluster.training", lab.guests, "", total=2900.0, iterations=[1450.0] * 4, device="GPU", transport=seen)
    (one,) = lab.judged()["trainings"]
    assert one["wanted"] == wanted
