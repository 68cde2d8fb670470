"""The gate that needs a browser: the report as people see it."""

from __future__ import annotations

import re

from gates.running import PYTHON, Gate

# Without a browser the gate reports that; with AIREADY_BROWSER=required one is installed, or the gate fails.
SKIPPED = re.compile(r"no browser: [^\"\n]+")


def browser(gate: Gate) -> None:
    """Run one pytest in one process: all tests share a browser."""
    gate.pytest(PYTHON, ["--durations=15", "-rs", "tests/browser"])
    gate.note_skipped(SKIPPED)
