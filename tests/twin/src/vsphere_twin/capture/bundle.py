"""The files of a capture: a zip or folder of the collection, or a folder of `govc object.save`."""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from pathlib import Path

from ..model.seed_file import SeedError
from .values import CapturedObject

FORMAT = 1
MANIFEST = "manifest.json"


class Bundle:
    """A capture: its manifest, its files by name, and its objects by moid."""

    def __init__(self, path):
        self.path = Path(path)
        self.files = _files(self.path)
        self.manifest = self._manifest()
        self.objects: dict[str, CapturedObject] = {}
        self._methods: dict[str, dict[str, str]] = {}
        for name in sorted(self.files):
            folder, _slash, file = name.rpartition("/")
            if file.endswith(".xml"):
                self._file(name, folder, file)
        if not self.of_kind("Datacenter"):
            raise SeedError([f"{path}: this is no capture of a vCenter. It has no file of a Datacenter."])

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
        except ValueError as problem:
            raise SeedError([f"{self.path}: {name} cannot be read. It is no JSON: {problem}."]) from problem

    def listing(self, name):
        """A commands.json: its `commands` are those that have an output."""
        listed = self.data(name)
        listed = listed if isinstance(listed, dict) else {}
        rows = listed.get("commands")
        rows = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
        return {**listed, "commands": [row for row in rows if row.get("command") and row.get("file")]}

    def refused(self, moid):
        """The properties of an object that its user could not read, with the fault of each."""
        kind = self.objects[moid].kind
        return self.manifest.get("coverage", {}).get(f"{kind}-{moid}", {}).get("refused", {})

    @property
    def time(self):
        """When the capture was read: the latest time in its coverage."""
        times = [one.get("time", "") for one in self.manifest.get("coverage", {}).values()]
        return max(times, default="") or "an unknown time"

    def _file(self, name, folder, file):
        if "-" in folder.rpartition("/")[2]:
            owner = folder.rpartition("/")[2].partition("-")[2]
            self._methods.setdefault(owner, {})[file[: -len(".xml")]] = self.files[name]
        elif re.match(r"\d+-\w+-", file):
            try:
                one = CapturedObject.read(self.files[name])
            except ValueError as problem:
                raise SeedError([f"{self.path}: {name} cannot be read: {problem}."]) from problem
            self.objects[one.moid] = one

    def _manifest(self):
        if MANIFEST not in self.files:
            return {}
        manifest = json.loads(self.files[MANIFEST])
        if manifest.get("format") != FORMAT:
            raise SeedError(
                [f"{self.path}: the capture has format {manifest.get('format')}; this twin reads {FORMAT}."]
            )
        for name, digest in manifest.get("files", {}).items():
            if name not in self.files or hashlib.sha256(self.files[name].encode("utf-8")).hexdigest() != digest:
                raise SeedError([f"{self.path}: {name} differs from the checksum in the manifest."])
        return manifest


def _files(path):
    try:
        if path.is_dir():
            found = {str(one.relative_to(path)): one.read_bytes() for one in path.rglob("*") if one.is_file()}
        else:
            with zipfile.ZipFile(path) as archive:
                found = {name: archive.read(name) for name in archive.namelist()}
        return {name.replace("\\", "/"): text.decode("utf-8") for name, text in found.items()}
    except (OSError, zipfile.BadZipFile, UnicodeDecodeError) as problem:
        raise SeedError([f"{path}: the capture cannot be read: {problem}."]) from problem
