# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The differences that the verification of a role found: object, path, requested value and found value. Pure."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

IDENTITY = ("name", "path", "moid", "instance_uuid", "bios_uuid")


@dataclass(frozen=True)
class Gap:
    """One setting of one object that is not as requested."""

    step: str
    object: str
    path: str
    requested: str
    found: str
    text: str


def gap(step: str, owner: str, path: str, requested: str, found: str) -> Gap:
    place = f"{owner}: {path}" if owner else path
    return Gap(step, owner, path, requested, found, f"{place}: requested {requested}, found {found}")


def gaps(proofs: Iterable[Mapping[str, Any]]) -> list[dict[str, str]]:
    """The gaps of all proofs, as {step, object, path, requested, found, text}."""
    return [asdict(one) for proof in proofs for one in _of(proof)]


def _of(proof: Mapping[str, Any]) -> Iterator[Gap]:
    step, owner = proof["step"], proof.get("object") or ""
    if "requested" in proof:
        found = proof.get("found") or {}
        for path, value in proof["requested"].items():
            if shown(found.get(path)) != shown(value):
                yield gap(step, owner, path, shown(value), shown(found.get(path)))
        return
    asked, answer = proof.get("asked", True), proof.get("answer")
    found = results(answer)
    # A read that did not take place proves nothing.
    yield from (gap(step, owner or one, step, "verified", "not read") for one in _unread(asked, found))
    for item in found:
        name = owner or item.get("path") or item.get("name") or ""
        if item.get("failed"):
            yield gap(step, name, step, "verified", item.get("msg") or "not read")
        changes = item.get("changes") or []
        for change in changes:
            yield gap(step, name, change["path"], shown(change["after"]), shown(change["before"]))
        known = {change["path"] for change in changes}
        for waiting in item.get("pending") or () if proof.get("pending") else ():
            if waiting["what"] not in known:
                needs = waiting["needs"].replace("_", " ")
                yield gap(step, name, waiting["what"], "effective", f"configured, waits for a {needs}")


def _unread(asked: Any, found: Sequence[Mapping[str, Any]]) -> list[str]:
    """The objects that were asked for and not read; asked: whether there is one, or the entries of a module."""
    if not isinstance(asked, (list, tuple)):
        return [""] if asked and not found else []
    if len(found) >= len(asked):
        return []
    read = {item.get(key) for item in found for key in IDENTITY}
    return [name for name in (_name(entry) for entry in asked) if name not in read]


def _name(entry: Any) -> str:
    return next((entry[key] for key in IDENTITY if entry.get(key)), "") if isinstance(entry, dict) else str(entry)


def results(answer: Any) -> list[dict[str, Any]]:
    """The results of single objects in what a module returned, also in a loop; none of a task that was skipped."""
    if not isinstance(answer, dict) or answer.get("skipped"):
        return []
    if isinstance(answer.get("results"), list):
        return [item for one in answer["results"] for item in results(one)]
    values = [item for value in answer.values() for item in (value if isinstance(value, list) else [value])]
    return [item for item in values if isinstance(item, dict) and ("changes" in item or "pending" in item)]


def shown(value: object) -> str:
    """A value on one line; an empty one is reported as none."""
    if value in (None, "", [], {}):
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)) and not any(isinstance(entry, (dict, list, tuple)) for entry in value):
        return ", ".join(str(entry) for entry in value)
    return str(value) if isinstance(value, (str, int, float)) else json.dumps(value, sort_keys=True, default=str)
