"""Error of a rehearsal that did not show the expected result."""

from __future__ import annotations


class RehearsalFailed(Exception):
    """Expected result that was not shown, as text."""
