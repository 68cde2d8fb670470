# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Parse LLDP outputs of lldptool, niccli and lldpcli: neighbours and DCBX settings. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Iterator, TypedDict, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.hosts import words
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import cleaned
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Neighbour

if TYPE_CHECKING:

    class Reported(TypedDict, total=False):
        """The values that parse() finds."""

        neighbours: list[Neighbour]
        willing: bool | None
        pfc: list[int]
        classes: dict[int, int | None]
        schedule: dict[int, str]
        shares: dict[int, int]
        apps: list[dict[str, Any]]
        dscp_map: dict[int, int]


SELECTOR_DSCP = 5
_SECTIONS = {"chassis id": "chassis", "port id": "port", "system name": "system", "port description": "description"}
# Prefixes of an ID that name its kind.
_KINDS = ("mac", "ifname", "local", "ipv4", "ipv6", "interface name", "ifalias", "port component", "network address")
_APP = re.compile(r"App#?\s*(\d+)(?:\s+Prio\s+(\d+)\s+Sel\s+(\d+)\s+P-?ID\s+(\w+))?", re.IGNORECASE)


def parse(text: str) -> Reported:
    """{neighbours, willing, pfc, classes, schedule, shares, apps, dscp_map}; only reported keys."""
    found: Reported
    found, section = {}, ""
    for line in (line.strip() for line in cleaned(text)):
        if re.search(r"\bTLV:?$", line):
            section = "" if line.lower().startswith("end of") else line.rstrip(":").lower()
            if section.startswith("chassis id"):
                found.setdefault("neighbours", []).append(Neighbour())
        elif line:
            _line(found, section, line)
    apps = found.get("apps")
    if apps is not None:
        found["dscp_map"] = {
            one["protocol"]: one["priority"]
            for one in apps
            if one["selector"] == SELECTOR_DSCP and None not in (one["protocol"], one["priority"])
        }
    return found


def neighbours_of(reported: object) -> dict[str, list[Neighbour]]:
    """The neighbours in any output form of `lldpcli -f json show neighbors`: {port: [...]}."""
    found: dict[str, list[Neighbour]] = {}
    for port, entry in _interfaces(reported):
        chassis, place = _table(entry.get("chassis")), _table(entry.get("port"))
        name = _first(chassis.get("name")) if "id" in chassis else next(iter(chassis), None)
        inner = chassis if "id" in chassis else _table(chassis.get(name or ""))
        one = Neighbour(
            system=name,
            port=_first(place.get("id")),
            chassis=_first(inner.get("id")),
            description=_first(place.get("descr")),
        )
        found.setdefault(port, []).append(one)
    return found


def _interfaces(reported: object) -> Iterator[tuple[str, dict[str, Any]]]:
    """(port, entry) of each neighbour. Old releases of lldpd, and json0, name the port inside the entry."""
    whole = _table(reported)
    rows = _table(whole.get("lldp", whole)).get("interface")
    for row in filter(None, map(_table, rows if isinstance(rows, list) else [rows])):
        if isinstance(row.get("name"), str):
            yield row["name"], row
            continue
        for port, inner in row.items():
            yield from ((port, one) for one in (inner if isinstance(inner, list) else [inner]) if isinstance(one, dict))


def _table(value: object) -> dict[str, Any]:
    """An object, or the first one of a list; {} for another value."""
    value = value[0] if isinstance(value, list) and value else value
    return value if isinstance(value, dict) else {}


def _first(value: object) -> str | None:
    value = value[0] if isinstance(value, list) and value else value
    value = value.get("value") if isinstance(value, dict) else value
    return value if isinstance(value, str) else None


def _line(found: Reported, section: str, line: str) -> None:
    name, _colon, value = (part.strip() for part in line.partition(":"))
    name = name.lower()
    attribute = next((attribute for start, attribute in _SECTIONS.items() if section.startswith(start)), None)
    if attribute is not None:
        _neighbour(found, attribute, line)
    elif name == "willing":
        found["willing"] = words.truth(value)
    elif "ets recommendation" in section:
        return  # a recommendation for the peer, not the effective state
    elif name in ("pfc enabled", "pfc enabled priorities"):
        found["pfc"] = words.listed(value)
    elif name == "prio_map":
        found["classes"] = {priority: words.whole(one) for priority, one in words.pairs(value).items()}
    elif name == "tsa_map":
        found["schedule"] = words.pairs(value)
    elif name == "tc bandwidth":
        found["shares"] = dict(enumerate(int(share) for share in re.findall(r"(\d+)%", value)))
    elif _APP.match(line):
        _begin_app(found, cast("re.Match[str]", _APP.match(line)))
    elif found.get("apps") and "app tlv" in section:
        _app(found["apps"][-1], name, value)


def _neighbour(found: Reported, attribute: str, line: str) -> None:
    kind, colon, value = line.partition(":")
    reported = value.strip() if colon and kind.strip().lower() in _KINDS else line
    found.setdefault("neighbours", [Neighbour()])
    setattr(found["neighbours"][-1], attribute, reported)


def _begin_app(found: Reported, match: re.Match[str]) -> None:
    _number, priority, selector, protocol = match.groups()
    entry = {"priority": _int(priority), "selector": _int(selector), "protocol": _int(protocol)}
    found.setdefault("apps", []).append(entry)


def _app(entry: dict[str, int | None], name: str, value: str) -> None:
    if name == "priority":
        entry["priority"] = words.whole(value)
    elif name == "sel":
        entry["selector"] = words.whole(value)
    elif name != "tc rate limit" and value:
        entry["protocol"] = words.whole(value)


def _int(text: str | None) -> int | None:
    return None if text is None else words.whole(text)
