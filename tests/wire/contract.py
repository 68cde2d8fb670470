"""The contract that every module keeps, whatever it manages.

create, again, modify, again, delete, delete what is not there: each first in check mode, then for real. Check mode
changes nothing, predicts whether the real run changes something, and its diff is the diff of what then happens.
What happened is reported by an observer that is not the module. A setting cannot be deleted: there, delete means back
to its default. Modules that only read are held to less: they report what is there and change nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """What a module supplies to be held to the contract."""

    module: str
    name: str
    create: dict
    modify: dict
    delete: dict
    observe: Callable[[Any], Any]
    created: Any
    modified: Any
    deleted: Any
    seed: str | dict = "small"
    faces: tuple = ()
    # The host whose shell or BMC the module talks to, for modules that do not ask vCenter.
    at: str | None = None
    # Keys of results, at any depth, that nobody can know beforehand: the identity of what is made, a guest's address.
    unforeseen: tuple = ()

    def __str__(self):
        return f"{self.module}: {self.name}"


@dataclass(frozen=True)
class Look:
    """What a module that only reads supplies: what it must report, which is known from elsewhere."""

    module: str
    name: str
    params: dict
    reports: Callable[[Any], dict]
    reported: Callable[[dict], dict]
    seed: str | dict = "small"
    faces: tuple = ()
    at: str | None = None
    # How to run a module on what the twin has not: run(module, check, **params).
    run: Callable | None = None

    def __str__(self):
        return f"{self.module}: {self.name}"


def hold(row: Row, twin, drive) -> None:
    """Walk through the twelve steps."""
    steps = [
        ("create", row.create, True, row.created),
        ("create again", row.create, False, row.created),
        ("modify", row.modify, True, row.modified),
        ("modify again", row.modify, False, row.modified),
        ("delete", row.delete, True, row.deleted),
        ("delete what is not there", row.delete, False, row.deleted),
    ]
    for step, params, changes, state in steps:
        before = row.observe(twin)
        predicted = _run(row, drive, step, params, check=True)
        assert row.observe(twin) == before, f"{step}: check mode changed something"
        made = _run(row, drive, step, params, check=False)
        assert row.observe(twin) == state, f"{step}: not what was asked for"
        assert made["changed"] is changes, f"{step}: {made}"
        assert _known(row, predicted) == _known(row, made), f"{step}: the real run is not what check mode predicted"
        assert bool(made["diff"]) is changes, f"{step}: a diff is there when, and only when, something changes"


def hold_look(look: Look, twin, drive) -> None:
    """A look reports what is there, the same in check mode, and changes nothing."""
    expected = look.reports(twin)
    for check in (True, False):
        answer = _run(look, look.run or drive, "look", look.params, check)
        assert answer["changed"] is False
        assert look.reported(answer) == expected
    assert look.reports(twin) == expected


def _run(row, drive, step, params, check):
    place = {"at": row.at} if row.at else {}
    answer = drive(row.module, check=check, **place, **params)
    assert not answer["failed"], f"{step} (check mode {check}): {answer['msg']}"
    return answer


def _known(row, answer):
    """An answer without what nobody can know beforehand."""
    if isinstance(answer, dict):
        left_out = {*row.unforeseen, "invocation"}
        return {key: _known(row, value) for key, value in answer.items() if key not in left_out}
    return [_known(row, value) for value in answer] if isinstance(answer, list) else answer
