"""The contract is worth something only if it catches a module that does not keep it."""

from __future__ import annotations

import pytest

from .contract import Row, hold


class Lamp:
    """The world of a made-up module: a lamp with a colour."""

    def __init__(self):
        self.colour = None


ROW = Row(
    module="lamp",
    name="a lamp",
    create={"colour": "red"},
    modify={"colour": "blue"},
    delete={"colour": None},
    observe=lambda lamp: lamp.colour,
    created="red",
    modified="blue",
    deleted=None,
)


class LampModule:
    """Keeps the contract; each of its descendants breaks one rule of it."""

    def __init__(self, lamp):
        self._lamp = lamp

    def __call__(self, module, check, colour):
        before, changed = self._lamp.colour, self._lamp.colour != colour
        if changed and not check:
            self.paint(colour)
        return self.answer(changed, before, colour, check)

    def paint(self, colour):
        self._lamp.colour = colour

    def answer(self, changed, before, after, check):
        diff = [{"before": before, "after": after}] if changed else []
        return {"failed": False, "changed": changed, "diff": diff}


class ChangesInCheckMode(LampModule):
    def __call__(self, module, check, colour):
        answer = super().__call__(module, check, colour)
        self._lamp.colour = colour
        return answer


class PredictsNothing(LampModule):
    def answer(self, changed, before, after, check):
        return super().answer(changed and not check, before, after, check)


class PredictsSomethingElse(LampModule):
    def answer(self, changed, before, after, check):
        return super().answer(changed, before, "green" if check else after, check)


class AlwaysChanged(LampModule):
    def answer(self, changed, before, after, check):
        return super().answer(True, before, after, check)


class NeverChanged(LampModule):
    def answer(self, changed, before, after, check):
        return {"failed": False, "changed": False, "diff": []}


class ForgetsTheDiff(LampModule):
    def answer(self, changed, before, after, check):
        return {"failed": False, "changed": changed, "diff": []}


class DoesNothing(LampModule):
    def paint(self, colour):
        """Says that it did."""


class LeavesSomethingBehind(LampModule):
    def paint(self, colour):
        self._lamp.colour = colour or "grey"


class FailsTheSecondTime(LampModule):
    def answer(self, changed, before, after, check):
        return {**super().answer(changed, before, after, check), "failed": not changed, "msg": "It is red already."}


def test_a_module_that_keeps_the_contract_passes():
    lamp = Lamp()
    hold(ROW, lamp, LampModule(lamp))


@pytest.mark.parametrize(
    "dishonest, caught",
    [
        (ChangesInCheckMode, "create: check mode changed something"),
        (PredictsNothing, "create: the real run is not what check mode predicted"),
        (PredictsSomethingElse, "create: the real run is not what check mode predicted"),
        (AlwaysChanged, "create again: "),
        (NeverChanged, "create: "),
        (ForgetsTheDiff, "create: a diff is there when, and only when, something changes"),
        (DoesNothing, "create: not what was asked for"),
        (LeavesSomethingBehind, "delete: not what was asked for"),
        (FailsTheSecondTime, "create again .check mode True.: It is red already"),
    ],
)
def test_a_module_that_breaks_a_rule_is_caught_at_the_first_step_that_shows_it(dishonest, caught):
    lamp = Lamp()
    with pytest.raises(AssertionError, match=caught):
        hold(ROW, lamp, dishonest(lamp))
