# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Read settings of a port from the tables and the JSON of `nv show` of Cumulus Linux. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import part
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.cumulus import text
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Marking

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping
    from typing import Dict

    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.cumulus.text import Tree
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Port

    Row = Dict[str, Any]  # {column: cell}
    Readers = Dict[str, Callable[[str], object]]  # {column: reader of its cells, None for an unknown value}

THRESHOLDS = ("min th", "max th", "probability")


def rows_of(tree: Tree, output: str, key: str, *columns: str) -> list[Row]:
    """Return rows with these columns, of a table or JSON, where the first column may be the name of the row."""
    found = text.rows_of(output, key, *columns)
    for below in _tables(tree):
        named = [(name, row) for name, row in below.items() if isinstance(row, dict) and {*columns} <= {*row}]
        found = found or [{key: name, **row} for name, row in named]
    return found


def _tables(tree: object) -> Iterator[Tree]:
    if isinstance(tree, dict):
        yield tree
        for below in tree.values():
            yield from _tables(below)


def configured(port: Port, reported: Mapping[str, Any], keys: Container[str] | None = None) -> None:
    """Set the values that reported_of() found: the maps of the switch replace those of a constant.

    keys: those that may be set.
    """
    for key, value in reported.items():
        known = getattr(port, key)
        if keys is not None and key not in keys:
            continue
        if key in ("dscp_map", "queues"):
            # The view of one port shows only the entries of RoCE.
            setattr(port, key, {**(known or {}), **value})
        elif known is None or (keys is not None and not (key == "ecn" and _rounded(known, value))):
            setattr(port, key, value)


def _rounded(known: Mapping[int, Marking], shown: Mapping[int, Marking]) -> bool:
    """Return whether a printed value equals the known value after rounding to its unit."""
    return {*known} == {*shown} and all(
        abs(getattr(known[queue], end) - getattr(one, end)) <= getattr(known[queue], end) / 20
        for queue, one in shown.items()
        for end in ("min_bytes", "max_bytes")
    )


def reported_of(tree: Tree, output: str) -> dict[str, Any]:
    """Return {key of a Port: its value} of a table or JSON."""
    reported: dict[str, Any] = {}
    if "trust-mode" in part(tree, "trust"):
        pfc, sends = flow_control(tree)
        reported.update(trust=trust_of(tree["trust"]["trust-mode"]), ecn=marking(tree), pfc=pfc, pfc_sends=sends)
        mode = str(tree.get("mode", ""))
        reported["lossless"] = pfc if mode.startswith("lossless") else [] if mode.startswith("lossy") else None
        reported["cable_length_m"] = text.number(part(tree, "pfc").get("cable-length"))
    elif "tx" in tree and "switch-priority" in tree:
        reported.update(pfc=_priorities(tree["switch-priority"]), pfc_sends=text.switched(tree["tx"]))
        reported["cable_length_m"] = text.number(tree.get("cable-length"))
    if reported.get("pfc") is not None:
        reported["pfc_mode"] = "on" if reported["pfc"] else "off"
    for column in ("switch-prio", "switch-priority"):
        rows = rows_of(tree, output, "dscp", column)
        if rows:
            numbered = [(text.number(row.get(column)), text.numbers(row.get("dscp"))) for row in rows]
            reported["dscp_map"] = {one: to for to, dscps in numbered if to is not None for one in dscps}
    rows = rows_of(tree, output, "switch-prio", "traffic-class") or rows_of(
        tree, output, "switch-priority", "traffic-class"
    )
    if rows:
        _queues(reported, rows)
    served = _by_class(rows_of(tree, output, "traffic-class", "mode", "bw-percent"))
    if served:
        reported["strict"] = [queue for queue, row in served if row.get("mode") == "strict"]
        weighted = [(queue, row) for queue, row in served if row.get("mode") == "dwrr"]
        reported["shares"] = {queue: text.number(row.get("bw-percent")) or 0 for queue, row in weighted}
    marked = _by_class(text.rows_of(output, "traffic-class", "ecn", "min th"))
    if marked:
        sizes = [
            (queue, text.switched(row.get("ecn")), [text.number(row.get(name)) for name in THRESHOLDS])
            for queue, row in marked
        ]
        reported["ecn"] = {
            queue: Marking(low, high, part, marks)
            for queue, marks, (low, high, part) in sizes
            if low is not None and high is not None and marks is not None
        }
    return reported


def _by_class(rows: Iterable[Row]) -> list[tuple[int, Row]]:
    """Return [(traffic class, row)] of the rows with a traffic class."""
    found = [(text.number(row.get("traffic-class")), row) for row in rows]
    return [(queue, row) for queue, row in found if queue is not None]


def _queues(reported: dict[str, Any], rows: Iterable[Row]) -> None:
    reported["queues"], strict, shares = {}, set(), {}
    for queue, row in _by_class(rows):
        priority = text.number(row.get("switch-prio") or row.get("switch-priority"))
        if priority is None:
            continue
        reported["queues"][priority] = queue
        weight = str(row.get("scheduler-weight", "")).lower()
        if weight.startswith("strict"):
            strict.add(queue)
        elif re.search(r"\d", weight):
            shares[queue] = int(re.sub(r"\D", "", weight))
    if strict or shares:
        reported.update(strict=sorted(strict), shares=shares)


