"""What programs of OSU measured: MPI between guests, and what of it is no figure."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import baseline, suite

from .world import World, not_right, row_of

PAIR = ("job-01", "job-02")
LATENCY, BANDWIDTH = "pair.mpi_lat job-01 > job-02", "pair.mpi_bw job-01 > job-02"
ALLREDUCE = "cluster.mpi_allreduce"
DIED = {"state": "failed", "code": "rank_failed", "reason": "Rank 1 on job-02 was killed", "host": "job-02"}


def test_figures_are_those_of_the_programs():
    reported = World(3, "pvrdma").judged()
    assert (row_of(reported, ALLREDUCE)["measured"], row_of(reported, ALLREDUCE)["unit"]) == (40.0, "us")
    assert row_of(reported, LATENCY)["measured"] == pytest.approx(22.0, abs=0.1)
    assert row_of(reported, BANDWIDTH)["measured"] == pytest.approx(21.0, abs=0.1)
    assert reported["verdict"]["state"] == "pass"


@pytest.mark.parametrize("named", [[], ["latency"], ["bandwidth", "allreduce"]], ids=str)
def test_only_what_the_site_names_is_asked_for(named):
    lab = World(2, "tcp", osu=named)
    for check, program in suite.PROGRAMS.items():
        if program not in named:
            lab.drop(check)
    reported = lab.judged()
    verdicts = {row["check"]: row["verdict"] for row in reported["rows"] if row["check"] in suite.PROGRAMS}
    assert verdicts == {
        check: "not_required" if program in named else "skipped" for check, program in suite.PROGRAMS.items()
    }
    assert reported["verdict"]["state"] == "pass"


def test_one_guest_alone_has_nobody_to_send_to():
    reported = World(1, "tcp").judged()
    assert {row["verdict"] for row in reported["rows"] if row["check"] in suite.PROGRAMS} == {"skipped"}


@pytest.mark.parametrize(
    "check, values, verdict, words",
    [
        ("pair.mpi_lat", {"bytes": 1048576}, "not_run", "do not measure latency"),
        ("pair.mpi_bw", {"bytes": 1024, "filling": False}, "not_run", "do not fill the path"),
        ("pair.mpi_lat", {"test": "Bandwidth", "usec": None}, "fail", "measured Bandwidth instead of Latency."),
        ("pair.mpi_bw", {"test": "Latency", "gbps": None}, "fail", "Latency instead of Bandwidth."),
        ("cluster.mpi_allreduce", {"test": "Broadcast Latency"}, "fail", "instead of Allreduce Latency."),
        # Programs whose figures are others, and whose names hold the same words.
        (
            "pair.mpi_lat",
            {"test": "Allreduce Latency"},
            "fail",
            "The program measured Allreduce Latency instead of Latency.",
        ),
        ("pair.mpi_bw", {"test": "Bi-Directional Bandwidth"}, "fail", "instead of Bandwidth."),
        ("cluster.mpi_allreduce", {"test": "Non-blocking Allreduce Latency"}, "fail", "instead of Allreduce Latency."),
        ("cluster.mpi_allreduce", {"ranks": 16}, "not_required", "16 ranks, messages of 8 bytes."),
        ("pair.mpi_bw", {"wrong": 2}, "fail", "2 sizes arrived with wrong data"),
        ("pair.mpi_bw", {"wrong": 0}, "pass", ""),
        ("pair.mpi_bw", {"gbps": 140.0}, "warn", "exceed the line speed"),
        ("cluster.mpi_allreduce", {"verdict": DIED}, "fail", "Rank 1 on job-02 was killed."),
        ("pair.mpi_lat", {"verdict": {"state": "passed"}}, "not_required", "not required"),
    ],
)
def test_what_is_no_good_figure_is_reported(check, values, verdict, words):
    lab = World(2, "pvrdma")
    lab.set(check, **values)
    reported = lab.judged()
    row = next(row for row in reported["rows"] if row["check"] == check)
    assert (row["verdict"], words in row["why"]) == (verdict, True), row["why"]


def test_a_guest_that_is_slow_in_mpi_is_named():
    lab = World(4, "pvrdma")
    for pair in [("job-03", other) for other in ("job-01", "job-02", "job-04")]:
        lab.set("pair.mpi_bw", pair, gbps=3.0)
        lab.set("pair.mpi_bw", pair[::-1], gbps=3.0)
    bad = not_right(lab.judged())
    assert {verdict for verdict, _cause in bad.values()} == {"warn"}
    assert all(cause.startswith("job-03 (esx-03") for _verdict, cause in bad.values())


def test_a_run_that_failed_blames_what_is_known_of_it_and_not_the_way():
    lab = World(3, "tcp")
    lab.set("pair.mpi_lat", PAIR, status="failed", why="Rank 0 ended with 127.", error="command_missing")
    row = row_of(lab.judged(), LATENCY)
    assert row["verdict"] == "fail"
    assert "The image lacks the command" in row["why"]
    assert "The image lacks the command" in row["cause"]


@pytest.mark.parametrize(
    "reported, cause",
    [
        (
            {"at": "job-02", "error": "command_missing"},
            "job-02 (esx-02 vmnic2, leaf-01 Ethernet2): The image lacks the command",
        ),
        ({"at": "job-02"}, "job-02 (esx-02 vmnic2, leaf-01 Ethernet2)"),
        ({"error": "command_missing"}, "The image lacks the command"),
    ],
    ids=["guest and error", "guest", "error"],
)
def test_pairs_whose_runs_failed_alike_have_one_cause(reported, cause):
    lab = World(4, "tcp")
    for pair in [("job-02", "job-01"), ("job-01", "job-02"), ("job-02", "job-03")]:
        lab.set("pair.mpi_bw", pair, status="failed", why="It broke.", **reported)
    bad = not_right(lab.judged())
    assert len(bad) == 3
    assert set(bad.values()) == {("fail", cause)}


def test_mpi_needs_processes_on_all_guests():
    lab = World(2, "tcp")
    lab.set("cluster.hostname", status="failed", why="It broke.")
    reported = lab.judged()
    assert {row["verdict"] for row in reported["rows"] if row["check"] in suite.PROGRAMS} == {"not_run"}


def test_other_messages_are_compared_with_no_earlier_run():
    lab = World(2, "tcp")
    made = baseline.record(baseline.EMPTY, lab.judged()["figures"], "run-1", "2026-03-01T08:15:30Z")[0]
    lab.set("pair.mpi_lat", usec=60.0)
    assert "worse than" in row_of(lab.judged(baseline=made), LATENCY)["why"]
    lab.set("pair.mpi_lat", bytes=64)
    assert row_of(lab.judged(baseline=made), LATENCY)["verdict"] == "not_required"


def test_more_ranks_are_compared_with_no_earlier_run():
    """They take longer, and nothing is worse."""
    few, many = World(2, "tcp"), World(4, "tcp")
    made = baseline.record(baseline.EMPTY, few.judged()["figures"], "run-1", "2026-03-01T08:15:30Z")[0]
    many.set(ALLREDUCE, usec=80.0)
    row = row_of(many.judged(baseline=made), ALLREDUCE)
    reported = "This figure is not required: no threshold applies. 4 ranks, messages of 8 bytes."
    assert (row["verdict"], row["why"]) == ("not_required", reported)
    few.set(ALLREDUCE, usec=80.0)
    assert "worse than" in row_of(few.judged(baseline=made), ALLREDUCE)["why"]


def test_the_way_back_counts_as_well_and_is_named():
    lab = World(2, "tcp")
    lab.set("pair.ping_mtu", PAIR[::-1], received=0, where="silent")
    reported = lab.judged()
    assert row_of(reported, LATENCY)["verdict"] == "not_run"
    assert "pair.ping_mtu job-02 > job-01 failed" in row_of(reported, LATENCY)["why"]
    # iperf3 is asked for one way.
    assert row_of(reported, "pair.iperf3 job-01 > job-02")["verdict"] == "not_required"


def test_a_site_may_compare_without_a_limit():
    lab = World(2, "tcp")
    made = baseline.record(baseline.EMPTY, lab.judged()["figures"], "run-1", "2026-03-01T08:15:30Z")[0]
    lab.set("pair.mpi_lat", usec=9000.0)
    row = row_of(lab.judged(baseline=made, thresholds={"pair.mpi_lat": {"baseline": {"worse_percent": None}}}), LATENCY)
    assert (row["verdict"], row["expected"]["low"], row["expected"]["high"]) == ("not_required", None, None)
    assert "of the run run-1" in row["expected"]["text"]
