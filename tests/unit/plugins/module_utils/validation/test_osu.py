"""The OSU micro-benchmarks: heads and columns of their versions, contents that are checked, and refusals."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import osu


@pytest.mark.parametrize(
    "head, rows, expected",
    [
        ("# OSU MPI Latency Test v5.8\n# Size          Latency (us)", "0 1.61\n4194304 179.11", ("us", 1.61, None)),
        (
            "# OSU MPI Bandwidth Test v5.8\n# Size      Bandwidth (MB/s)",
            "1 2.1\n4194304 12000.5",
            ("MB/s", None, 96.004),
        ),
        ("# OSU MPI Allreduce Latency Test v5.8\n# Size       Avg Latency(us)", "4 9.88", ("us", 9.88, None)),
        (
            "[ 3420.09] infiniband mlx5_1: create_qp failed\n# OSU MPI-CUDA Latency Test v7.2\n# Datatype: MPI_CHAR.\n"
            "# Size       Avg Latency(us)",
            "1 4.05",
            ("us", 4.05, None),
        ),
        (
            "# OSU MPI-CUDA MANAGED Latency Test v7.4\n# Datatype: MPI_CHAR.\n# Size  Avg Latency(us)  Validation",
            "1 4.05 Pass\n2 4.06 Pass",
            ("us", 4.05, None),
        ),
        (
            "# OSU MPI Bandwidth Test v7.1\n# Size      Bandwidth (MB/s)\n# Datatype: MPI_CHAR.",
            "1024 167.82\n4194304 12000.5",
            ("MB/s", None, 96.004),
        ),
        (
            "# OSU MPI_Get latency Test v5.7.1\n# Window creation: MPI_Win_allocate\n# Size          Latency (us)",
            "4 44.87",
            ("us", 44.87, None),
        ),
        # Open MPI put its prefix at the end of a line that came in two pieces.
        (
            "[1,0]<stdout>:# OSU MPI Bandwidth Test v7.4\n[1,0]<stdout>:# Size      Bandwidth (MB/s)[1,0]<stdout>:",
            "[1,0]<stdout>:1048576              4492.74",
            ("MB/s", None, 35.94192),
        ),
    ],
)
def test_osu_by_the_words_of_its_head(head, rows, expected):
    found = osu.parse(f"{head}\n{rows}\n")
    assert (found["unit"], found["usec"], found["gbps"]) == expected


@pytest.mark.parametrize(
    "text", ["", "# OSU MPI Latency Test v5.8\n", "0 1.61\n1 1.61\n", "# Size Latency (us)\n0 1\n"]
)
def test_osu_without_head_or_rows_is_none(text):
    assert osu.parse(text)["understood"] is False


def test_osu_without_a_column_that_counts_says_so():
    head = "# OSU MPI Non-blocking Allgather Latency Test v5.7.1\n# Size   Overall(us)   Compute(us)   Overlap(%)\n"
    found = osu.parse(head + "4 77.23 56.31 60.23\n")
    assert (found["understood"], "neither a latency nor a bandwidth" in found["why"]) == (False, True)


CHECKED = (
    "# OSU MPI Allreduce Latency Test v7.4\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)        Validation\n"
)


@pytest.mark.parametrize(
    "rows, wrong",
    [
        ("8  9.69  Pass\n16  10.47  Pass\n", 0),
        ("8  9.69  Pass\n16  10.47  Fail\nDATA VALIDATION ERROR: osu_allreduce exited with status 1\n", 1),
        ("8  9.69\n", None),
    ],
)
def test_osu_reports_whether_contents_were_right(rows, wrong):
    assert osu.parse(CHECKED + rows)["wrong"] == wrong


@pytest.mark.parametrize(
    "line, reported",
    [
        ("This test requires exactly two processes", "another MPI than that of mpirun"),
        ("This test requires at least two processes", "another MPI than that of mpirun"),
        ("Invalid option [-d]", "Invalid option [-d]"),
    ],
)
def test_osu_that_refuses_says_why(line, reported):
    found = osu.parse(f"[1,0]<stderr>:{line}\n[1,0]<stdout>:\n[1,0]<stdout>:Usage: osu_latency [options]\n")
    assert (found["understood"], reported in found["why"]) == (True, True)


LACKING = {
    "Open MPI 4": (
        "mpirun was unable to find the specified executable file, and therefore\ndid not launch the job.\n\n"
        "Node:       job-02\nExecutable: osu_bw\n"
    ),
    "Open MPI 5": (
        "prterun was unable to launch the specified application as it could not\naccess or execute an executable:\n\n"
        "Executable: osu_bw\nNode: job-02\n"
    ),
}


@pytest.mark.parametrize("text", LACKING.values(), ids=LACKING)
def test_a_program_of_osu_that_is_not_there_is_named(text):
    found = osu.parse(f"{'-' * 60}\n{text}{'-' * 60}\n")
    assert found["why"] == "OSU failed: osu_bw is not in the image."
    assert found["error"]["code"] == "command_missing"


@pytest.mark.parametrize("row", ["1 ERR!", "1", "1 -"])
def test_a_row_of_osu_without_its_number_does_not_leave_the_others_as_the_result(row):
    head = "# OSU MPI Latency Test v5.8\n# Size          Latency (us)\n"
    assert osu.parse(f"{head}2 1.7\n")["usec"] == 1.7
    found = osu.parse(f"{head}{row}\n2 1.7\n")
    assert (found["understood"], "usec" in found) == (False, False)
    assert f"is not numeric: {row}" in found["why"]
