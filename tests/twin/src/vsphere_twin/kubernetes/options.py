"""The options of a request, which an API server judges before the body."""

from __future__ import annotations

import json
import re

from . import patches, refused, unmarshal

_MANAGER_MAX = 128
_LONG = 2**63
_WRITES = {"create": "CreateOptions", "update": "UpdateOptions", "patch": "PatchOptions"}
_VALIDATIONS = ("", "Ignore", "Strict", "Warn")
_POLICIES = ("Foreground", "Background", "Orphan")
_DELETION = {
    "type": "object",
    "properties": {
        "dryRun": {"type": "array", "items": {"type": "string"}},
        "propagationPolicy": {"type": "string", unmarshal.GO: "v1.DeletionPropagation"},
        "gracePeriodSeconds": {"type": "integer", unmarshal.GO: "int64"},
        "orphanDependents": {"type": "boolean"},
        "preconditions": {
            "type": "object",
            unmarshal.GO: "v1.Preconditions",
            "properties": {"uid": {"type": "string", unmarshal.GO: "types.UID"}, "resourceVersion": {"type": "string"}},
        },
    },
}
_MATCHES = ("Exact", "NotOlderThan")


def check(request, verb):
    """Reject options that the API server rejects."""
    if verb in _WRITES:
        _raise(_WRITES[verb], [*_force(request, verb), *_written(request)])
    elif verb in ("list", "watch", "deletecollection"):
        for name in ("limit", "timeoutSeconds"):
            number(request, name)
        _raise("ListOptions", _watched(request) if verb == "watch" else _listed(request))


def deletion(request):
    """The options of a deletion. A body replaces those of the query."""
    found = request.parsed() if request.raw else None
    if found is None:
        number(request, "gracePeriodSeconds")
        found = (
            {"propagationPolicy": request.query["propagationPolicy"]} if request.query.get("propagationPolicy") else {}
        )
        found["dryRun"] = [request.query["dryRun"]] if request.query.get("dryRun") else []
    unmarshal.options(found)
    if (found.get("kind") or "DeleteOptions") != "DeleteOptions":
        raise refused.Refused(400, "decoded object cannot be converted to DeleteOptions")
    text = unmarshal.problem(_DELETION, found, "DeleteOptions")
    if text:
        raise refused.Refused(400, text)
    policy, rows = found.get("propagationPolicy"), []
    if policy is not None and policy not in _POLICIES:
        rows.append(_unsupported("propagationPolicy", policy, (*_POLICIES, "nil")))
    _raise("DeleteOptions", rows + _dry_run(found.get("dryRun") or []))
    return found


def number(request, name):
    """A whole number of the query."""
    given = request.query.get(name) or "0"
    if not re.fullmatch(r"[+-]?[0-9]+", given):
        raise refused.Refused(400, f'strconv.ParseInt: parsing "{given}": invalid syntax')
    value = int(given) if len(given.lstrip("+-0")) <= 19 else _LONG
    if not -_LONG <= value < _LONG:
        raise refused.Refused(400, f'strconv.ParseInt: parsing "{given}": value out of range')
    return value


def _raise(name, rows):
    rows = list(rows)
    if rows:
        raise refused.invalid_as(name, "meta.k8s.io", "", rows)


def _force(request, verb):
    if verb != "patch":
        return
    if request.content_type == patches.APPLY:
        if not request.query.get("fieldManager"):
            yield "FieldValueRequired", "fieldManager", "Required value: is required for apply patch"
    elif "force" in request.query:
        yield "FieldValueForbidden", "force", "Forbidden: may not be specified for non-apply patch"


def _written(request):
    if len(request.query.get("fieldManager", "")) > _MANAGER_MAX:
        text = f"Too long: may not be more than {_MANAGER_MAX} bytes"
        yield "FieldValueTooLong", "fieldManager", text
    yield from _dry_run([request.query["dryRun"]] if request.query.get("dryRun") else [])
    validation = request.query.get("fieldValidation", "")
    if validation not in _VALIDATIONS:
        yield _unsupported("fieldValidation", validation, _VALIDATIONS)


def _dry_run(values):
    return [_unsupported("dryRun", values, ("All",))] if set(values) - {"All"} else []


def _listed(request):
    match, version = request.query.get("resourceVersionMatch", ""), request.query.get("resourceVersion", "")
    name = "resourceVersionMatch"
    if match and not version:
        yield _forbidden(name, f"{name} is forbidden unless resourceVersion is provided")
    if match and request.query.get("continue"):
        yield _forbidden(name, f"{name} is forbidden when continue is provided")
    if match and match not in _MATCHES:
        yield _unsupported(name, match, (*_MATCHES, ""))
    if (match, version) == ("Exact", "0"):
        yield _forbidden(name, f'{name} "exact" is forbidden for resourceVersion "0"')
    if "sendInitialEvents" in request.query:
        yield _forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list")


def _watched(request):
    match, first = request.query.get("resourceVersionMatch", ""), "sendInitialEvents" in request.query
    name = "resourceVersionMatch"
    if first and match != "NotOlderThan":
        yield _forbidden(name, f"sendInitialEvents requires setting {name} to NotOlderThan")
    if match and not first:
        yield _forbidden(name, f"{name} is forbidden for watch unless sendInitialEvents is provided")
    if match and match != "NotOlderThan":
        yield _unsupported(name, match, ("NotOlderThan",))


def _forbidden(field, text):
    return "FieldValueForbidden", field, f"Forbidden: {text}"


def _unsupported(field, value, supported):
    names = ", ".join(json.dumps(one) for one in supported)
    given = json.dumps(value, separators=(",", ":"))
    return "FieldValueNotSupported", field, f"Unsupported value: {given}: supported values: {names}"
