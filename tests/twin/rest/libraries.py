"""Content libraries and their items."""

from __future__ import annotations

from .api import route
from .errors import RestError
from .stamps import stamp

BASE = "/api/content"
KINDS = {"local-library": ("LOCAL",), "subscribed-library": ("SUBSCRIBED",), "library": ("LOCAL", "SUBSCRIBED")}


def find_item(request, name):
    """The library and the item of an id."""
    library, item = request.world.libraries.item(name)
    if item is None:
        raise RestError("NOT_FOUND", f"The item with id {name} does not exist.")
    return library, item


@route("POST", f"{BASE}/library", action="find")
def find_libraries(request):
    """The ids of the libraries that fit; names are compared without regard to case."""
    return [one.id for one in _libraries(request, "library") if _fits(one, request.body, ("name", "type"))]


@route("GET", f"{BASE}/library/item")
def items_of(request):
    """The ids of the items of a library."""
    name = request.query.get("library_id", "")
    return list(_library(request, "library", name).items)


@route("POST", f"{BASE}/library/item", action="find")
def find_items(request):
    """The ids of the items that fit, of one library or of all."""
    wanted = request.body.get("library_id")
    libraries = [one for one in _libraries(request, "library") if wanted in (None, one.id)]
    return [item.id for one in libraries for item in one.items.values() if _fits(item, request.body, ("name", "type"))]


@route("GET", f"{BASE}/library/item/{{item}}")
def item_of(request, item):
    """One item."""
    library, found = find_item(request, item)
    return {
        "id": found.id,
        "library_id": library.id,
        "name": found.name,
        "type": found.kind,
        "description": found.description,
        "size": found.size,
        "cached": True,
        "creation_time": stamp(found.created),
        "last_modified_time": stamp(found.created),
        "version": "1",
        "metadata_version": "1",
        "content_version": "1",
        "security_compliance": True,
    }


@route("GET", f"{BASE}/{{kind}}")
def libraries(request, kind):
    """The ids of the libraries of a kind."""
    return [one.id for one in _libraries(request, kind)]


@route("GET", f"{BASE}/{{kind}}/{{library}}")
def library_of(request, kind, library):
    """One library."""
    found = _library(request, kind, library)
    return {
        "id": found.id,
        "name": found.name,
        "type": found.kind,
        "description": "",
        "storage_backings": [{"type": "DATASTORE", "datastore_id": found.store.moid}],
        "creation_time": stamp(found.created),
        "last_modified_time": stamp(found.created),
        "server_guid": request.world.instance_uuid,
        "version": "2",
    }


def _libraries(request, kind):
    if kind not in KINDS:
        raise RestError("OPERATION_NOT_FOUND", f"The twin has no {BASE}/{kind}.", status=404)
    return [one for one in request.world.libraries.known.values() if one.kind in KINDS[kind]]


def _library(request, kind, name):
    found = next((one for one in _libraries(request, kind) if one.id == name), None)
    if found is None:
        raise RestError("NOT_FOUND", f"The library with id {name} does not exist.")
    return found


def _fits(one, wanted, names):
    given = {"name": one.name.casefold(), "type": one.kind}
    return all(wanted.get(name) is None or _plain(name, wanted[name]) == given[name] for name in names)


def _plain(name, value):
    return str(value).casefold() if name == "name" else value
