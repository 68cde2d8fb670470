# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""The line that says how far a run is."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.training.progress import Progress


def told(ranks=2, lines=0, iterations=(), ended=()):
    progress = Progress(["job-01", "job-02"])
    progress.ranks = {rank: {"end": rank in ended} for rank in range(ranks)}
    progress.lines = lines
    progress.iterations = [{"iteration": number, "rank": rank, **more} for number, rank, more in iterations]
    return progress.told()


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
    assert told(**given) == line


def test_an_iteration_counts_among_the_last_lines_of_all_ranks_alone():
    early = [(5, 0, {"loss": 1.0}), (1, 0, {}), (1, 1, {}), (2, 0, {}), (2, 1, {})]
    assert told(iterations=early) == "2 of 2 ranks, iteration 5"
    assert told(iterations=early[:4]) == "2 of 2 ranks, iteration 5, loss 1"
