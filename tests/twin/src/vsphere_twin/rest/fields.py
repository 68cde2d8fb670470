"""The structures of requests: required fields, types, enumerations (runtime of the vAPI, vapi.data messages)."""

from __future__ import annotations

import re

from .errors import RestError

LONG = 2**63
WORDS = {str: "STRING", int: "INTEGER", bool: "BOOLEAN", list: "LIST", dict: "STRUCTURE"}


class Struct:
    """A structure: its full name, its required fields, and its fields with their types."""

    def __init__(self, name, required=(), /, **fields):
        above, _dot, last = f"com.vmware.vcenter.{name}".rpartition(".")
        snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", last).lower()
        self.name = f"{re.sub('[A-Z](?=[a-z])', lambda one: one[0].lower(), above)}.{snake}"
        self.required, self.fields = set(required), fields


class Map:
    """A map of texts to values of one type; the older form has a list of keys and values."""

    def __init__(self, of):
        self.of = of


def checked(value, kind):
    """A value of a request after its check; raises INVALID_ARGUMENT where it does not fit its type.

    A type is str, int, bool, a tuple of the values of an enumeration, [the type of elements], a Map or a Struct.
    """
    if isinstance(kind, Struct):
        return _struct(value, kind)
    if isinstance(kind, Map):
        return {key: checked(one, kind.of) for key, one in _pairs(value).items()}
    if isinstance(kind, list):
        _require(value, list)
        return [checked(one, kind[0]) for one in value]
    if isinstance(kind, tuple):
        _require(value, str)
        if value not in kind:
            raise wrong("vapi.bindings.typeconverter.enum.invalid", f"{value} is no value of the enumeration.", value)
        return value
    _require(value, kind)
    if kind is int and not -LONG <= value < LONG:
        raise wrong("vapi.data.validate.mismatch", f"The value {str(value)[:30]} is no 64-bit integer.")
    return value


def _struct(value, kind):
    _require(value, dict)
    unknown = sorted(set(value) - set(kind.fields))
    if unknown:
        text = f"Found unexpected field {unknown[0]} in structure {kind.name}"
        raise wrong("vapi.data.structure.field.unexpected", text, unknown[0], kind.name)
    given = {name: one for name, one in value.items() if one is not None}
    missing = sorted(kind.required - set(given))
    if missing:
        text = f"Structure '{kind.name}' is missing a field: {missing[0]}"
        raise wrong("vapi.data.structure.field.missing", text, kind.name, missing[0])
    found = {}
    for name, one in given.items():
        try:
            found[name] = checked(one, kind.fields[name])
        except RestError as problem:
            problem.add_above(f"Found invalid field {name} in structure.", "vapi.data.structure.field.invalid", [name])
            raise
    return found


def _pairs(value):
    if isinstance(value, list):
        for one in value:
            if not isinstance(one, dict) or set(one) != {"key", "value"} or not isinstance(one["key"], str):
                raise wrong("vapi.data.list.invalid.entry", "An entry of the map has no key and value.")
        return {one["key"]: one["value"] for one in value}
    _require(value, dict)
    return value


def _require(value, kind):
    # A boolean is no integer of the API, although it is one of Python.
    if not isinstance(value, kind) or kind is int and isinstance(value, bool):
        found = next((word for one, word in WORDS.items() if type(value) is one), "VALUE")
        text = f"Type mismatch, expected an object of type {WORDS[kind]}, but got {found}"
        raise wrong("vapi.data.validate.mismatch", text, WORDS[kind], found)


def wrong(code, text, *args):
    """INVALID_ARGUMENT with the message of the runtime."""
    return RestError("INVALID_ARGUMENT", text, code=code, args=list(args))
