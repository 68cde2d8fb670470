# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Each check with good values, and with one of them missing, zero, negative, huge or of another kind, as approved.

Readings come from guests and may hold anything. One line says what a check makes of a value, where it is not what it
makes of the good one: the figure; its verdict; of each remark the code and the facts; facts of what is said besides.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import expected
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import places as locations
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.check_fabric import CARRIED, SENT
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import About
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.judge import LOOKS

from unit import approved

from .world import World

GONE = object()
BELOW = {"rdma_gbs": 11.5, SENT: {}, CARRIED: {}}
LABS = {path: World(2, path) for path in ("sriov", "pvrdma")}
# One measurement of each check; that of the virtual adapters where the other path has none.
MEASURED = {one["check"]: (path, one) for path, lab in LABS.items() for one in reversed(lab.measurements())}


def changed(value: object) -> Iterator[tuple[str, object]]:
    """Names and values of what a value may be instead."""
    yield "gone", GONE
    if isinstance(value, bool):
        yield "turned", not value
    elif isinstance(value, (int, float)):
        yield from (
            ("0", 0),
            ("1", 1),
            ("less", value - 1),
            ("more", value + 1),
            ("-", -value),
            ("*1000", value * 1000),
        )
    elif isinstance(value, str):
        yield from (("empty", ""), ("other", "other"))
    elif value is None:
        yield "1", 1
    elif isinstance(value, list):
        yield from (("empty", []), ("twice", value * 2))
    else:
        yield from (("empty", {}), ("another", {**value, "other": 1}))
    if isinstance(value, (dict, list)):
        yield "null", None
    yield "word", "word 7"


def values_in(value: object, path: tuple = ()) -> Iterator[tuple]:
    """The place of each value in readings."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in entries:
        yield (*path, key), one
        yield from values_in(one, (*path, key))


def put(readings: dict, path: tuple, value: object) -> dict:
    made = copy.deepcopy(readings)
    at = made
    for key in path[:-1]:
        at = at[key]
    if value is GONE:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return made


def reported(found: object) -> str:
    """One line without the words of sentences."""
    said = [found.skip, found.note, found.expected, found.free, found.duty]
    parts = [f"{found.measured}", found.verdict, f"{found.low}..{found.high}"]
    parts += [f"{one.verdict}:{one.code}:{facts(one.why)}:{facts(one.cause)}" for one in found.reported]
    return ";".join([*parts, "/".join(map(facts, said))]).replace(" ", "_")


def facts(sentence: str) -> str:
    return str(approved.outline(sentence)).removeprefix("~").strip()


@pytest.mark.parametrize("check", sorted(MEASURED))
def test_what_a_check_makes_of_other_values(check):
    path, one = MEASURED[check]
    lab = LABS[path]
    intent = expected.intent_of(lab.intent)
    about = About(check, one["subject"], one["variant"], intent, locations.of(lab.topology), below=copy.deepcopy(BELOW))
    good = reported(LOOKS[check](one["readings"], about))
    lines = {"good": good}
    for place, value in values_in(one["readings"]):
        for name, other in changed(value):
            line = reported(LOOKS[check](put(one["readings"], place, other), about))
            if line != good:
                lines[f"{'.'.join(map(str, place))} {name}"] = line
    approved.check(__file__, check, lines)
