"""The checkers of rules by their ids."""

from __future__ import annotations

CHECKERS = {}


def rule(name):
    """Register a checker: a generator of findings over the evidence of one capture."""

    def keep(check):
        CHECKERS[name] = check
        return check

    return keep
