# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The files of a capture: a folder while it is being read, then one zip with a manifest and checksums."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import struct
import tempfile
import zipfile
from typing import IO, TYPE_CHECKING, Any, Iterable, Iterator, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.capture import check, trouble
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.pseudonyms import Table
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter

FORMAT = 1
MANIFEST, STATE = "manifest.json", "state.json"
# The end of the name of the folder with sources that are not in the zip yet.
PARTS = ".sources.partial"
# Bytes of a member before its name.
_HEADER = 30
# A zip that is no capture: absent, unreadable, cut off, encrypted, or of an unknown compression.
_UNREAD = (*trouble.ARCHIVE, KeyError, TypeError)
# Limits against zip bombs. The capture of a site with 100 hosts and 1,000 VMs has 150 MB.
MOST_BYTES, MOST_FILES = 4 * 1024**3, 500_000
# Members of a zip get this time, so that equal captures are equal files.
_EPOCH = (1980, 1, 1, 0, 0, 0)


def origin(vcenter: VCenter) -> str:
    """What a run must have in common with the run that it continues. An ESXi host has no identity of a vCenter."""
    return str(vcenter.content.about.instanceUuid or vcenter.name)


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
            self.table = Table.of_data(names_of(self.secret)) if os.path.exists(self.secret) else Table()
            state = os.path.join(self.path, STATE)
            if os.path.exists(state):
                found = load(state)
                if found["mode"] != mode:
                    raise self._refused(
                        "An unfinished capture of another vCenter or with other options is there.",
                        f"Remove the folder {self.path}, or use the options of the earlier run",
                    )
                self.coverage, self.counts = found["coverage"], found["counts"]
        except (OSError, ValueError, KeyError) as error:
            raise trouble.unwritten(self.dest, error) from error
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
            # A killed run leaves drafts, whose names begin with a dot.
            if name != STATE and not name.startswith(".")
        )
        texts = {name: _bytes(os.path.join(self.path, *name.split("/"))) for name in files}
        found = check.check(texts, self.table, not manifest.get("anonymised", True))
        pack(self.dest, dict(manifest, coverage=self.coverage, check=found), texts)
        # Sources of an earlier capture that a killed run left.
        shutil.rmtree(f"{self.dest}{PARTS}", ignore_errors=True)
        shutil.rmtree(self.path)
        return found

    def _refused(self, found: str, todo: str) -> OperatorError:
        return OperatorError(self.dest, "cannot write the capture", found, todo, "capture_not_written")


def pack(dest: str, manifest: dict[str, Any], texts: dict[str, bytes]) -> None:
    """Write the zip in one step."""
    sums = {name: hashlib.sha256(text).hexdigest() for name, text in texts.items()}
    whole = dict(manifest, format=FORMAT, files=sums)
    members = dict(texts, **{MANIFEST: json.dumps(whole, indent=1, sort_keys=True).encode("utf-8")})
    with _draft(dest) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        for name in sorted(members):
            made.writestr(zipfile.ZipInfo(name, _EPOCH), members[name], zipfile.ZIP_DEFLATED)


def index(path: str) -> dict[str, Any]:
    """The manifest of a capture. The content of its files is not verified."""
    try:
        with zipfile.ZipFile(path) as found:
            _bounded(path, found)
            manifest = json.loads(found.read(MANIFEST))
            names = set(found.namelist()) - {MANIFEST}
        known, listed = manifest["format"] == FORMAT, set(manifest["files"])
    except _UNREAD as error:
        raise trouble.unread(path, error) from error
    if not known:
        raise trouble.unknown_format(path, manifest["format"], FORMAT)
    if names != listed:
        raise trouble.damaged(path, "Its files differ from those in its manifest.")
    return dict(manifest)


def update(dest: str, manifest: dict[str, Any], kept: Iterable[str], texts: dict[str, bytes]) -> None:
    """Write the zip in one step, with members of the earlier one as they are: compressed, and with their checksums."""
    sums = {name: manifest["files"][name] for name in kept if name not in texts}
    sums.update({name: hashlib.sha256(text).hexdigest() for name, text in texts.items()})
    whole = dict(manifest, format=FORMAT, files=sums)
    members = dict(texts, **{MANIFEST: json.dumps(whole, indent=1, sort_keys=True).encode("utf-8")})
    with contextlib.ExitStack() as stack:
        made = stack.enter_context(zipfile.ZipFile(stack.enter_context(_draft(dest)), "w", zipfile.ZIP_DEFLATED))
        earlier = stack.enter_context(zipfile.ZipFile(dest)) if os.path.exists(dest) else None
        for name in sorted({*sums, MANIFEST}):
            if name in members:
                made.writestr(zipfile.ZipInfo(name, _EPOCH), members[name], zipfile.ZIP_DEFLATED)
            elif earlier is not None:
                _copy(earlier, made, name)


