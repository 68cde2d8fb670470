# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""BIOS attributes by the BMC's own registry: names, allowed values, and dependencies.

The form is that of the DMTF's AttributeRegistry schema.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Mapping, Sequence

# Hidden concerns setup screens: clients may still set attributes that those do not show.
LOCKS = ("ReadOnly", "Immutable", "GrayOut")
# YAML reads these words as booleans, and an operator who writes `On` gets true.
_WORDS = {True: ("on", "yes", "true", "enabled", "enable"), False: ("off", "no", "false", "disabled", "disable")}
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "EQU": lambda left, right: left == right,
    "NEQ": lambda left, right: left != right,
    "GTR": lambda left, right: left > right,
    "GEQ": lambda left, right: left >= right,
    "LSS": lambda left, right: left < right,
    "LEQ": lambda left, right: left <= right,
}


@dataclass(frozen=True)
class Attribute:
    """One entry of the registry; values are (name, text on the screen)."""

    name: str
    display: str = ""
    kind: str = "String"
    values: tuple[tuple[str, str | None], ...] = ()
    locked: bool = False
    write_only: bool = False
    low: int | None = None
    high: int | None = None
    longest: int | None = None
    help: str = ""


class Unacceptable(ValueError):
    """A value that an attribute does not take."""


class Registry:
    """The attributes of a BIOS, found by any spelling of their names."""

    def __init__(
        self, attributes: Iterable[Attribute], dependencies: Iterable[Dependency] = (), name: str = ""
    ) -> None:
        self.name = name
        self.attributes = {attribute.name: attribute for attribute in attributes}
        self.dependencies = tuple(dependencies)
        self._by_case = _index(self.attributes.values(), lambda attribute: attribute.name.lower())
        self._by_name = _index(self.attributes.values(), lambda attribute: plain(attribute.name))
        self._by_display = _index(self.attributes.values(), lambda attribute: plain(attribute.display))

    def find(self, text: str) -> list[Attribute]:
        """The attributes that a name means: exact but for case, else without suffix and signs, else as displayed."""
        return (
            self._by_case.get(text.lower()) or self._by_name.get(plain(text)) or self._by_display.get(plain(text)) or []
        )

    def about(self, words: Sequence[str]) -> list[str]:
        """The names of attributes whose texts hold one of these words."""
        return sorted(
            attribute.name
            for attribute in self.attributes.values()
            if any(
                word in plain(text) for word in words for text in (attribute.name, attribute.display, attribute.help)
            )
        )

    def effects(self, values: Mapping[str, Any]) -> dict[str, dict[str | None, tuple[Any, tuple[str, ...]]]]:
        """Return the effects of these values on other attributes: {name: {affected: (value, masters)}}."""
        found: dict[str, dict[str | None, tuple[Any, tuple[str, ...]]]] = {}
        for dependency in self.dependencies:
            if dependency.holds(values):
                found.setdefault(dependency.target, {})[dependency.affects] = (dependency.value, dependency.masters)
        return found

    def locked_by_others(self, name: str) -> bool:
        """Return whether other attributes make this one read-only, so that its own flag is only valid now."""
        return any(rule.target == name and rule.affects in LOCKS for rule in self.dependencies)


@dataclass(frozen=True)
class Dependency:
    """If the terms hold, the affected property of the target (its CurrentValue, ReadOnly, ...) has this value."""

    target: str
    affects: str | None
    value: Any
    terms: tuple[tuple[str | None, str, str, Any], ...]

    @property
    def masters(self) -> tuple[str, ...]:
        return tuple(term[1] for term in self.terms)

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Terms are joined from left to right, as the schema has it."""
        result = None
        for joined, name, condition, right in self.terms:
            left = values.get(name)
            try:
                fits = left is not None and _COMPARE[condition](left, right)
            except TypeError:
                fits = False
            if result is None:
                result = fits
            else:
                result = (result or fits) if joined == "OR" else (result and fits)
        return bool(result)


def plain(text: str | None) -> str:
    """A name without case, signs, and the number that AMI based boards append: SR-IOVSupport_002B, ...#002B."""
    return re.sub(r"[^a-z0-9]", "", re.sub(r"[_#][0-9A-Fa-f]{4}$", "", text or "").lower())


