"""How local libraries are published, and how other libraries subscribe to them (LibraryModel of the Automation API)."""

from __future__ import annotations

import re

from vsphere_twin.model.content_libraries import Item

from .errors import RestError

BASIC, NONE = "BASIC", "NONE"
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
    source = _source(request, info, given.get("password")) if moved or given.get("password") else None
    library.info = info
    if moved:
        library.items = {one.id: one for one in _copies(request, source, info)}


def _merged(before, given, fields, required):
    info = dict(before)
    for name, kind in fields.items():
        value = given.get(name)
        if value is None and name in required:
            raise RestError("INVALID_ARGUMENT", f"The field {name} is missing.")
        if value is not None and not isinstance(value, kind):
            raise RestError("INVALID_ARGUMENT", f"The field {name} has the wrong type.")
        info[name] = info[name] if value is None else value
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
        raise RestError("RESOURCE_INACCESSIBLE", f"The library at {info['subscription_url']} rejects the password.")
    return found


def _copies(request, source, info):
    """Items as subscribers get them; a template is no file, and is not among them."""
    for one in source.items.values():
        if one.kind != "vm-template":
            name = request.world.new_uuid("library item")
            yield Item(
                name,
                one.name,
                one.kind,
                one.source,
                one.description,
                one.eula,
                one.bytes,
                one.files,
                dict(one.content),
                one.version,
                cached=not info["on_demand"],
            )
