# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The record of a run, for people and machines, and the verdict on it. Pure; docs/training.md describes each key."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Mapping, Sequence, TypedDict, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core import plain_text
from ansible_collections.aiready.vsphere.plugins.module_utils.training import files, launch, output, progress
from ansible_collections.aiready.vsphere.plugins.module_utils.training.params import RDMA_PATHS

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.training.look import ImageReport
    from ansible_collections.aiready.vsphere.plugins.module_utils.training.params import TrainingRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.training.plan import Plan
    from ansible_collections.aiready.vsphere.plugins.module_utils.training.progress import Progress
    from ansible_collections.aiready.vsphere.plugins.module_utils.training.transport import Place
    from ansible_collections.aiready.vsphere.plugins.module_utils.training.verdict import Verdict

    class Times(TypedDict):
        """When a run began and ended, and its duration."""

        began: str
        ended: str
        seconds: float

    class Traffic(TypedDict):
        """The traffic of one interface or RDMA device during a run."""

        name: str
        kind: str
        rx_bytes: int
        tx_bytes: int


SCHEMA = 1
# RDMA counters count in words of four bytes.
WORD = 4
# More than the connections of the controller carry during a run of minutes [unsure: a guess].
QUIET_BYTES = 10**7


def counters(text: str) -> dict[str, dict[str, tuple[int, int]]]:
    """Parse the output of scripts.COUNTERS to {kind: {name: (received, sent)}} in bytes."""
    found: dict[str, dict[str, tuple[int, int]]] = {"net": {}, "rdma": {}}
    for line in text.splitlines():
        words = line.split()
        moved = [plain_text.whole(word) for word in words[2:]]
        if len(words) == 4 and words[0] in found and None not in moved:
            factor = WORD if words[0] == "rdma" else 1
            found[words[0]][words[1]] = (cast(int, moved[0]) * factor, cast(int, moved[1]) * factor)
    return found


def traffic(
    before: Mapping[str, Mapping[str, tuple[int, int]]], after: Mapping[str, Mapping[str, tuple[int, int]]]
) -> list[Traffic]:
    """Return the traffic of a guest's interfaces and RDMA devices in between: [{name, kind, rx_bytes, tx_bytes}]."""
    moved: list[Traffic] = []
    for kind in ("net", "rdma"):
        for name, (received, sent) in sorted(after.get(kind, {}).items()):
            was = before.get(kind, {}).get(name, (0, 0))
            entry: Traffic = {
                "name": name,
                "kind": kind,
                "rx_bytes": max(0, received - was[0]),
                "tx_bytes": max(0, sent - was[1]),
            }
            if name != "lo" and (entry["rx_bytes"] or entry["tx_bytes"]):
                moved.append(entry)
    return moved


def carried_by(moved: Iterable[Traffic]) -> str | None:
    """The interface or device that carried most, or None where nothing was carried."""
    most = max(moved, key=lambda entry: entry["rx_bytes"] + entry["tx_bytes"], default=None)
    return most["name"] if most is not None else None


def throughput(seen: Progress, size: int) -> dict[str, Any]:
    """Samples per second of all ranks together: mean, spread over the iterations, and how it was found."""
    each = [
        entry
        for entry in seen.iterations
        if progress.entry_is_each(entry) and output.number(entry.get("samples_per_s"))
    ]
    if each:
        rates = [entry["samples_per_s"] * size for entry in each]
        how = "rank 0 reported the rate of each rank"
    else:
        by_iteration: dict[int, list[float]] = {}
        for entry in seen.iterations:
            if output.number(entry.get("samples_per_s")):
                by_iteration.setdefault(entry["iteration"], []).append(entry["samples_per_s"])
        # An iteration without the values of all ranks gives no total.
        rates = [sum(values) for values in by_iteration.values() if len(values) == size]
        how = "sum over the ranks of each iteration"
    if len(rates) > 1:
        # The first one includes one-time costs, such as connections and compilation.
        rates = rates[1:]
    if not rates:
        total = seen.benchmark.get("total")
        return {
            "mean": total,
            "spread": None,
            "iterations": 0,
            "how": "as the benchmark reported" if total else "not reported",
        }
    mean = sum(rates) / len(rates)
    spread = math.sqrt(sum((rate - mean) ** 2 for rate in rates) / len(rates))
    return {"mean": round(mean, 3), "spread": round(spread, 3), "iterations": len(rates), "how": how}


