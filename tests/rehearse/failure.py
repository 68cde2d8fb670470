"""Error of a rehearsal that did not show the expected result."""

from __future__ import annotations


class RehearsalFailed(Exception):
    """The text says what was not shown."""
