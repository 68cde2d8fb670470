"""Content libraries of a capture with their items, as parts of a seed."""

from __future__ import annotations

TEMPLATE, OVF, _ISO = KINDS = ("vm-template", "ovf", "iso")
FILE = ("name", "size", "cached", "version")


def add(bundle, made, assumptions):
    """Add the libraries to the datacenters of their datastores."""
    places = {
        moid: center for center in made["datacenters"] for one in center["datastores"] for moid in one.get("moids", ())
    }
    for path, one in bundle.numbered("content/library").items():
        stores = [row.get("datastore_id") for row in one.get("storage_backings", ())]
        center = next((places[moid] for moid in stores if moid in places), None)
        what = f"content library {one['name']}"
        if center is None:
            assumptions.assume(what, "presence", "absent", "its datastore is not captured")
            continue
        store = next(row["name"] for row in center["datastores"] if set(row.get("moids", ())) & {*stores})
        entry = {"name": one["name"], "id": one["id"], "datastore": store, "subscribed": one["type"] == "SUBSCRIBED"}
        entry["items"] = _items(bundle, path, what, center, assumptions)
        center.setdefault("libraries", []).append(entry)


def _items(bundle, path, what, center, assumptions):
    if not isinstance(bundle.data(f"rest/api/{path}/item.json"), list):
        return assumptions.assume(what, "items", [])
    rows = bundle.numbered(f"{path}/item")
    lost = len(bundle.data(f"rest/api/{path}/item.json")) - len(rows)
    if lost:
        assumptions.assume(what, f"{lost} items", "absent")
    found = [
        _item(bundle, place, f"{what}, item {one.get('name')}", one, center, assumptions) for place, one in rows.items()
    ]
    return [one for one in found if one is not None]


def _item(bundle, place, what, one, center, assumptions):
    """An item of the seed, or None for one that the twin cannot have."""
    kind = one.get("type")
    if kind not in KINDS:
        assumptions.assume(what, "presence", "absent", f"the twin has no items of type {kind}")
        return None
    made = {"name": one["name"], "id": one["id"], "type": kind, "description": one.get("description") or ""}
    if isinstance(one.get("size"), int) and one["size"] >= 0:
        made["size"] = one["size"]
    files = bundle.data(f"rest/api/{place}/file.json")
    if isinstance(files, list):
        made["files"] = [{key: file[key] for key in FILE if key in file} for file in files]
    if kind == TEMPLATE:
        return _of_template(bundle, place, what, made, center, assumptions)
    return _of_ovf(what, made, center, assumptions) if kind == OVF else made


def _of_template(bundle, place, what, made, center, assumptions):
    moid = bundle.table(f"rest/api/{place}/template.json").get("vm_template")
    source = next((vm for vm in center["vms"] if vm.get("template") and moid in vm["moids"]), None)
    if source is None:
        assumptions.assume(what, "presence", "absent", "its template is not captured")
        return None
    return {**made, "from": moid}


def _of_ovf(what, made, center, assumptions):
    """The content of an OVF is not read: the first template, or VM, replaces it."""
    source = next(iter(sorted(center["vms"], key=lambda vm: not vm.get("template"))), None)
    if source is None:
        assumptions.assume(what, "presence", "absent", "its content is not captured, and the capture has no VM")
        return None
    assumptions.assume(what, "content", f"that of {source['name']}", "the content of an OVF is not captured")
    return {**made, "from": source["moids"][0]}
