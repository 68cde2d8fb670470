# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The numbers at the top of the report: throughput with efficiency, RDMA bandwidth with line rate, failed checks."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.numbers import NOT_MEASURED
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.values import median, number, rounded

MEASURED, NOT_REQUIRED = "measured", "not required"
TRAINING, EFFICIENCY, BANDWIDTH = "cluster.training", "cluster.efficiency", "pair.write_bw"
# Verdicts of rows that the site leaves out or that have no threshold.
LEFT_OUT = ("skipped", "not_required")


def numbers(
    headline: Mapping[str, Any] | None,
    checks: Sequence[Mapping[str, Any]],
    topology: Mapping[str, Any] | None,
    stages: int,
) -> dict[str, Any]:
    """{throughput, rdma, failed} with a state each; stages is the number of failed stages."""
    return {
        "throughput": _throughput(headline, checks),
        "rdma": _rdma(checks, topology),
        "failed": {
            "state": MEASURED if checks else NOT_MEASURED,
            "checks": sum(row["verdict"] == "fail" for row in checks),
            "of": len(checks),
            "stages": stages,
        },
    }


def _throughput(headline: Mapping[str, Any] | None, checks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    if headline is None:
        return {"state": _missing(_of(checks, TRAINING))}
    # A run is no measure of itself: on the smallest number of nodes, its efficiency is always 100 %.
    compared = headline["efficiency"] is not None and headline["nodes"] != headline["relative_to"]
    return {
        "state": MEASURED,
        **headline,
        "efficiency_state": MEASURED if compared else _missing(_of(checks, EFFICIENCY)),
        "expected": _expected(checks, EFFICIENCY),
    }


def _rdma(checks: Sequence[Mapping[str, Any]], topology: Mapping[str, Any] | None) -> dict[str, Any]:
    """The slowest pair, since an all-reduce waits for it."""
    rows = _of(checks, BANDWIDTH)
    measured = [row for row in rows if number(row["measured"]) is not None]
    if not measured:
        return {"state": _missing(rows)}
    slowest = min(measured, key=lambda row: row["measured"])
    line = _line(topology)
    return {
        "state": MEASURED,
        "slowest": slowest["measured"],
        "on": slowest["on"],
        "median": median([row["measured"] for row in measured]),
        "unit": slowest["unit"],
        "pairs": len(measured),
        "of_pairs": len(rows),
        "line": line,
        "percent": rounded(100 * slowest["measured"] / line, 4) if line else None,
        "expected": _expected(checks, BANDWIDTH),
        "simulated": any(row["simulated"] for row in measured),
    }


def _of(checks: Sequence[Mapping[str, Any]], check: str) -> list[Mapping[str, Any]]:
    return [row for row in checks if row["check"] == check]


def _missing(rows: Sequence[Mapping[str, Any]]) -> str:
    """The reason for a missing number: rows that exist and are all left out are not required by the site."""
    return NOT_REQUIRED if rows and all(row["verdict"] in LEFT_OUT for row in rows) else NOT_MEASURED


def _expected(checks: Sequence[Mapping[str, Any]], check: str) -> str:
    """The expected value of a check if all its rows have the same one."""
    texts = {row["expected"]["text"] for row in _of(checks, check) if row["expected"]["text"]}
    return texts.pop() if len(texts) == 1 else ""


def _line(topology: Mapping[str, Any] | None) -> float | None:
    """Gb/s of the slowest adapter on the data path; None if the topology has no speed.

    The topology has the adapters on the compared paths only. If it names the adapter of each VM, only these count.
    """
    found = topology or {"hosts": [], "vms": []}
    used = {(vm["host"], vm["nic"]) for vm in found["vms"]}
    speeds = {(host["name"], nic["name"]): nic["speed_gb"] for host in found["hosts"] for nic in host["nics"]}
    known = {where: speed for where, speed in speeds.items() if speed}
    return min([speed for where, speed in known.items() if where in used] or known.values(), default=None)
