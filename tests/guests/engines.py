"""The commits whose gate trains with DeepSpeed and Ray: their image and their runs take minutes."""

from __future__ import annotations

from guests.faults.table import number_of_commit

# One commit out of this number, beside the ones with guests and the oldest core.
EVERY, TURN = 3, 1
FILE = "test_training_engines.py"


def due(number: int | None = None) -> bool:
    """Return whether it is the turn of this commit."""
    return (number_of_commit() if number is None else number) % EVERY == TURN