def parse(body: Mapping[str, Any]) -> Registry:
    """A Registry from an AttributeRegistry resource."""
    entries = body.get("RegistryEntries")
    entries = entries if isinstance(entries, dict) else {}
    dependencies = (_dependency(entry) for entry in _rows(entries.get("Dependencies")))
    return Registry(
        [_attribute(entry) for entry in _rows(entries.get("Attributes")) if entry.get("AttributeName")],
        [dependency for dependency in dependencies if dependency is not None],
        body.get("Id") or "",
    )


def made_of(values: Mapping[str, Any]) -> Registry:
    """A Registry for a BMC that has none: names and types of the values there are, and no more."""
    kinds = {bool: "Boolean", int: "Integer"}
    return Registry([Attribute(name, kind=kinds.get(type(value), "String")) for name, value in values.items()])


def accept(attribute: Attribute, wanted: Any) -> str | int:
    """The value as this BIOS spells it; raises Unacceptable with the values that it accepts."""
    if attribute.values:
        return _allowed(attribute, wanted)
    if attribute.kind == "Boolean":
        for value, words in _WORDS.items():
            if wanted is value or str(wanted).lower() in words:
                return value
        raise Unacceptable("accepts true or false")
    if attribute.kind == "Integer":
        return _integer(attribute, wanted)
    text = str(wanted)
    if attribute.longest is not None and len(text) > attribute.longest:
        raise Unacceptable(f"accepts up to {attribute.longest} characters")
    return text


def _allowed(attribute: Attribute, wanted: Any) -> str:
    words = _WORDS[wanted] if isinstance(wanted, bool) else (str(wanted).lower(),)
    for place in (0, 1):
        found = [value[0] for value in attribute.values if str(value[place] or "").lower() in words]
        if len(found) == 1:
            return found[0]
    raise Unacceptable("accepts one of " + ", ".join(str(value[0]) for value in attribute.values))


def _integer(attribute: Attribute, wanted: Any) -> int:
    try:
        number = int(str(wanted))
    except ValueError:
        raise Unacceptable("accepts a whole number") from None
    low, high = attribute.low, attribute.high
    if (low is not None and number < low) or (high is not None and number > high):
        raise Unacceptable(f"accepts a number from {low} to {high}")
    return number


def _attribute(entry: Mapping[str, Any]) -> Attribute:
    return Attribute(
        name=entry["AttributeName"],
        display=entry.get("DisplayName") or "",
        kind=entry.get("Type") or "String",
        values=tuple((value.get("ValueName"), value.get("ValueDisplayName")) for value in _rows(entry.get("Value"))),
        locked=any(entry.get(lock) for lock in LOCKS),
        write_only=bool(entry.get("WriteOnly")) or entry.get("Type") == "Password",
        low=entry.get("LowerBound"),
        high=entry.get("UpperBound"),
        longest=entry.get("MaxLength"),
        help=entry.get("HelpText") or "",
    )


def _dependency(entry: Mapping[str, Any]) -> Dependency | None:
    rule = entry.get("Dependency")
    rule = rule if isinstance(rule, dict) else {}
    given = rule.get("MapFrom") or []
    terms = []
    for term in given if given == _rows(given) else ():
        # A condition on something else than a value, or one that is new, cannot be judged here: the BIOS will.
        if term.get("MapFromProperty") != "CurrentValue" or term.get("MapFromCondition") not in _COMPARE:
            return None
        terms.append(
            (term.get("MapTerms"), term.get("MapFromAttribute"), term["MapFromCondition"], term.get("MapFromValue"))
        )
    if not terms or not rule.get("MapToAttribute"):
        return None
    return Dependency(rule["MapToAttribute"], rule.get("MapToProperty"), rule.get("MapToValue"), tuple(terms))


def _rows(value: Any) -> list[Any]:
    """The objects of a JSON list; a BMC can send null and other values between them, or instead of the list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _index(attributes: Iterable[Attribute], key: Callable[[Attribute], str]) -> dict[str, list[Attribute]]:
    found: dict[str, list[Attribute]] = {}
    for attribute in attributes:
        if key(attribute):
            found.setdefault(key(attribute), []).append(attribute)
    return found
