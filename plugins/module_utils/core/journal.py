# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The journal of changes: a file of JSON lines with each change before it is made and its end, for playbook restore.

A task writes one line for itself, one for each object before the first change, and one for each object at the end.
Forks append to one file: each write is one call on a file that was opened for appending, followed by fsync.
"""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core import logins
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change, Item

VERSION = 1
# Has the place as JSON. The action plugin of a task sets it for modules that run on the controller.
VARIABLE = "AIREADY_JOURNAL_PLACE"
# The id with the configuration of a switch after a change. Journals of earlier releases do not have it.
LEFT = "left"
TASK, PLANNED, DONE, FAILED = "task", "planned", "done", "failed"
HIDDEN = logins.HIDDEN
# Options of the connections to vCenter and to a BMC. Restore connects with the options of its own run.
CONNECTION = (
    "hostname",
    "port",
    "username",
    "password",
    "saml_token_file",
    "session_id",
    "rest_session_id",
    "validate_certs",
    "ca_file",
    "proxy_host",
    "proxy_port",
    "session",
    "session_dir",
    "request_timeout_s",
    "bmc_username",
    "bmc_password",
    "bmc_validate_certs",
    "bmc_ca_file",
    "bmc_timeout_s",
)
# A shorter secret would hide parts of many values.
SHORTEST_SECRET = 4


@dataclass(frozen=True)
class Place:
    """The file of a run, and what the lines say about the task."""

    path: str
    run: str
    stage: str
    module: str
    host: str

    def as_text(self) -> str:
        return json.dumps(asdict(self))


class Journal:
    """The lines of one task."""

    def __init__(self, place: Place, params: Mapping[str, Any], spec: Mapping[str, Any]) -> None:
        self._place = place
        self._secrets: list[str] = []
        self._request = _public(params, spec, self._secrets)
        self._task = uuid.uuid4().hex
        self._numbers: dict[int, int] = {}
        self._ids: dict[int, dict[str, Any]] = {}

    def planned(self, items: Sequence[Item[Any, Any]]) -> None:
        """Write the changes of the items, before the first of them is made. Raises OperatorError if that fails."""
        place = self._place
        head = {"run": place.run, "stage": place.stage, "module": place.module, "host": place.host}
        lines = [self._line(TASK, **head, request=self._request)]
        for number, item in enumerate(items):
            self._numbers[id(item)] = number
            self._ids[id(item)] = dict(item.ids)
            changes = self._reported(item.changes)
            lines.append(self._line(PLANNED, item=number, label=item.label, ids=item.ids, changes=changes))
        try:
            append(place.path, lines)
        except OSError as error:
            self._numbers.clear()
            raise OperatorError(
                place.path,
                "cannot write the journal of changes, so nothing was changed",
                f"{error.strerror or error}",
                "Check the folder, its free space and its permissions, or set aiready_journal to another folder",
                "journal_not_written",
                path=place.path,
            ) from error

    def ended(self, ends: Iterable[tuple[Item[Any, Any], Sequence[Change] | None]]) -> str:
        """Write the ends of planned items: (item, its changes that are effective, or None if that is unknown).

        An item without an end may have been changed or not, as after a killed run. Returns a warning or nothing.
        """
        lines = [
            self._line(
                DONE if item.error is None else FAILED,
                item=self._numbers[id(item)],
                changes=self._reported(changes),
                **self._new_ids(item),
            )
            for item, changes in ends
            if changes is not None and id(item) in self._numbers
        ]
        try:
            append(self._place.path, lines)
        except OSError as error:
            return (
                f"Cannot write the end of the changes to the journal {self._place.path}. {error.strerror or error}. "
                "The changes were made. The playbook restore compares their objects with both values."
            )
        return ""

    def _new_ids(self, item: Item[Any, Any]) -> dict[str, Any]:
        """The ids that an object got by its creation, and the path or the configuration that it has since."""
        before = self._ids[id(item)]
        found = {name: value for name, value in item.ids.items() if before.get(name) is None and value is not None}
        return {"ids": found} if found.get("moid") or found.get("uid") or LEFT in found else {}

    def _reported(self, changes: Iterable[Change]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = _without(self._secrets, [change.as_result() for change in changes])
        return found

    def _line(self, kind: str, **more: object) -> dict[str, Any]:
        now = datetime.now(timezone.utc).isoformat(timespec="microseconds")
        return {"v": VERSION, "kind": kind, "task": self._task, "when": now, **more}


def of(module: Any) -> Journal | None:
    """Return the journal of a task, or None in check mode and for a task without a place."""
    text = getattr(module, "journal", None) or os.environ.get(VARIABLE)
    if not text or module.check_mode:
        return None
    return Journal(Place(**json.loads(text)), module.params, getattr(module, "argument_spec", {}))


def visit(place: str) -> None:
    """Note a task whose changes are recorded elsewhere. Raises OperatorError if that fails."""
    Journal(Place(**json.loads(place)), {}, {}).planned([])


def append(path: str, lines: Sequence[Mapping[str, Any]]) -> None:
    """Append lines as a whole, and return when they are on the disk. Raises OSError."""
    if not lines:
        return
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        os.makedirs(folder, mode=0o700, exist_ok=True)
    is_new = not os.path.exists(path)
    file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        data = "".join(f"{sealed(line)}\n" for line in lines).encode()
        size = os.fstat(file).st_size
        # After a write that a full disk cut off, the next one begins a line of its own.
        if size and os.pread(file, 1, size - 1) != b"\n":
            data = b"\n" + data
        written = os.write(file, data)
        if written != len(data):
            raise OSError(28, "No space left on device")
        os.fsync(file)
    finally:
        os.close(file)
    if is_new:
        _sync_folder(folder)


def sealed(line: Mapping[str, Any]) -> str:
    """Return a line of the file, with its checksum."""
    plain = json.loads(json.dumps(line, default=str))  # keys that are no texts would sort in another order
    return json.dumps({**plain, "sum": checksum(plain)}, sort_keys=True)


def checksum(line: Mapping[str, Any]) -> str:
    """The checksum of a line without its key sum."""
    text = json.dumps({key: value for key, value in line.items() if key != "sum"}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _sync_folder(folder: str) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _public(params: Mapping[str, Any], spec: Mapping[str, Any], secrets: list[str]) -> dict[str, Any]:
    """The parameters without secrets, which are added to the list, and without connection options."""
    found: dict[str, Any] = {}
    for name, value in params.items():
        option = spec.get(name) or {}
        if option.get("no_log"):
            secrets.extend(text for text in _texts(value) if len(text) >= SHORTEST_SECRET)
        elif value is not None and name not in CONNECTION:
            inner = option.get("options")
            if inner and isinstance(value, list):
                found[name] = [_public(one, inner, secrets) if isinstance(one, dict) else one for one in value]
            elif inner and isinstance(value, dict):
                found[name] = _public(value, inner, secrets)
            else:
                found[name] = value
    return found


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, (list, tuple)):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, dict):
        yield from _texts(list(value.values()))
    elif value is not None:
        yield str(value)


def _without(secrets: Sequence[str], value: Any) -> Any:
    if isinstance(value, str):
        return HIDDEN if logins.is_in(value) or any(secret in value for secret in secrets) else value
    if isinstance(value, (list, tuple)):
        return [_without(secrets, one) for one in value]
    if isinstance(value, dict):
        return {key: _without(secrets, one) for key, one in value.items()}
    return value
