"""How a rehearsal says that it did not show what it should."""

from __future__ import annotations


class RehearsalFailed(Exception):
    """The text says what was not shown."""
