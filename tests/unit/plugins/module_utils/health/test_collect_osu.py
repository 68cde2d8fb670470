"""Runs of the OSU micro-benchmarks as measurements."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.module_utils.health import collect

from .test_record import GUESTS, training

BANDWIDTH = "# OSU MPI Bandwidth Test v7.4\n# Datatype: MPI_CHAR.\n# Size      Bandwidth (MB/s)\n4194304  4699.25\n"


def test_a_program_of_osu_is_told_of_its_pair():
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
    assert collect.versions(found) == [{"object": "image", "what": "OSU", "version": "7.4"}]


def test_both_directions_of_a_pair_keep_their_own_evidence():
    runs = [
        {"check": "pair.mpi_bw", "variant": "", "guests": names, "run": training("tcp")}
        for names in (GUESTS, GUESTS[::-1])
    ]
    _found, files = collect.collect({"runs": runs}, lambda path: BANDWIDTH if path == "log" else "")
    assert len(files) == 2


def test_what_a_program_of_osu_says_of_itself_is_told_before_the_end_of_its_rank():
    failed = {"verdict": {"state": "failed", "reason": "Rank 0 ended with 1", "host": GUESTS[0]}}
    given = {"check": "cluster.mpi_allreduce", "variant": "", "guests": GUESTS, "run": training("tcp", **failed)}
    said = "[1,0]<stderr>:This test requires at least two processes\n"
    (one,) = collect.collect({"runs": [given]}, lambda path: said if path == "log" else "")[0]
    assert (one["status"], one["subject"]) == ("failed", {"guests": GUESTS})
    assert "another MPI" in one["why"]