def flow_control(tree: Tree) -> tuple[list[int] | None, bool | None]:
    """Return (priorities, whether it sends pauses) of a status; None for values that it does not show."""
    flow = part(tree, "pfc")
    if not flow or str(flow.get("pfc-priority")).strip() == "-":
        # A preset without PFC shows no section, or a dash.
        return (None if not flow and str(tree.get("mode", "")).startswith("lossless") else []), None
    sends, obeys = (text.switched(flow.get(key)) for key in ("tx-enabled", "rx-enabled"))
    if sends or obeys:
        priorities = _priorities(flow["pfc-priority"]) if "pfc-priority" in flow else None
        return priorities, sends if priorities else None
    return (None if None in (sends, obeys) else []), None


def _priorities(value: object) -> list[int] | None:
    """Return the priorities of a cell or a branch; None for a word without a number."""
    found = text.listed(value or ())
    return found if found else [] if not value or str(value).strip().lower() in ("none", "-") else None


def marking(tree: Tree) -> dict[int, Marking] | None:
    """Return {traffic class: Marking} of a status; None if the status does not show it."""
    reported = part(tree, "congestion-control")
    if reported and _marks(reported.get("congestion-mode")) is None:
        return None
    if not _marks(reported.get("congestion-mode")):
        return {}
    low, high = text.number(reported.get("min-threshold")), text.number(reported.get("max-threshold"))
    queues = text.listed(reported.get("enabled-tc") or ())
    if low is None or high is None or queues is None:
        return None
    marking = Marking(low, high, text.number(reported.get("probability")))
    return dict.fromkeys(queues, marking)


def _marks(mode: object) -> bool | None:
    """Return whether a congestion control mode marks; None for an unknown word."""
    # A queue without marking shows a dash.
    words = {*re.findall(r"[a-z]+", str(mode or "").lower())} or ({"none"} if str(mode).strip() == "-" else set())
    return "ecn" in words or (False if words & {"red", "none", "off", "disabled"} else None)


def trust_of(words: object) -> str | None:
    """Return the trust of a port; None for other words."""
    kinds = {word.strip().lower() for word in str(words).split(",")}
    known = {"dscp": "dscp", "pcp": "pcp", "port": "none", "none": "none"}
    if not kinds <= {*known}:
        return None
    if {"pcp", "dscp"} <= kinds:
        return "both"
    return next((trust for word, trust in known.items() if word in kinds), None)


# {label: reader of its value}; an unreadable value is reported.
READERS: dict[str, Callable[[object], object]] = {
    "tx-enabled": text.switched,
    "rx-enabled": text.switched,
    "pfc-priority": _priorities,
    "min-threshold": text.number,
    "max-threshold": text.number,
    "cable-length": text.number,
    "trust-mode": trust_of,
    "congestion-mode": _marks,
    "enabled-tc": lambda value: [] if value == "-" else text.listed(value),
    "probability": text.number,
    **dict.fromkeys(("pause-packets", "roce-packets", "cnp-packets", "ecn-marked-packets"), text.number),
    **dict.fromkeys(("no-buffer-discard", "unicast-no-buffer-discard"), text.number),
}


def _weight(shown: str) -> str | None:
    return shown if re.match(r"strict|dwrr\D?\d+", shown.lower()) else None


# Tables by their unique columns, with the readers of their cells.
TABLES: tuple[tuple[Readers, Readers], ...] = (
    ({"dscp": text.listed, "switch-prio": text.number}, {}),
    ({"dscp": text.listed, "switch-priority": text.number}, {}),
    ({"switch-prio": text.number, "traffic-class": text.number}, {"scheduler-weight": _weight}),
    ({"switch-priority": text.number, "traffic-class": text.number}, {"scheduler-weight": _weight}),
    ({"traffic-class": text.number, "bw-percent": text.number}, {}),
    (
        {"traffic-class": text.number, "ecn": text.switched, "min th": text.number},
        {"max th": text.number, "probability": text.number},
    ),
    (
        {"traffic-class": text.number, "deadlock-count": text.number},
        {"status": {"ok": False, "deadlock": True}.get},
    ),
)


def misread(tree: Tree, more: Iterable[str] = ()) -> list[tuple[str, object]]:
    """Return [(label, value)] of a view of QoS with an unknown form; more are labels of on and off."""
    readers = {**READERS, **dict.fromkeys(more, text.switched)}
    leaves = [(path[-1], value) for path, value in text.flat(tree).items() if path]
    leaves = [(label, value) for label, value in leaves if label in readers and value is not None]
    return [(label, value) for label, value in leaves if readers[label](value) is None]


def misread_rows(output: str) -> list[tuple[str, str]]:
    """Return [(label, cell)] of the same in the rows of tables; a dash means no value."""
    found = []
    for columns, more in TABLES:
        readers = {**columns, **more}
        for row in text.rows_of(output, *columns):
            cells = [(label, str(row.get(label) or "-")) for label in readers if label in row]
            found += [(label, cell) for label, cell in cells if cell != "-" and readers[label](cell.lower()) is None]
    return list(dict.fromkeys(found))
