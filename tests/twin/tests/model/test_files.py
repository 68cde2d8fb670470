"""Files on datastores: the tree, the space that they take, and where a host finds them."""

from __future__ import annotations

import pytest
from pyVmomi import vim

from vsphere_twin.model import depot, files


@pytest.fixture
def store(lab):
    made = lab()
    (found,) = made.world.of_kind("Datastore")
    found.world = made.world
    return found


def test_files_take_space_and_give_it_back(store):
    free = store.free
    store.files.put("isos/a.iso", b"x" * 1000)
    assert store.free == free - 1000
    store.files.remove("isos/a.iso")
    assert store.free == free


def test_a_folder_needs_the_one_above_it(store):
    with pytest.raises(vim.fault.FileNotFound):
        store.files.make_folder("a/b")
    store.files.make_folder("a/b", parents=True)
    with pytest.raises(vim.fault.FileAlreadyExists):
        store.files.make_folder("a/b")
    assert store.files.paths("a") == ["a/b"]


def test_a_folder_goes_with_what_is_in_it_and_nothing_else(store):
    for path in ("a/b/one", "a/two", "ab"):
        store.files.put(path, b"")
    store.files.remove("a/b")
    assert store.files.paths(deep=True) == ["a", "a/two", "ab"]
    with pytest.raises(vim.fault.FileNotFound):
        store.files.remove("")


def test_moving_does_not_overwrite_unless_forced(store):
    store.files.put("new", b"new")
    store.files.put("old", b"old")
    with pytest.raises(vim.fault.FileAlreadyExists):
        files.move(store.world, store, "new", store, "old")
    files.move(store.world, store, "new", store, "old", force=True)
    assert (store.files.get("old").data, store.files.get("new")) == (b"new", None)


@pytest.mark.parametrize("path", ["/vmfs/volumes/disk/a", "/vmfs/volumes/{uuid}//a", "/vmfs/volumes/disk/b/../a"])
def test_a_host_finds_a_file_by_the_name_or_the_uuid_of_its_volume(store, path):
    store.files.put("a", b"found")
    host = next(iter(store.hosts.values()))
    assert files.read(host, path.format(uuid=store.uuid)) == b"found"
    store.accessible = False
    assert files.read(host, path.format(uuid=store.uuid)) is None


def test_a_seed_puts_depots_packages_and_texts_on_a_datastore(store):
    entry = {
        "files": [
            {"depot": {"version": "550.90.05"}},
            {"path": "t/x.vib", "package": "nmst"},
            {"path": "n", "text": "hi"},
        ]
    }
    files.furnish(store.world, store, entry)
    assert depot.read(store.files.get(f"depots/{depot.file_name(version='550.90.05')}").data).components
    assert store.files.get("t/x.vib").data.startswith(b"!<arch>")
    assert store.files.get("n").data == b"hi"
