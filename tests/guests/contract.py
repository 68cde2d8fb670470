"""The contract of tests/wire for modules that run on a guest: the same twelve steps, over ssh on a real guest.

create, again, modify, again, delete, delete what is not there: each first in check mode, then for real. All steps are
tasks of one play, since every play is a login. Between them, commands that are run past Ansible report what is on the
guest: they, and not the module, say what happened.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

OURS = "aiready.vsphere"


@dataclass(frozen=True)
class GuestRow:
    """What a module supplies to be held to the contract.

    Parameters are a dict, or made by a function from the guest where they depend on it (addresses of the lab).
    observe: {what: argv}, run as root; created, modified, deleted: {what: the last word of the guest on it}, where None
    stands for a command that fails.
    """

    module: str
    name: str
    create: dict | Callable[[Any], dict]
    modify: dict | Callable[[Any], dict]
    delete: dict | Callable[[Any], dict]
    observe: dict[str, list[str]]
    created: dict[str, str | None] | Callable[[Any], dict]
    modified: dict[str, str | None] | Callable[[Any], dict]
    deleted: dict[str, str | None] | Callable[[Any], dict]
    # What the VM is, beside what fresh_guest gives it, and tasks that prepare its guest.
    vm: dict = field(default_factory=dict)
    before: tuple | Callable[[Any], tuple] = ()
    # Keys of results, at any depth, that nobody can know beforehand.
    unforeseen: tuple = ()

    def __str__(self):
        return f"{self.module}: {self.name}"


@dataclass(frozen=True)
class GuestLook:
    """What a module that only reads supplies: what it must report, which is known from elsewhere."""

    module: str
    name: str
    params: dict | Callable[[Any], dict]
    # The function reported() reads this from the answer.
    reported: Callable[[dict], Any]
    reports: Any
    vm: dict = field(default_factory=dict)
    before: tuple | Callable[[Any], tuple] = ()

    def __str__(self):
        return f"{self.module}: {self.name}"


def given(value, guest):
    """What a row says, made for this guest where it depends on it."""
    return value(guest) if callable(value) else value


MODES = {True: "predicted", False: "made"}
STEPS = (
    ("create", "create", True, "created"),
    ("create again", "create", False, "created"),
    ("modify", "modify", True, "modified"),
    ("modify again", "modify", False, "modified"),
    ("delete", "delete", True, "deleted"),
    ("delete what is not there", "delete", False, "deleted"),
)


def tasks(row: GuestRow, guest) -> list[dict]:
    """The play of a row: preparation, then for each step the prediction and the change."""
    made = list(given(row.before, guest))
    for step, params, _changes, _state in STEPS:
        for check in (True, False):
            made.append(_call(row.module, f"{step}, {MODES[check]}", given(getattr(row, params), guest), check))
    return made


def hold(row: GuestRow, guest, play) -> None:
    """Walk through the twelve steps; play runs tasks on the guest and gives their results in order."""
    plan = tasks(row, guest)
    played = play(plan, look=["python3", "-c", _LOOK, json.dumps(row.observe)])
    assert len(played.seen) == len(plan) + 1, played.output
    steps = iter(zip(played, played.seen[:-1], played.seen[1:], strict=True))
    for _preparation in range(len(plan) - len(MODES) * len(STEPS)):
        next(steps)
    for step, _params, changes, state in STEPS:
        predicted, before, after_prediction = next(steps)
        made, _before, after = next(steps)
        for answer, mode in ((predicted, "in check mode"), (made, "for real")):
            assert not answer.get("failed"), f"{step} ({mode}): {answer.get('msg')}"
        assert json.loads(after_prediction) == json.loads(before), f"{step}: check mode changed something"
        assert json.loads(after) == given(getattr(row, state), guest), f"{step}: not what was asked for"
        assert made["changed"] is changes, f"{step}: {made}"
        assert known(row, predicted) == known(row, made), f"{step}: the real run is not what check mode predicted"
        assert bool(made.get("diff")) is changes, f"{step}: a diff is there when, and only when, something changes"


def hold_look(look: GuestLook, guest, play) -> None:
    """A look reports what is there, the same in check mode, and changes nothing."""
    params = given(look.params, guest)
    calls = [_call(look.module, f"check mode {check}", params, check) for check in (True, False)]
    before = list(given(look.before, guest))
    for answer in play([*before, *calls])[len(before) :]:
        assert not answer.get("failed"), answer.get("msg")
        assert answer["changed"] is False
        assert look.reported(answer) == given(look.reports, guest)


def _call(module, name, params, check):
    # Whatever fails is reported by the judge, with its step; the steps after it would only say the same again.
    return {"name": name, f"{OURS}.{module}": params, "check_mode": check, "diff": True, "ignore_errors": True}


# All commands of a look.
_LOOK = """
import json, subprocess, sys
found = {}
for what, argv in json.loads(sys.argv[1]).items():
    done = subprocess.run(argv, capture_output=True, text=True)
    found[what] = done.stdout.strip() if done.returncode == 0 else None
print(json.dumps(found))
"""


def known(row, answer):
    """An answer without what nobody can know beforehand, and without what Ansible adds."""
    if isinstance(answer, dict):
        left_out = {*row.unforeseen, "invocation", "ansible_facts", "_ansible_no_log", "deprecations", "warnings"}
        return {key: known(row, value) for key, value in answer.items() if key not in left_out}
    return [known(row, value) for value in answer] if isinstance(answer, list) else answer
