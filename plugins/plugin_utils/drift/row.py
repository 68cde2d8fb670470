# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""One row of the drift table: a setting of an object, its requested value and the value found. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight.finding import failed, refusal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

AS_REQUESTED, NOT_APPLIED, UNKNOWN, CHANGED = "as requested", "not applied", "unknown", "changed since"
# The worst last.
STATES = (AS_REQUESTED, NOT_APPLIED, UNKNOWN, CHANGED)
# In place of a setting, for all settings of an object.
EVERYTHING = "settings"


@dataclass(frozen=True)
class Row:
    """requested and found are texts. run and since: the last run that applied the setting, and its time."""

    stage: str
    object: str
    setting: str
    state: str
    requested: str = ""
    found: str = ""
    why: str = ""
    code: str = ""  # of a module's failure
    run: str = ""
    since: str = ""
    # From the events of vCenter or the log of a switch.
    changed_at: str = ""
    changed_by: str = ""
    moid: str = ""


def spoken(value: Any) -> str:
    """A value as a text. Lists and dictionaries have one form for each content."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(spoken, value)) or "none"
    if isinstance(value, dict):
        return ", ".join(f"{key}: {spoken(one)}" for key, one in sorted(value.items())) or "none"
    return "none" if value in (None, "") else str(value)


def alike(one: Any, other: Any) -> bool:
    """Whether two values are the same, however a module spells them: 8 is 0x08, and TRUE is true."""
    return _canonical(one) == _canonical(other)


def _canonical(value: Any) -> str:
    text = spoken(value).lower()
    try:
        return str(int(text, 0))
    except ValueError:
        return text


def differs(stage: str, owner: str, setting: str, requested: Any, found: Any, moid: str = "") -> Row:
    """A setting that is not as requested; the record of the runs decides later whether it was changed."""
    return Row(stage, owner, setting, CHANGED, spoken(requested), spoken(found), moid=moid)


def unread(stage: str, owner: str, setting: str, why: str, code: str = "") -> Row:
    return Row(stage, owner, setting, UNKNOWN, why=why, code=code)


def refused(stage: str, owner: str, setting: str, answer: Mapping[str, Any]) -> Row:
    """A setting whose module failed, with the reason."""
    reported = refusal(stage, owner, setting, answer, again="drift")
    return unread(stage, owner, setting, f"{reported.found} {reported.todo}".strip(), reported.code)


def of_items(stage: str, owner: str, setting: str, answer: Mapping[str, Any] | None) -> Iterator[Row]:
    """The differences that a module in check mode returned, and its refusals; setting is the subject of a refusal."""
    if not answer or answer.get("skipped"):
        return
    for one in answer.get("results") or [answer]:
        if failed(one):
            yield refused(stage, owner, setting, one)
            continue
        for value in one.values():
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, dict) and ("changes" in item or "pending" in item):
                    yield from of_item(stage, owner, item)


def of_item(stage: str, owner: str, item: Mapping[str, Any]) -> Iterator[Row]:
    """The differences of one object in the result of a module, and what is set and not yet effective."""
    moid = str(item.get("moid") or "")
    changes = item.get("changes") or []
    for change in changes:
        yield differs(stage, owner, str(change["path"]), change.get("after"), change.get("before"), moid)
    known = {change["path"] for change in changes}
    for waiting in item.get("pending") or []:
        if waiting["what"] not in known:
            needs = str(waiting["needs"]).replace("_", " ")
            found = f"configured, waits for a {needs}"
            yield differs(stage, owner, str(waiting["what"]), "effective", found, moid)
