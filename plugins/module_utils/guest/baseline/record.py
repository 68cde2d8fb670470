# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The record of a guest: what each stage changed, from a scan before it and a scan after it. Only load and save do I/O.

record: schema, checksum and body. body: stages (all that began), users (whose homes they change), open
({stage: scan at its begin}), after (commands that restore still has to run) and items ({key: before, left, stages,
other}). other marks an item that somebody else changed between two runs.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from typing import TYPE_CHECKING, Any, Dict, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.baseline import put

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.baseline.read import State
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files

Body = Dict[str, Any]

SCHEMA = 1
FOLDER = "/var/lib/aiready.vsphere/baseline"
FILE = f"{FOLDER}/record.json"
CONTENT = f"{FOLDER}/content"


def empty() -> Body:
    return {"stages": [], "users": [], "open": {}, "items": {}}


def load(files: Files, label: str) -> Body | None:
    """Return the body of the record; None if there is no record."""
    text = files.text(FILE)
    if text is None:
        return None
    try:
        reported = json.loads(text)
        body = reported["body"]
        if reported["schema"] != SCHEMA:
            raise _damaged(label, f"Its schema is {reported['schema']}, and this version reads {SCHEMA}")
        if reported["checksum"] != _checksum(body):
            raise _damaged(label, "Its checksum differs from its content")
    except (KeyError, TypeError, ValueError) as error:
        raise _damaged(label, "It is not a complete JSON document") from error
    return dict(body)


def save(files: Files, body: Body) -> None:
    """Write the whole record, on the disk before this returns. Only root can read it."""
    _private(files)
    text = json.dumps({"schema": SCHEMA, "checksum": _checksum(body), "body": body}) + "\n"
    put.file(files, FILE, text.encode(), {"mode": 0o600})


def keep(files: Files, mark: str, raw: bytes) -> None:
    """Store the content of a file under its hash."""
    _private(files)
    path = f"{CONTENT}/{mark}"
    if not files.exists(path):
        put.file(files, path, raw, {"mode": 0o600})


def content(files: Files, mark: str) -> bytes | None:
    """Return a stored content; None if it is missing or damaged."""
    try:
        with open(files.at(f"{CONTENT}/{mark}"), "rb") as file:
            raw = file.read()
    except OSError:
        return None
    return raw if hashlib.sha256(raw).hexdigest() == mark else None


def tidy(files: Files, body: Body, keep: bool = False) -> None:
    """Remove contents that nothing refers to. Unless keep is set, remove a record with nothing to restore, too."""
    whole = not keep and not body["items"] and not body["open"]
    if whole:
        files.remove(FILE)
        files.remove(FILE + put.ENDING)
        used: set[str] = set()
    else:
        states = [*body["open"].values(), {key: one["before"] for key, one in body["items"].items()}]
        entries = [value for state in states for value in state.values() if isinstance(value, dict)]
        used = {value["sha256"] for value in entries if "sha256" in value}
    for name in files.names(CONTENT):
        if name not in used:
            files.remove(f"{CONTENT}/{name}")
    if whole:
        for folder in (CONTENT, FOLDER, os.path.dirname(FOLDER)):
            # The last one has files of other modules, too.
            with contextlib.suppress(OSError):
                os.rmdir(files.at(folder))


def begin(body: Body, stage: str, now: State, users: Sequence[str] = ()) -> Body:
    """The record with a begun stage. A stage that was killed keeps its first scan."""
    items = {
        key: one if now.get(key) == one["before"] or is_left(key, one, now.get(key)) else dict(one, other=True)
        for key, one in body["items"].items()
    }
    return dict(
        body,
        stages=sorted({*body["stages"], stage}),
        users=sorted({*body["users"], *users}),
        open={stage: now, **body["open"]},
        items=items,
    )


def end(body: Body, stage: str, now: State) -> Body:
    """The record with the changes of a stage since its begin."""
    begun = dict(body["open"])
    first = begun.pop(stage, None)
    items = dict(body["items"])
    for key in sorted({*first, *now}) if first is not None else []:
        if first.get(key) == now.get(key) or (key not in first and _own_only(key)):
            continue
        old = items.get(key, {"before": first.get(key), "left": first.get(key), "stages": [], "other": False})
        # Somebody else's value that a run replaced is lost, so the item stays marked unless it is as we left it.
        other = old["other"] and not is_left(key, old, now.get(key))
        items[key] = {
            "before": old["before"],
            "left": now.get(key),
            "stages": sorted({*old["stages"], stage}),
            "other": other,
        }
        if now.get(key) == old["before"]:
            del items[key]
    return dict(body, open=begun, items=items)


def is_left(key: str, item: Mapping[str, Any], now: Any) -> bool:
    """Return whether a value is the one that the last run left.

    A package that a stage installed stays ours when it is updated, unless somebody marked it as manually installed.
    """
    if key.startswith("package:") and item["before"] is None and now is not None and item["left"] is not None:
        return bool(item["left"]["manual"] or not now["manual"])
    return bool(now == item["left"])


def made_users(body: Body) -> list[str]:
    """The users that the stages created."""
    prefix = "account:/etc/passwd:"
    return [
        key[len(prefix) :] for key, one in body["items"].items() if key.startswith(prefix) and one["before"] is None
    ]


def new_users(first: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """The users that appeared between two scans."""
    prefix = "account:/etc/passwd:"
    return [key[len(prefix) :] for key in now if key.startswith(prefix) and key not in first]


def _own_only(key: str) -> bool:
    # Adapters that appeared, such as the bridge of a container engine.
    return key.startswith(("mtu:", "addresses:"))


def _checksum(body: Body) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _private(files: Files) -> None:
    os.makedirs(files.at(CONTENT), mode=0o700, exist_ok=True)
    os.chmod(files.at(FOLDER), 0o700)
    os.chmod(files.at(CONTENT), 0o700)


def _damaged(label: str, found: str) -> OperatorError:
    return OperatorError(
        label,
        f"cannot read the record of its former state in {FILE}",
        found,
        "Restore cannot know what the stages changed on this guest. Compare it with a backup, or remove the VM. To "
        f"record from now on, move {FOLDER} away",
        "record_damaged",
        path=FILE,
    )
