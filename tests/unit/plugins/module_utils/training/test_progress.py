# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""The line that says how far a run is."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.training import output, trouble
from ansible_collections.aiready.vsphere.plugins.module_utils.training.progress import Progress

from .samples import progress as seen_of
from .samples import read


def reported(ranks=2, lines=0, iterations=(), ended=()):
    progress = Progress(["job-01", "job-02"])
    progress.ranks = {rank: {"end": rank in ended} for rank in range(ranks)}
    progress.lines = lines
    progress.iterations = [{"iteration": number, "rank": rank, **more} for number, rank, more in iterations]
    return progress.reported()


@pytest.mark.parametrize(
    "given, line",
    [
        ({"ranks": 0}, "no output yet"),
        ({"ranks": 0, "lines": 1}, "1 lines of output"),
        ({"ranks": 1, "lines": 9}, "1 of 2 ranks"),
        ({"iterations": [(1, 0, {}), (2, 0, {})]}, "2 of 2 ranks, iteration 2"),
        (
            {"iterations": [(1, 0, {"loss": 9.0}), (2, 0, {"loss": 2.0}), (2, 1, {"loss": 1.0})]},
            "2 of 2 ranks, iteration 2, loss 1.5",
        ),
        ({"iterations": [(2, 0, {"loss": 2.34567}), (2, 1, {})]}, "2 of 2 ranks, iteration 2, loss 2.346"),
        (
            {"iterations": [(2, 0, {"samples_per_s": 10.0}), (2, 1, {"samples_per_s": 20.04})]},
            "2 of 2 ranks, iteration 2, 30.0 samples/s",
        ),
        ({"iterations": [(2, 0, {"loss": "low", "samples_per_s": None})]}, "2 of 2 ranks, iteration 2"),
        (
            {"iterations": [(2, 0, {"samples_per_s": 10.0, "unit": "each"})]},
            "2 of 2 ranks, iteration 2, 20.0 samples/s",
        ),
        (
            {"iterations": [(2, rank, {"samples_per_s": 10.0, "unit": "each"}) for rank in (0, 1)]},
            "2 of 2 ranks, iteration 2, 20.0 samples/s",
        ),
        ({"ended": (1,)}, "2 of 2 ranks, 1 done"),
    ],
    ids=[
        "silent",
        "words",
        "ranks",
        "iteration",
        "mean loss",
        "digits",
        "sum of rates",
        "no number",
        "rate of each",
        "rates of both",
        "done",
    ],
)
def test_a_run_says_how_far_it_is(given, line):
    assert reported(**given) == line


def test_an_iteration_counts_among_the_last_lines_of_all_ranks_alone():
    early = [(5, 0, {"loss": 1.0}), (1, 0, {}), (1, 1, {}), (2, 0, {}), (2, 1, {})]
    assert reported(iterations=early) == "2 of 2 ranks, iteration 5"
    assert reported(iterations=early[:4]) == "2 of 2 ranks, iteration 5, loss 1"


def test_a_run_of_an_h100_is_read_from_its_log():
    seen = seen_of(read("torchrun_h100"), hosts=("job-01",))
    assert (seen.ended, seen.failures, len(seen.iterations)) == ([0], [], 40)
    assert seen.ranks[0]["device_name"] == "NVIDIA H100 80GB HBM3"
    assert (seen.nccl["version"], output.transport(seen.nccl["networks"])) == ("2.28.9", "tcp")


def test_ranks_that_end_with_the_same_weights_are_seen_so():
    seen = seen_of(read("torchrun_two_ranks_on_cpus"), hosts=("job-01",))
    assert seen.ended == [0, 1]
    assert seen.ranks[0]["end"] == seen.ranks[1]["end"]


def test_an_error_is_not_pushed_out_by_what_nccl_sets_up():
    """An H100 has 64 channels, each with a line, and NCCL prints them after PyTorch's error."""
    seen = seen_of(read("torchrun_h100_no_memory"), hosts=("job-01",))
    assert seen.failures[0]["reason"].startswith("OutOfMemoryError: CUDA out of memory")
    assert trouble.first_failure(seen.last_lines(), seen.failures).rank == 0
    assert trouble.known_error(seen.tail(0)).code == "gpu_memory"


@pytest.mark.parametrize(
    "line, chatter",
    [
        ("job-01:653:653 [0] NCCL INFO Channel 37/64 : 0", True),
        ("job-01:653:653 [0] NCCL INFO Trees [0] -1/-1/-1->0->-1", True),
        ("job-01:653:653 [0] NCCL INFO transport/net.cc:355 -> 2", False),
        ("job-01:653:653 [0] NCCL INFO Call to connect failed: Connection refused", False),
        ("job-01:653:653 [0] NCCL WARN Cuda failure 'operation not supported'", False),
        ("Traceback (most recent call last):", False),
    ],
)
def test_lines_of_nccl_that_explain_no_failure(line, chatter):
    assert output.is_chatter(line) is chatter
