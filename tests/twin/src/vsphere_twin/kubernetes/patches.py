"""The patches of an API server: JSON patch (RFC 6902), merge patch (RFC 7396) and strategic merge patch."""

from __future__ import annotations

import copy

from . import unmarshal
from .refused import Refused

JSON, MERGE = "application/json-patch+json", "application/merge-patch+json"
STRATEGIC, APPLY = "application/strategic-merge-patch+json", "application/apply-patch+yaml"


def check(content, patch):
    """Reject a merge patch or a strategic merge patch that is no object."""
    if not isinstance(patch, dict):
        text = f"json: cannot unmarshal {unmarshal.named(patch)} into Go value of type map[string]interface {{}}"
        raise Refused(400, f"error decoding patch: {text}" if content == MERGE else text)


def merge(obj, patch):
    """A merge patch: null removes, lists are replaced whole."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = dict(obj) if isinstance(obj, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge(result.get(key), value)
    return result


def strategic(schema, obj, patch):
    """A strategic merge patch: as a merge patch, with lists merged by the keys of the schema."""
    if isinstance(patch, dict) and patch.get("$patch") == "replace":
        return {key: value for key, value in patch.items() if key != "$patch"}
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = dict(obj) if isinstance(obj, dict) else {}
    extra = schema.get("additionalProperties")
    for key, value in patch.items():
        if key.startswith("$deleteFromPrimitiveList/"):
            name = key.partition("/")[2]
            result[name] = [item for item in result.get(name, []) if item not in value]
        elif key.startswith("$"):
            continue
        elif value is None:
            result.pop(key, None)
        else:
            inner = schema.get("properties", {}).get(key, extra if isinstance(extra, dict) else {})
            if isinstance(value, list):
                result[key] = _list(inner, result.get(key) or [], value)
            else:
                result[key] = strategic(inner, result.get(key), value)
    return result


def _list(schema, old, patch):
    kind = schema.get("x-kubernetes-list-type")
    if kind == "set":
        return old + [item for item in patch if item not in old]
    # An item of another type is kept: the check of the types names it.
    if kind != "map" or any(not isinstance(item, dict) or item.get("$patch") == "replace" for item in patch):
        return [item for item in copy.deepcopy(patch) if not (isinstance(item, dict) and "$patch" in item)]
    key = schema["x-kubernetes-list-map-keys"][0]
    result = list(old)
    for item in patch:
        at = next((at for at, one in enumerate(result) if one.get(key) == item.get(key)), None)
        if item.get("$patch") == "delete":
            result = [one for one in result if one.get(key) != item.get(key)]
        elif at is None:
            result.append(copy.deepcopy(item))
        else:
            result[at] = strategic(schema.get("items", {}), result[at], item)
    return result


def json_patch(obj, operations):
    """A JSON patch; an operation that cannot be applied rejects the whole, and the server does not name it."""
    if not isinstance(operations, list):
        text = f"json: cannot unmarshal {unmarshal.named(operations)} into Go value of type []handlers.jsonPatchOp"
        raise Refused(400, f"error decoding patch: {text}")
    result = copy.deepcopy(obj)
    for operation in operations:
        try:
            result = _operate(result, operation)
        except (AttributeError, KeyError, IndexError, TypeError, ValueError):
            text = "the server rejected our request due to an error in our request"
            raise Refused(422, text, details={}) from None
    return result


def _operate(root, operation):
    verb, path = operation["op"], _parts(operation["path"])
    if verb in ("move", "copy"):
        source = _parts(operation["from"])
        value = copy.deepcopy(_at(root, source))
        if verb == "move":
            root = _remove(root, source)
        return _add(root, path, value)
    if verb == "add":
        return _add(root, path, operation["value"])
    if verb == "remove":
        return _remove(root, path)
    if verb == "replace":
        _at(root, path)
        return _add(_remove(root, path), path, operation["value"])
    if verb == "test" and _at(root, path) == operation["value"]:
        return root
    raise ValueError(verb)


def _parts(pointer):
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def _at(node, parts):
    for part in parts:
        node = node[int(part)] if isinstance(node, list) else node[part]
    return node


def _add(root, parts, value):
    if not parts:
        return value
    node, last = _at(root, parts[:-1]), parts[-1]
    if isinstance(node, list):
        node.insert(len(node) if last == "-" else int(last), value)
    else:
        node[last] = value
    return root


def _remove(root, parts):
    node, last = _at(root, parts[:-1]), parts[-1]
    del node[int(last) if isinstance(node, list) else last]
    return root
