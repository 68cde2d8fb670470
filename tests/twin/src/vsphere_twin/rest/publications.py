"""How local libraries are published, and how other libraries subscribe to them (LibraryModel of the Automation API)."""

from __future__ import annotations

import re

from vsphere_twin.model.content_libraries import Item

from .errors import RestError

BASIC, NONE = "BASIC", "NONE"
TEMPLATE = "vm-template"
USER = "vcsp"  # the only user of a published library
PUBLISHED = {"authentication_method": str, "published": bool, "persist_json_enabled": bool}
SUBSCRIBED = {"authentication_method": str, "automatic_sync_enabled": bool, "on_demand": bool, "subscription_url": str}
# Host and port are not compared: the identifier of a library is unique, and a client can know the twin by another name.
_URL = re.compile(r"https://[^/]+/cls/vcsp/lib/(?P<library>[^/]+)/lib\.json")


def shown(request, library):
    """The fields of a library about its publication, or about its subscription."""
    info = dict(library.info)
    if info["authentication_method"] == BASIC:
        info["user_name"] = USER
    if library.kind == "SUBSCRIBED":
        return {"subscription_info": info}
    if info["published"]:
        info["publish_url"] = f"https://{request.host}/cls/vcsp/lib/{library.id}/lib.json"
    return {"publish_info": info}


def publish(library, given, new=False):
    """Publish a local library, or end it; fields that are not set do not change."""
    before, password = library.info, library.password
    info = _merged(before, given, PUBLISHED, ("authentication_method", "published") if new else ())
    secret = given.get("password") or ""
    ends = info["authentication_method"] != BASIC or before["published"] and not info["published"]
    if before["authentication_method"] == BASIC and (secret or ends) and given.get("current_password") != password:
        raise RestError("INVALID_ARGUMENT", "The current password of the published library is not correct.")
    if info["authentication_method"] == BASIC and not (secret or password):
        raise RestError("INVALID_ARGUMENT", "The authentication method BASIC needs a password.")
    library.info = info
    library.password = (secret or password) if info["authentication_method"] == BASIC else ""


def subscribe(request, library, given, new=False):
    """Subscribe a library to a published one, and get its items; the twin reaches no other vCenter."""
    info = _merged(library.info, given, SUBSCRIBED, SUBSCRIBED if new else ())
    moved = new or info["subscription_url"] != library.info["subscription_url"]
    password = given.get("password") or ("" if moved else library.password)
    if moved or given.get("password"):
        _source(request, info, password)
    library.info, library.password = info, password
    if moved:
        library.items = {}
        synchronise(request, library)


def synchronise(request, library, only=None, force=False):
    """Make the items of a subscribed library those of its source; files follow unless they are on demand."""
    source = _source(request, library.info, library.password)
    here = {one.origin: one for one in library.items.values()}
    there = {one.id: one for one in source.items.values() if one.kind != TEMPLATE}  # a template is no file
    for key, found in here.items():
        if key not in there and only in (None, found):
            del library.items[found.id]
    for key, one in there.items():
        found = here.get(key)
        if only is not None and found is not only:
            continue
        if found is None:
            found = Item(request.world.new_uuid("library item"), one.name, one.kind, cached=False, origin=key)
            library.items[found.id] = found
        keeps = found.cached and (found.version, found.content) == (one.version, one.content)
        found.name, found.kind, found.source, found.description = one.name, one.kind, one.source, one.description
        found.eula, found.bytes, found.files, found.content = one.eula, one.bytes, one.files, dict(one.content)
        found.version, found.cached = one.version, keeps or force or not library.info["on_demand"]


def probed(request, given):
    """The result of a probe: whether a library can subscribe with this information."""
    info = _merged(
        {"authentication_method": NONE}, {**given, "on_demand": False, "automatic_sync_enabled": False}, SUBSCRIBED, ()
    )
    if not _URL.fullmatch(info.get("subscription_url") or ""):
        return "INVALID_URL"
    try:
        _source(request, info, given.get("password"))
    except _WrongPassword:
        return "INVALID_CREDENTIALS"
    except RestError:
        return "RESOURCE_NOT_FOUND"
    return "SUCCESS"


class _WrongPassword(RestError):
    """The publisher rejects the password."""


def _merged(before, given, fields, required):
    info = dict(before)
    for name, kind in fields.items():
        value = given.get(name)
        if value is None and name in required:
            raise RestError("INVALID_ARGUMENT", f"The field {name} is missing.")
        if value is not None and not isinstance(value, kind):
            raise RestError("INVALID_ARGUMENT", f"The field {name} has the wrong type.")
        info[name] = info.get(name) if value is None else value
    if info["authentication_method"] not in (BASIC, NONE):
        raise RestError("INVALID_ARGUMENT", f"{info['authentication_method']} is no authentication method.")
    if given.get("user_name") not in (None, USER):
        raise RestError("INVALID_ARGUMENT", f"The user of a published library is {USER}.")
    return info


def _source(request, info, password):
    """The published library behind an address; which error a wrong password is, is [unsure]."""
    url = _URL.fullmatch(info["subscription_url"])
    found = request.world.libraries.known.get(url["library"]) if url else None
    if found is None or not found.info.get("published"):
        raise RestError("RESOURCE_INACCESSIBLE", f"Cannot access the library at {info['subscription_url']}.")
    given = password if info["authentication_method"] == BASIC else ""
    if found.password != (given or ""):
        raise _WrongPassword(
            "RESOURCE_INACCESSIBLE", f"The library at {info['subscription_url']} rejects the password."
        )
    return found