def _copy(earlier: zipfile.ZipFile, made: zipfile.ZipFile, name: str) -> None:
    """One member without unpacking it."""
    found = earlier.getinfo(name)
    source, target = cast("IO[bytes]", earlier.fp), cast("IO[bytes]", made.fp)
    source.seek(found.header_offset)
    lengths = struct.unpack("<HH", source.read(_HEADER)[-4:])
    source.seek(sum(lengths), os.SEEK_CUR)
    data = source.read(found.compress_size)
    if len(data) != found.compress_size:
        raise ValueError(f"{name} is incomplete")
    own = zipfile.ZipInfo(name, _EPOCH)
    own.compress_type, own.CRC, own.external_attr = found.compress_type, found.CRC, 0o600 << 16
    own.compress_size, own.file_size = found.compress_size, found.file_size
    target.seek(made.start_dir)
    own.header_offset = target.tell()
    target.write(own.FileHeader(False) + data)
    made.filelist.append(own)
    made.NameToInfo[name] = own
    made.start_dir = target.tell()


@contextlib.contextmanager
def _draft(dest: str) -> Iterator[IO[bytes]]:
    """A new file that replaces dest when it is complete; a failure leaves nothing."""
    handle, draft = tempfile.mkstemp(dir=os.path.dirname(os.path.abspath(dest)), prefix=".capture-")
    try:
        with os.fdopen(handle, "w+b") as file:
            yield file
        os.replace(draft, dest)
    except BaseException:
        with contextlib.suppress(OSError):
            os.remove(draft)
        raise


def _bounded(path: str, found: zipfile.ZipFile) -> None:
    """Reject an archive that unpacks to more than a capture has. zipfile reads no more than the declared size."""
    rows = found.infolist()
    size = sum(one.file_size for one in rows)
    if size > MOST_BYTES or len(rows) > MOST_FILES:
        raise trouble.damaged(
            path, f"It has {len(rows)} files with {size} bytes. The limit is {MOST_FILES} files and {MOST_BYTES} bytes."
        )


def _is_coverage(found: Any) -> bool:
    return isinstance(found, dict) and all(
        isinstance(one, dict) and "answered" in one and isinstance(one.get("refused"), dict) for one in found.values()
    )


class Capture:
    """A finished capture: its manifest, and its files by name. Content that the manifest does not list is rejected."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            with zipfile.ZipFile(path) as found:
                _bounded(path, found)
                self.files = {name: found.read(name) for name in found.namelist()}
            self.manifest = json.loads(self.files.pop(MANIFEST))
            known = self.manifest["format"] == FORMAT
            sums = {name: hashlib.sha256(text).hexdigest() for name, text in self.files.items()}
        except _UNREAD as error:
            raise trouble.unread(path, error) from error
        if not known:
            raise trouble.unknown_format(path, self.manifest["format"], FORMAT)
        if sums != self.manifest["files"]:
            raise trouble.damaged(path, "Its files differ from the checksums in its manifest.")
        if not _is_coverage(self.manifest.get("coverage")):
            raise trouble.damaged(path, "Its manifest has no coverage in the form of a capture.")

    def is_read(self, name: str) -> bool:
        """Whether a source answered. Everything else about it is unknown, and never a default."""
        return bool((self.manifest["coverage"].get(name) or {}).get("answered"))


def load(path: str) -> Any:
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def names_of(path: str) -> Any:
    """The table of pseudonyms in a file."""
    try:
        found = load(path)
        _names = found["names"], found["known"], found["salt"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise trouble.unread(path, error, trouble.TABLE) from error
    return found


def _bytes(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def write(path: str, text: str) -> None:
    """Write a whole file that only its owner can read."""
    with _draft(path) as file:
        file.write(text.encode("utf-8"))
