"""Field ownership and server-side apply: who owns which field, merging by schema, conflicts."""

from __future__ import annotations

import copy
import json

from .object_meta import SCHEMA as _METADATA

_PRESENT = object()  # an item that exists without being a leaf
# Nobody owns these: they identify the object or belong to the server.
_UNOWNED = (
    "name",
    "namespace",
    "creationTimestamp",
    "selfLink",
    "uid",
    "generation",
    "managedFields",
    "resourceVersion",
)
_EXPECTED = {
    "object": ("map", dict),
    "array": ("list", list),
    "string": ("string", str),
    "boolean": ("boolean", bool),
    "integer": ("numeric (int or float)", (int, float)),
    "number": ("numeric (int or float)", (int, float)),
}


class Undeclared(Exception):
    """A field that the schema does not have; a patch of server-side apply is rejected with it."""


def leaves(schema, obj, strict=False):
    """{path: value} of the fields that can be owned; a path is a tuple of FieldsV1 elements."""
    found = {}
    for key, value in obj.items():
        if key in ("apiVersion", "kind"):
            continue
        if key == "metadata":
            if strict:
                _walk(_METADATA, value, ("f:metadata",), {}, True)
            kept = {name: item for name, item in (value or {}).items() if name not in _UNOWNED}
            _walk(_METADATA, kept, ("f:metadata",), found, False)
            continue
        inner = schema.get("properties", {}).get(key, {})
        if strict and not inner and not schema.get("x-kubernetes-preserve-unknown-fields"):
            raise Undeclared(f".{key}: field not declared in schema")
        _walk(inner, value, (f"f:{key}",), found, strict)
    found.pop(("f:metadata",), None)
    return found


def _maps(kind, obj):
    """The paths of maps with fields. A core kind has spec and status from the start, and each object its metadata."""
    found = set()

    def walk(schema, value, path):
        if isinstance(value, dict) and value and not _is_atomic_map(schema):
            found.add(path)
            extra = schema.get("additionalProperties")
            extra = extra if isinstance(extra, dict) else {}
            for key, item in value.items():
                walk(schema.get("properties", {}).get(key, extra), item, (*path, f"f:{key}"))
        elif isinstance(value, list) and schema.get("x-kubernetes-list-type") == "map":
            for item in value:
                walk(schema.get("items", {}), item, (*path, _element(schema, item)))

    walk({**kind.schema, "properties": {**kind.schema.get("properties", {}), "metadata": _METADATA}}, _owned(obj), ())
    return found - {(), ("f:metadata",)} - (set() if kind.custom else {("f:spec",), ("f:status",)})


def _owned(obj):
    metadata = {key: value for key, value in (obj.get("metadata") or {}).items() if key not in _UNOWNED}
    body = {key: value for key, value in obj.items() if key not in ("apiVersion", "kind", "metadata")}
    return {**body, "metadata": metadata}


def _check_type(schema, value, path):
    """Reject a value that the schema does not type, in the words of the typed objects of Go."""
    kind = schema.get("type")
    if value is None or kind is None or schema.get("x-kubernetes-int-or-string"):
        return
    if kind in _EXPECTED and not isinstance(value, _EXPECTED[kind][1]):
        given = f"&value.valueUnstructured{{Value:{_go(value)}}}" if kind == "string" else f"&{{{_go(value)}}}"
        raise Undeclared(f"{shown(path)}: expected {_EXPECTED[kind][0]}, got {given}")
    if isinstance(value, list) and schema.get("x-kubernetes-list-type") in ("map", "set"):
        seen = set()
        for at, item in enumerate(value):
            if not (isinstance(item, dict) or _is_set(schema)):
                text = "a null element" if item is None else "non-map elements"
                text = f"element {at}: associative list with keys may not have {text}"
                raise Undeclared(f"{shown(path)}: {text}")
            element = _element(schema, item) if isinstance(item, dict) or _is_set(schema) else ""
            if element == "k:{}":
                keys = json.dumps(schema["x-kubernetes-list-map-keys"])
                text = "associative list with keys has an element that omits all key fields"
                text = f"element {at}: {text} {keys} (and doesn't have default values for any key fields)"
                raise Undeclared(f"{shown(path)}: {text}")
            if element in seen:
                raise Undeclared(f"{shown(path)}: duplicate entries for key {shown((element,))}")
            seen.add(element)


