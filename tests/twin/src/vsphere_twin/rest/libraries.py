"""Content libraries and their items."""

from __future__ import annotations

from vsphere_twin.model import transfer_sessions
from vsphere_twin.model.content_libraries import Item, Library, checked_out

from . import publications
from .api import Created, route
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
    return list(find_library(request, "library", name).items)


def new_item_in(request, library, name):
    """The library, which can have a new item of this name."""
    found = find_library(request, "library", library)
    if found.kind != "LOCAL":
        raise RestError("INVALID_ELEMENT_TYPE", f"The library {found.name} is subscribed; it has no items of its own.")
    if not name:
        raise RestError("INVALID_ARGUMENT", "An item needs a name.")
    if any(one.name == name for one in found.items.values()):
        raise RestError("ALREADY_EXISTS", f"The library {found.name} has an item {name}.")
    return found


@route("POST", f"{BASE}/library/item", action="find")
def find_items(request):
    """The ids of the items that fit, of one library or of all."""
    wanted = request.body.get("library_id")
    libraries = [one for one in _libraries(request, "library") if wanted in (None, one.id)]
    return [item.id for one in libraries for item in one.items.values() if _fits(item, request.body, ("name", "type"))]


@route("POST", f"{BASE}/library/item")
def create_item(request):
    """An item without files; update sessions bring them."""
    body = request.body
    library = new_item_in(request, body.get("library_id", ""), body.get("name"))
    made = Item(request.world.new_uuid("item"), body["name"], body.get("type", ""))
    made.description = body.get("description", "")
    library.items[made.id] = made
    return Created(made.id)


@route("GET", f"{BASE}/library/item/file")
def files_of(request, item=None):
    """Return the files of an item, by its content."""
    return _files(find_item(request, item or request.query.get("library_item_id", ""))[1])


@route("POST", f"{BASE}/library/item/file/{{item}}", action="get")
def file_of(request, item):
    """One file of an item by its name, in the form of before."""
    return _named(request, files_of(request, item))


@route("GET", f"{BASE}/library/item/storage")
def storage_of(request, item=None):
    """Return the storage of an item's files."""
    library, found = find_item(request, item or request.query.get("library_item_id", ""))
    backing = {"type": "DATASTORE", "datastore_id": library.store.moid}
    folder = f"{library.store.url}contentlib-{library.id}/{found.id}"
    return [{**one, "storage_backing": backing, "storage_uris": [f"{folder}/{one['name']}"]} for one in _files(found)]


@route("POST", f"{BASE}/library/item/storage/{{item}}", action="get")
def file_storage_of(request, item):
    """The storage of one file by its name, in the form of before."""
    return [_named(request, storage_of(request, item))]


@route("GET", f"{BASE}/security-policies")
def policies(request):
    """Return the default policy of vCenter."""
    name = "OVF default policy"
    return [{"policy": "ovf-default", "name": name, "item_type_rules": {"ovf": "OVF_STRICT_VERIFICATION"}}]


@route("GET", f"{BASE}/trusted-certificates")
def trusted_certificates(request):
    """Return an empty list: none were added."""
    return {"certificates": []}


@route("POST", f"{BASE}/local-library")
def create_local(request):
    """A library on a datastore, with a publication if the request has one."""
    made = _new(request, "LOCAL")
    info = _info(request, "publish_info")
    if info is not None:
        publications.publish(made, info, new=True)
    return _add(request, made)


@route("POST", f"{BASE}/subscribed-library")
def create_subscribed(request):
    """A library with the items of a published one."""
    made, info = _new(request, "SUBSCRIBED"), _info(request, "subscription_info")
    if info is None:
        raise RestError("INVALID_ARGUMENT", "The field subscription_info is missing.")
    publications.subscribe(request, made, info, new=True)
    return _add(request, made)


@route("PATCH", f"{BASE}/{{kind}}/{{library}}")
def update_library(request, kind, library):
    """Another name or description; the publication or the subscription by the operation of its kind."""
    found, body = find_library(request, kind, library), request.body
    publish, subscribe = _info(request, "publish_info"), _info(request, "subscription_info")
    if kind == "local-library" and publish is not None:
        publications.publish(found, publish)
    if kind == "subscribed-library" and subscribe is not None:
        publications.subscribe(request, found, subscribe)
    found.name = body.get("name") or found.name
    found.description = found.description if body.get("description") is None else body["description"]


@route("POST", f"{BASE}/library/item/{{item}}", action="copy")
def copy_item(request, item):
    """An item with the files of another one; a template is no file."""
    source, body = find_item(request, item)[1], request.body
    if source.kind == "vm-template":  # [unsure: the error]
        raise RestError("INVALID_ARGUMENT", f"The item {source.name} is a template, which is not copied.")
    name = body.get("name") or source.name
    library = new_item_in(request, body.get("library_id", ""), name)
    made = Item(request.world.new_uuid("item"), name, source.kind, source.source, source.description, source.eula)
    made.description = body.get("description") or source.description
    made.bytes, made.files, made.content = source.bytes, source.files, source.content
    library.items[made.id] = made
    return Created(made.id)


@route("PATCH", f"{BASE}/library/item/{{item}}")
def update_item(request, item):
    """Another name or description."""
    library, found = find_item(request, item)
    name = request.body.get("name") or found.name
    if name != found.name:
        new_item_in(request, library.id, name)
    found.name, found.description = name, request.body.get("description", found.description)