def weights(seen: Progress) -> dict[str, Any]:
    """The hash of each rank's weights, and whether they are equal; None if some ranks reported none."""
    reported = {
        str(rank): entry["end"].get("weights") for rank, entry in sorted(seen.ranks.items()) if entry.get("end")
    }
    reported = {rank: digest for rank, digest in reported.items() if digest and isinstance(digest, str)}
    equal = len(set(reported.values())) == 1 if len(reported) == seen.size else None
    return {"ranks": reported, "equal": equal}


def loss(seen: Progress) -> dict[str, Any]:
    """The first and the last loss as rank 0 saw it, or as the first rank that reported it."""
    ends = [entry["end"] for _rank, entry in sorted(seen.ranks.items()) if entry.get("end")]
    for end in ends:
        if output.number(end.get("loss_first")):
            return {"first": end["loss_first"], "last": end.get("loss_last")}
    reported = [entry["loss"] for entry in seen.iterations if output.number(entry.get("loss"))]
    return {"first": reported[0], "last": reported[-1]} if reported else {"first": None, "last": None}


def ranks(seen: Progress, places: Sequence[Place]) -> list[dict[str, Any]]:
    """Return one entry for each expected rank."""
    hosts = launch.hosts_of_ranks(places)
    entries = []
    for rank, host in enumerate(hosts):
        reported = seen.ranks.get(rank, {})
        mine = [entry for entry in seen.iterations if entry["rank"] == rank]
        rates = [entry["samples_per_s"] for entry in mine if output.number(entry.get("samples_per_s"))]
        entries.append(
            {
                "rank": rank,
                "host": host,
                "began": rank in seen.ranks,
                "ended": bool(reported.get("end")),
                "iterations": len(mine),
                "samples_per_s": round(sum(rates) / len(rates), 3) if rates else None,
                "engine": reported.get("engine"),
                "framework": reported.get("framework"),
                "device": reported.get("device_name") or reported.get("device"),
            }
        )
    return entries


def shortcomings(request: TrainingRequest, seen: Progress) -> list[tuple[str, str]]:
    """Return defects of a run that ended with success, as (code, sentence): a completed run is no proof of training."""
    found = []
    if request.builtin:
        missing = [rank for rank in range(seen.size) if rank not in seen.ended]
        if missing:
            found.append(("ranks_missing", f"Rank {', '.join(map(str, missing))} reported no end"))
        if weights(seen)["equal"] is False:
            found.append(("weights_differ", "The weights of the ranks are not equal at the end"))
        reported = loss(seen)
        if request.builtin == "small" and not missing and not _fell(reported):
            found.append(
                ("loss_did_not_fall", f"The loss was {reported['first']} at first and is {reported['last']} at the end")
            )
    if len(request.hosts) > 1 and request.data_path in RDMA_PATHS and request.gpus == "all":
        found += _transport(seen)
    return found


def _fell(reported: Mapping[str, Any]) -> bool:
    first, last = reported["first"], reported["last"]
    return isinstance(first, (int, float)) and isinstance(last, (int, float)) and last < first


def _transport(seen: Progress) -> Iterator[tuple[str, str]]:
    others = [name for name in seen.nccl["networks"] if not output.is_rdma(name)]
    if others:
        yield (
            "fell_back_to_tcp",
            f"NCCL used {', '.join(others)} instead of RDMA"
            + (" because it found no device" if seen.nccl["no_device"] else ""),
        )


