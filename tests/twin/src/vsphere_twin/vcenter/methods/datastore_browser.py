"""Files on a datastore, as its browser finds them."""

from __future__ import annotations

import datetime
import fnmatch

from pyVmomi import vim

from vsphere_twin.model import disk_files, files

from .. import types
from ..projections.shape import make
from ..registry import method
from .tasking import begin

BROWSER = vim.host.DatastoreBrowser
LONG_AGO = datetime.datetime(2024, 6, 25, 12, tzinfo=datetime.timezone.utc)  # for folders without a creation time


# Type of the entry that a query requests, and the twin's name of such a file.
QUERIES = (
    (BROWSER.FolderQuery, ("folder",)),
    (BROWSER.VmDiskQuery, ("disk",)),
    (BROWSER.VmConfigQuery, ("config",)),
    (BROWSER.VmNvramQuery, ("nvram",)),
    (BROWSER.VmLogQuery, ("log",)),
    (BROWSER.IsoImageQuery, (".iso",)),
    (BROWSER.FloppyImageQuery, (".flp",)),
)
SHOWN_AS = {
    "folder": BROWSER.FolderInfo,
    "disk": BROWSER.VmDiskInfo,
    "config": BROWSER.VmConfigInfo,
    "nvram": BROWSER.VmNvramInfo,
    "log": BROWSER.VmLogInfo,
    ".iso": BROWSER.IsoImageInfo,
    ".flp": BROWSER.FloppyImageInfo,
}


@method("HostDatastoreBrowser", "SearchDatastore_Task")
def search_datastore(call, this, datastorePath, searchSpec=None):
    def work():
        store, folder = _located(this, datastorePath)
        entries = _entries(call.world, store, folder, datastorePath)
        return _results(store, entries, folder, searchSpec)

    return begin(call, "SearchDatastore_Task", this.host, work, exclusive=False)


@method("HostDatastoreBrowser", "SearchDatastoreSubFolders_Task")
def search_sub_folders(call, this, datastorePath, searchSpec=None):
    def work():
        store, start = _located(this, datastorePath)
        entries = _entries(call.world, store, start, datastorePath)
        below = f"{start}/" if start else ""
        folders = [path for path, one in entries.items() if one.kind == "folder" and path.startswith(below)]
        found = [_results(store, entries, folder, searchSpec) for folder in (start, *sorted(folders))]
        return BROWSER.SearchResults.Array(found)

    return begin(call, "SearchDatastoreSubFolders_Task", this.host, work, exclusive=False)


def _located(browser, path):
    for store in browser.host.datastores.values():
        if path.startswith(f"[{store.name}]"):
            return store, files.clean(path[len(store.name) + 2 :].strip())
    raise vim.fault.InvalidDatastore(msg=f"Invalid datastore path '{path}'.", name=path)


def _entries(world, store, folder, asked):
    entries = disk_files.entries(world, store)
    if folder and (folder not in entries or entries[folder].kind != "folder"):
        raise vim.fault.FileNotFound(msg=f"File {asked} was not found", file=asked)
    return entries


def _results(store, entries, folder, spec):
    patterns = [str(one) for one in spec.matchPattern or []] if spec is not None else []
    queries = list(spec.query or []) if spec is not None else []
    rows = []
    for path in sorted(entries):
        directory, _slash, name = path.rpartition("/")
        fits = not patterns or any(_fits(name, one, spec) for one in patterns)
        if directory == folder and fits and (not queries or any(_matches(entries[path], one) for one in queries)):
            rows.append(_row(name, entries[path], spec, queries))
    if spec is not None and spec.sortFoldersFirst:
        rows.sort(key=lambda row: not isinstance(row, BROWSER.FolderInfo))
    return make(
        BROWSER.SearchResults,
        datastore=types.reference(store),
        folderPath=f"[{store.name}] {folder}/" if folder else f"[{store.name}]",
        file=rows,
    )


def _fits(name, pattern, spec):
    if spec.searchCaseInsensitive or spec.searchCaseInsensitive is None:
        return fnmatch.fnmatchcase(name.casefold(), pattern.casefold())
    return fnmatch.fnmatchcase(name, pattern)


def _matches(entry, query):
    asked = [kinds for kind, kinds in QUERIES if isinstance(query, kind)]
    # A query of the base type asks for every file.
    return not asked or any(_kind(entry) in kinds for kinds in asked)


def _kind(entry):
    suffix = entry.path[-4:].lower()
    return suffix if entry.kind == "file" and suffix in SHOWN_AS else entry.kind


def _row(name, entry, spec, queries):
    """Return the data of an entry, with the details that the request asks for; all of it without details."""
    details = spec.details if spec is not None else None
    typed = details is None or details.fileType or queries
    kind = SHOWN_AS.get(_kind(entry), BROWSER.FileInfo) if typed else BROWSER.FileInfo
    row = kind(path=name)
    if details is None or details.fileSize:
        row.fileSize = entry.size
    if details is None or details.modification:
        row.modification = entry.modified or LONG_AGO
    if details is not None and details.fileOwner:
        row.owner = "root"
    if kind is BROWSER.VmDiskInfo and typed and entry.disk is not None:
        row.capacityKb = entry.disk.capacityInKB
        row.thin = bool(entry.disk.backing.thinProvisioned)
        row.diskType = vim.vm.device.VirtualDisk.FlatVer2BackingInfo
    return row
