"""Runs of the OSU micro-benchmarks as measurements."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.probe import collect

from .test_record import GUESTS, training

BANDWIDTH = "# OSU MPI Bandwidth Test v7.4\n# Datatype: MPI_CHAR.\n# Size      Bandwidth (MB/s)\n4194304  4699.25\n"


def test_a_program_of_osu_is_reported_of_its_pair():
    given = {"check": "pair.mpi_bw", "variant": "", "guests": GUESTS, "run": training("tcp")}
    found, files = collect.collect(
        {"runs": [given], "simulated": ["rdma"]}, lambda path: BANDWIDTH if path == "log" else ""
    )
    (one,) = found
    assert (one["subject"], one["readings"]["gbps"], one["version"]) == (
        {"from": GUESTS[0], "to": GUESTS[1]},
        37.594,
        "7.4",
    )
    # MPI is measured, whatever stands in for the adapter's RDMA.
    assert not one["simulated"]
    assert "4699.25" in files[one["evidence"]]
    assert collect.versions(found) == [{"object": "image", "what": "OSU", "version": "7.4", "simulated_parts": []}]


def test_both_directions_of_a_pair_keep_their_own_evidence():
    runs = [
        {"check": "pair.mpi_bw", "variant": "", "guests": names, "run": training("tcp")}
        for names in (GUESTS, GUESTS[::-1])
    ]
    _found, files = collect.collect({"runs": runs}, lambda path: BANDWIDTH if path == "log" else "")
    assert len(files) == 2


def test_a_run_that_stood_still_is_reported_with_what_its_log_knows():
    stalled = {"verdict": {"state": "failed", "reason": "Nothing went on for 60 seconds", "host": None, "known": None}}
    given = {"check": "pair.mpi_lat", "variant": "", "guests": GUESTS, "run": training("tcp", **stalled)}
    head = "[1,0]<stdout>:# OSU MPI Latency Test v7.4\n"
    said = f"{head}A process or daemon was unable to complete a TCP connection\nto another process:\n"
    (one,) = collect.collect({"runs": [given]}, lambda path: said if path == "log" else "")[0]
    assert (one["status"], one["readings"]) == ("failed", {"error": "port_closed"})
    assert "unable to complete a TCP connection" in one["why"]


def test_what_a_program_of_osu_says_of_itself_is_reported_before_the_end_of_its_rank():
    failed = {"verdict": {"state": "failed", "reason": "Rank 0 ended with 1", "host": GUESTS[0]}}
    given = {"check": "cluster.mpi_allreduce", "variant": "", "guests": GUESTS, "run": training("tcp", **failed)}
    said = "[1,0]<stderr>:This test requires at least two processes\n"
    (one,) = collect.collect({"runs": [given]}, lambda path: said if path == "log" else "")[0]
    assert (one["status"], one["subject"]) == ("failed", {"guests": GUESTS})
    assert "another MPI" in one["why"]


def test_of_a_pair_it_is_reported_which_guest_broke_the_run_and_by_what():
    known = {"code": "no_space", "means": "A disk of the guest is full", "todo": "Make room"}
    failed = {"verdict": {"state": "failed", "reason": "Rank 1 ended with 1", "host": GUESTS[1], "known": known}}
    given = {"check": "pair.mpi_lat", "variant": "", "guests": GUESTS, "run": training("tcp", **failed)}
    (one,) = collect.collect({"runs": [given]})[0]
    assert (one["status"], one["readings"]) == ("failed", {"at": GUESTS[1], "error": "no_space"})


def test_how_many_ranks_took_part_is_a_part_of_the_figure():
    text = "# OSU MPI Allreduce Latency Test v7.4\n# Size       Avg Latency(us)\n8                      11.32\n"
    run = training("tcp", ranks=[{"rank": rank} for rank in range(8)])
    given = {"check": "cluster.mpi_allreduce", "variant": "", "guests": GUESTS, "run": run}
    (one,) = collect.collect({"runs": [given]}, lambda path: text if path == "log" else "")[0]
    assert (one["readings"]["usec"], one["readings"]["ranks"]) == (11.32, 8)