def remarks(
    request: TrainingRequest, seen: Progress, places: Sequence[Place], moved: Mapping[str, Sequence[Traffic]]
) -> list[str]:
    """Return remarks for the operator on a successful run."""
    said = []
    for place in places if len(places) > 1 else ():
        carrier = carried_by(moved.get(place.name, []))
        expected = {place.interface, place.gid.device if place.gid is not None else place.interface}
        most = max((one["rx_bytes"] + one["tx_bytes"] for one in moved.get(place.name, [])), default=0)
        # A program that exchanges nothing leaves the connections of the controller as the busiest.
        busy = bool(seen.iterations or seen.nccl["networks"]) or most >= QUIET_BYTES
        if carrier is not None and carrier not in expected and busy:
            said.append(
                f"On {place.name}, {carrier} carried more data than {place.interface}, the interface of the data path."
            )
    if request.data_path in RDMA_PATHS and request.gpus == "none" and len(places) > 1:
        said.append("Without GPUs the run does not use NCCL, so it sent nothing over RDMA.")
    if request.data_path in RDMA_PATHS and request.gpus == "all" and len(places) > 1 and not seen.nccl["networks"]:
        said.append("NCCL did not report which network it used, so RDMA is not proved.")
    reported = throughput(seen, seen.size)
    if (
        reported["mean"]
        and reported["spread"]
        and reported["iterations"] > 2
        and reported["spread"] / reported["mean"] > 0.05
    ):
        said.append(f"The rate varied by {100 * reported['spread'] / reported['mean']:.0f} % between iterations.")
    return said


def not_taken(images: Mapping[str, ImageReport | None]) -> Iterator[str]:
    """Remarks on variables of the image that no rank gets."""
    names = {name for image in images.values() for name in files.not_taken(image)}
    if names:
        yield f"The image sets {', '.join(sorted(names))}. No rank gets it, because it looks like a secret."


def record(
    made: Plan,
    seen: Progress,
    images: Mapping[str, ImageReport | None],
    moved: Mapping[str, Sequence[Traffic]],
    times: Times,
    verdict: Verdict,
    outputs: Mapping[str, str | None],
) -> dict[str, Any]:
    """The whole result. images and moved are by guest; verdict is {state, code, reason, ...}."""
    request = made.request
    return {
        "schema": SCHEMA,
        "run": made.run,
        "began": times["began"],
        "ended": times["ended"],
        "seconds": times["seconds"],
        "verdict": verdict,
        "training": request.builtin or "command",
        "engine": request.engine,
        "launcher": request.launcher if request.engine == "horovod" else request.engine,
        "controller": request.controller if request.engine == "horovod" else None,
        "data_path": request.data_path,
        "image": {
            "name": request.image,
            "id": next((image["id"] for image in images.values() if image), None),
            "digests": next((image["digests"] for image in images.values() if image), []),
        },
        "hosts": [
            {
                "name": place.name,
                "node": place.node,
                "address": place.address,
                "interface": place.interface,
                "mtu": place.mtu,
                "rdma_device": place.gid.device if place.gid is not None else None,
                "slots": place.slots,
                "traffic": moved.get(place.name, []),
                "carried_by": carried_by(moved.get(place.name, [])),
            }
            for place in made.places
        ],
        "launches": [start.shown for start in made.launches],
        "environment": [setting.as_result() for setting in made.settings],
        "ranks": ranks(seen, made.places),
        "iterations": seen.iterations,
        "throughput": throughput(seen, seen.size),
        "benchmark": dict(seen.benchmark),
        "loss": loss(seen),
        "weights": weights(seen),
        "nccl": dict(seen.nccl),
        "remarks": [*remarks(request, seen, made.places, moved), *not_taken(images)],
        "log": outputs.get("log"),
        "file": outputs.get("file"),
    }
