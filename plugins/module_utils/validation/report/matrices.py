# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Measurements between nodes as matrices, with their worst pairs."""

from __future__ import annotations

from typing import Any, Iterable, Mapping, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.values import (
    in_order,
    median,
    number,
    text,
)

# Units of values with a degree. A path MTU is only right or wrong.
UNITS = ("Gb/s", "GB/s", "us", "ms")
# Worst pairs that a matrix names.
SHOWN = 10


def matrices(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """One matrix for each check, variant and unit with a measurement between two nodes. It includes pairs without a
    measurement, so that an unreachable node is visible."""
    found: dict[tuple[str, str, str], list[tuple[str, str, dict[str, Any]]]]
    missed: dict[tuple[str, str, str], list[tuple[str, str, dict[str, Any]]]]
    found, missed = {}, {}
    for row in rows:
        ends = [text(row["subject"].get(end)) for end in ("from", "to")]
        if not all(ends) or row["layer"] != "pair" or row["unit"] not in UNITS:
            continue
        some = found if number(row["measured"]) is not None else missed
        some.setdefault((row["check"], row["variant"], row["unit"]), []).append(
            cast("tuple[str, str, dict[str, Any]]", (*ends, row))
        )
    return [_matrix(index, key, pairs, missed.get(key, [])) for index, (key, pairs) in enumerate(found.items(), 1)]


def _matrix(
    index: int,
    key: tuple[str, str, str],
    pairs: Sequence[tuple[str, str, dict[str, Any]]],
    missed: Sequence[tuple[str, str, dict[str, Any]]],
) -> dict[str, Any]:
    check, variant, unit = key
    nodes = in_order([name for source, target, _row in [*pairs, *missed] for name in (source, target)])
    at = {(source, target): row for source, target, row in pairs}
    every = {**{(source, target): row for source, target, row in missed}, **at}
    lower = pairs[0][2]["better"] == "lower"
    figures = [row["measured"] for _source, _target, row in pairs]
    return {
        "id": f"matrix-{index}",
        "check": check,
        "variant": variant,
        "kind": pairs[0][2]["kind"],
        "title": pairs[0][2]["title"],
        "unit": unit,
        "better": "lower" if lower else "higher",
        "simulated": any(row["simulated"] for _source, _target, row in pairs),
        "nodes": nodes,
        "values": [[_of(at, one, other, "measured") for other in nodes] for one in nodes],
        "verdicts": [[_of(every, one, other, "verdict") for other in nodes] for one in nodes],
        "pairs": len(pairs),
        "missed": len(missed),
        "low": min(figures),
        "median": median(figures),
        "high": max(figures),
        "worst": [
            {"from": source, "to": target, "measured": row["measured"], "verdict": row["verdict"]}
            for source, target, row in sorted(pairs, key=lambda pair: _badness(pair[2]["measured"], lower))[:SHOWN]
        ],
        "of_nodes": [_node(name, nodes, at) for name in nodes],
    }


def _badness(value: float, lower: bool) -> float:
    return -value if lower else value


def _of(at: Mapping[tuple[str, str], Mapping[str, Any]], one: str, other: str, key: str) -> Any:
    row = at.get((one, other))
    return row[key] if row is not None else None


def _node(name: str, nodes: Sequence[str], at: Mapping[tuple[str, str], Mapping[str, Any]]) -> dict[str, Any]:
    """The median sent and received value of a node."""
    sends = [at[name, other]["measured"] for other in nodes if (name, other) in at]
    gets = [at[other, name]["measured"] for other in nodes if (other, name) in at]
    return {"node": name, "sends": median(sends), "gets": median(gets)}
