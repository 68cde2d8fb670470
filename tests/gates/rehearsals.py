"""The rehearsals of `.ci/run`: both sites, and by turns the trainings in pods. What would end too late is left out."""

from __future__ import annotations

import os
import time

from gates.running import Gate
from turns import due

# .ci/run may take 90 minutes. The gates begin up to 5 minutes after it, and 5 minutes are left at the end.
LIMIT_S = 4800
BEGAN = time.monotonic()
# Two of three commits leave trainings in pods out. The third one runs neither preflight nor guests on the oldest core.
KUBERNETES_TURN, KUBERNETES_EVERY = 2, 3
# What a rehearsal does, and how many seconds that takes on a slow machine beside other gates; the most comes first.
SITE = (
    ("STAGES=all CHECKS=all FAULTS=handful", 1500),
    ("STAGES=all CHECKS=all", 1100),
    ("STAGES=all", 800),
    ("STAGES=infrastructure", 500),
)
DIRECTPATH = tuple((f"SITE=directpath {words}", seconds + 100) for words, seconds in SITE)
KUBERNETES = (("STAGES=kubernetes CHECKS=all", 1200),)
Choices = tuple[tuple[str, int], ...]


def chosen(choices: Choices, elapsed_s: float) -> str | None:
    """Return the first choice that ends in time, None if there is none."""
    return next((words for words, seconds in choices if elapsed_s + seconds <= LIMIT_S), None)


def site(gate: Gate) -> None:
    """Rehearse the first site: a licensed vGPU and PVRDMA."""
    _rehearse(gate, SITE)


def directpath(gate: Gate) -> None:
    """Rehearse what the first site does not prove: DirectPath on vSphere 9.1, without a host driver and a licence."""
    _rehearse(gate, DIRECTPATH, REHEARSAL_FIRST="forked")


def kubernetes(gate: Gate) -> None:
    """Train in pods, if it is the turn of this commit."""
    if due(KUBERNETES_TURN, of=KUBERNETES_EVERY):
        _rehearse(gate, KUBERNETES)
    else:
        gate.left_out = True
        gate.notes.append(f"only one commit in {KUBERNETES_EVERY} trains in pods")


def _rehearse(gate: Gate, choices: Choices, **env: str) -> None:
    words = chosen(choices, time.monotonic() - BEGAN)
    if words is None:
        gate.left_out = True
        gate.notes.append("it would end too late")
        return
    gate.notes.append(words)
    output = gate.call(["make", "--no-print-directory", "rehearse", *words.split()], env={**os.environ, **env})
    # The summary begins with the verdict; see rehearse.Report.
    gate.closing = output[output.rindex("\nThe rehearsal ") :].strip()