def _is_set(schema):
    return schema.get("x-kubernetes-list-type") == "set"


def _go(value):
    return json.dumps(value) if isinstance(value, bool) else value


def _walk(schema, value, path, found, strict):
    if strict:
        _check_type(schema, value, path)
        if isinstance(value, dict) and _is_atomic_map(schema) and "properties" in schema:
            _walk({**schema, "x-kubernetes-map-type": "granular"}, value, path, {}, True)  # typed, with one owner
    if isinstance(value, dict) and not _is_atomic_map(schema):
        properties, extra = schema.get("properties", {}), schema.get("additionalProperties")
        if not value:
            found[path] = {}
        for key, item in value.items():
            inner = properties.get(key)
            if inner is None and strict and not (extra or schema.get("x-kubernetes-preserve-unknown-fields")):
                raise Undeclared(f"{shown((*path, f'f:{key}'))}: field not declared in schema")
            if inner is None:
                found[(*path, f"f:{key}")] = _PRESENT
            # The server deduces the types below a field that it preserves without a schema.
            typed = strict and (inner is not None or bool(extra))
            _walk(inner or (extra if isinstance(extra, dict) else {}), item, (*path, f"f:{key}"), found, typed)
    elif isinstance(value, list) and schema.get("x-kubernetes-list-type") in ("map", "set"):
        for item in value:
            element = (*path, _element(schema, item))
            found[element] = _PRESENT if schema["x-kubernetes-list-type"] == "map" else item
            if schema["x-kubernetes-list-type"] == "map":
                _walk(schema.get("items", {}), item, element, found, strict)
            elif strict:
                _check_type(schema.get("items", {}), item, element)
    else:
        found[path] = value


def _is_atomic_map(schema):
    return schema.get("x-kubernetes-map-type") == "atomic"


def _element(schema, item):
    if schema["x-kubernetes-list-type"] == "set":
        return "v:" + json.dumps(item, separators=(",", ":"))
    keys = sorted(schema["x-kubernetes-list-map-keys"])
    properties = schema.get("items", {}).get("properties", {})
    key = {name: item.get(name, properties.get(name, {}).get("default")) for name in keys}
    key = {name: value for name, value in key.items() if value is not None}
    return "k:" + json.dumps(key, separators=(",", ":"), sort_keys=True)


def shown(path):
    """The path in the words of a conflict: .spec.containers[name="x"].image."""
    text = ""
    for element in path:
        kind, _colon, rest = element.partition(":")
        if kind == "f":
            text += f".{rest}"
        elif kind == "v":
            text += f"[={rest}]"
        else:
            text += "[" + ",".join(f"{name}={json.dumps(value)}" for name, value in json.loads(rest).items()) + "]"
    return text


def encoded(paths):
    """Paths as FieldsV1."""
    tree = {}
    for path in sorted(paths):
        node = tree
        for element in path:
            node = node.setdefault(element, {})
        node["."] = {}
    return _without_dots(tree)


def _without_dots(node):
    if set(node) == {"."}:
        return {}
    return {key: value if key == "." else _without_dots(value) for key, value in node.items()}


def decoded(tree, prefix=()):
    """FieldsV1 as a set of paths."""
    if not tree:
        return {prefix} if prefix else set()
    found = set()
    for key, inner in tree.items():
        found |= {prefix} if key == "." else decoded(inner, (*prefix, key))
    return found


class Owners:
    """The managedFields of an object."""

    def __init__(self, entries):
        self.rows = {}  # (manager, operation, apiVersion, subresource): [paths, time]
        for entry in entries or ():
            key = (entry["manager"], entry["operation"], entry["apiVersion"], entry.get("subresource", ""))
            self.rows[key] = [decoded(entry.get("fieldsV1", {})), entry.get("time")]

    def entries(self):
        rows = sorted(self.rows.items(), key=lambda row: (row[0][1], row[1][1] or "", row[0][0]))
        return [_entry(key, paths, time) for key, (paths, time) in rows if paths]

    def updated(self, kind, old, new, manager, version, subresource, time):
        """Give the fields that an update changed to its manager, and the maps that it created."""
        before, after = leaves(kind.schema, old or {}), leaves(kind.schema, new)
        maps_before, maps = (_maps(kind, one) for one in (old or {}, new))
        gone = (before.keys() - after.keys()) | (maps_before - maps)
        changed = {path for path, value in after.items() if path not in before or before[path] != value}
        changed |= maps - maps_before
        for row in self.rows.values():
            row[0] = row[0] - gone - changed
        if changed:
            row = self.rows.setdefault((manager, "Update", version, subresource), [set(), time])
            row[0], row[1] = row[0] | changed, time

    def conflicts(self, key, live, wanted):
        """(owner, path) of the fields that another manager owns with another value."""
        differing = {
            path for path, value in wanted.items() if value is not _PRESENT and value != {} and live.get(path) != value
        }
        found = []
        for other, (paths, _time) in sorted(self.rows.items()):
            if other != key and not (other[0] == key[0] and other[1:] == key[1:]):
                found += [(other, path) for path in sorted(paths & differing)]
        return found


