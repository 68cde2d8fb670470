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
    if problem := invalid_version(given):
        raise Refused(400, f"invalid resource version: resourceVersion: {problem}")
    version = int(given[-20:])
    check_reached(cluster, version)
    changed = any(row[0] > version and row[1] == kind.key for row in cluster.events)
    if query.get("resourceVersionMatch") == "Exact" and changed:
        raise Refused(410, "The resourceVersion for the provided list is too old.")


def invalid_version(given):
    """The problem of a text that is no number of 64 bits, in the words of Go's strconv; None for a number."""
    number = given.isascii() and given.isdecimal()
    if number and len(given.lstrip("0")) <= 20 and int(given[-20:]) < 2**64:
        return None
    return (
        f'Invalid value: "{given}": strconv.ParseUint: parsing "{given}": '
        f"{'value out of range' if number else 'invalid syntax'}"
    )


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
