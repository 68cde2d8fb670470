# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Comparison of an object with the schema of its custom resource definition. Pure.

A server silently drops unknown fields, so a misspelt field has no effect.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

OPEN = ("x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource")
TYPES: dict[str, tuple[type, ...]] = {
    "object": (Mapping,),
    "array": (list, tuple),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}


def served(definitions: Sequence[Mapping[str, Any]], group: str, kind: str) -> dict[str, Mapping[str, Any]]:
    """{version: schema} of the served versions of a kind, the version of the storage first."""
    for one in definitions:
        spec = one.get("spec") or {}
        if spec.get("group") == group and (spec.get("names") or {}).get("kind") == kind:
            versions = [version for version in spec.get("versions") or [] if version.get("served")]
            versions.sort(key=lambda version: not version.get("storage"))
            return {one["name"]: (one.get("schema") or {}).get("openAPIV3Schema") or {} for one in versions}
    return {}


def problems(schema: Mapping[str, Any], value: Any, path: str = "") -> Iterator[str]:
    """Each field of a value that the schema does not have, or that it rejects."""
    if value is None and schema.get("nullable"):
        return
    kind = schema.get("type")
    if schema.get("x-kubernetes-int-or-string"):
        if not isinstance(value, (int, str)) or isinstance(value, bool):
            yield f"{path} is not a number or a text"
        return
    if kind and not _is(value, kind):
        yield f"{path} is not of the type {kind}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{path} is {value}, but must be one of {', '.join(map(str, schema['enum']))}"
    if isinstance(value, Mapping):
        yield from _fields(schema, value, path)
    elif isinstance(value, (list, tuple)):
        for index, one in enumerate(value):
            yield from problems(schema.get("items") or {}, one, f"{path}[{index}]")
        yield from _doubles(schema, value, path)


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, TYPES.get(kind, (object,)))


def _fields(schema: Mapping[str, Any], value: Mapping[str, Any], path: str) -> Iterator[str]:
    known = schema.get("properties") or {}
    others = schema.get("additionalProperties")
    free = others is not None or "properties" not in schema or any(schema.get(key) for key in OPEN)
    for name in schema.get("required") or ():
        if name not in value:
            yield f"{_below(path, name)} is required"
    for name, one in value.items():
        below = _below(path, name)
        if name in known:
            yield from problems(known[name], one, below)
        elif isinstance(others, Mapping):
            yield from problems(others, one, below)
        elif not free:
            yield f"{below} is unknown"


def _doubles(schema: Mapping[str, Any], value: Sequence[Any], path: str) -> Iterator[str]:
    keys = schema.get("x-kubernetes-list-map-keys") or ()
    if not keys:
        return
    seen = set()
    for index, one in enumerate(value):
        identity = tuple(str(one.get(key)) for key in keys) if isinstance(one, Mapping) else (str(one),)
        if identity in seen:
            yield f"{path}[{index}] has the same {' and '.join(keys)} as an earlier entry"
        seen.add(identity)


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
