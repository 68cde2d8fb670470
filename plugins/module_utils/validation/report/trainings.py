# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Trainings: throughput over nodes, RDMA against TCP, and the spread of the iterations."""

from __future__ import annotations

from typing import Any, Mapping, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.values import (
    entries,
    flag,
    median,
    number,
    rounded,
    text,
    texts,
)

# The transport of a training. `requested:used` is a training that used another transport than requested.
TRANSPORTS = {
    "rdma": "RDMA",
    "tcp": "TCP",
    "rdma:tcp": "RDMA requested, TCP used",
    "rdma:mixed": "RDMA requested, TCP used in part",
    "rdma:": "RDMA requested, not proved",
    "tcp:rdma": "TCP requested, RDMA used",
    "tcp:mixed": "TCP requested, RDMA used in part",
}
COUNT = ("pass", "not_required", "warn")
WORDS = {"fail": "failed", "skipped": "skipped", "not_run": "not run"}


def trainings(recorded: Any) -> list[dict[str, Any]]:
    """Runs ordered by transport and nodes, with speed-up and efficiency.

    A run whose check neither passed nor warned has no rate, so that no plot and no comparison uses it.
    """
    runs = [_run(entry) for entry in entries(recorded) if number(entry.get("nodes"))]
    runs.sort(key=lambda run: (run["model"], run["transport"], run["nodes"], run["ranks"] or 0))
    for run in runs:
        base = _base(run, runs)
        if base is not None and run["images_per_s"] is not None:
            nodes, rate = base
            speedup = run["images_per_s"] / rate * nodes
            run["speedup"] = rounded(speedup)
            run["efficiency"] = rounded(100 * speedup / run["nodes"])
            run["relative_to"] = nodes
        run["gain"] = _gain(run, runs)
    _distinguish(runs)
    return runs


def _distinguish(runs: Sequence[dict[str, Any]]) -> None:
    """Add the name of the guest to runs on one node, because each guest has such a run."""
    names = [(run["model"], run["label"]) for run in runs]
    transports = {run["transport"] for run in runs if run["nodes"] == 1}
    for run, name in zip(runs, names):
        if names.count(name) > 1 and run["guests"]:
            if run["nodes"] == 1 and len(transports) == 1:
                run["label"] = f"1 node, {run['guests'][0]}"
            else:
                run["label"] += f", {run['guests'][0]}" + (" ..." if len(run["guests"]) > 1 else "")
        if run["verdict"] not in COUNT:
            run["label"] += f", {WORDS.get(run['verdict'], 'without a verdict')}"


def _run(entry: Mapping[str, Any]) -> dict[str, Any]:
    rounds = [_iteration(one, index) for index, one in enumerate(entries(entry.get("iterations")), 1)]
    seconds = [one["seconds"] for one in rounds if one["seconds"] is not None]
    middle = median(seconds)
    nodes = entry["nodes"]
    transport, verdict, rate = _transport(entry), text(entry.get("verdict")), number(entry.get("images_per_s"))
    return {
        "label": f"{nodes} {'node' if nodes == 1 else 'nodes'}, {TRANSPORTS.get(transport, transport) or 'no network'}",
        "nodes": nodes,
        "ranks": number(entry.get("ranks")),
        "transport": transport,
        "guests": texts(entry.get("guests")),
        "model": text(entry.get("model")),
        "verdict": verdict,
        "images_per_s": rate if verdict in COUNT else None,
        # The measured rate, also of a run that does not count.
        "measured": rate,
        "spread": number(entry.get("spread")) if verdict in COUNT else None,
        "speedup": None,
        "efficiency": None,
        "relative_to": None,
        "gain": None,
        "simulated": flag(entry.get("simulated")),
        "iterations": rounds,
        # Some benchmarks report the rate of each iteration and no time.
        "rated": any(one["images_per_s"] is not None for one in rounds),
        "fastest": min(seconds, default=None),
        "median": middle,
        "slowest": max(seconds, default=None),
        # The distance of the slowest iteration from the median, in percent.
        "slowest_over": rounded(100 * (max(seconds) / middle - 1), 4) if middle else None,
    }


def _transport(entry: Mapping[str, Any]) -> str:
    """The used transport of a training, with the requested one if it differs."""
    went, wanted = text(entry.get("transport")), text(entry.get("wanted"))
    return went if wanted in ("", went) else f"{wanted}:{went}"


def _iteration(entry: Mapping[str, Any], index: int) -> dict[str, Any]:
    which = number(entry.get("iteration"))
    return {
        "iteration": which if which is not None else index,
        "seconds": number(entry.get("seconds")),
        "images_per_s": number(entry.get("images_per_s")),
    }


def _base(run: Mapping[str, Any], runs: Sequence[dict[str, Any]]) -> tuple[int, float] | None:
    """The reference of a run as (nodes, rate): one node with the same transport, else one node, else the fewest
    nodes. The median of several such runs counts, so that one slow guest does not change the reference."""
    alike = [one for one in runs if one["model"] == run["model"] and one["images_per_s"]]
    mine = [one for one in alike if one["transport"] == run["transport"]]
    alone = [one for one in mine if one["nodes"] == 1] or [one for one in alike if one["nodes"] == 1]
    fewest = min((one["nodes"] for one in mine), default=None)
    some = alone or [one for one in mine if one["nodes"] == fewest]
    return (some[0]["nodes"], cast("float", median([one["images_per_s"] for one in some]))) if some else None


def _gain(run: Mapping[str, Any], runs: Sequence[dict[str, Any]]) -> float | None:
    """RDMA against TCP with the same model on as many nodes, in percent. One node alone uses no network."""
    if run["transport"] != "rdma" or run["nodes"] == 1 or run["images_per_s"] is None:
        return None
    rates = [
        one["images_per_s"]
        for one in runs
        if one["transport"] == "tcp"
        and (one["model"], one["nodes"]) == (run["model"], run["nodes"])
        and one["images_per_s"]
    ]
    return rounded(100 * (run["images_per_s"] / median(rates) - 1), 4) if rates else None
