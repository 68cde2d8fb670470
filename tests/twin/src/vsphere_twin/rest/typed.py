"""Values of vAPI's JSON-RPC with their types: the tables of data/vapi, requests as JSON, and results with types."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from importlib import resources

from .errors import RestError, message
from .fields import LONG, wrong

VENDOR = "com.vmware."
ERRORS = f"{VENDOR}vapi.std.errors."
INPUT, ENTRY, DYNAMIC = "operation-input", "map-entry", "dynamic-structure"
PLAIN = {"str": str, "int": int, "bool": bool}
NAMES = {str: "STRING", int: "INTEGER", float: "DOUBLE", bool: "BOOLEAN", list: "LIST", type(None): "VOID"}
WORDS = {"str": "STRING", "int": "INTEGER", "bool": "BOOLEAN"}
_ENTRY = re.compile(
    r"(?P<name>[\w$]+)(?:\((?P<given>.*)\) -> (?P<result>\S+) = (?P<verb>\w+) (?P<path>\S+)| {(?P<fields>.*)})"
)


@dataclass(frozen=True)
class Operation:
    """An operation of a service: its parameters and its result with their types, and the REST route that serves it."""

    given: dict
    result: str
    verb: str
    path: str


@functools.cache
def table():
    """Return the operations, by service and name, and the fields of the structures."""
    operations, structures = {}, {}
    for name in sorted(one.name for one in _folder().iterdir() if one.name.endswith(".txt")):
        owner = ""
        text = re.sub(r"\n {6,}", " ", _folder().joinpath(name).read_text(encoding="utf-8"))
        for line in text.splitlines():
            if not line.startswith(" "):
                owner = "" if line.startswith("#") else VENDOR + line.replace("/", ".")
                continue
            found = _ENTRY.fullmatch(line.strip())
            full = f"{owner}.{found['name']}"
            if found["verb"]:
                operations[owner, found["name"]] = Operation(
                    _fields(owner, found["given"]), _type(owner, found["result"]), found["verb"], found["path"]
                )
            else:
                structures[full] = _fields(owner, found["fields"])
    return operations, structures


def _folder():
    return resources.files(__package__).joinpath("..", "data", "vapi")


def _fields(owner, text):
    pairs = (one.split(": ") for one in text.split(", ") if one)
    return {name: _type(owner, kind) for name, kind in pairs}


def _type(owner, word):
    """A type with the full names of structures: .x is x of the owner."""
    named = re.sub(r"[\w-]+(?:/[\w-]+)+", lambda one: VENDOR + one[0].replace("/", "."), word)
    return re.sub(r"(?<!\w)\.[\w.-]+", lambda one: owner + one[0], named)


def plain(value, kind):
    """A value of a request as plain JSON; INVALID_ARGUMENT where it does not have this type."""
    if kind.endswith("?"):
        inside = _inside(value, "OPTIONAL")
        return None if inside is None else plain(inside, kind[:-1])
    if kind.startswith("["):
        return [plain(one, kind[1:-1]) for one in _typed(value, list, "LIST")]
    if kind.startswith("{"):
        return _map(value, kind[1:-1])
    if kind == "secret":
        return _typed(_inside(value, "SECRET"), str, "STRING")
    if kind == "any":
        return _untyped(value)
    if kind in PLAIN:
        return _typed(value, PLAIN[kind], WORDS[kind])
    return structure(value, kind, table()[1][kind])


def structure(value, name, fields):
    """The fields of a structure of this name."""
    inside = _inside(value, "STRUCTURE")
    if not isinstance(inside, dict) or len(inside) != 1 or not isinstance(inside.get(next(iter(inside))), dict):
        raise _mismatch("STRUCTURE", value)
    ((found, given),) = inside.items()
    if found != name:
        text = f"Name mismatch for structure. Expected {name}, but got {found}"
        raise wrong("vapi.data.structure.name.mismatch", text, name, found)
    unexpected = sorted(set(given) - set(fields))
    if unexpected:
        text = f'Found unexpected field "{unexpected[0]}" in structure "{name}".'
        raise wrong("vapi.data.structure.field.unexpected", text, unexpected[0], name)
    shown = {}
    for field, kind in fields.items():
        if field not in given:
            if kind.endswith("?"):
                continue
            text = f'Structure {name} is missing a field "{field}"'
            raise wrong("vapi.data.structure.field.missing", text, name, field)
        try:
            one = plain(given[field], kind)
        except RestError as problem:
            text = f'Found invalid field "{field}" in structure "{name}".'
            problem.add_above(text, "vapi.data.structure.field.invalid", [field, name])
            raise
        if one is not None:
            shown[field] = one
    return shown


def _map(value, kind):
    found = {}
    for one in _typed(value, list, "LIST"):
        entry = structure(one, ENTRY, {"key": "str", "value": kind})
        if entry["key"] in found:
            raise wrong("vapi.bindings.typeconverter.map.duplicate.key", f"Duplicate key {entry['key']} in the map.")
        found[entry["key"]] = entry.get("value")
    return found


def _untyped(value):
    """A value whose structures can have any fields."""
    if isinstance(value, list):
        shown = [_untyped(one) for one in value]
        entries = value and all(isinstance(one, dict) and ENTRY in (one.get("STRUCTURE") or {}) for one in value)
        return {one["key"]: one["value"] for one in shown} if entries else shown
    if not isinstance(value, dict):
        return value
    if len(value) != 1:
        raise _mismatch("STRUCTURE", value)
    ((tag, inside),) = value.items()
    if tag not in ("STRUCTURE", "ERROR"):
        return _untyped(inside)
    if not isinstance(inside, dict) or len(inside) != 1 or not isinstance(next(iter(inside.values())), dict):
        raise _mismatch("STRUCTURE", value)
    return {name: _untyped(one) for name, one in next(iter(inside.values())).items()}


def _inside(value, tag):
    if not isinstance(value, dict) or set(value) != {tag}:
        raise _mismatch(tag, value)
    return value[tag]


def _typed(value, kind, word):
    # A boolean is no integer of the API, although it is one of Python.
    if not isinstance(value, kind) or isinstance(value, bool) is not (kind is bool):
        raise _mismatch(word, value)
    if isinstance(value, int) and not -LONG <= value < LONG:
        raise wrong("vapi.data.validate.mismatch", f"The value {str(value)[:30]} is no 64-bit integer.")
    return value


def _mismatch(expected, value):
    tag = next(iter(value), "STRUCTURE") if isinstance(value, dict) else NAMES[type(value)]
    text = f"Type mismatch, expected an object of type {expected}, but got {tag}"
    return wrong("vapi.data.validate.mismatch", text, expected, tag)


def typed(value, kind):
    """A result of the REST API with the types of vAPI: structures with their names, optional values as such."""
    if kind.endswith("?"):
        return {"OPTIONAL": None if value is None else typed(value, kind[:-1])}
    if kind.startswith("["):
        return [typed(one, kind[1:-1]) for one in value]
    if kind.startswith("{"):
        return [{"STRUCTURE": {ENTRY: {"key": key, "value": typed(one, kind[1:-1])}}} for key, one in value.items()]
    if kind == "secret":
        return {"SECRET": value}
    if kind == "error":
        return error(value)
    if kind == "any":
        return _dynamic(value)
    if kind in PLAIN or kind == "void":
        return value
    fields = table()[1][kind]
    missing = next((name for name, one in fields.items() if name not in value and not one.endswith("?")), None)
    if missing is not None:
        raise ValueError(f"The REST API of the twin answers {kind} without its field {missing}.")
    return {"STRUCTURE": {kind: {name: typed(value.get(name), one) for name, one in fields.items()}}}


def _dynamic(value):
    if isinstance(value, list):
        return [_dynamic(one) for one in value]
    if isinstance(value, dict):
        return {"STRUCTURE": {DYNAMIC: {name: _dynamic(one) for name, one in value.items()}}}
    return {"OPTIONAL": None} if value is None else value


def error(body):
    """An error of the REST API as vAPI's error of this kind."""
    kind = body["error_type"]
    text = f"{VENDOR}vapi.std.localizable_message"
    messages = [typed({**message(""), **one}, text) for one in body["messages"]]
    fields = {"messages": messages, "data": {"OPTIONAL": None}, "error_type": {"OPTIONAL": kind}}
    if kind == "UNAUTHENTICATED":
        fields["challenge"] = {"OPTIONAL": None}
    return {"ERROR": {ERRORS + kind.lower(): fields}}
