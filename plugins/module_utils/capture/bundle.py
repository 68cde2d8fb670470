# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The files of a capture: a folder while it is being read, then one zip with a manifest and checksums."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import zipfile
from typing import Any

from ansible_collections.aiready.vsphere.plugins.module_utils.capture import check
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.pseudonyms import Table
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

FORMAT = 1
MANIFEST, STATE = "manifest.json", "state.json"
# Members of a zip get this time, so that equal captures are equal files.
_EPOCH = (1980, 1, 1, 0, 0, 0)


class Folder:
    """The files of an unfinished capture, with the state from which the next run continues."""

    def __init__(self, dest: str, mode: dict[str, Any]) -> None:
        self.dest = dest
        self.path = f"{dest}.partial"
        self.secret = f"{dest}.secret.json"
        self.coverage: dict[str, dict[str, Any]] = {}
        self.counts: dict[str, dict[str, int]] = {}
        try:
            os.makedirs(self.path, mode=0o700, exist_ok=True)
            self.table = Table.of_data(load(self.secret)) if os.path.exists(self.secret) else Table()
            state = os.path.join(self.path, STATE)
            if os.path.exists(state):
                found = load(state)
                if found["mode"] != mode:
                    raise self._refused(
                        "An unfinished capture with other options is there.",
                        f"Remove the folder {self.path}, or use the options of the earlier run",
                    )
                self.coverage, self.counts = found["coverage"], found["counts"]
        except (OSError, ValueError, KeyError) as error:
            raise self._refused(f"{error}.", "Check that the folder of `dest` exists and is writable") from error
        self._mode = mode
        self.resumed = bool(self.coverage)

    def put(self, name: str, text: str) -> None:
        """Write a file of the capture."""
        path = os.path.join(self.path, *name.split("/"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write(path, text)

    def save(self) -> None:
        """Make everything until here the point from which a later run continues. The table is first."""
        write(self.secret, json.dumps(self.table.as_data(), indent=1, sort_keys=True))
        state = {"mode": self._mode, "coverage": self.coverage, "counts": self.counts}
        write(os.path.join(self.path, STATE), json.dumps(state))

    def finish(self, manifest: dict[str, Any]) -> dict[str, Any]:
        """Write the zip, and remove the folder. Return what the check found."""
        files = sorted(
            os.path.relpath(os.path.join(folder, name), self.path).replace(os.sep, "/")
            for folder, _folders, names in os.walk(self.path)
            for name in names
            if name != STATE
        )
        texts = {name: _bytes(os.path.join(self.path, *name.split("/"))) for name in files}
        found = check.check(texts, self.table, not manifest.get("anonymised", True))
        pack(self.dest, dict(manifest, coverage=self.coverage, check=found), texts)
        shutil.rmtree(self.path)
        return found

    def _refused(self, found: str, todo: str) -> OperatorError:
        return OperatorError(self.dest, "cannot write the capture", found, todo, "capture_not_written")


def pack(dest: str, manifest: dict[str, Any], texts: dict[str, bytes]) -> None:
    """Write the zip in one step."""
    sums = {name: hashlib.sha256(text).hexdigest() for name, text in texts.items()}
    whole = dict(manifest, format=FORMAT, files=sums)
    members = dict(texts, **{MANIFEST: json.dumps(whole, indent=1, sort_keys=True).encode("utf-8")})
    handle, draft = tempfile.mkstemp(dir=os.path.dirname(os.path.abspath(dest)), prefix=".capture-")
    with os.fdopen(handle, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        for name in sorted(members):
            made.writestr(zipfile.ZipInfo(name, _EPOCH), members[name], zipfile.ZIP_DEFLATED)
    os.replace(draft, dest)


class Capture:
    """A finished capture: its manifest, and its files by name. Content that the manifest does not list is rejected."""

    def __init__(self, path: str) -> None:
        try:
            with zipfile.ZipFile(path) as found:
                self.files = {name: found.read(name) for name in found.namelist()}
            self.manifest = json.loads(self.files.pop(MANIFEST))
            known = self.manifest["format"] == FORMAT
            sums = {name: hashlib.sha256(text).hexdigest() for name, text in self.files.items()}
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise _damaged(path, f"{error}.") from error
        if not known:
            raise _damaged(path, f"Its format is {self.manifest['format']}, and this version reads {FORMAT}.")
        if sums != self.manifest["files"]:
            raise _damaged(path, "Its files differ from the checksums in its manifest.")

    def is_read(self, name: str) -> bool:
        """Whether a source answered. Everything else about it is unknown, and never a default."""
        return bool((self.manifest["coverage"].get(name) or {}).get("answered"))


def _damaged(path: str, found: str) -> OperatorError:
    return OperatorError(
        path, "cannot read the capture", found, "Use the file as `capture` wrote it", "capture_damaged"
    )


def load(path: str) -> Any:
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def _bytes(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def write(path: str, text: str) -> None:
    """Write a whole file that only its owner can read."""
    handle, draft = tempfile.mkstemp(dir=os.path.dirname(os.path.abspath(path)), prefix=".draft-")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(draft, path)
