"""Operations that bring the content of published libraries to subscribed ones, and that remove it."""

from __future__ import annotations

from . import publications
from .api import route
from .errors import RestError, message
from .libraries import BASE, find_item, find_library

SUBSCRIBED = f"{BASE}/subscribed-library"
ITEM = f"{BASE}/library/subscribed-item/{{item}}"


@route("POST", f"{SUBSCRIBED}/{{library}}", action="sync")
def sync(request, library):
    """The items of the published library; files only if the library does not get them on demand."""
    publications.synchronise(request, find_library(request, "subscribed-library", library))


@route("POST", f"{SUBSCRIBED}/{{library}}", action="evict")
def evict(request, library):
    """Remove the files of a library that gets them on demand."""
    found = find_library(request, "subscribed-library", library)
    if not found.info["on_demand"]:
        raise RestError("NOT_ALLOWED_IN_CURRENT_STATE", f"The library {found.name} does not get its files on demand.")
    for item in found.items.values():
        item.cached = False


@route("POST", SUBSCRIBED, action="probe")
def probe(request):
    """Whether a library can subscribe with this information."""
    info = request.body.get("subscription_info")
    if not isinstance(info, dict):
        raise RestError("INVALID_ARGUMENT", "The field subscription_info is missing.")
    status = publications.probed(request, info)
    words = [] if status == "SUCCESS" else [message(f"Cannot subscribe to {info.get('subscription_url')}.")]
    return {"status": status, "error_messages": words}


@route("POST", ITEM, action="sync")
def sync_item(request, item):
    """One item from its source; it is deleted if the source is gone."""
    library, found = _subscribed(request, item)
    force = request.body.get("force_sync_content")
    if force is not None and not isinstance(force, bool):
        raise RestError("INVALID_ARGUMENT", "The field force_sync_content has the wrong type.")
    publications.synchronise(request, library, found, bool(force))


@route("POST", ITEM, action="evict")
def evict_item(request, item):
    """Remove the files of an item of a library that gets them on demand."""
    library, found = _subscribed(request, item)
    if not library.info["on_demand"]:
        words = f"The library {library.name} of the item {found.name} does not get its files on demand."
        raise RestError("INVALID_ELEMENT_CONFIGURATION", words)
    found.cached = False


@route("POST", f"{BASE}/local-library/{{library}}", action="publish")
def publish(request, library):
    """Publish a library to its subscriptions."""
    _published(request, find_library(request, "local-library", library))


@route("POST", f"{BASE}/library/item/{{item}}", action="publish")
def publish_item(request, item):
    """Publish an item to the subscriptions of its library."""
    library = find_item(request, item)[0]
    _published(request, find_library(request, "local-library", library.id))


def _subscribed(request, item):
    library, found = find_item(request, item)
    return find_library(request, "subscribed-library", library.id), found


def _published(request, library):
    """No library has subscriptions, which a publisher creates for its subscribers [the twin's limit]."""
    if not library.info["published"]:
        raise RestError("NOT_ALLOWED_IN_CURRENT_STATE", f"The library {library.name} is not published.")
    if request.body.get("subscriptions"):
        raise RestError("INVALID_ARGUMENT", f"The library {library.name} has no such subscription.")
