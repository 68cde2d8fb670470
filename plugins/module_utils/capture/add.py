# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Adding sources, such as switches, to a capture. Several processes may do so at the same time."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.capture import check, trouble
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import (
    PARTS,
    index,
    load,
    names_of,
    update,
    write,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.pseudonyms import Table
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

_ENDING = ".json"


@dataclass
class Addition:
    """What one source adds: its files and its part of the coverage. Those that it added before are replaced."""

    source: str
    folders: tuple[str, ...]
    files: dict[str, str] = field(default_factory=dict)
    coverage: dict[str, dict[str, Any]] = field(default_factory=dict)
    texts: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    # Entries of the manifest, such as the version of vCenter.
    manifest: dict[str, Any] = field(default_factory=dict)


def add(dest: str, keep_names: bool, make: Callable[[Table], Addition]) -> Addition:
    """Add what make() returns for the table of the capture. Without an earlier capture, start one."""
    return add_all(dest, keep_names, lambda table: [make(table)])[0]


def add_all(dest: str, keep_names: bool, make: Callable[[Table], Sequence[Addition]]) -> Sequence[Addition]:
    """The same for several sources, with one new file."""
    parts = f"{dest}{PARTS}"
    with trouble.written(dest):
        with alone(dest) as table:
            _manifest(dest, keep_names)
            made = make(table)
            save(dest, table)
            os.makedirs(parts, mode=0o700, exist_ok=True)
            for one in made:
                found = check.check(one.files, table, keep_names)
                path = os.path.join(parts, hashlib.sha256(one.source.encode("utf-8")).hexdigest() + _ENDING)
                write(path, json.dumps(dict(vars(one), keep_names=keep_names, check=found)))
        _join(dest, parts, keep_names)
        return made


def _join(dest: str, parts: str, keep_names: bool) -> None:
    """Add the parts of all processes to the zip at once. A process that waited finds its own already there."""
    try:
        folder = os.open(parts, os.O_RDONLY)
    except FileNotFoundError:
        return
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        found = {}
        for name in sorted(os.listdir(parts)) if os.path.isdir(parts) else ():
            if name.endswith(_ENDING):
                with open(os.path.join(parts, name), "rb") as file:
                    found[name] = file.read()
        if found:
            made = [json.loads(text) for text in found.values()]
            if any(one["keep_names"] is not keep_names for one in made):
                raise _unfinished(dest, parts)
            _write(dest, keep_names, made)
        with alone(dest):
            _forget(parts, found)
    finally:
        os.close(folder)


def _forget(parts: str, found: Mapping[str, bytes]) -> None:
    """Remove the parts that are in the zip. Another process can have replaced one, or added one, in the meantime."""
    for name, text in found.items():
        path = os.path.join(parts, name)
        with open(path, "rb") as file:
            same = file.read() == text
        if same:
            os.remove(path)
    with contextlib.suppress(OSError):
        os.rmdir(parts)


def _write(dest: str, keep_names: bool, made: Sequence[dict[str, Any]]) -> None:
    manifest = _manifest(dest, keep_names)
    coverage, added = dict(manifest["coverage"]), dict(manifest.get("added", {}))
    files: dict[str, bytes] = {}
    kept = set(manifest["files"])
    for one in made:
        source, folders = one["source"], tuple(one["folders"])
        kept = {name for name in kept if not name.startswith(folders)}
        files.update({name: text.encode("utf-8") for name, text in one["files"].items()})
        coverage = {name: row for name, row in coverage.items() if name != source and not name.startswith(f"{source}/")}
        coverage.update(one["coverage"])
        manifest.update(one["manifest"])
        added[source] = {key: one[key] for key in ("texts", "dropped", "check")}
    update(dest, dict(manifest, coverage=coverage, added=added), kept, files)


def _manifest(dest: str, keep_names: bool) -> dict[str, Any]:
    """The manifest of the capture, or that of a new one."""
    manifest: dict[str, Any] = {"anonymised": not keep_names, "coverage": {}, "files": {}}
    if os.path.exists(dest):
        manifest = index(dest)
    if manifest["anonymised"] is keep_names:
        raise OperatorError(
            dest,
            "cannot add to the capture",
            "The capture was written with another value of `keep`.",
            "Use the same value, or another path",
            "capture_not_written",
        )
    return manifest


def _unfinished(dest: str, folder: str, other: str = "with another value of `keep`") -> OperatorError:
    return OperatorError(
        dest,
        "cannot continue the capture",
        f"An unfinished capture {other} is there.",
        f"Remove the folder {folder}, or capture as in the earlier run",
        "capture_not_written",
    )


class Part:
    """Sources that one task reads. Each is kept on its own, and the next run continues with what is left."""

    def __init__(self, dest: str, kind: str, keep_names: bool, origin: str) -> None:
        self._dest = dest
        self._origin = origin
        self._keep_names = keep_names
        self.path = f"{dest}.{kind}.partial"
        with trouble.written(dest):
            os.makedirs(self.path, mode=0o700, exist_ok=True)
            names = [name for name in sorted(os.listdir(self.path)) if name.endswith(_ENDING)]
            self._made = {name[: -len(_ENDING)]: self._load(name) for name in names}
        self.resumed = bool(self._made)

    def __contains__(self, key: str) -> bool:
        return key in self._made

    def keep(self, key: str, make: Callable[[Table], Addition]) -> None:
        """Keep what make() returns for the table of the capture."""
        with trouble.written(self._dest):
            with alone(self._dest) as table:
                made = make(table)
                save(self._dest, table)
            data = dict(vars(made), keep_names=self._keep_names, origin=self._origin)
            write(os.path.join(self.path, f"{key}{_ENDING}"), json.dumps(data))
        self._made[key] = made

    def finish(self) -> list[Addition]:
        """Add all sources to the capture."""
        made = [one for _key, one in sorted(self._made.items())]
        if made:
            add_all(self._dest, self._keep_names, lambda table: made)
        shutil.rmtree(self.path)
        return made

    def _load(self, name: str) -> Addition:
        data = load(os.path.join(self.path, name))
        if data.pop("keep_names") is not self._keep_names:
            raise _unfinished(self._dest, self.path)
        if data.pop("origin", self._origin) != self._origin:
            raise _unfinished(self._dest, self.path, "of another vCenter")
        texts, dropped = Counter(data["texts"]), Counter(data["dropped"])
        return Addition(
            data["source"], tuple(data["folders"]), data["files"], data["coverage"], texts=texts, dropped=dropped
        )


def save(dest: str, table: Table) -> None:
    """Write the table of the capture."""
    write(f"{dest}.secret.json", json.dumps(table.as_data(), indent=1, sort_keys=True))


@contextlib.contextmanager
def alone(dest: str) -> Iterator[Table]:
    """The table of the capture. Only one process has it at a time: the table and the zip belong together."""
    secret = f"{dest}.secret.json"
    folder = os.open(os.path.dirname(os.path.abspath(dest)), os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield Table.of_data(names_of(secret)) if os.path.exists(secret) else Table()
    finally:
        os.close(folder)
