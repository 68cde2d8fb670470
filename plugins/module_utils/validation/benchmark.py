# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What synthetic benchmarks of trainings print: Horovod's for PyTorch and TensorFlow, tf_cnn_benchmarks. Pure."""

from __future__ import annotations

import re

from ansible_collections.aiready.vsphere.plugins.module_utils.training import output
from ansible_collections.aiready.vsphere.plugins.module_utils.training.progress import Progress
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import spread
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import text as texts

TOOL = "the training"
# By how much a printed mean may differ from the one of its iterations, as a share and in its last digit.
ROUNDING, DIGIT = 0.002, 0.06
_UNIT = re.compile(r"(?:img/sec per |Number of |img/sec on \d+ )(GPU|CPU)")
_DEVICES = re.compile(r"Number of (?:GPU|CPU)s: (\d+)")
_CNN = re.compile(r"images/sec: .* \(jitter = ")
# tf_cnn_benchmarks tells the batch of all devices first, and names the devices.
_PER_DEVICE = re.compile(r"^\s*(\d+)(?:\.0)? per device\s*$")
_NAMES = re.compile(r"'[^']+'")


@texts.reader(TOOL)
def parse(text):
    """per_device, total and their half width, iterations, device (GPU or CPU), devices, model, batch, dispersion."""
    seen = _progress(text)
    lines = texts.lines(text)
    unit = next((found.group(1) for found in map(_UNIT.search, lines) if found), None)
    devices = seen.benchmark.get("devices") or texts.whole(
        next((found.group(1) for found in map(_DEVICES.search, lines) if found), None)
    )
    about = {
        "model": seen.benchmark.get("model"),
        "batch": texts.whole(next((found.group(1) for found in map(_PER_DEVICE.search, lines) if found), None))
        or seen.benchmark.get("batch"),
        "device": unit or _cnn_device(lines),
        "devices": devices,
        "nccl": seen.nccl["version"],
        "transport": output.transport(seen.nccl["networks"]),
    }
    error = texts.known(text)
    total = seen.benchmark.get("total")
    if not isinstance(total, (int, float)):
        if error is not None:
            return texts.failed(TOOL, error["line"], text, **about)
        if seen.iterations or about["model"]:
            return texts.not_understood(TOOL, text, "its line with the total is missing, so it did not come to its end")
        return texts.not_understood(TOOL, text)
    if total <= 0:
        return texts.failed(TOOL, f"it tells a total of {total} images per second", **about)
    if any(_CNN.search(line) for line in lines):
        named = next((line for line in lines if line.startswith("Devices:")), "")
        return _cnn(seen, total, dict(about, devices=devices or len(_NAMES.findall(named)) or None))
    return _horovod(text, seen, total, about)


def rates(values):
    """What a judge needs of rates that somebody else has read: the mean and how far they lie apart."""
    return {"iterations": list(values), "dispersion": spread.dispersion(values)}


def _horovod(text, seen, total, about):
    values = [entry["samples_per_s"] for entry in seen.iterations if isinstance(entry["samples_per_s"], (int, float))]
    each = seen.benchmark.get("each")
    if not isinstance(each, (int, float)) or not about["devices"]:
        return texts.not_understood(TOOL, text, "the rate of each device is missing")
    if abs(each * about["devices"] - total) > ROUNDING * total + about["devices"] * DIGIT:
        return texts.not_understood(TOOL, text, f"{about['devices']} times {each} is not the total of {total}")
    counted, left_out = _counted(values, each)
    if values and counted is None:
        return texts.not_understood(TOOL, text, f"its mean of {each} is not that of its iterations")
    return texts.figures(
        per_device=each,
        per_device_half=seen.benchmark.get("each_dispersion"),
        total=total,
        total_half=seen.benchmark.get("total_dispersion"),
        iterations=values,
        # The Keras variant leaves out the iteration in which it compiles.
        first_left_out=left_out,
        dispersion=spread.dispersion(counted or []),
        **about,
    )


def _counted(values, each):
    """(the iterations of which the printed mean is, whether the first is not among them)."""
    for first in (0, 1):
        some = values[first:]
        if some and abs(sum(some) / len(some) - each) <= ROUNDING * each + DIGIT:
            return some, first == 1
    return None, None


def _cnn(seen, total, about):
    """Each step line is a running mean, printed by every rank: the last one of each rank is its rate."""
    last, by_step = {}, {}
    for entry in seen.iterations:
        if isinstance(entry["samples_per_s"], (int, float)):
            last[entry["rank"]] = entry["samples_per_s"]
            by_step.setdefault(entry["iteration"], []).append(entry["samples_per_s"])
    ranks = max((len(values) for values in by_step.values()), default=0)
    values = [sum(values) for _step, values in sorted(by_step.items()) if len(values) == ranks]
    devices = about["devices"] or ranks or None
    return texts.figures(
        per_device=round(total / devices, 3) if devices else None,
        per_device_half=None,
        total=total,
        total_half=None,
        iterations=values,
        first_left_out=False,
        dispersion=spread.dispersion(values),
        # Without prefixes of a launcher nobody knows which rank a line is of.
        by_rank=dict(sorted(last.items())) if len(last) > 1 else {},
        **dict(about, devices=devices),
    )


def _progress(text):
    seen = Progress([])
    seen.feed("", 0, text or "")
    seen.end()
    return seen


def _cnn_device(lines):
    told = next((line for line in lines if line.startswith("Devices:")), "")
    found = re.search(r"/(gpu|cpu):", told)
    return found.group(1).upper() if found else None
