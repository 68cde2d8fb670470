# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Parse the output of `dcb` (iproute2) for an adapter, as JSON or as text. Pure."""

from __future__ import annotations

import re
from typing import Any, Iterable

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.hosts import words
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import cleaned

OBJECTS = ("pfc", "ets", "app", "buffer", "dcbx", "apptrust")
# No apptrust in iproute2 before 6.2, a driver without DCB, a missing interface, missing permissions.
COMPLAINT = re.compile(
    r"(?im)^.*(?:Operation not supported|No such device|Operation not permitted|Permission denied|is unknown|"
    r"not found|Attribute (?:read|write):).*$"
)
_SIZE = {"b": 1, "kb": 1024, "mb": 1024**2, "gb": 1024**3}
_DCBX = ("host", "lld-managed", "cee", "ieee", "static")
# Words that begin a value or a table, in all releases so far.
_TABLES = (
    *("prio-pfc", "prio-tc", "tc-tsa", "tc-bw", "pg-bw", "reco-prio-tc", "reco-tc-tsa", "reco-tc-bw"),
    *("dscp-prio", "ethtype-prio", "stream-port-prio", "dgram-port-prio", "port-prio", "pcp-prio", "default-prio"),
    *("prio-buffer", "buffer-size", "requests", "indications", "tc-maxrate"),
)
_VALUES = ("pfc-cap", "macsec-bypass", "delay", "ets-cap", "cbs", "willing", "total-size")


def parse(text: str | None) -> dict[str, Any]:
    """Values of pfc, dscp_prio, prio_tc, tc_tsa, tc_bw, prio_buffer, buffer_size, dcbx, order, ... in a text.

    dcb prints no empty tables, so a missing key means an empty table or an object that was not read.
    `error` holds the error of dcb if there are no values.
    """
    reported = words.from_json(text)
    found = _from_json(reported) if reported is not None else _from_text(text)
    complaint = COMPLAINT.search(text or "")
    if complaint and not found:
        found["error"] = complaint.group().strip()
    return found


def dscp_map(pairs: Iterable[tuple[int, int]]) -> dict[int, int]:
    """{DSCP: priority}. A DSCP with two entries maps to the higher priority, as in the kernel."""
    found: dict[int, int] = {}
    for dscp, priority in pairs:
        found[dscp] = max(priority, found.get(dscp, -1))
    return found


def _from_json(reported: Any) -> dict[str, Any]:
    reported = reported[0] if isinstance(reported, list) and reported and isinstance(reported[0], dict) else reported
    if isinstance(reported, list):
        return {"dcbx": [str(word) for word in reported if str(word) in _DCBX]}
    found: dict[str, Any] = {}
    for name, value in ((name.replace("-", "_"), value) for name, value in reported.items()):
        if name in ("prio_pfc", "order", "dscp_prio") and not isinstance(value, list):
            continue
        if name == "prio_pfc":
            found["pfc"] = words.flags(value)
        elif name == "dscp_prio":
            found[name] = [tuple(pair[:2]) for pair in value if _is_pair(pair)]
        elif name.endswith("_prio") and isinstance(value, list):
            found[name] = [tuple(entry[:2]) if isinstance(entry, list) else entry for entry in value]
        elif name.replace("_", "-") in _DCBX:
            found.setdefault("dcbx", []).extend([name.replace("_", "-")] if words.truth(value) else [])
        elif name in ("prio_tc", "tc_tsa", "tc_bw", "prio_buffer", "buffer_size") and isinstance(value, list):
            found[name] = dict(enumerate(value))
        elif name not in ("pfc", "dcbx", "error"):
            found[name] = value
    return found


def _is_pair(value: object) -> bool:
    return isinstance(value, (list, tuple)) and len(value) > 1 and all(isinstance(one, int) for one in value[:2])


def _from_text(text: str | None) -> dict[str, Any]:
    found: dict[str, Any]
    table: str | None
    found, table = {}, None
    for line in cleaned(text):
        if line.lstrip().startswith(("#", "$")) or COMPLAINT.match(line):
            table = None
            continue
        if line.strip().startswith("order"):
            found["order"] = line.replace("order:", "").replace("order", "").split()
            continue
        table = _line(found, line.split(), table)
    return found


def _line(found: dict[str, Any], tokens: list[str], table: str | None) -> str | None:
    """Add the words of one line to the result; a table may continue on the next line."""
    if tokens and all(token in _DCBX for token in tokens):
        found["dcbx"] = tokens
        return None
    rest = iter(tokens)
    for token in rest:
        if token in _TABLES:
            table = token
        elif token in _VALUES:
            found[token.replace("-", "_")] = _value(next(rest, ""))
        elif table is not None:
            _entry(found, table, token)
    return table


def _entry(found: dict[str, Any], table: str, token: str) -> None:
    index, colon, value = token.rpartition(":")
    name = table.replace("-", "_")
    if table == "default-prio":
        found.setdefault(name, []).append(words.whole(token, 0))
    elif not colon:
        return
    elif table == "prio-pfc" and words.whole(index) is not None:
        found.setdefault("pfc", []).extend([words.whole(index)] if words.truth(value) else [])
    elif table == "dscp-prio":
        dscp = words.dscp_of(index)
        if dscp is not None and words.whole(value) is not None:
            found.setdefault(name, []).append((dscp, words.whole(value)))
    elif table.endswith("-prio"):
        found.setdefault(name, []).append((index, words.whole(value, value)))
    elif index.isdecimal():
        found.setdefault(name, {})[int(index)] = _value(value)


def _value(text: str) -> int | bool | str:
    """A number, a size in bytes, a truth, or the word itself."""
    size = re.fullmatch(r"(\d+(?:\.\d+)?)([kmg]?b)", text.lower())
    if size:
        return int(float(size.group(1)) * _SIZE[size.group(2)])
    number = words.whole(text)
    if number is not None:
        return number
    return {"on": True, "off": False}.get(text, text)
