# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Reference figures by GPU and image: published results that a site can compare itself with. Pure.

A reference decides no verdict: thresholds.py does. docs/validation.md shows all of this table.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Iterable, Mapping, NamedTuple, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import catalogue
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import check_cluster, line
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import (
    guests_of,
    listing,
    mapping,
    number,
    short,
)

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.entry import Entry

TRAINING, NCCL = "cluster.training", "cluster.nccl"
IMAGES, TOKENS, BUS = "images/s", "tokens/s", "bus bandwidth"
# The measure of each check that has references.
MEASURES = {TRAINING: IMAGES, NCCL: BUS}
SURE = "sure"
NO_IMAGE = "unsure: the source does not state the image"
NO_TAG = "unsure: the source names the container and not its tag"
NO_GPUS = "unsure: eight GPUs in each machine are an assumption"
NONE, OF_SITE = "no reference", "the site"
TENSORFLOW = "nvcr.io/nvidia/tensorflow:24.05-tf2-py3"
NEMO = "nvcr.io/nvidia/nemo:25.11"
NODE, PAIR = (
    "threshold within one machine, Azure's public node health checks v0.4.5",
    "threshold for two machines, Oracle's public checks of GPU clusters v3.1.0",
)
MEGATRON = "NVIDIA Megatron Bridge, performance summary, NeMo container 25.11, DGX machines"


class Reference(NamedTuple):
    """One published figure. Images and tokens per second are those of one GPU, bus bandwidth that of the all-reduce."""

    measure: str
    gpu: str
    value: float
    guests: int
    gpus: int  # in each guest
    source: str
    mark: str = SURE
    image: str = ""  # empty if the source does not state it
    model: str = ""
    batch: int | None = None
    # Gb/s of each machine. None between machines: the source does not state it, so no site is compared with it.
    network: float | None = None


# No training of the collection reports tokens per second, so the rows of TOKENS are for a reader to compare.
REFERENCES = (
    Reference(
        *(IMAGES, "H100", 1488.1, 1, 2, "NCHC, Keras, fp16 all-reduce"),
        image=TENSORFLOW,
        model="resnet50",
        batch=128,
    ),
    Reference(
        *(IMAGES, "H100", 1475.8, 2, 1, "NCHC, Keras, fp16 all-reduce, InfiniBand"),
        image=TENSORFLOW,
        model="resnet50",
        batch=128,
    ),
    Reference(
        *(IMAGES, "V100", 234.8, 2, 8, "DeepOps, TensorFlow, 2 x 100 Gb/s RoCE, a run that varied by 18 %", NO_IMAGE),
        model="resnet50",
    ),
    Reference(
        *(IMAGES, "V100", 255.99, 2, 4, "horovod/horovod#288, InfiniBand, 2047.95 of 8 GPUs as posted", NO_IMAGE),
        model="resnet50",
    ),
    *(
        Reference(TOKENS, gpu, rate, machines, 8, f"{MEGATRON}, {precision}", NO_TAG, NEMO, model, batch)
        for gpu, rate, machines, precision, model, batch in (
            ("H100", 14451.0, 1, "FP8", "llama3 8b", 128),
            ("H100", 1602.0, 8, "FP8", "llama3 70b", 128),
            ("H100", 5630.0, 8, "BF16", "gpt oss 120b", 512),
            ("B200", 30624.0, 1, "FP8", "llama3 8b", 128),
            ("B200", 8213.0, 8, "BF16", "gpt oss 120b", 512),
        )
    ),
    *(
        Reference(BUS, gpu, gbs, 1, 8, NODE)
        for gpu, gbs in (("V100", 110.0), ("A100", 228.0), ("H100", 460.0), ("H200", 480.0))
    ),
    Reference(BUS, "V100", 22.9, 2, 8, "DeepOps, 2 x 100 Gb/s RoCE, largest messages", network=200.0),
    Reference(BUS, "A100", 185.0, 2, 8, PAIR, NO_GPUS, network=1600.0),
    Reference(BUS, "A100", 191.0, 4, 8, "DeepOps, 4 DGX A100, 8 x HDR InfiniBand", network=1600.0),
    Reference(BUS, "H100", 471.0, 2, 8, "Oracle's public checks of GPU clusters v3.1.0, a run at 16 GiB"),
    Reference(BUS, "H200", 440.0, 2, 8, PAIR, NO_GPUS),
    Reference(BUS, "B200", 440.0, 2, 8, PAIR, NO_GPUS),
    Reference(BUS, "B300", 700.0, 2, 8, PAIR, NO_GPUS),
)
# No source states figures of these boards.
OTHER_BOARDS = ("PCIE", "NVL")


