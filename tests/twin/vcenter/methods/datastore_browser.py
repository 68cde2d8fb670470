"""What lies on a datastore, as its browser finds it."""

from __future__ import annotations

import fnmatch
import posixpath

from pyVmomi import vim

from twin.model import files

from .. import types
from ..projections.shape import make
from ..registry import method
from .tasking import begin

BROWSER = vim.host.DatastoreBrowser


@method("HostDatastoreBrowser", "SearchDatastore_Task")
def search_datastore(call, this, datastorePath, searchSpec=None):
    def work():
        store, folder = _located(this, datastorePath)
        found = _results(call.world, store, folder, searchSpec)
        if not found.file and not store.files.is_folder(folder) and not _homes(call.world, store, folder):
            raise vim.fault.FileNotFound(msg=f"File {datastorePath} was not found", file=datastorePath)
        return found

    return begin(call, "SearchDatastore_Task", this.host, work, exclusive=False)


@method("HostDatastoreBrowser", "SearchDatastoreSubFolders_Task")
def search_sub_folders(call, this, datastorePath, searchSpec=None):
    def work():
        store, start = _located(this, datastorePath)
        if not store.files.is_folder(start) and not _homes(call.world, store, start):
            raise vim.fault.FileNotFound(msg=f"File {datastorePath} was not found", file=datastorePath)
        below = [path for path in store.files.paths(start, deep=True) if store.files.is_folder(path)]
        folders = dict.fromkeys([start, *below, *_homes(call.world, store, start)])
        return BROWSER.SearchResults.Array([_results(call.world, store, folder, searchSpec) for folder in folders])

    return begin(call, "SearchDatastoreSubFolders_Task", this.host, work, exclusive=False)


def _located(browser, path):
    for store in browser.host.datastores.values():
        if path.startswith(f"[{store.name}]"):
            return store, files.clean(path[len(store.name) + 2 :].strip())
    raise vim.fault.InvalidDatastore(msg=f"Invalid datastore path '{path}'.", name=path)


def _results(world, store, folder, spec):
    wanted = [str(one) for one in (spec.matchPattern or [])] if spec is not None else []
    rows = [*_stored(store, folder), *_of_vms(world, store, folder)]
    return make(
        BROWSER.SearchResults,
        datastore=types.reference(store),
        folderPath=f"[{store.name}] {folder}/" if folder else f"[{store.name}]",
        file=[row for row in rows if not wanted or any(fnmatch.fnmatchcase(row.path, one) for one in wanted)],
    )


def _stored(store, folder):
    for path in store.files.paths(folder):
        file, name = store.files.get(path), posixpath.basename(path)
        if file is None:
            yield BROWSER.FolderInfo(path=name)
        else:
            yield BROWSER.FileInfo(path=name, fileSize=file.size, modification=file.modified)


def _of_vms(world, store, folder):
    """The files of the VMs whose home is this folder."""
    start = f"[{store.name}] {folder}"
    for vm in world.of_kind("VirtualMachine"):
        for name in (vm.home, *(disk.backing.fileName for disk in vm.disks)):
            if name.rpartition("/")[0] == start:
                yield BROWSER.FileInfo(path=name.rpartition("/")[2])


def _homes(world, store, start):
    """The home folders of VMs at or below a folder."""
    homes = {vm.home.rpartition("/")[0] for vm in world.of_kind("VirtualMachine")}
    paths = [home.partition("] ")[2] for home in homes if home.startswith(f"[{store.name}] ")]
    return [path for path in sorted(paths) if not start or path == start or path.startswith(f"{start}/")]
