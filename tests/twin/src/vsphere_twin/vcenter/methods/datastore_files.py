"""FileManager: folders, and moving, copying and deleting files by their datastore paths."""

from __future__ import annotations

import posixpath
import re

from pyVmomi import vim, vmodl

from vsphere_twin.model import disk_files, files, inventory

from ..registry import method
from .tasking import begin, resolved

KIND = "FileManager"
_PATH = re.compile(r"\[(?P<store>[^\]]+)\]\s*(?P<path>.*)\Z", re.DOTALL)


@method(KIND, "MakeDirectory")
def make_directory(call, this, name, datacenter=None, createParentDirectories=None):
    store, path = located(call, name, datacenter)
    # An existing folder is a fault, also with the creation of parents.
    if store.files.is_folder(path) or store.files.get(path) is not None:
        raise files.already_exists(name)
    above = posixpath.dirname(path)
    if not createParentDirectories and not store.files.is_folder(above):
        raise files.not_found(f"[{store.name}] {above}")
    store.files.make_folder(path, parents=True)
    call.world.touch(store)


@method(KIND, "MoveDatastoreFile_Task")
def move(
    call,
    this,
    sourceName,
    destinationName,
    sourceDatacenter=None,
    destinationDatacenter=None,
    force=None,
    fileType=None,
):
    places = (sourceName, sourceDatacenter, destinationName, destinationDatacenter)
    return _transfer(call, "MoveDatastoreFile_Task", *places, force)


@method(KIND, "CopyDatastoreFile_Task")
def copy(
    call,
    this,
    sourceName,
    destinationName,
    sourceDatacenter=None,
    destinationDatacenter=None,
    force=None,
    fileType=None,
):
    places = (sourceName, sourceDatacenter, destinationName, destinationDatacenter)
    return _transfer(call, "CopyDatastoreFile_Task", *places, force, keep=True)


def _transfer(call, method_name, name, center, to_name, to_center, force, keep=False):
    source, path = located(call, name, center)
    target, to_path = located(call, to_name, to_center or center)

    def work():
        found = [one for one in disk_files.entries(call.world, source) if f"{one}/".startswith(f"{path}/")]
        if not path or not found:
            raise files.not_found(name)
        if set(found) - set(source.files.paths(deep=True)):
            raise vmodl.fault.NotSupported(msg=f"The twin neither moves nor copies files of VMs, such as {name}.")
        if keep or source is not target:
            target.require_room(files.growth(source, path, target, to_path))
        files.move(call.world, source, path, target, to_path, bool(force), keep)

    return begin(call, method_name, source, work, exclusive=False)


@method(KIND, "DeleteDatastoreFile_Task")
def delete(call, this, name, datacenter=None, fileType=None):
    store, path = located(call, name, datacenter)

    def work():
        if disk_files.in_use(call.world, store, path):
            raise vim.fault.FileLocked(msg=f"Unable to access file {name} since it is locked", file=name)
        left = disk_files.remove(call.world, store, path)
        stored = store.files.get(path) is not None or store.files.is_folder(path)
        if not left and not stored:
            raise files.not_found(name)
        if stored:
            store.files.remove(path)
        call.world.touch(store)

    return begin(call, "DeleteDatastoreFile_Task", store, work, exclusive=False)


def located(call, name, datacenter):
    """The datastore and the path that [datastore] path means in a datacenter, for a user who may change its files."""
    center, found = resolved(call, datacenter), _PATH.match(name)
    if found is None:
        raise vim.fault.InvalidDatastorePath(msg=f"Invalid datastore path '{name}'.", datastorePath=name)
    if center is None:
        raise vmodl.fault.InvalidArgument(
            msg="A specified parameter was not correct: datacenter", invalidProperty="datacenter"
        )
    for store in call.world.of_kind("Datastore"):
        if store.name == found["store"] and inventory.datacenter_of(store) is center:
            call.require_privilege("Datastore.FileManagement", store)
            return store, files.clean(found["path"])
    raise vim.fault.InvalidDatastore(msg=f"Invalid datastore '{found['store']}'.", name=found["store"])
