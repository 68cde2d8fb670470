# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Read QoS lines of NVIDIA Onyx as settings, and compute the commands between two sets of settings. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import vlans
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import (
    MOST_PORTS,
    cleaned,
    natural,
    number,
    numbers,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Marking

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Dict, Tuple

    Key = Tuple[Any, ...]  # kind, port if there is one, numbers or names of the setting
    Settings = Dict[Key, Any]  # the values are texts or numbers, as the kind has them

KB = 1000
PROMPT = re.compile(r"(?m)^[ \t]*\S{1,80}(?: \[[^]\n]*\])?(?: \([^)\n]*\))? [#>](?: |$)")
STEMS = {"ethernet": "Eth", "port-channel": "Po", "mlag-port-channel": "Mpo"}
# Onyx names of a port, an aggregate and an aggregate of two switches.
PORT = re.compile(r"(Eth|Po|Mpo)((?:\d+/)*)(\d+)", re.ASCII)
# Factory default weights of the queues.
FACTORY_WEIGHTS = {queue: 12 + queue % 2 for queue in range(8)}

# Lines of a port: (kind, pattern). The last group is the value. The groups before it are part of the key.
PORT_LINES = (
    ("trust", r"qos trust (\S+)"),
    ("map", r"qos map dscp (\d+) to switch-priority (\d+)"),
    ("bind", r"traffic-class (\d+) bind switch-priority (.+)"),
    ("ecn", r"traffic-class (\d+) congestion-control (.+)"),
    ("ets", r"traffic-class (\d+) dcb ets (strict|wrr \d+)"),
    ("pfc", r"dcb priority-flow-control mode (on|off|auto)(?: force)?"),
    ("watchdog", r"(pfc-wd)"),
    ("mtu", r"mtu (\d+)(?: force)?"),
    ("flow", r"flowcontrol (receive|send) (on|off)(?: force)?"),
)
GLOBAL_LINES = (
    ("pfc_enabled", r"(dcb priority-flow-control enable)(?: force)?"),
    ("pfc_priority", r"dcb priority-flow-control priority (\d+) (enable)"),
    ("pool", r"traffic pool (\S+) type (\S+)"),
    ("memory", r"traffic pool (\S+) memory percent (\S+)"),
    ("member", r"traffic pool (\S+) map switch-priority (.+)"),
    ("roce", r"(roce(?: \S+)?)"),
)

# (kind, command to set, command to remove) in the order of setting: settings that carry lossless packets come before
# settings that send packets there. {key} and {value} are those of the setting.
FORMS = (
    ("pool", "traffic pool {key} type {value}", "no traffic pool {key}"),
    ("memory", "traffic pool {key} memory percent {value}", None),
    ("member", "traffic pool {value} map switch-priority {key}", "no traffic pool {value} map switch-priority {key}"),
    ("pfc_enabled", "dcb priority-flow-control enable force", "no dcb priority-flow-control enable force"),
    (
        "pfc_priority",
        "dcb priority-flow-control priority {key} enable",
        "no dcb priority-flow-control priority {key} enable",
    ),
    ("bind", "traffic-class {value} bind switch-priority {key}", "traffic-class {key} bind switch-priority {key}"),
    ("ecn", "traffic-class {key} congestion-control {value}", "no traffic-class {key} congestion-control"),
    ("ets", "traffic-class {key} dcb ets {value}", "traffic-class {key} dcb ets {factory}"),
    ("flow", "flowcontrol {key} {value} force", "flowcontrol {key} off force"),
    ("pfc", "dcb priority-flow-control mode {value} force", "no dcb priority-flow-control mode force"),
    ("watchdog", "pfc-wd", "no pfc-wd"),
    ("mtu", "mtu {value} force", "mtu 1500 force"),
    ("map", "qos map dscp {key} to switch-priority {value}", "qos map dscp {key} to switch-priority {factory}"),
    ("trust", "qos trust {value}", "qos trust L2"),
)
ORDER = [kind for kind, _made, _undone in FORMS]
PER_PORT = ("trust", "map", "bind", "ecn", "ets", "pfc", "watchdog")
GLOBAL = ("pool", "memory", "member", "pfc_enabled", "pfc_priority")


def commands(before: Settings, after: Settings) -> list[str]:
    """Return the commands from one set of settings to another."""
    made: dict[str, list[str | None]]
    undone: dict[str, list[str | None]]
    made, undone = {}, {}
    for key in sorted({*before, *after}, key=_place):
        old, new = before.get(key), after.get(key)
        if key[0] == "roce" or old == new:
            continue
        if new is None and (key[0] == "memory" or _goes_with_pool(key, old, after)):
            continue
        pause = key[0] == "flow"
        if new is None or (key[0] == "member" and old is not None):
            # PFC excludes link-level pause: pause is removed before PFC is set, and set after PFC is removed.
            _add(made if pause or new is not None else undone, key, 2, old)
        if new is not None:
            # Turning a setting off frees its objects, so it comes after all additions.
            late = pause or (key[0], new) in (("pfc", "off"), ("pfc", "auto"))
            _add(undone if late else made, key, 1, new)
    return [*_lines(made), *reversed(_lines(undone))]


def roce_settings(found: Settings) -> Settings:
    """Return the settings of RoCE QoS, without general settings of the port."""
    return {key: value for key, value in found.items() if key[0] not in ("mtu", "flow", "roce")}


def _goes_with_pool(key: Key, old: int | str | None, after: Settings) -> bool:
    return key[0] == "member" and ("pool", old) not in after


def _place(key: Key) -> tuple[int, list[str]]:
    return (ORDER.index(key[0]) if key[0] in ORDER else -1, [str(part).zfill(4) for part in key[1:]])


def _add(lines: dict[str, list[str | None]], key: Key, form: int, value: int | str | None) -> None:
    kind, place = key[0], key[-1]
    text = cast("str", FORMS[ORDER.index(kind)][form])
    factory = f"wrr {FACTORY_WEIGHTS[place]}" if kind == "ets" else (place >> 3 if kind == "map" else "")
    line = text.format(key=place, value=value, factory=factory)
    lines.setdefault(line, []).append(None if kind in GLOBAL else key[1])


def _lines(by_line: Mapping[str, Sequence[str | None]]) -> list[str]:
    return [found for line, ports in by_line.items() for found in _spread(line, ports)]


def _spread(line: str, ports: Sequence[str | None]) -> list[str]:
    """Return one line for the switch, or one for each range of adjacent ports."""
    if ports == [None]:
        return [line]
    runs: list[list[Any]] = []  # kind, stem, first, last
    for port in sorted(cast("set[str]", set(ports)), key=natural):
        named = PORT.fullmatch(port)
        if named is None:
            raise OperatorError(
                f"Port {port}",
                "cannot render its settings for Onyx",
                "Onyx names ports Eth1/1, Po1 or Mpo1",
                "Use the port names that the switch prints",
                "unknown_ports",
                ports=[port],
            )
        kind, stem, count = named.groups()
        if runs and runs[-1][:2] == [kind, stem] and runs[-1][3] + 1 == int(count) and kind == "Eth":
            runs[-1][3] = int(count)
        else:
            runs.append([kind, stem, int(count), int(count)])
    off, line = ("no ", line[3:]) if line.startswith("no ") else ("", line)
    names = {value: key for key, value in STEMS.items()}
    return [
        f"interface {names[kind]} {stem}{first}{f'-{stem}{last}' if last > first else ''} {off}{line}"
        for kind, stem, first, last in runs
    ]


def spans(ports: Iterable[str]) -> list[str]:
    """Return port names in the form of Onyx commands: ['1/1-1/4', '1/9']."""
    # Other names, such as Ethernet1, are not ports of Onyx. The module rejects them when it knows the ports.
    return [
        line.split()[2]
        for line in _spread("x", [port for port in ports if PORT.fullmatch(port) and port.startswith("Eth")])
    ]


def settings(text: str) -> Settings:
    """Return {(kind, port, ...): value} of a running configuration, with expanded ranges and without defaults."""
    found: Settings
    place: list[str]
    found, place = {}, []
    for line in cleaned(text):
        words = PROMPT.sub("", " ".join(line.split()))
        match = re.fullmatch(r"(no )?interface (\S+) (\d\S*)(?: (no ))?(.*)", words)
        if match and match.group(2) in STEMS:
            named = ports_of(match.group(2), match.group(3))
            off, rest = bool(match.group(1) or match.group(4)), match.group(5).strip()
            _take(found, PORT_LINES, rest, off, named)
            # Lines below a bare interface line belong to that interface.
            place = [] if rest else named
            continue
        off, rest = words.startswith("no "), words[3:] if words.startswith("no ") else words
        if not _take(found, GLOBAL_LINES, rest, off, [None]):
            _take(found, PORT_LINES, rest, off, place)
    return {key: value for key, value in found.items() if not is_default(key, value)}


def switching(text: str) -> dict[str, vlans.Switching]:
    """Return {port: vlans.Switching} of a running configuration, for ports with a line."""
    found: dict[str, vlans.Switching] = {}
    for line in cleaned(text):
        words = PROMPT.sub("", " ".join(line.split()))
        match = re.fullmatch(r"(no )?interface (\S+) (\d\S*)(?: (no ))?(.*)", words)
        if match and match.group(2) in STEMS:
            off = "no " if match.group(1) or match.group(4) else ""
            for name in ports_of(match.group(2), match.group(3)):
                found.setdefault(name, vlans.Switching()).take(f"{off}{match.group(5).strip()}")
    return found


def existing_vlans(text: str) -> set[int]:
    """Return the VLANs of a running configuration."""
    return vlans.existing([PROMPT.sub("", " ".join(line.split())) for line in cleaned(text)], r"vlan ([\d,-]+)")


def is_default(key: Key, value: int | str) -> bool:
    """Return whether a setting equals the default."""
    kind = key[0]
    if kind == "ets":
        return value == f"wrr {FACTORY_WEIGHTS[key[2]]}"
    if kind in ("map", "bind"):
        return value == (key[2] >> 3 if kind == "map" else key[2])
    return (kind, value) in (("trust", "L2"), ("flow", "off"), ("mtu", 1500))


def marking(text: str) -> Marking:
    """Return the Marking of `ecn minimum-absolute 150 maximum-absolute 1500`; relative thresholds have no size."""
    low, high = (re.search(rf"{name}imum-absolute (\d+)", text) for name in ("min", "max"))
    least, most = (int(found.group(1)) * KB if found else 0 for found in (low, high))
    return Marking(least, most, mark=not text.startswith("red"))


def _take(
    found: Settings, patterns: Iterable[tuple[str, str]], rest: str, off: bool, ports: Sequence[str | None]
) -> bool:
    for kind, pattern in patterns:
        match = re.fullmatch(pattern, rest)
        if not match or not ports:
            continue
        *key, value = [int(part) if part.isdecimal() else part for part in match.groups()]
        for port in ports:
            place = (kind, *([] if port is None else [port]), *key)
            if kind in ("member", "bind"):
                # Each priority is a key. The value is its pool or its traffic class.
                for priority in numbers(str(value)):
                    _put(found, (kind, *place[1:-1], priority), key[-1], off)
            else:
                _put(found, place, value, off)
        return True
    return False


def _put(found: Settings, key: Key, value: int | str, off: bool) -> None:
    if off:
        found.pop(key, None)
    else:
        found[key] = value


def ports_of(kind: str, spans: str) -> list[str]:
    """Return the names of the ports in a line, from their kind and numbers."""
    found = []
    for span in spans.split(","):
        first, dash, last = span.partition("-")
        stem, count = (
            cast("re.Match[str]", re.fullmatch(r"(.*?)(\d+)", first)).groups() if first[-1:].isdecimal() else ("", "0")
        )
        end = number(last.rpartition("/")[2], int(count)) or 0 if dash else int(count)
        end = min(end, int(count) + MOST_PORTS)
        found += [f"{STEMS[kind]}{stem}{index}" for index in range(int(count), end + 1)]
    return found
