"""Items of content libraries in a capture become items of the twin."""

from __future__ import annotations

import json

import pytest

from twin_labs.saved import save
from vsphere_twin.capture import seed as captures
from vsphere_twin.model import seed as seeds

LIBRARY = {
    "id": "library-1",
    "name": "images",
    "type": "SUBSCRIBED",
    "storage_backings": [{"type": "DATASTORE", "datastore_id": "datastore-101"}],
}
FILES = [{"name": "golden.vmtx", "size": 4096, "cached": True, "version": "1", "checksum_info": {"checksum": "x"}}]


def item(**more):
    return {"id": "item-1", "name": "golden", "type": "vm-template", "size": 99, "description": "", **more}


def load(folder, *items, listed=None, template=None, files=FILES):
    """The seed of a saved world with a library of these items."""
    save(seeds.load("small"), folder)
    place = folder / "rest/api/content/library"
    written = {"001.json": LIBRARY, "001/item.json": [one["id"] for one in items] if listed is None else listed}
    for number, one in enumerate(items, 1):
        written[f"001/item/{number:03}.json"] = one
        written[f"001/item/{number:03}/file.json"] = files
        if template:
            written[f"001/item/{number:03}/template.json"] = {"vm_template": template}
    for name, data in written.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(json.dumps(data))
    return captures.of(folder)


def assumed(seed):
    return {(row["object"], row["fact"], str(row["value"])) for row in seed["assumptions"] if "librar" in row["object"]}


def template_of(world):
    return next(vm for vm in world.of_kind("VirtualMachine") if vm.template)


def test_an_item_of_a_template_has_its_template_size_and_files(tmp_path):
    moid = template_of(seeds.load("small")).moid
    seed = load(tmp_path, item(), template=moid)
    assert assumed(seed) == set()
    world = seeds.from_data(seed)
    (library,) = world.libraries.known.values()
    (found,) = library.items.values()
    assert (library.kind, library.name, found.id, found.name) == ("SUBSCRIBED", "images", "item-1", "golden")
    assert (found.source, found.size) == (template_of(world), 99)
    assert found.files == [{"name": "golden.vmtx", "size": 4096, "cached": True, "version": "1"}]


@pytest.mark.parametrize(
    "one, more, expected",
    [
        (item(), {}, ("content library images, item golden", "presence", "absent")),
        (item(type="ovf"), {}, ("content library images, item golden", "content", "that of ubuntu-template")),
        (item(type="tkg"), {}, ("content library images, item golden", "presence", "absent")),
        (item(type="iso"), {"listed": ["item-1", "item-2"]}, ("content library images", "1 items", "absent")),
        (item(type="iso"), {"listed": {}}, ("content library images", "items", "[]")),
    ],
    ids=["no template", "OVF", "other type", "an item was refused", "no list"],
)
def test_what_is_unknown_about_an_item_is_assumed_by_name(tmp_path, one, more, expected):
    seed = load(tmp_path, one, **more)
    assert assumed(seed) == {expected}
    seeds.from_data(seed)


@pytest.mark.parametrize(
    "one", [{"id": "item-1"}, item(size="many", description=5, type="iso")], ids=["empty", "types"]
)
def test_strange_items_do_not_end_the_load(tmp_path, one):
    seeds.from_data(load(tmp_path, one, files={"no": "list"}))
