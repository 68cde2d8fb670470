"""The files of a capture: a zip or folder of the collection, or a folder of `govc object.save`."""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from pathlib import Path

from ..model.seed_file import SeedError
from . import references, unread
from .values import CapturedObject

FORMAT = 1
# More than this is no capture: a site with 100 hosts and 1,000 VMs has 150 MB. Guards memory against zip bombs.
MOST_BYTES, MOST_FILES = 4 * 1024**3, 500_000
MANIFEST = "manifest.json"


class Bundle:
    """A capture: its manifest, its files by name, and its objects by moid."""

    def __init__(self, path):
        self.path = Path(path)
        self.unread = {}  # files that are left out, with the reason
        self.files = self._files()
        self.manifest = self._manifest()
        self.objects: dict[str, CapturedObject] = {}
        self._methods: dict[str, dict[str, str]] = {}
        for name in sorted(self.files):
            folder, _slash, file = name.rpartition("/")
            if file.endswith(".xml"):
                self._file(name, folder, file)
        # The file of a Datacenter that the capture lacks; its name and its folders are assumed.
        self.assumed = None if self.of_kind("Datacenter") else references.datacenter(self)
        if self.assumed is not None:
            one = CapturedObject.read(self.assumed)
            self.objects[one.moid] = one
        elif not self.of_kind("Datacenter"):
            raise SeedError([f"{path}: this is no capture of a vCenter. It has no file of a Datacenter or a host."])

    def of_kind(self, *kinds):
        return [one for one in self.objects.values() if one.kind in kinds]

    def get(self, moid):
        return self.objects.get(moid)

    def answer(self, moid, method):
        """The file of the answer of a method, or None."""
        return self._methods.get(moid, {}).get(method)

    def data(self, name):
        """A JSON file, or None if the capture has none of this name."""
        try:
            return json.loads(self.files[name]) if name in self.files else None
        except (ValueError, RecursionError) as problem:
            self.unread[name] = f"it is no JSON: {problem}"
            return None

    def table(self, name):
        """A JSON file with an object; an empty one if there is none."""
        found = self.data(name)
        return found if isinstance(found, dict) else {}

    def rest(self, path):
        """The answers for each item of a list over REST; numbered() has their numbers."""
        return list(self.numbered(path).values())

    def lists(self, path):
        """The answers over REST that are lists, each of a part of all items."""
        return [one for one in self._numbered(path).values() if isinstance(one, list)]

    def numbered(self, path):
        """The answers for each item of a list over REST, by the path of the item."""
        return {name: one for name, one in self._numbered(path).items() if isinstance(one, dict)}

    def _numbered(self, path):
        form = re.compile(rf"rest/api/({re.escape(path)}/\d+)\.json")
        return {match[1]: self.data(match[0]) for match in map(form.fullmatch, sorted(self.files)) if match}

    def listing(self, name):
        """A commands.json: its `commands` are those that have an output."""
        listed = self.table(name)
        rows = listed.get("commands")
        rows = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
        return {**listed, "commands": [row for row in rows if row.get("command") and row.get("file")]}

    def refused(self, moid):
        """The properties of an object that its user could not read, with the fault of each."""
        kind = self.objects[moid].kind
        rows = self.manifest.get("coverage")
        row = rows.get(f"{kind}-{moid}") if isinstance(rows, dict) else None
        found = row.get("refused") if isinstance(row, dict) else None
        return found if isinstance(found, dict) else {}

    @property
    def time(self):
        """When the capture was read: the latest time in its coverage."""
        rows = self.manifest.get("coverage")
        found = [one.get("time") for one in rows.values() if isinstance(one, dict)] if isinstance(rows, dict) else []
        return max((one for one in found if isinstance(one, str)), default="") or "an unknown time"

    def _file(self, name, folder, file):
        if "-" in folder.rpartition("/")[2]:
            owner = folder.rpartition("/")[2].partition("-")[2]
            self._methods.setdefault(owner, {})[file[: -len(".xml")]] = self.files[name]
        elif re.match(r"\d+-\w+-", file):
            try:
                one = CapturedObject.read(self.files[name])
            except ValueError as problem:
                self.unread[name] = str(problem)
            else:
                # Also two folders of two vCenters: their identifiers can be equal.
                if one.moid in self.objects:
                    self.unread[name] = f"another file has the same {one.kind}: the folder has two saves"
                self.objects.setdefault(one.moid, one)

    def _manifest(self):
        if MANIFEST not in self.files:
            return {}
        manifest = self.table(MANIFEST)
        if manifest.get("format") != FORMAT:
            raise SeedError([unread.other_format(self.path, manifest.get("format"), FORMAT)])
        sums = manifest.get("files")
        for name, digest in sums.items() if isinstance(sums, dict) else ():
            if name not in self.files or hashlib.sha256(self.files[name].encode("utf-8")).hexdigest() != digest:
                raise SeedError([unread.changed(self.path, name)])
        return manifest

    def _files(self):
        """The texts of all files by name. The names are keys: no file is written."""
        try:
            found = contents(self.path)
        except SeedError:
            raise
        except unread.ERRORS as problem:
            raise SeedError([unread.why(self.path, problem)]) from problem
        texts = {}
        for name, content in found.items():
            try:
                texts[name.replace("\\", "/")] = content.decode("utf-8-sig")
            except UnicodeDecodeError as problem:
                self.unread[name] = f"it is no UTF-8: {problem.reason}"
        return texts


def contents(path):
    """The bytes of all files of a folder or a zip by name, within the bounds of a capture."""
    return _folder(path) if path.is_dir() else _zip(path)


def _folder(path):
    # Links are not followed: a link in a folder of another person can name any file of this machine.
    found = [one for one in path.rglob("*") if one.is_file() and not one.is_symlink()]
    _bounded(path, len(found), sum(one.stat().st_size for one in found))
    return {str(one.relative_to(path)): one.read_bytes() for one in found}


def _zip(path):
    with zipfile.ZipFile(path) as archive:
        rows = [one for one in archive.infolist() if not one.is_dir()]
        _bounded(path, len(rows), sum(one.file_size for one in rows))
        # zipfile does not read more of a file than the size that it declares.
        return {one.filename: archive.read(one) for one in rows}


def _bounded(path, number, size):
    if size > MOST_BYTES or number > MOST_FILES:
        limit = f"{MOST_FILES} files and {MOST_BYTES} bytes"
        raise SeedError([f"{path}: it has {number} files with {size} bytes. The limit is {limit}."])
