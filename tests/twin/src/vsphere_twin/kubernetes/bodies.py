"""The objects in requests: their identity, unknown fields and types."""

from __future__ import annotations

import json
import re

from . import patches, refused, schemas
from .refused import Refused

_METADATA = (
    *("name", "generateName", "namespace", "labels", "annotations", "finalizers", "ownerReferences", "uid"),
    *("resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"),
    *("managedFields", "selfLink"),
)


def decoded(request, obj):
    """A body or the result of a patch: identity, unknown fields, types of core kinds."""
    kind = request.kind
    if isinstance(obj, dict) and not kind.custom:
        obj = {"apiVersion": kind.api_version, "kind": kind.kind, **obj}
    if not isinstance(obj, dict) or not obj.get("kind") or not obj.get("apiVersion"):
        text = "Object 'Kind' is missing" if not (obj or {}).get("kind") else "Object 'apiVersion' is missing"
        raise Refused(400, f"{text} in '{request.raw.decode(errors='replace')}'")
    if (obj["apiVersion"], obj["kind"]) != (kind.api_version, kind.kind):
        text = f"the API version in the data ({obj['apiVersion']}) does not match the expected API version"
        text += f" ({kind.api_version})"
        if obj["apiVersion"] == kind.api_version:
            text = f"the kind in the data ({obj['kind']}) does not match the expected kind ({kind.kind})"
        raise Refused(400, text)
    metadata = obj.setdefault("metadata", {})
    if request.namespace and metadata.setdefault("namespace", request.namespace) != request.namespace:
        text = "the namespace of the provided object does not match the namespace sent on the request"
        raise Refused(400, text)
    if request.name and metadata.setdefault("name", request.name) != request.name:
        text = f"the name of the object ({metadata['name']}) does not match the name on the URL ({request.name})"
        raise Refused(400, text)
    _check_metadata(request, metadata)
    if not kind.custom:
        obj = schemas.drop_nulls(obj)
    unknown = [f"metadata.{key}" for key in metadata if key not in _METADATA] + schemas.prune(kind.schema, obj)
    obj["metadata"] = {key: value for key, value in metadata.items() if key in _METADATA}
    validation = request.query.get("fieldValidation") or "Warn"
    if unknown and validation == "Strict":
        text = ", ".join(f'unknown field "{one}"' for one in unknown)
        raise _undecodable(request, obj, f"strict decoding error: {text}")
    if validation == "Warn":
        request.warnings += [f'unknown field "{one}"' for one in unknown]
    if not kind.custom:
        wrong = [one for one in schemas.problems(kind.schema, obj) if one[0] == "FieldValueTypeInvalid"]
        for _reason, field, text in wrong:
            given, wanted = text.split('"')[1], text.rpartition("of type ")[2].partition(":")[0]
            names = {"integer": "int32", "boolean": "bool", "array": "[]string", "object": "map[string]string"}
            given = {"integer": "number", "boolean": "bool"}.get(given, given)
            where = f"Go struct field {kind.kind}.{field} of type {names.get(wanted, wanted)}"
            raise _undecodable(request, obj, f"json: cannot unmarshal {given} into {where}")
    if kind.key == ("", "secrets"):
        _check_base64(request, obj)
    return obj


def _undecodable(request, obj, text):
    """A body that does not fit the kind; of a patch, the server shows the object that it results in."""
    if request.method != "PATCH" or request.content_type == patches.APPLY:
        return refused.undecodable(request.kind, text)
    shown = json.dumps(json.dumps(obj, separators=(",", ":")))
    return refused.invalid_as("", "", "", [("FieldValueInvalid", "patch", f"Invalid value: {shown}: {text}")])


def _check_base64(request, obj):
    for value in (obj.get("data") or {}).values():
        wrong = re.search(r"[^A-Za-z0-9+/=\r\n]", value)
        if wrong or len(value) % 4:
            text = f"illegal base64 data at input byte {wrong.start() if wrong else len(value) // 4 * 4}"
            if request.content_type != patches.APPLY:
                raise _undecodable(request, obj, text)
            where = f"/{request.name}; /v1, Kind=Secret"
            text = f"unable to convert unstructured object to /v1, Kind=Secret: error decoding from json: {text}"
            text = f"failed to convert new object ({where}) to proper version: {text}"
            raise Refused(500, text, reason="")


def _check_metadata(request, metadata):
    for key in ("labels", "annotations"):
        for value in (metadata.get(key) or {}).values():
            if not isinstance(value, str):
                given = "bool" if isinstance(value, bool) else "number" if isinstance(value, (int, float)) else "object"
                text = f"json: cannot unmarshal {given} into Go struct field ObjectMeta.metadata.{key} of type string"
                raise refused.undecodable(request.kind, text)
        if key in metadata and metadata[key] is None:
            del metadata[key]
