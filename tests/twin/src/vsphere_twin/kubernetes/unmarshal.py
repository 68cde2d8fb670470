"""Types of bodies, in the words of the JSON decoder of Go."""

from __future__ import annotations

import binascii

from .refused import Refused

GO = "x-go"  # in a schema: the name of the type in Go
_TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float)}
_PLAIN = {"integer": "int32", "boolean": "bool", "string": "string", "number": "float64"}
_HEADER = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
_SHOWN = 30  # bytes of a body in an error


def named(value):
    """The name of a JSON type."""
    if isinstance(value, bool):
        return "bool"
    names = {dict: "object", list: "array", str: "string", int: "number", float: "number", type(None): "null"}
    return names[type(value)]


def problem(schema, value, struct, path=()):
    """The first value that does not fit its type, as text; empty if all fit. Null fits each type."""
    kind = schema.get("type")
    if value is None or kind is None or schema.get("x-kubernetes-int-or-string"):
        return ""
    if not isinstance(value, _TYPES[kind]) or (kind != "boolean" and isinstance(value, bool)):
        given = f"number {value}" if kind == "integer" and isinstance(value, float) else named(value)
        where = f"struct field {struct}.{'.'.join(path)}" if path else "value"
        return f"json: cannot unmarshal {given} into Go {where} of type {_go(schema, struct, path)}"
    struct = _go(schema, struct, path).rpartition(".")[2] if GO in schema or _is_part(schema, path) else struct
    rows = ()
    if kind == "array":
        rows = ((schema.get("items", {}), item, path) for item in value)
    elif kind == "object":
        properties, extra = schema.get("properties", {}), schema.get("additionalProperties")
        if isinstance(extra, dict):
            rows = ((extra, item, path) for item in value.values())
        else:
            rows = ((properties.get(key, {}), item, (*path, key)) for key, item in value.items())
    return next(filter(None, (problem(inner, item, struct, where) for inner, item, where in rows)), "")


def _is_part(schema, path):
    return len(path) == 1 and path[0] in ("spec", "status") and "properties" in schema


def _go(schema, struct, path):
    kind = schema.get("type")
    if GO in schema:
        return schema[GO]
    if _is_part(schema, path):
        return f"v1.{struct}{path[0].title()}"
    if schema.get("format") == "byte":
        return "[]uint8"
    if kind == "array":
        return f"[]{_go(schema.get('items', {}), struct, ())}"
    if kind == "object":
        extra = schema.get("additionalProperties")
        return f"map[string]{_go(extra, struct, ()) if isinstance(extra, dict) else 'string'}"
    return _PLAIN.get(kind, "interface {}")


def header(obj, raw, kind):
    """Reject a body that is no object, or whose kind or version is no text."""
    text = _in_header(obj, raw)
    if text:
        said = f"the object provided is unrecognized (must be of type {kind}): couldn't get version/kind"
        raise Refused(400, f"{said}; json parse error: {text} ({_summary(raw)})")


def _in_header(obj, raw):
    if not raw:
        return "unexpected end of JSON input"
    if not isinstance(obj, (dict, type(None))):
        return f"json: cannot unmarshal {named(obj)} into Go value of type {_HEADER}"
    for name in ("apiVersion", "kind"):
        value = (obj or {}).get(name)
        if not isinstance(value, (str, type(None))):
            return f"json: cannot unmarshal {named(value)} into Go struct field .{name} of type string"
    return ""


def options(obj):
    """Reject options of a deletion that are no object."""
    if not isinstance(obj, dict):
        text = f"json: cannot unmarshal {named(obj)} into Go value of type {_HEADER}"
        raise Refused(400, f"couldn't get version/kind; json parse error: {text}")


def _summary(raw):
    if not raw:
        return "<empty>"
    part = raw[:_SHOWN]
    shown = part.decode(errors="replace") if raw[:1] == b"{" else binascii.hexlify(part).decode()
    return shown + (" ..." if len(raw) > _SHOWN else "")


def illegal_base64(text):
    """The index of the first character that Go's decoder rejects, or None. It skips line breaks."""
    at, end = 0, len(text)
    while at < end:
        count = 0
        while count < 4:
            if at == end:
                return None if count == 0 else at - count
            one, at = text[at], at + 1
            if one in "\r\n":
                continue
            if one.isascii() and (one.isalnum() or one in "+/"):
                count += 1
                continue
            return _after_padding(text, at, count) if one == "=" else at - 1
    return None


def _after_padding(text, at, count):
    """As illegal_base64(), after the first `=` that follows `count` characters."""
    if count < 2:
        return at - 1
    if count == 2:
        at = _without_breaks(text, at)
        if at == len(text):
            return at
        if text[at] != "=":
            return at - 1
        at += 1
    at = _without_breaks(text, at)
    return at if at < len(text) else None


def _without_breaks(text, at):
    while at < len(text) and text[at] in "\r\n":
        at += 1
    return at
