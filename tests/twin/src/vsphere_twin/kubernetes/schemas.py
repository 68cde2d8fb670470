"""Structural schemas: unknown fields, defaults and validation, with the field paths and words of an API server."""

from __future__ import annotations

import copy
import json
import re

_INT_OR_STRING = "x-kubernetes-int-or-string"
_OPEN = "x-kubernetes-preserve-unknown-fields"
_EMBEDDED = "x-kubernetes-embedded-resource"
BYTES = {"type": "string", "format": "byte"}
_OF_OBJECTS = ("apiVersion", "kind", "metadata")
# JSON types by the names of a schema.
_TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float)}
_BLOCKING = tuple(f"FieldValue{name}" for name in ("Required", "TooLong", "TooMany", "TypeInvalid", "NotSupported"))


def prune(schema, value, path="", top=True):
    """Remove the fields that the schema does not declare, and return their paths."""
    if isinstance(value, list):
        # Elements below preserved fields are preserved, as skipPrune of apiextensions-apiserver does.
        items = {**schema.get("items", {}), **({_OPEN: True} if schema.get(_OPEN) else {})}
        return [one for at, item in enumerate(value) for one in prune(items, item, f"{path}[{at}]", False)]
    if not isinstance(value, dict) or schema.get(_INT_OR_STRING):
        return []
    properties, extra = schema.get("properties", {}), schema.get("additionalProperties")
    kept = _OF_OBJECTS if top or schema.get(_EMBEDDED) else ()
    unknown = []
    for key in list(value):
        inner = f"{path}.{key}" if path else key
        if key in properties:
            if key not in kept or key != "metadata":
                unknown += prune(properties[key], value[key], inner, False)
        elif isinstance(extra, dict):
            unknown += prune(extra, value[key], inner, False)
        elif not (key in kept or extra or schema.get(_OPEN)):
            del value[key]
            unknown.append(inner)
    return unknown


def default(schema, value):
    """Fill in the defaults of the schema."""
    if isinstance(value, list):
        for item in value:
            default(schema.get("items", {}), item)
    elif isinstance(value, dict):
        properties, extra = schema.get("properties", {}), schema.get("additionalProperties")
        for key, inner in properties.items():
            dropped = value.get(key, 0) is None and not inner.get("nullable")
            if "default" in inner and (key not in value or dropped):
                value[key] = copy.deepcopy(inner["default"])
            elif dropped and not (inner.get(_OPEN) or "type" not in inner):
                del value[key]
        for key, item in value.items():
            inner = properties.get(key, extra if isinstance(extra, dict) else None)
            if inner is not None:
                default(inner, item)


def drop_nulls(schema, value):
    """Remove null values, as typed kinds do when they are decoded. In lists and maps, null is the zero value."""
    if isinstance(value, dict):
        properties, extra = schema.get("properties", {}), schema.get("additionalProperties")
        extra = extra if isinstance(extra, dict) else {}
        kept = {key: _zero(extra) if item is None and key not in properties else item for key, item in value.items()}
        rows = ((key, properties.get(key, extra), item) for key, item in kept.items() if item is not None)
        return {key: drop_nulls(inner, item) for key, inner, item in rows}
    if isinstance(value, list):
        items = schema.get("items", {})
        return [drop_nulls(items, _zero(items) if item is None else item) for item in value]
    return value


def _zero(schema):
    zeros = {"object": {}, "array": [], "string": "", "integer": 0, "number": 0, "boolean": False}
    return copy.deepcopy(zeros.get(schema.get("type")))


