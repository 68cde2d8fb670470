# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.trainings import trainings


def run(nodes, transport, rate, **more):
    return {
        "nodes": nodes,
        "ranks": nodes,
        "transport": transport,
        "model": "m",
        "images_per_s": rate,
        "verdict": "pass",
        **more,
    }


def reported(recorded, *keys):
    return [tuple(one[key] for key in keys) for one in trainings(recorded)]


def test_speed_up_and_efficiency_are_against_one_node_of_the_same_transport():
    found = reported(
        [run(4, "rdma", 360.0), run(1, "rdma", 100.0), run(2, "rdma", 190.0)], "nodes", "speedup", "efficiency"
    )
    assert found == [(1, 1.0, 100.0), (2, 1.9, 95.0), (4, 3.6, 90.0)]


def test_one_node_uses_no_network_so_that_it_serves_both_transports():
    found = trainings([run(1, "rdma", 100.0), run(2, "tcp", 150.0)])
    assert [(one["transport"], one["efficiency"]) for one in found] == [("rdma", 100.0), ("tcp", 75.0)]


def test_without_one_node_the_smallest_run_is_the_measure_and_the_result_says_so():
    found = reported([run(2, "rdma", 200.0), run(4, "rdma", 360.0)], "nodes", "efficiency", "relative_to")
    assert found == [(2, 100.0, 2), (4, 90.0, 2)]


def test_models_are_not_measured_against_each_other():
    found = reported([run(1, "rdma", 100.0), run(2, "rdma", 50.0, model="other")], "model", "efficiency")
    assert found == [("m", 100.0), ("other", 100.0)]


@pytest.mark.parametrize(
    "recorded,gain",
    [
        ([run(2, "rdma", 110.0), run(2, "tcp", 100.0)], 10.0),
        ([run(2, "rdma", 90.0), run(2, "tcp", 100.0)], -10.0),
        ([run(2, "rdma", 110.0), run(4, "tcp", 100.0)], None),
        ([run(1, "rdma", 110.0), run(1, "tcp", 100.0)], None),
        ([run(2, "rdma", 110.0), run(2, "tcp", 0)], None),
        ([run(2, "rdma", None), run(2, "tcp", 100.0)], None),
        ([run(2, "rdma", 110.0), run(2, "tcp", 100.0, model="other")], None),
    ],
)
def test_what_rdma_gains_over_tcp_with_as_many_nodes(recorded, gain):
    assert [one["gain"] for one in trainings(recorded) if one["transport"] == "rdma"] == [gain]


def test_iterations_report_how_far_the_slowest_is_from_the_middle():
    rounds = [{"iteration": index, "seconds": seconds} for index, seconds in enumerate([1.0, 1.0, 1.1, 1.5, 0.9])]
    (found,) = trainings([run(2, "rdma", 100.0, iterations=rounds)])
    assert (found["fastest"], found["median"], found["slowest"], found["slowest_over"]) == (0.9, 1.0, 1.5, 50.0)


def test_a_run_without_figures_stays_and_has_none():
    (found,) = trainings([run(2, "rdma", None)])
    assert [found[key] for key in ("efficiency", "speedup", "median", "slowest_over", "gain")] == [None] * 5


def test_a_slow_guest_alone_is_not_the_measure_of_all():
    alone = [run(1, "rdma", rate, guests=[name]) for name, rate in (("a", 50.0), ("b", 100.0), ("c", 102.0))]
    found = trainings([*alone, run(2, "rdma", 190.0, guests=["a", "b"])])
    assert found[-1]["efficiency"] == 95.0
    assert [one["label"] for one in found] == ["1 node, a", "1 node, b", "1 node, c", "2 nodes, RDMA"]


@pytest.mark.parametrize(
    "wanted,went,verdict,label",
    [
        ("rdma", "rdma", "pass", "2 nodes, RDMA"),
        ("rdma", "rdma", "fail", "2 nodes, RDMA, failed"),
        ("rdma", "tcp", "fail", "2 nodes, RDMA requested, TCP used, failed"),
        ("rdma", "mixed", "fail", "2 nodes, RDMA requested, TCP used in part, failed"),
        ("rdma", "", "skipped", "2 nodes, RDMA requested, not proved, skipped"),
        ("tcp", "rdma", "fail", "2 nodes, TCP requested, RDMA used, failed"),
        ("tcp", "tcp", "not_run", "2 nodes, TCP, not run"),
        # Of a record that does not report what was wanted, or what it is worth.
        (None, "tcp", "warn", "2 nodes, TCP"),
        (None, "tcp", None, "2 nodes, TCP, without a verdict"),
    ],
)
def test_a_run_is_named_after_what_it_went_over_and_after_its_verdict(wanted, went, verdict, label):
    assert reported([run(2, went, 100.0, wanted=wanted, verdict=verdict)], "label") == [(label,)]


@pytest.mark.parametrize("verdict", ["fail", "skipped", "not_run", "", None, "great"])
@pytest.mark.parametrize("went", ["rdma", "tcp", ""])
def test_a_run_that_neither_passed_nor_warned_is_measured_and_has_no_rate(verdict, went):
    bad = run(2, went, 110.0, wanted="rdma", verdict=verdict)
    found = trainings([run(1, "tcp", 100.0), run(2, "tcp", 100.0), bad])
    one = next(one for one in found if one["verdict"] != "pass")
    assert [one[key] for key in ("images_per_s", "speedup", "efficiency", "gain", "measured")] == [None] * 4 + [110.0]
    assert [one["gain"] for one in found] == [None] * 3


def test_what_was_wanted_as_rdma_and_went_over_tcp_is_neither_in_what_rdma_gains():
    # Even where somebody lets it pass.
    fell = run(2, "tcp", 60.0, wanted="rdma")
    found = trainings([run(2, "rdma", 110.0), run(2, "tcp", 100.0), fell])
    assert [(one["transport"], one["gain"]) for one in found] == [("rdma", 10.0), ("rdma:tcp", None), ("tcp", None)]
    assert [one["gain"] for one in trainings([fell, run(2, "tcp", 100.0)])] == [None, None]


def test_what_failed_is_not_the_measure_of_others():
    alone = [run(1, "rdma", 10.0, verdict="fail", guests=["a"]), run(1, "rdma", 100.0, guests=["b"])]
    found = trainings([*alone, run(2, "rdma", 190.0)])
    assert [one["label"] for one in found] == ["1 node, a, failed", "1 node, b", "2 nodes, RDMA"]
    assert found[-1]["efficiency"] == 95.0
