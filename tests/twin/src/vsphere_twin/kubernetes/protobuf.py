"""Bodies in protobuf, as kubectl and other clients written in Go send them for core kinds."""

from __future__ import annotations

import base64
import datetime
import json
from functools import cache
from importlib import resources

TYPE = "application/vnd.kubernetes.protobuf"
_PREFIX = b"k8s\x00"
_WIDTHS = {1: 8, 5: 4}  # bytes of a value, by its wire type
# The envelope of each body, and its part with the type: the fields that a reader needs.
_ENVELOPE = {1: (".", "@TypeMeta", False), 2: ("raw", "raw", False)}
_TYPE_META = {1: ("apiVersion", "string", False), 2: ("kind", "string", False)}


@cache
def _messages():
    text = resources.files(__package__).joinpath("..", "data", "protobuf.txt").read_text(encoding="utf-8")
    found = {"Unknown": _ENVELOPE, "TypeMeta": _TYPE_META}
    for line in text.splitlines():
        if not line.startswith("#"):
            name, _colon, rows = line.partition(":")
            fields = (row.split() for row in filter(None, rows.split(",")))
            found[name] = {int(at): (key, kind.rstrip("?"), kind.endswith("?")) for at, key, kind in fields}
    return found


def decoded(raw):
    """The object in a body; ValueError if it is no message of a known kind."""
    if not raw.startswith(_PREFIX):
        prefix = " ".join(map(str, _PREFIX))
        raise ValueError(f"provided data does not appear to be a protobuf message, expected prefix [{prefix}]")
    try:
        envelope = _message("Unknown", raw[len(_PREFIX) :])
        kind = envelope.get("kind", "")
        if kind not in _messages():
            raise ValueError(f'no kind "{kind}" is registered for version "{envelope.get("apiVersion", "")}"')
        own = {key: envelope[key] for key in ("apiVersion", "kind") if key in envelope}
        return {**own, **_message(kind, envelope.get("raw", b""))}
    except (AttributeError, TypeError, OverflowError, OSError, RecursionError):
        raise ValueError("proto: a field has a wrong wireType, or a value out of range") from None


def _message(name, data):
    fields, found = _messages()[name], {}
    for number, value in _values(data):
        if number not in fields:
            continue
        key, kind, pointer = fields[number]
        if kind.endswith("*"):
            found.setdefault(key, []).append(_value(kind[:-1], value))
        elif kind.startswith("{"):
            entry = dict(_values(value))
            found.setdefault(key, {})[entry.get(1, b"").decode()] = _value(kind[1:-1], entry.get(2, b""))
        elif key == ".":
            found.update(_value(kind, value))
        else:
            shown = _value(kind, value)
            # Go writes each field that is no pointer, also when it is empty.
            if pointer or kind.startswith("@") or shown not in ("", 0, None):
                found[key] = shown
    return found


def _values(data):
    """(number, value) of each field: a number or bytes."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        wire = tag & 7
        if wire == 0:
            value, at = _varint(data, at)
        else:
            size, at = (_WIDTHS[wire], at) if wire in _WIDTHS else _varint(data, at)
            if wire not in (1, 2, 5) or at + size > len(data):
                raise ValueError("unexpected EOF")
            value, at = data[at : at + size], at + size
        yield tag >> 3, value


def _varint(data, at):
    value = shift = 0
    while at < len(data):
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return value, at
    raise ValueError("unexpected EOF")


def _value(kind, value):
    if kind in ("int", "bool") and isinstance(value, int):
        return bool(value) if kind == "bool" else value - (value >> 63 << 64)
    if not isinstance(value, bytes):
        raise ValueError(f"proto: wrong wireType = 0 for a field of type {kind}")
    if kind.startswith("@"):
        return _message(kind[1:], value)
    if kind == "string":
        return value.decode()
    if kind == "bytes":
        return base64.b64encode(value).decode()
    if kind == "raw":
        return value
    inner = dict(_values(value))
    if kind == "intstr":
        return inner.get(3, b"").decode() if inner.get(1) else _value("int", inner.get(2, 0))
    if kind in ("time", "microtime"):
        if not inner.get(1):
            return None
        at = datetime.datetime.fromtimestamp(inner[1], datetime.timezone.utc)
        fraction = f".{inner.get(2, 0) // 1000:06}" if kind == "microtime" else ""
        return f"{at:%Y-%m-%dT%H:%M:%S}{fraction}Z"
    if kind == "json":
        return json.loads(inner[1]) if inner.get(1) else None
    return inner.get(1, b"").decode()  # a quantity