def as_quantities(schema, value):
    """Write whole numbers of quantities as text, as typed kinds store them."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        extra = schema.get("additionalProperties")
        inner = schema.get("items") if isinstance(value, list) else schema.get("properties", {}).get(key, extra)
        if isinstance(item, (dict, list)):
            as_quantities(inner if isinstance(inner, dict) else {}, item)
        elif isinstance(inner, dict) and type(item) is int and inner.get(_INT_OR_STRING) and extra:
            value[key] = str(item)


def problems_with_rules(schema, value):
    """The violations of a custom resource. Some of them keep the server from evaluating the rules of the schema."""
    found = problems(schema, value)
    if any(reason in _BLOCKING for reason, _field, _text in found) and _has_rules(schema):
        text = "some validation rules were not checked because the object was invalid"
        text = f"Invalid value: null: {text}; correct the existing errors to complete validation"
        found.append(("FieldValueInvalid", "<nil>", text))
    return found


def _has_rules(schema):
    if isinstance(schema, list):
        return any(map(_has_rules, schema))
    return isinstance(schema, dict) and ("x-kubernetes-validations" in schema or any(map(_has_rules, schema.values())))


def problems(schema, value, path=""):
    """(reason, field, text) of each violation."""
    if value is None and schema.get("nullable"):
        return []
    wrong = _wrong_type(schema, value)
    if wrong:
        text = f'Invalid value: "{_json_type(value)}": {path} in body must be of type {wrong}: "{_json_type(value)}"'
        return [("FieldValueTypeInvalid", path, text)]
    found = _of_value(schema, value, path)
    if isinstance(value, dict):
        found += _of_object(schema, value, path)
    elif isinstance(value, list):
        found += _of_list(schema, value, path)
    return found


def _wrong_type(schema, value):
    if schema.get(_INT_OR_STRING):
        good = isinstance(value, (int, str)) and not isinstance(value, bool)
        return "" if good else "integer,string"
    kind = schema.get("type")
    if kind is None:
        return ""
    good = isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))
    return "" if good else kind


def _json_type(value):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    names = {int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return names[type(value)]


def _of_value(schema, value, path):
    found = []
    said = json.dumps(value) if not isinstance(value, (dict, list)) else f'"{_json_type(value)}"'
    if "enum" in schema and value not in schema["enum"]:
        names = ", ".join(json.dumps(one) for one in schema["enum"])
        found.append(("FieldValueNotSupported", path, f"Unsupported value: {said}: supported values: {names}"))
    if isinstance(value, str):
        if "pattern" in schema and not re.search(schema["pattern"], value):
            found.append(_invalid(path, said, f"should match '{schema['pattern']}'"))
        if len(value) > schema.get("maxLength", len(value)):
            text = f"Too long: may not be more than {schema['maxLength']} bytes"
            found.append(("FieldValueTooLong", path, text))
        if len(value) < schema.get("minLength", 0):
            found.append(_invalid(path, said, f"should be at least {schema['minLength']} chars long"))
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if value < schema.get("minimum", value):
            found.append(_invalid(path, said, f"should be greater than or equal to {schema['minimum']}"))
        if schema.get("exclusiveMinimum") and value == schema.get("minimum"):
            found.append(_invalid(path, said, f"should be greater than {schema['minimum']}"))
        if value > schema.get("maximum", value):
            found.append(_invalid(path, said, f"should be less than or equal to {schema['maximum']}"))
    return found


def _invalid(path, said, text):
    return ("FieldValueInvalid", path, f"Invalid value: {said}: {path} in body {text}")


def _of_object(schema, value, path):
    found = []
    properties, extra = schema.get("properties", {}), schema.get("additionalProperties")
    for key in schema.get("required", ()):
        if key not in value:
            found.append(("FieldValueRequired", f"{path}.{key}" if path else key, "Required value"))
    if len(value) < schema.get("minProperties", 0):
        text = f"should have at least {schema['minProperties']} properties"
        found.append(_invalid(path, len(value), text))
    if len(value) > schema.get("maxProperties", len(value)):
        text = f"Too many: {len(value)}: must have at most {schema['maxProperties']} items"
        found.append(("FieldValueTooMany", path, text))
    for key, item in value.items():
        inner = properties.get(key, extra if isinstance(extra, dict) else None)
        if inner is not None and (path or key != "metadata"):
            found += problems(inner, item, f"{path}.{key}" if path else key)
    return found


def _of_list(schema, value, path):
    found = []
    if len(value) < schema.get("minItems", 0):
        found.append(_invalid(path, len(value), f"should have at least {schema['minItems']} items"))
    if len(value) > schema.get("maxItems", len(value)):
        text = f"Too many: {len(value)}: must have at most {schema['maxItems']} items"
        found.append(("FieldValueTooMany", path, text))
    for at, item in enumerate(value):
        found += problems(schema.get("items", {}), item, f"{path}[{at}]")
    return found + _doubles(schema, value, path)


def _doubles(schema, value, path):
    kind = schema.get("x-kubernetes-list-type")
    seen, found = [], []
    for at, item in enumerate(value):
        if kind == "map" and isinstance(item, dict):
            key = {name: item.get(name) for name in schema["x-kubernetes-list-map-keys"] if name in item}
            said = json.dumps(key, separators=(",", ":"))
        elif kind == "set":
            key, said = item, json.dumps(item)
        else:
            continue
        if key in seen:
            found.append(("FieldValueDuplicate", f"{path}[{at}]", f"Duplicate value: {said}"))
        seen.append(key)
    return found