def rows(
    entries: Iterable[Entry],
    intent: Mapping[str, Any],
    topology: Mapping[str, Any] | None,
    below: Mapping[str, Any],
    given: Mapping[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """The figures of a run beside their references.

    [{row, check, measure, measured, unit, expected, percent, source, mark, why, simulated}]. expected is None without
    a reference, and why has the reason. given has the thresholds of the site, with `reference`.
    """
    made = []
    for entry in entries:
        measured = number(entry.row["measured"])
        if entry.check not in MEASURES or measured is None:
            continue
        expected, source, mark, why = _expected(entry, intent, topology, below, given)
        made.append(
            {
                "row": entry.row["id"],
                "check": entry.check,
                "measure": MEASURES[entry.check],
                "measured": measured,
                "unit": entry.row["unit"],
                "expected": expected,
                "percent": round(100.0 * measured / expected, 1) if expected else None,
                "source": source,
                "mark": mark,
                "why": why,
                "simulated": bool(entry.row["simulated"]),
            }
        )
    return made


def of_site(check: str, variant: str, given: Mapping[str, Any] | None) -> tuple[bool, float | None]:
    """(whether the site sets the reference, its value), of the variant before that of the check."""
    for name in (f"{check}:{variant}", check):
        requested = mapping(mapping(given).get(name))
        if "reference" in requested:
            return True, number(requested["reference"])
    return False, None


def whole_gpu(name: str, profile: str = "", mig: str = "") -> str:
    """The GPU of the table that a name of nvidia-smi or of a board means; empty for others and for parts of a GPU."""
    if mig or (profile and not catalogue.is_whole_gpu(profile)):
        return ""
    if any(word in name.upper() for word in OTHER_BOARDS):
        return ""
    known = dict.fromkeys(one.gpu for one in REFERENCES)
    return next((gpu for gpu in known if re.search(rf"(?<![A-Za-z0-9]){gpu}(?![A-Za-z0-9])", name)), "")


def _expected(
    entry: Entry,
    intent: Mapping[str, Any],
    topology: Mapping[str, Any] | None,
    below: Mapping[str, Any],
    given: Mapping[str, Any] | None,
) -> tuple[float | None, str, str, str]:
    """(the reference, its source, its mark, the reason for none)."""
    own, value = of_site(entry.check, entry.variant, given)
    if own:
        return (value, OF_SITE, "", "") if value else (None, "", "", "the site sets none")
    if entry.row["simulated"]:
        return None, "", "", "the figure depends on simulated parts"
    names, gpu = _gpus(guests_of(entry.subject), topology)
    if not gpu:
        return None, "", "", f"the table has no row for {names}" if names else "the GPUs of the guests are unknown"
    if entry.check == TRAINING:
        return _training(entry, gpu)
    return _nccl(entry, gpu, intent, below)


def _gpus(guests: Sequence[str], topology: Mapping[str, Any] | None) -> tuple[str, str]:
    """(the names of all GPUs of these guests, the one of the table that they are)."""
    hosts = map(mapping, listing(mapping(topology).get("hosts")))
    gpus = [mapping(gpu) for host in hosts for gpu in listing(host.get("gpus")) if mapping(gpu).get("vm") in guests]
    names: dict[str, str] = {}
    for gpu in gpus:
        name, profile = str(gpu.get("name") or ""), "".join(map(str, listing(gpu.get("vgpus"))[:1]))
        names[profile or name] = whole_gpu(name, profile, str(gpu.get("mig") or ""))
    # Guests with different GPUs have no common reference.
    return ", ".join(sorted(names)), (set(names.values()) or {""}).pop() if len(set(names.values())) == 1 else ""


def _training(entry: Entry, gpu: str) -> tuple[float | None, str, str, str]:
    reported = check_cluster.figures(entry.values)
    if reported["device"] == "CPU":
        return None, "", "", "the ranks have no GPUs"
    model, image = str(reported["model"] or "").lower(), str(mapping(entry.values.get("image")).get("name") or "")
    known = [one for one in REFERENCES if (one.measure, one.gpu) == (IMAGES, gpu)]
    if not known:
        return None, "", "", f"the table has no training on {gpu}"
    alike = [one for one in known if one.model == model and one.batch in (None, reported["batch"])]
    if not alike:
        batch = f" and batch {short(reported['batch'])}" if reported["batch"] else ""
        return None, "", "", f"the table has no {gpu} with model {model or 'unknown'}{batch}"
    # A registry of the site may hold a copy of the image.
    mine = [one for one in alike if not one.image or image.rpartition("/")[2] == one.image.rpartition("/")[2]]
    if not mine:
        return None, "", "", f"the table has {gpu} with another image, {alike[0].image}"
    guests = len(guests_of(entry.subject))
    ranks = int(reported["devices"] or guests)
    # A figure of one GPU is closest with as many guests, and as many GPUs in each.
    best = min(mine, key=lambda one: (one.guests != guests, one.guests * one.gpus != ranks))
    source = f"{short(best.value)} for each of {ranks} GPUs; {_layout(best)}: {best.source}"
    return round(best.value * ranks, 3), source, best.mark, ""


def _nccl(
    entry: Entry, gpu: str, intent: Mapping[str, Any], below: Mapping[str, Any]
) -> tuple[float | None, str, str, str]:
    guests = int(number(entry.values.get("nodes")) or len(guests_of(entry.subject)))
    ranks = number(entry.values.get("ranks_by_factor"))
    known = [one for one in REFERENCES if (one.measure, one.gpu) == (BUS, gpu)]
    mine = [one for one in known if one.guests == guests and one.guests * one.gpus == ranks]
    if not mine:
        many = f"{short(ranks)} ranks" if ranks else "an unknown number of ranks"
        return None, "", "", f"the table has no {gpu} with {many} on {_guests(guests)}"
    best = mine[0]
    if guests > 1:
        network = _network(entry.values, intent, below)
        if best.network is None:
            return None, "", "", f"the source does not state the network of its {gpu} machines: {best.source}"
        if network != best.network:
            here = f"{short(network)} Gb/s" if network else "an unknown speed"
            return None, "", "", f"the network of each guest has {here}, that of the table {short(best.network)} Gb/s"
    return best.value, f"{_layout(best)}: {best.source}", best.mark, ""


def _network(values: Mapping[str, Any], intent: Mapping[str, Any], below: Mapping[str, Any]) -> float | None:
    """Gb/s of each guest: the speed of an adapter, by the number of RDMA devices that NCCL used; None if unknown."""
    speed = number(intent["speed_gb"]) or max(mapping(below.get(line.RATES)).values(), default=None)
    hosts = [mapping(one).get("host") for one in listing(values.get("devices"))]
    counts = {hosts.count(host) for host in hosts}
    return speed * counts.pop() if speed and len(counts) == 1 else None


def _layout(one: Reference) -> str:
    many = "GPU" if one.gpus == 1 else "GPUs"
    machines = "1 machine" if one.guests == 1 else f"{one.guests} machines"
    return f"{machines} with {one.gpus} {many}{' each' if one.guests > 1 else ''}"


def _guests(count: int) -> str:
    return "1 guest" if count == 1 else f"{count} guests"
