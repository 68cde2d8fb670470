""".ci/run leaves out what would end too late: all of it may take 90 minutes, and five of them are left."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
LIMIT_S = 5100
# In the place of make: prints what it is to do, and takes as long as on a slow machine.
STUB = """
make() {
    echo "$*"
    case "$*" in
        test) SECONDS=$((SECONDS + gates)) ;;
        *STAGES=kubernetes*) SECONDS=$((SECONDS + 550)) ;;
        *STAGES=infrastructure*) SECONDS=$((SECONDS + 350)) ;;
        *SITE=directpath*FAULTS=handful*) SECONDS=$((SECONDS + 1300)) ;;
        *SITE=directpath*CHECKS=all*) SECONDS=$((SECONDS + 1000)) ;;
        *SITE=directpath*|*FAULTS=handful*) SECONDS=$((SECONDS + 900)) ;;
        *CHECKS=all*) SECONDS=$((SECONDS + 600)) ;;
        *) SECONDS=$((SECONDS + 450)) ;;
    esac
}
gates=$1
source "$0"
echo "$SECONDS"
"""


def done(gates_s, commits=1):
    """What .ci/run does after gates of this duration and with this number of commits, and the duration of all of it."""
    command = ["bash", "-c", STUB, str(ROOT / ".ci" / "run"), str(gates_s)]
    env = {**os.environ, "COMMITS": str(commits)}
    lines = subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout.splitlines()
    return [line for line in lines if line.startswith("rehearse")], int(lines[-1])


def test_no_duration_of_the_gates_makes_it_end_too_late():
    slow = {
        gates_s: done(gates_s, commits=3)[1]
        for gates_s in [*range(2000, 4750, 125), 3900, 3901, 4100, 4300, 4301, 4600]
    }
    # A second may pass in the command itself.
    assert {gates_s: all_s for gates_s, all_s in slow.items() if all_s > LIMIT_S + 1} == {}


WHOLE = "rehearse STAGES=all CHECKS=all FAULTS=handful"
SECOND = "rehearse SITE=directpath STAGES=all"


@pytest.mark.parametrize(
    "gates_s, expected",
    [
        (1500, [WHOLE, f"{SECOND} CHECKS=all FAULTS=handful"]),
        (2300, [WHOLE, f"{SECOND} CHECKS=all FAULTS=handful"]),
        (2700, [WHOLE, f"{SECOND} CHECKS=all FAULTS="]),
        (3100, [WHOLE, f"{SECOND} CHECKS= FAULTS="]),
        (3500, [WHOLE, "rehearse SITE=directpath STAGES=infrastructure"]),
        (3800, [WHOLE]),
        (4100, ["rehearse STAGES=all CHECKS=all FAULTS="]),
        (4400, ["rehearse STAGES=all CHECKS= FAULTS="]),
        (4700, ["rehearse STAGES=infrastructure CHECKS= FAULTS="]),
    ],
)
def test_the_slower_the_gates_the_less_is_rehearsed(gates_s, expected):
    assert done(gates_s)[0] == expected


@pytest.mark.parametrize(
    "gates_s, commits, last",
    [(1500, 3, "kubernetes"), (2300, 3, "kubernetes"), (1500, 4, "directpath"), (3500, 3, "directpath")],
)
def test_pods_train_with_every_third_commit(gates_s, commits, last):
    assert last in done(gates_s, commits)[0][-1]
