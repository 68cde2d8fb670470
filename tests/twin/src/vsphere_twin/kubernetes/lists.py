"""Pages of lists, resource versions of lists and watches, and bookmarks."""

from __future__ import annotations

import base64
import json

from .refused import Refused


def place(obj):
    """The place of an object in a list. The deletion of another object does not move it."""
    return [obj["metadata"].get("namespace", ""), obj["metadata"]["name"]]


def continuation(last, version):
    """The token with which a client asks for the page after an object."""
    return base64.urlsafe_b64encode(json.dumps({"after": place(last), "rv": version}).encode()).decode()


def place_after(token):
    """(place of the last object, resource version) of a token."""
    try:
        found = json.loads(base64.urlsafe_b64decode(token))
        (namespace, name), version = found["after"], str(int(found["rv"]))
        return [str(namespace), str(name)], version
    except (ValueError, KeyError, TypeError):
        raise Refused(400, "invalid continue token: continue key is not valid") from None


def check_version(cluster, kind, query):
    """Reject a list at a version that is no number, in the future, or whose objects are no longer known."""
    given = query["resourceVersion"]
    if not given.isdecimal():
        text = f'resourceVersion: Invalid value: "{given}": strconv.ParseUint: parsing "{given}": invalid syntax'
        raise Refused(400, f"invalid resource version: {text}")
    check_reached(cluster, int(given))
    changed = any(row[0] > int(given) and row[1] == kind.key for row in cluster.events)
    if query.get("resourceVersionMatch") == "Exact" and changed:
        raise Refused(410, "The resourceVersion for the provided list is too old.")


def check_reached(cluster, version):
    """Reject a version in the future, for example one of an earlier cluster."""
    if version > cluster.revision:
        text = f"Too large resource version: {version}, current: {cluster.revision}"
        cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
        details = {"causes": [cause], "retryAfterSeconds": 1}
        raise Refused(504, f"Timeout: {text}", reason="Timeout", details=details)


def bookmark(kind, version, **metadata):
    """The event of a watch that has only a resource version."""
    metadata = {"resourceVersion": str(version), "creationTimestamp": None, **metadata}
    return {"type": "BOOKMARK", "object": {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": metadata}}
