"""Published marks fail, proposals only warn, and a site's own words count before both."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import expected, thresholds
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import About


def about(check="pair.write_bw", variant="", rdma_gbs=11.5, **intent):
    reported = expected.intent_of({"guests": ["job-01", "job-02"], "data_path": "sriov", "speed_gb": 100, **intent})
    return About(check, {}, variant, reported, {}, {"rdma_gbs": rdma_gbs})


def limits(check, given=None, variants=(), ranks=None, **intent):
    found = thresholds.marks(check, about(check, **intent), given, variants, ranks)
    return [(one["low"], one["high"], one["verdict"]) for one in found]


@pytest.mark.parametrize(
    "check, intent, found",
    [
        ("pair.write_bw", {}, [(78.0, None, "fail"), (90.0, None, "warn")]),
        ("pair.write_bw", {"speed_gb": 200}, [(156.0, None, "fail"), (180.0, None, "warn")]),
        ("pair.write_bw", {"data_path": "pvrdma"}, [(80.0, None, "warn")]),
        ("pair.write_bw", {"speed_gb": None}, []),
        ("pair.write_lat", {}, [(None, 9.0, "fail"), (None, 5.0, "warn")]),
        ("pair.write_lat", {"data_path": "pvrdma"}, [(None, 15.0, "warn")]),
        ("pair.write_bw_gpu", {}, [(90.0, None, "fail")]),
        ("pair.write_bw_gpu", {"speed_gb": 400}, [(380.0, None, "fail")]),
        ("pair.iperf3", {}, []),
        ("cluster.training", {}, []),
    ],
)
def test_marks_by_data_path_and_speed(check, intent, found):
    assert limits(check, **intent) == found


@pytest.mark.parametrize(
    "variants, ranks, gpu, found",
    [
        (("gpudirect",), 2, "A100", [(9.775, None, "warn")]),
        (("staged",), 2, "A100", [(4.6, None, "warn")]),
        (("tcp",), 2, "A100", []),
        (("local",), 8, "NVIDIA A100-SXM4-40GB", [(228.0, None, "fail")]),
        (("local",), 2, "A100", []),
    ],
)
def test_marks_of_nccl_follow_what_rdma_had_and_the_gpu(variants, ranks, gpu, found):
    assert limits("cluster.nccl", variants=variants, ranks=ranks, gpu=gpu) == found


def test_every_proposal_says_that_it_is_one_and_only_warns():
    for mark in thresholds.MARKS:
        assert mark.source
        assert mark.fails is (thresholds.PROPOSAL not in mark.source), mark


@pytest.mark.parametrize(
    "given, found",
    [
        ({"pair.write_bw": {"low": 50}}, [(50, None, "fail")]),
        (
            {"pair.write_bw": {"low": 0.5, "warn_low": 0.6, "share": "line"}},
            [(50.0, None, "fail"), (60.0, None, "warn")],
        ),
        ({"pair.write_bw": None}, []),
        ({"pair.write_bw": {"outliers": {"percent": 20}}}, [(78.0, None, "fail"), (90.0, None, "warn")]),
        ({"pair.write_lat": {"high": 3}}, [(78.0, None, "fail"), (90.0, None, "warn")]),
    ],
)
def test_a_site_has_the_last_word(given, found):
    assert limits("pair.write_bw", given) == found


@pytest.mark.parametrize(
    "given, cpu, percent",
    [
        ({}, False, 5.0),
        ({}, True, 30.0),
        ({"baseline": {"worse_percent": 8}}, True, 8),
        ({"baseline": {"worse_percent": 8}, "cluster.training": {"baseline": {"worse_percent": 3}}}, False, 3),
    ],
)
def test_rules_for_all_and_for_one_check(given, cpu, percent):
    assert thresholds.rule("baseline", "worse_percent", "cluster.training", given, cpu) == percent


@pytest.mark.parametrize(
    "given, words",
    [
        ({"pair.bandwidth": {"low": 1}}, "no such check"),
        ({"pair.write_bw": {"lowest": 1}}, "no such setting"),
        ({"pair.write_bw": {"low": "fast"}}, "it must be a number"),
        ({"pair.write_bw": {"low": 0.9, "share": "all"}}, "line or rdma"),
        ({"pair.write_bw": 90}, "it must be a dictionary"),
        ({"baseline": {"worse": 5}}, "no such setting"),
        ({"baseline": {"worse_percent": "nan"}}, "thresholds.baseline.worse_percent: it must be a number"),
        ({"baseline": {"worse_percent": float("nan")}}, "it must be a number of at least 0"),
        ({"outliers": {"percent": True}}, "it must be a number of at least 0"),
        ({"spread": {"half_percent": -1}}, "it must be a number of at least 0"),
        ({"spread": 5}, "thresholds.spread: it must be a dictionary"),
        (
            {"pair.iperf3": {"outliers": {"percent": "5"}}},
            "thresholds.pair.iperf3.outliers.percent: it must be a number",
        ),
        ({"pair.iperf3": {"outliers": {"percents": 5}}}, "thresholds.pair.iperf3.outliers.percents: there is no such"),
        ({"cluster.nccl": {"reference": "fast"}}, "thresholds.cluster.nccl.reference: it must be a number"),
        ({"pair.write_bw": {"reference": 90}}, "no such setting"),
        ([], "it must be a dictionary"),
    ],
)
def test_what_a_site_cannot_mean_is_refused(given, words):
    assert any(words in problem for problem in thresholds.problems(given))


def test_what_a_site_can_mean_is_not_refused():
    given = {"pair.write_bw": {"low": 0.9, "share": "line"}, "cluster.nccl:rdma": None, "spread": {"half_percent": 0}}
    given["cluster.training:2:rdma"] = {"reference": 2900}
    given["cluster.training"] = {"reference": None, "spread": {"half_percent": None}, "outliers": {"source": "ours"}}
    assert thresholds.problems(given) == []
