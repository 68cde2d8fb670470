"""The twin's copy of the tables of boards: `python tests/house/twin_boards.py` writes it from those of the collection.

The collection owns the tables. The twin is a package of its own that does not import the collection, so it ships this
copy; tests/house/test_twin_boards.py compares both.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "tests" / "twin" / "src" / "vsphere_twin" / "data" / "boards.json"
COMMAND = "python tests/house/twin_boards.py"
# Columns that the twin does not read.
UNREAD = ("mark", "note", "sure", "nvidia_prefix")


def tables() -> dict[str, list]:
    """The rows of both tables, in their order."""
    facts = importlib.import_module("house.facts")
    boards, mig = facts.facts("gpu.boards"), facts.facts("host.mig.table")
    rows = {"boards": boards["BOARDS"], "gpus": list(mig["GPUS"].values())}
    return {name: [_read_by_the_twin(row) for row in found] for name, found in rows.items()}


def _read_by_the_twin(row: dict) -> dict:
    return {key: value for key, value in row.items() if key not in UNREAD}


def written() -> str:
    """One line for each row of a table, so that a change of one is a change of one line."""
    facts = importlib.import_module("house.facts")
    return facts.lines(tables(), 4) + "\n"


if __name__ == "__main__":
    sys.path[:0] = [str(ROOT / "tests"), str(ROOT)]
    importlib.import_module("conftest")
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(written())