def write(metadata, owners):
    """Set the managedFields of an object; none is no list."""
    metadata["managedFields"] = owners.entries()
    if not metadata["managedFields"]:
        del metadata["managedFields"]


def _entry(key, paths, time):
    manager, operation, version, subresource = key
    entry = {"manager": manager, "operation": operation, "apiVersion": version}
    if time:
        entry["time"] = time
    entry.update(fieldsType="FieldsV1", fieldsV1=encoded(paths))
    if subresource:
        entry["subresource"] = subresource
    return entry


def conflict_text(conflicts):
    """The message of a rejected apply, and its causes."""
    causes = [
        {"reason": "FieldManagerConflict", "message": f"conflict with {_named(owner)}", "field": shown(path)}
        for owner, path in conflicts
    ]
    if len(conflicts) == 1:
        owner, path = conflicts[0]
        return f"Apply failed with 1 conflict: conflict with {_named(owner)}: {shown(path)}", causes
    by_owner = {}
    for owner, path in conflicts:
        by_owner.setdefault(owner, []).append(f"- {shown(path)}")
    texts = [f"conflicts with {_named(owner)}:\n" + "\n".join(rows) for owner, rows in by_owner.items()]
    return f"Apply failed with {len(conflicts)} conflicts: " + "\n".join(texts), causes


def _named(owner):
    manager, operation, version, subresource = owner
    text = json.dumps(manager)
    if subresource:
        text += f" with subresource {json.dumps(subresource)}"
    return f"{text} using {version}" if operation == "Update" else text


def merged(schema, live, applied):
    """The applied object over the live one, by the schema's list types."""
    result = copy.deepcopy(live)
    for key, value in applied.items():
        inner = _METADATA if key == "metadata" else schema.get("properties", {}).get(key, {})
        result[key] = _merge(inner, result.get(key), value)
    return result


def _merge(schema, live, applied):
    if isinstance(applied, dict) and isinstance(live, dict) and not _is_atomic_map(schema):
        properties, extra = schema.get("properties", {}), schema.get("additionalProperties")
        extra = extra if isinstance(extra, dict) else {}
        result = dict(live)
        for key, value in applied.items():
            result[key] = _merge(properties.get(key, extra), live.get(key), value)
        return result
    if isinstance(applied, list) and isinstance(live, list) and schema.get("x-kubernetes-list-type") in ("map", "set"):
        rows = {_element(schema, item): item for item in live}
        for item in applied:
            key = _element(schema, item)
            rows[key] = _merge(schema.get("items", {}), rows.get(key), item)
        return list(rows.values())
    return copy.deepcopy(applied)


def without(schema, obj, paths, kept):
    """The object without these paths; `kept` are paths that others own."""
    root = {**schema, "properties": {**schema.get("properties", {}), "metadata": _METADATA}}
    for path in sorted(paths, key=len):
        if not any(other[: len(path)] == path for other in kept):
            _remove(root, obj, path)
    return obj


def _remove(schema, node, path):
    """Remove one path; return whether the node is empty afterwards."""
    first, rest = path[0], path[1:]
    if first.startswith("f:"):
        name = first[2:]
        if not isinstance(node, dict) or name not in node:
            return False
        extra = schema.get("additionalProperties")
        inner = schema.get("properties", {}).get(name, extra if isinstance(extra, dict) else {})
        if not rest or _remove(inner, node[name], rest):
            del node[name]
        return not node
    if not isinstance(node, list):
        return False
    for item in list(node):
        same = _element(schema, item) == first
        if same and (not rest or _remove(schema.get("items", {}), item, rest)):
            node.remove(item)
    return not node
