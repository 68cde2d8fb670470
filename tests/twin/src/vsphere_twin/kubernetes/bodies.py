"""The objects in requests: their identity, unknown fields and types."""

from __future__ import annotations

import base64
import json

from . import object_meta, patches, refused, schemas, unmarshal
from .refused import Refused


def decoded(request, obj):
    """A body or the result of a patch: identity, unknown fields, types of core kinds."""
    kind = request.kind
    unmarshal.header(obj, request.raw, kind.kind)
    obj = obj or {}
    if not kind.custom:
        given = {key: value for key, value in obj.items() if value is not None or key not in ("apiVersion", "kind")}
        obj = {"apiVersion": kind.api_version, "kind": kind.kind, **given}
    if not obj.get("kind") or not obj.get("apiVersion"):
        text = "Object 'Kind' is missing" if not obj.get("kind") else "Object 'apiVersion' is missing"
        raise Refused(400, f"{text} in '{request.raw.decode(errors='replace')}'")
    if (obj["apiVersion"], obj["kind"]) != (kind.api_version, kind.kind):
        text = f"the API version in the data ({obj['apiVersion']}) does not match the expected API version"
        text += f" ({kind.api_version})"
        if obj["apiVersion"] == kind.api_version:
            text = f"the kind in the data ({obj['kind']}) does not match the expected kind ({kind.kind})"
        raise Refused(400, text)
    _check_types(request, obj)
    metadata = obj["metadata"] = _without_nulls(obj.get("metadata") or {})
    if request.namespace and metadata.setdefault("namespace", request.namespace) != request.namespace:
        text = "the namespace of the provided object does not match the namespace sent on the request"
        raise Refused(400, text)
    if _names_itself(request) and not metadata.get("name"):
        raise refused.nameless(request.name)
    if request.name and metadata.setdefault("name", request.name) != request.name:
        text = f"the name of the object ({metadata['name']}) does not match the name on the URL ({request.name})"
        raise Refused(400, text)
    if not kind.custom:
        obj = schemas.drop_nulls(kind.schema, obj)
    unknown = schemas.prune(object_meta.SCHEMA, metadata, "metadata", False) + schemas.prune(kind.schema, obj)
    obj["metadata"] = metadata
    validation = request.query.get("fieldValidation") or "Warn"
    if unknown and validation == "Strict":
        text = ", ".join(f'unknown field "{one}"' for one in unknown)
        raise _undecodable(request, obj, f"strict decoding error: {text}")
    if validation == "Warn":
        request.warnings += [f'unknown field "{one}"' for one in unknown]
    for name, part in kind.schema.get("properties", {}).items() if not kind.custom else ():
        if part.get("additionalProperties", {}) == schemas.BYTES and name in obj:
            obj[name] = _normal_base64(request, obj, name)
    return obj


def _names_itself(request):
    """Whether a request writes a whole object, which has its name."""
    return request.name and request.content_type != patches.APPLY and request.method in ("PUT", "PATCH")


def _check_types(request, obj):
    kind = request.kind
    if kind.custom:
        text = unmarshal.problem(object_meta.SCHEMA, obj.get("metadata"), "")
    else:
        properties = {**kind.schema["properties"], "metadata": object_meta.SCHEMA}
        text = unmarshal.problem({"type": "object", "properties": properties}, obj, kind.kind)
    if text:
        raise _undecodable(request, obj, text)


def _without_nulls(metadata):
    """Metadata as its type decodes it: null is the zero value."""
    found = schemas.drop_nulls(object_meta.SCHEMA, metadata)
    return {key: value for key, value in found.items() if value not in ({}, []) or key not in ("labels", "annotations")}


def _undecodable(request, obj, text):
    """A body that does not fit the kind; of a patch, the server shows the object that it results in."""
    if request.method != "PATCH" or request.content_type == patches.APPLY:
        return refused.undecodable(request.kind, text)
    shown = json.dumps(json.dumps(obj, separators=(",", ":")))
    return refused.invalid_as("", "", "", [("FieldValueInvalid", "patch", f"Invalid value: {shown}: {text}")])


def _normal_base64(request, obj, name):
    """The values of a map of bytes as the server writes them: without line breaks."""
    for value in obj[name].values():
        at = unmarshal.illegal_base64(value)
        if at is None:
            continue
        text = f"illegal base64 data at input byte {at}"
        if request.content_type != patches.APPLY:
            raise _undecodable(request, obj, text)
        kind = f"/v1, Kind={request.kind.kind}"
        text = f"unable to convert unstructured object to {kind}: error decoding from json: {text}"
        text = f"failed to convert new object (/{request.name}; {kind}) to proper version: {text}"
        raise Refused(500, text, reason="")
    return {key: base64.b64encode(base64.b64decode(value)).decode() for key, value in obj[name].items()}
