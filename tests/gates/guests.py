"""The gate that needs a container engine: roles and modules on guests that are real Linux."""

from __future__ import annotations

import os

from gates.running import PYTHON, Gate, environment

REQUIRED = "AIREADY_ENGINE"


def guests(gate: Gate) -> None:
    """One pytest in one process: all tests share a lab, whose guests are up once."""
    more = {name: os.environ[name] for name in (REQUIRED, "DOCKER_HOST") if name in os.environ}
    arguments = ["--durations=15", "-rs", "tests/guests"]
    gate.pytest(PYTHON, arguments, env=environment(**more))
    skipped = [line for line in gate.log.read_text().splitlines() if line.startswith("SKIPPED") and "no guests" in line]
    if skipped:
        gate.notes.append(skipped[0].partition(": ")[2])
