"""The objects in requests: their identity, unknown fields and types."""

from __future__ import annotations

import json

from . import refused, schemas
from .refused import Refused


def decoded(request, obj):
    """A body or the result of a patch: identity, unknown fields, types of core kinds."""
    kind = request.kind
    if not isinstance(obj, dict) or not obj.get("kind") or not obj.get("apiVersion"):
        text = "Object 'Kind' is missing" if not (obj or {}).get("kind") else "Object 'apiVersion' is missing"
        raise Refused(400, f"{text} in '{json.dumps(obj)}'")
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
    unknown = schemas.prune(kind.schema, obj)
    validation = request.query.get("fieldValidation") or "Warn"
    if unknown and validation == "Strict":
        text = ", ".join(f'unknown field "{one}"' for one in unknown)
        raise refused.undecodable(kind, f"strict decoding error: {text}")
    if validation == "Warn":
        request.warnings += [f'unknown field "{one}"' for one in unknown]
    if not kind.custom:
        wrong = [one for one in schemas.problems(kind.schema, obj) if one[0] == "FieldValueTypeInvalid"]
        for _reason, field, text in wrong:
            given, wanted = text.split('"')[1], text.rpartition("of type ")[2].partition(":")[0]
            names = {"integer": "int32", "boolean": "bool", "array": "[]string", "object": "map[string]string"}
            given = {"integer": "number", "boolean": "bool"}.get(given, given)
            where = f"Go struct field {kind.kind}.{field} of type {names.get(wanted, wanted)}"
            raise refused.undecodable(kind, f"json: cannot unmarshal {given} into {where}")
    return obj


def _check_metadata(request, metadata):
    for key in ("labels", "annotations"):
        for name, value in (metadata.get(key) or {}).items():
            if not isinstance(value, str):
                given = "bool" if isinstance(value, bool) else "number" if isinstance(value, (int, float)) else "object"
                text = f"json: cannot unmarshal {given} into Go struct field ObjectMeta.metadata.{key} of type string"
                raise refused.undecodable(request.kind, text)
            if key == "labels" and len(value) > 63:
                text = f'Invalid value: "{value}": must be no more than 63 characters'
                raise refused.invalid(request.kind, request.name, [("FieldValueInvalid", "metadata.labels", text)])
            if len(name.rpartition("/")[2]) > 63:
                text = f'Invalid value: "{name}": name part must be no more than 63 characters'
                row = ("FieldValueInvalid", f"metadata.{key}", text)
                raise refused.invalid(request.kind, request.name, [row])
        if key in metadata and metadata[key] is None:
            del metadata[key]