@route("DELETE", f"{BASE}/library/item/{{item}}")
def delete_item(request, item):
    """Delete the item; its template stays."""
    library, found = find_item(request, item)
    require_no_check_out(request, found)
    del library.items[found.id]
    transfer_sessions.forget(request.world, [found.id])


@route("DELETE", f"{BASE}/{{kind}}/{{library}}")
def delete_library(request, kind, library):
    """A library with its items."""
    if kind == "library":
        raise RestError("OPERATION_NOT_FOUND", "Libraries are deleted by their kind.", status=404)
    found = find_library(request, kind, library)
    for item in found.items.values():
        require_no_check_out(request, item)
    del request.world.libraries.known[found.id]
    transfer_sessions.forget(request.world, found.items)


@route("GET", f"{BASE}/library/item/{{item}}")
def item_of(request, item):
    """Return one item."""
    library, found = find_item(request, item)
    return {
        "id": found.id,
        "library_id": library.id,
        "name": found.name,
        "type": found.kind,
        "description": found.description,
        "size": found.size,
        "cached": found.cached,
        "creation_time": stamp(found.created),
        "last_modified_time": stamp(found.created),
        "version": str(found.version),
        "metadata_version": "1",
        "content_version": str(found.version),
        "security_compliance": True,
    }


@route("GET", f"{BASE}/{{kind}}")
def libraries(request, kind):
    """The ids of the libraries of a kind."""
    return [one.id for one in _libraries(request, kind)]


@route("GET", f"{BASE}/{{kind}}/{{library}}")
def library_of(request, kind, library):
    """Return one library."""
    found = find_library(request, kind, library)
    return {
        **publications.shown(request, found),
        "id": found.id,
        "name": found.name,
        "type": found.kind,
        "description": found.description,
        "storage_backings": [{"type": "DATASTORE", "datastore_id": found.store.moid}],
        "creation_time": stamp(found.created),
        "last_modified_time": stamp(found.created),
        "server_guid": request.world.instance_uuid,
        "version": "2",
    }


def require_no_check_out(request, item):
    """NOT_ALLOWED_IN_CURRENT_STATE while a VM is checked out of an item."""
    held = checked_out(request.world, item)
    if held is not None:
        text = f"The virtual machine {held.vm.name} is checked out of the item {item.name}."
        raise RestError("NOT_ALLOWED_IN_CURRENT_STATE", text)


def _files(item):
    if item.files is not None:
        return item.files
    if item.content:
        version = str(item.version)
        return [
            {"name": name, "size": len(data), "cached": True, "version": version} for name, data in item.content.items()
        ]
    suffixes = {"iso": (".iso",), "ovf": (".ovf", "-1.vmdk"), "vm-template": (".vmtx",)}.get(item.kind, ())
    return (
        [
            {
                "name": f"{item.name}{suffix}",
                "size": item.size if number or len(suffixes) == 1 else 4096,
                "cached": True,
                "version": "1",
            }
            for number, suffix in enumerate(suffixes)
        ]
        if item.source is not None or item.kind == "iso"
        else []
    )


def _named(request, files):
    """The file that the request names."""
    names = [request.body.get(name) for name in ("name", "file_name")]
    found = next((one for one in files if one["name"] in names), None)
    if found is None:
        raise RestError("NOT_FOUND", f"The item has no file {next(filter(None, names), '')}.")
    return found


def _new(request, kind):
    """A library that is not yet known; names need not be unique (LibraryModel.name)."""
    body, backings = request.body, request.body.get("storage_backings") or [{}]
    if len(backings) > 1:
        raise RestError("UNSUPPORTED", "A library has one storage backing.")
    store = request.world.get(backings[0].get("datastore_id", ""))
    if store is None or store.kind != "Datastore":
        raise RestError("NOT_FOUND", "The datastore of the library does not exist.")
    if not body.get("name"):
        raise RestError("INVALID_ARGUMENT", "A library needs a name.")
    return Library(
        request.world.new_uuid("library"), body["name"], kind, store, description=body.get("description") or ""
    )


def _add(request, made):
    request.world.libraries.known[made.id] = made
    return Created(made.id)


def _info(request, name):
    found = request.body.get(name)
    if not isinstance(found, (dict, type(None))):
        raise RestError("INVALID_ARGUMENT", f"The field {name} is no structure.")
    return found


def _libraries(request, kind):
    if kind not in KINDS:
        raise RestError("OPERATION_NOT_FOUND", f"The twin has no {BASE}/{kind}.", status=404)
    return [one for one in request.world.libraries.known.values() if one.kind in KINDS[kind]]


def find_library(request, kind, name):
    """A library of a kind by its identifier."""
    found = next((one for one in _libraries(request, kind) if one.id == name), None)
    if found is None and name in request.world.libraries.known:
        raise RestError("INVALID_ELEMENT_TYPE", f"The library with id {name} is of another kind.")
    if found is None:
        raise RestError("NOT_FOUND", f"The library with id {name} does not exist.")
    return found


def _fits(one, wanted, names):
    given = {"name": one.name.casefold(), "type": one.kind}
    return all(wanted.get(name) is None or _plain(name, wanted[name]) == given[name] for name in names)


def _plain(name, value):
    return str(value).casefold() if name == "name" else value
