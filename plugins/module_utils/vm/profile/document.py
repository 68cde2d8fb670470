# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Configuration Profiles: the document of a cluster, and the host settings that a remediation would revert. Pure."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace
from typing import Any, Iterator, Mapping, Tuple

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.host import module_text
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import args

# Sections of the document, each of which can be set [unsure]. The place of the module options is that in documents of
# VMware Edge Compute Stack 3.5 (github.com/alanrenouf/ECSExample, edge-host-config/usb-nic-scan-on-boot.yaml), which
# configure the same ESX. No source that was read names the other places.
PLACES = {
    "kernel_settings": "profile/esx/system/kernel_settings",
    "module_options": "profile/esx/vmkernel/module_settings",
    "advanced_options": "profile/esx/system/advanced_options",
}
# Keys of a kernel module in its section, which is a list there: its name, and its options as one text.
MODULE, OPTIONS = "module_name", "options"
# Most references in a schema that lead to one part of it.
_HOPS = 16

ARGUMENTS = dict(
    args.CONNECTION,
    cluster={"type": "str", "required": True},
    settings={
        "type": "dict",
        "apply_defaults": True,
        "options": {name: {"type": "dict", "default": {}} for name in PLACES},
    },
    places={
        "type": "dict",
        "apply_defaults": True,
        "options": {name: {"type": "str", "default": place} for name, place in PLACES.items()},
    },
    uncovered={"type": "str", "choices": ["fail", "report"], "default": "fail"},
    task_timeout_s=args.TASK_WAITING["task_timeout_s"],
    **args.DATACENTER,
)

Path = Tuple[str, ...]


@dataclass(frozen=True)
class ProfileRequest:
    """Host settings that a play is about to make on hosts of a cluster."""

    cluster: str
    settings: Mapping[str, Mapping[str, Any]]
    places: Mapping[str, str]
    uncovered: str
    task_timeout_s: int = 600
    datacenter: str | None = None


@dataclass(frozen=True)
class Profile:
    """How the settings of a cluster's hosts are managed; document and schema are empty without a profile."""

    managed: bool = False
    document: Mapping[str, Any] = field(default_factory=dict)
    schema: Mapping[str, Any] = field(default_factory=dict)


def request_of(params: Mapping[str, Any]) -> ProfileRequest:
    """The request of a task."""
    return request(ProfileRequest, params)


def check_params(params: Mapping[str, Any]) -> list[str]:
    """Everything that is wrong with the parameters, one sentence each."""
    return args.check_common(params) + [
        f"places.{name} is {place!r}, which is not a path; write its parts with / between them."
        for name, place in params["places"].items()
        if not all(place.split("/"))
    ]


def reverted(now: Profile, requested: ProfileRequest) -> list[str]:
    """Paths of the settings that the next remediation reverts, because the schema does not cover them."""
    if not now.managed:
        return []
    return ["/".join(path) for path, _value in _leaves(requested) if _located(now.schema, path) is None]


def want(label: str, now: Profile, requested: ProfileRequest) -> Profile:
    """The profile whose document has the settings; raises for a setting that it cannot hold."""
    lost = reverted(now, requested)
    if lost and requested.uncovered == "fail":
        elsewhere = similar(now.schema, requested)
        raise OperatorError(
            label,
            f"would revert these host settings: {', '.join(lost)}",
            "A configuration profile manages its hosts, and the schema of the profile does not have these settings at "
            "their places. The next remediation sets them to their defaults"
            + (f". The schema has similar names: {', '.join(elsewhere)}" if elsewhere else ""),
            ("Set `places` to their places in the schema; or set" if elsewhere else "Set")
            + " them again after each remediation and `uncovered: report`, or remove the profile from the cluster",
            "settings_reverted",
            settings=lost,
        )
    if not now.managed:
        return now
    document = copy.deepcopy(dict(now.document))
    for path, value in _leaves(requested):
        found = _located(now.schema, path)
        if found is not None:
            place, leaf = found
            _put(document, now.schema, place, None if value is None else _spelled(leaf, value))
    return replace(now, document=document)


def similar(schema: Mapping[str, Any], requested: ProfileRequest) -> list[str]:
    """Places of the schema whose name is that of a setting that it does not have at its place."""
    lost = [path for path, _value in _leaves(requested) if _located(schema, path) is None]
    names = {_plain(path[-1].rpartition(".")[2]) for path in lost}
    return sorted("/".join(path) for path in _paths(schema, schema) if _plain(path[-1]) in names)


def compare(now: Profile, wanted: Profile) -> list[Change]:
    """Return each setting of the document that differs."""
    before, after = _flat(now.document), _flat(wanted.document)
    return [
        Change("/".join(path), before.get(path), after.get(path))
        for path in sorted({*before, *after})
        if before.get(path) != after.get(path)
    ]


def project(state: Profile, requested: ProfileRequest) -> dict[str, Any]:
    """The management of the hosts, and the values that the document has for the settings of the task."""
    flat = _flat(state.document)
    return {
        "managed": state.managed,
        "settings": {"/".join(path): flat.get(path) for path in _places(state, requested)} if state.managed else {},
    }


def _leaves(requested: ProfileRequest) -> Iterator[tuple[Path, object]]:
    for section, place in requested.places.items():
        for path, value in sorted(_flat(requested.settings[section]).items()):
            yield (*place.split("/"), *path), value


