"""Files on datastores: uploads of clients, which installers read. Files of VMs are not included."""

from __future__ import annotations

import datetime
import posixpath
from dataclasses import dataclass

from pyVmomi import vim

from . import depot, packages
from . import vib as vibs
from .seed_file import SeedError

VOLUMES = "/vmfs/volumes/"


@dataclass
class StoredFile:
    """The content of a file, and when it was written."""

    data: bytes
    modified: datetime.datetime

    @property
    def size(self):
        return len(self.data)


class Files:
    """The tree of files on one datastore; paths are relative to its root."""

    def __init__(self):
        self._files: dict[str, StoredFile] = {}
        self._folders: set[str] = set()
        self.reserved = 0  # bytes of running uploads

    @property
    def used(self):
        return self.reserved + sum(file.size for file in self._files.values())

    def get(self, path):
        """The file at a path, or None."""
        return self._files.get(clean(path))

    def is_folder(self, path):
        """Return whether there is a folder; the root always is one."""
        return clean(path) in self._folders or clean(path) == ""

    def paths(self, folder="", deep=False):
        """The paths of the files in a folder, and of its folders when not deep."""
        start = f"{clean(folder)}/" if clean(folder) else ""
        below = [path for path in (*self._folders, *self._files) if path.startswith(start)]
        return sorted(path for path in below if deep or "/" not in path[len(start) :])

    def put(self, path, data):
        """Write a file, with the folders above it."""
        name = clean(path)
        self.make_folder(posixpath.dirname(name), parents=True)
        self._files[name] = StoredFile(bytes(data), datetime.datetime.now(datetime.timezone.utc))

    def make_folder(self, path, parents=False):
        """Create a folder, on request with its parents."""
        name = clean(path)
        above = posixpath.dirname(name)
        if not name:
            return
        if not parents and (name in self._folders or name in self._files):
            raise already_exists(name)
        if not parents and not self.is_folder(above):
            raise not_found(above)
        while name and name not in self._folders:
            self._folders.add(name)
            name = posixpath.dirname(name)

    def remove(self, path):
        """Delete a file, or a folder with its content."""
        name = clean(path)
        doomed = [one for one in (*self._files, *self._folders) if one == name or one.startswith(f"{name}/")]
        if not name or not doomed:
            raise not_found(path)
        for one in doomed:
            self._files.pop(one, None)
            self._folders.discard(one)


def furnish(world, store, entry):
    """The files that a seed puts on a datastore."""
    for one in entry.get("files", []):
        store.files.put(*_seeded(world, one))


def clean(path):
    """A path without slashes at its ends and without detours."""
    return posixpath.normpath(f"/{path}").strip("/")


def locate(host, path):
    """The datastore and the path on it that an absolute path of the host's shell means, or (None, "")."""
    if not path.startswith(VOLUMES):
        return None, ""
    volume, _slash, rest = path[len(VOLUMES) :].partition("/")
    for store in host.datastores.values():
        if volume in (store.name, store.uuid) and store.accessible:
            return store, clean(rest)
    return None, ""


def read(host, path):
    """The bytes at an absolute path of the host's shell, or None."""
    store, name = locate(host, path)
    file = store.files.get(name) if store is not None else None
    return None if file is None else file.data


def move(world, source, source_path, target, target_path, force=False, keep=False):
    """Move or copy a file, or a folder with its content, within a datastore or to another one."""
    inside = source is target and f"{target_path}/".startswith(f"{source_path}/")
    if inside or not force and (target.files.get(target_path) is not None or target.files.is_folder(target_path)):
        raise already_exists(f"[{target.name}] {target_path}")  # that a folder in itself gets this fault is [unsure]
    for path in (source_path, *source.files.paths(source_path, deep=True)):
        file, place = source.files.get(path), target_path + path[len(source_path) :]
        if file is None:
            target.files.make_folder(place, parents=True)
        else:
            target.files.put(place, file.data)
    if not keep:
        source.files.remove(source_path)
    world.touch(source, target)


def growth(source, source_path, target, target_path):
    """The bytes that a copy of a file or a folder adds to the target, whose files it replaces."""
    grown = 0
    for path in (source_path, *source.files.paths(source_path, deep=True)):
        file, old = source.files.get(path), target.files.get(target_path + path[len(source_path) :])
        grown += file.size - (old.size if old is not None else 0) if file is not None else 0
    return grown


def not_found(path):
    """The fault for a file that is not there."""
    return vim.fault.FileNotFound(msg=f"File {path} was not found", file=str(path))


def already_exists(path):
    """Return the fault for an existing file at the target."""
    return vim.fault.FileAlreadyExists(
        msg=f"Cannot complete the operation because the file or folder {path} already exists", file=str(path)
    )


def _seeded(world, one):
    if "path" not in one and "depot" not in one:
        raise SeedError([f"A file of a datastore needs a path: {one}."])
    if "depot" in one:
        usual = {"family": "nvaie", "version": world.release.driver, "release": world.release.packages}
        wanted = {**usual, **one["depot"]}
        path = one.get("path") or f"depots/{depot.file_name(**wanted)}"
        return path, depot.build(**wanted)
    if "package" in one:
        contents, components = packages.named(one["package"])
        if one["path"].endswith(".vib"):
            return one["path"], vibs.write(contents[0])
        return one["path"], depot.write(contents, components)
    return one["path"], one.get("text", "").encode()
