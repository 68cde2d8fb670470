# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Map functions to attributes of this BIOS, and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish import registry as registries
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.function_map import LOOKS_LIKE, MAPS, WORDS


@dataclass(frozen=True)
class RequestedValue:
    """The desired value of an attribute, and the option that requests it."""

    value: str | int
    asked_by: str


class Unmapped(ValueError):
    """A function that this BIOS does not have under any known name."""


def resolve(
    vendor: str, registry: registries.Registry, functions: Mapping[str, str], values: Mapping[str, Any]
) -> tuple[dict[str, RequestedValue], dict[str, str], list[str]]:
    """Return {attribute: value} for {function: word}; {function: reason} for unmapped functions; contradictions.

    values are those after the next boot: if several spellings mean the same, the present one is kept.
    """
    requests: dict[str, RequestedValue]
    requests, unmapped, clashes = {}, {}, []
    for function, word in functions.items():
        try:
            spelled = _spelled(vendor, registry, function, word, values)
        except Unmapped as reason:
            unmapped[function] = str(reason)
            continue
        for name, value in spelled.items():
            requested = requests.setdefault(name, RequestedValue(value, function))
            if requested.value != value:
                clashes.append(f"{requested.asked_by} needs {name}={requested.value}, {function} needs {name}={value}")
    return requests, unmapped, clashes


def status(vendor: str, registry: registries.Registry, values: Mapping[str, Any]) -> dict[str, str | None]:
    """The word that each function has by these values; None if it is unknown or neither."""
    return {function: _word(vendor, registry, function, values) for function in WORDS}


def refuse_unmapped(label: str, vendor: str, registry: registries.Registry, unmapped: Mapping[str, str]) -> None:
    """Report the functions without a map, similar attributes, and the fix."""
    if not unmapped:
        return
    reported, candidates = [], {}
    for function, reason in unmapped.items():
        candidates[function] = registry.about(LOOKS_LIKE[function])
        names = ", ".join(candidates[function][:8]) or "none"
        reported.append(f"{function}: {reason}, attributes with similar names: {names}")
    raise OperatorError(
        label,
        f"cannot set the BIOS functions {', '.join(unmapped)}",
        f"Their attributes are not known for this server (vendor {vendor}). {'; '.join(reported)}",
        "Remove these functions, and name the attributes with their values under `attributes`",
        code="function_unmapped",
        functions=sorted(unmapped),
        candidates=candidates,
    )


def _spelled(
    vendor: str, registry: registries.Registry, function: str, word: str, values: Mapping[str, Any]
) -> dict[str, str | int]:
    found = {}
    entry = MAPS.get(vendor, {}).get(function)
    if entry is None:
        raise Unmapped("no map for this vendor")
    for setting in (one for one in entry.settings if word in one.values):
        attributes = _present(registry, setting.names)
        if not attributes and setting.needed:
            raise Unmapped(f"this BIOS has no {' or '.join(setting.names)}")
        for attribute in attributes:
            found[attribute.name] = _value(attribute, setting.values[word], values.get(attribute.name))
    return found


def _present(registry: registries.Registry, names: Iterable[str]) -> list[registries.Attribute]:
    for name in names:
        attributes = registry.find(name)
        if attributes:
            return attributes
    return []


def _value(attribute: registries.Attribute, spellings: Sequence[str], present: Any) -> str | int:
    taken, refusals = [], []
    for spelling in spellings:
        try:
            taken.append(registries.accept(attribute, spelling))
        except registries.Unacceptable as refusal:
            refusals.append(str(refusal))
    if not taken:
        known = " or ".join(map(str, spellings))
        raise Unmapped(f"{attribute.name} {refusals[-1]}, none of which is known to be {known}")
    return present if present in taken else taken[0]


def _word(vendor: str, registry: registries.Registry, function: str, values: Mapping[str, Any]) -> str | None:
    for word in WORDS[function]:
        try:
            spelled = _spelled(vendor, registry, function, word, values)
        except Unmapped:
            continue
        if spelled and all(values.get(name) == value for name, value in spelled.items()):
            return word
    return None
