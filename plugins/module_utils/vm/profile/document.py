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
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import args

# Sections of the document. No source that was read names their places, so that each can be set [unsure].
PLACES = {
    "kernel_settings": "profile/esx/system/kernel_settings",
    "module_options": "profile/esx/system/module_options",
    "advanced_options": "profile/esx/system/advanced_options",
}

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
    return ["/".join(path) for path, _value in _leaves(requested) if _schema_at(now.schema, path) is None]


def want(label: str, now: Profile, requested: ProfileRequest) -> Profile:
    """The profile whose document has the settings; raises for a setting that it cannot hold."""
    lost = reverted(now, requested)
    if lost and requested.uncovered == "fail":
        raise OperatorError(
            label,
            f"would revert these host settings: {', '.join(lost)}",
            "A configuration profile manages its hosts, and the schema of the profile does not have these settings. "
            "The next remediation sets them to their defaults",
            "Set them again after each remediation and `uncovered: report`, or remove the profile from the cluster",
            "settings_reverted",
            settings=lost,
        )
    if not now.managed:
        return now
    document = copy.deepcopy(dict(now.document))
    for path, value in _leaves(requested):
        leaf = _schema_at(now.schema, path)
        if leaf is not None:
            _put(document, path, None if value is None else _spelled(leaf, value))
    return replace(now, document=document)


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
        "settings": {"/".join(path): flat.get(path) for path, _value in _leaves(requested)} if state.managed else {},
    }


def _leaves(requested: ProfileRequest) -> Iterator[tuple[Path, object]]:
    for section, place in requested.places.items():
        for path, value in sorted(_flat(requested.settings[section]).items()):
            yield (*place.split("/"), *path), value


def _flat(part: Mapping[str, Any], before: Path = ()) -> dict[Path, Any]:
    found: dict[Path, Any] = {}
    for name, value in part.items():
        if isinstance(value, Mapping):
            found.update(_flat(value, (*before, str(name))))
        else:
            found[(*before, str(name))] = value
    return found


def _schema_at(schema: Mapping[str, Any], path: Path) -> Mapping[str, Any] | None:
    """The schema of a setting; None if the document cannot have it."""
    found = schema
    for name in path:
        named = (found.get("properties") or {}).get(name)
        inner = named if named is not None else found.get("additionalProperties")
        if not isinstance(inner, Mapping):
            return None
        found = inner
    return found


def _put(document: dict[str, Any], path: Path, value: object) -> None:
    part = document
    for name in path[:-1]:
        if value is None and name not in part:
            return
        part = part.setdefault(name, {})
    if value is None:
        part.pop(path[-1], None)
    else:
        part[path[-1]] = value


def _spelled(leaf: Mapping[str, Any], value: object) -> object:
    """A value in the type of the schema; a text is in the notation of ESXi."""
    if leaf.get("type") == "string":
        return str(value).upper() if isinstance(value, bool) else str(value)
    return value