def _places(state: Profile, requested: ProfileRequest) -> list[Path]:
    """The places of the settings in the document, in the spelling of the schema where it has them."""
    found = ((path, _located(state.schema, path)) for path, _value in _leaves(requested))
    return [path if one is None else one[0] for path, one in found]


def _flat(part: Mapping[str, Any], before: Path = ()) -> dict[Path, Any]:
    found: dict[Path, Any] = {}
    for name, value in part.items():
        inner = _modules(value) if _is_list_of_modules(value) else value
        if isinstance(inner, Mapping):
            found.update(_flat(inner, (*before, str(name))))
        else:
            found[(*before, str(name))] = value
    return found


def _is_list_of_modules(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) and MODULE in one for one in value)


def _modules(entries: list[dict[str, Any]]) -> dict[str, dict[str, str]]:
    return {str(one[MODULE]): module_text.parse(str(one.get(OPTIONS) or "")) for one in entries}


def _located(schema: Mapping[str, Any], path: Path) -> tuple[Path, Mapping[str, Any]] | None:
    """A setting's place in the spelling of the schema, and its schema; None if the document cannot have it."""
    place: list[str] = []
    found = _resolved(schema, schema)
    for at, name in enumerate(path):
        if _holds_modules(schema, found):
            # An option has no schema of its own in the text.
            return ((*place, *path[at:]), {}) if len(path) - at == 2 else None
        key = _key(found.get("properties") or {}, name)
        inner = found["properties"][key] if key is not None else found.get("additionalProperties")
        if not isinstance(inner, Mapping):
            return None
        found = _resolved(schema, inner)
        place.append(key if key is not None else name)
    return tuple(place), found


def _key(properties: Mapping[str, Any], name: str) -> str | None:
    """A name in the spelling of the schema: Security.AccountLockFailures is account_lock_failures there."""
    if name in properties:
        return name
    alike = [key for key in properties if _plain(key) in (_plain(name), _plain(name.rpartition(".")[2]))]
    return alike[0] if len(alike) == 1 else None


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _resolved(schema: Mapping[str, Any], part: Mapping[str, Any]) -> Mapping[str, Any]:
    """A part of a JSON schema without references to other parts of the same schema."""
    for _hop in range(_HOPS):
        reference = part.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            break
        found: object = schema
        for name in reference[2:].split("/"):
            found = found.get(name) if isinstance(found, Mapping) else None
        part = found if isinstance(found, Mapping) else {}
    return part


def _holds_modules(schema: Mapping[str, Any], part: Mapping[str, Any]) -> bool:
    items = part.get("items")
    if not isinstance(items, Mapping):
        return False
    return {MODULE, OPTIONS} <= set(_resolved(schema, items).get("properties") or {})


def _paths(
    schema: Mapping[str, Any], part: Mapping[str, Any], before: Path = (), above: Tuple[int, ...] = ()
) -> Iterator[Path]:
    """All named parts of a schema that have no further ones. A part that contains itself is followed once."""
    found = _resolved(schema, part)
    if id(found) in above:
        return
    properties = found.get("properties")
    if not isinstance(properties, Mapping) or len(before) > _HOPS:
        if before:
            yield before
        return
    for name, inner in properties.items():
        if isinstance(inner, Mapping):
            yield from _paths(schema, inner, (*before, name), (*above, id(found)))


def _put(document: dict[str, Any], schema: Mapping[str, Any], path: Path, value: object) -> None:
    part, found = document, _resolved(schema, schema)
    for at, name in enumerate(path[:-1]):
        if value is None and name not in part:
            return
        named = (found.get("properties") or {}).get(name, found.get("additionalProperties"))
        found = _resolved(schema, named or {})
        if _holds_modules(schema, found):
            part[name] = _with_option(part.get(name) or [], path[at + 1], path[at + 2], value)
            return
        part = part.setdefault(name, {})
    if value is None:
        part.pop(path[-1], None)
    else:
        part[path[-1]] = value


def _with_option(entries: list[dict[str, Any]], module: str, option: str, value: object) -> list[dict[str, Any]]:
    """The list of kernel modules with an option; other options and modules stay as they are spelled."""
    now = _modules([one for one in entries if one.get(MODULE) == module]).get(module)
    options = module_text.merged(now or {}, {option: value})
    if options == (now or {}):
        return entries
    text = module_text.render(options)
    changed = [dict(one, **{OPTIONS: text}) if one.get(MODULE) == module else one for one in entries]
    if now is None:
        changed.append({MODULE: module, OPTIONS: text})
    # An entry with other keys stays.
    return [one for one in changed if text or one.get(MODULE) != module or set(one) - {MODULE, OPTIONS}]


def _spelled(leaf: Mapping[str, Any], value: object) -> object:
    """A value in the type of the schema; a text is in the notation of ESXi."""
    kind = leaf.get("type")
    if kind == "string":
        return str(value).upper() if isinstance(value, bool) else module_text.spelled(value)
    if kind == "boolean" and str(value).casefold() in ("true", "false"):
        return str(value).casefold() == "true"
    if kind == "integer" and str(value).lstrip("-").isdecimal():
        return int(str(value))
    return value
