"""Values that the twin needs and a capture lacks: assumed by name, or a reason not to load it."""

from __future__ import annotations

from ..model.seed_file import SeedError

# What data of the wrong form leads to.
STRANGE = (AttributeError, TypeError, ValueError, LookupError, ArithmeticError, RecursionError)


class Assumptions:
    """What is assumed about which object, and what nothing reasonable can be assumed about."""

    def __init__(self):
        self.rows = []
        self.missing = []

    def assume(self, thing, fact, value, reason="not captured"):
        """Note a value that the twin takes for one that the capture lacks, and return it."""
        self.rows.append({"object": thing, "fact": fact, "value": value, "reason": reason})
        return value

    def attempt(self, thing, fact, value, make, *given):
        """What make(*given) returns; a value that is assumed where the captured data has no form that it can read."""
        try:
            return make(*given)
        except SeedError:
            raise
        except STRANGE as problem:
            return self.assume(thing, fact, value, f"its data cannot be read: {type(problem).__name__}: {problem}")

    def require(self, thing, fact, value):
        """Return a value that the capture must have."""
        if not value:
            self.missing.append(f"{thing}: the capture has no {fact}, and the twin cannot assume one.")
        return value

    def end(self, path):
        """Raise SeedError if something is missing."""
        if self.missing:
            todo = "Capture these objects again with a user who can read them."
            raise SeedError([*(f"{path}: {one}" for one in self.missing), todo])


def text(row):
    """A line for people."""
    return f"{row['object']}: {row['fact']} is assumed to be {row['value']} ({row['reason']})."
