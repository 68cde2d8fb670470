# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Parse the drivers, licences and memory errors (ECC) in the output of `nvidia-smi -q`. Pure.

In a VM, many values of bare metal are N/A: that is neither a failure nor a proof.
"""

from __future__ import annotations

import re
from typing import Any, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import smi_text
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import text as texts

TOOL = "nvidia-smi"
_GPU = re.compile(r"GPU ([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f])\s*$")
# Action that newer drivers request before the GPU is reliable again, such as Reset.
_RECOVERY = "GPU Recovery Action"
# The same of older drivers.
_RESETS = {"Reset Required": "Reset", "Drain and Reset Recommended": "Drain and Reset"}
# Texts instead of values that a GPU no longer reports, and the action that NVIDIA requests.
_UNREADABLE = (("GPU is lost", "Reboot"), ("GPU requires reset", "Reset"))
# Number of GPUs of the driver; a GPU that fell off the bus has no block, or no GPU has one.
_ATTACHED = re.compile(r"Attached v?GPUs\s*: (\d+)")
_CUDA = re.compile(r"CUDA Version\s*: ([\d.]+)")
# PCIe packets that were sent again since the last reset; a vGPU does not report it.
_REPLAYS = "Replays Since Reset"
_PAIR = re.compile(r"(\s*)([\w /-]+?)\s*:(?: (.*))?$")


@texts.reader(TOOL)
def parse(text: str) -> dict[str, Any]:
    """driver, cuda, missing GPUs, gpus: each with name, virtualization, memory_mb, licence, expiry, recovery, ecc."""
    report = smi_text.parse(text or "")
    if report.trouble in (None, "unknown") and not report.gpus:
        return texts.not_understood(TOOL, text)
    if report.trouble is not None:
        return texts.failed(TOOL, report.said, text, trouble=report.trouble, driver=report.driver, gpus=[])
    errors = _errors(text)
    gpus = [
        {
            "address": gpu.address,
            "name": gpu.name,
            "uuid": gpu.uuid,
            "virtualization": gpu.virtualization,
            "memory_mb": gpu.memory_mb,
            "mig": gpu.mig,
            "product": gpu.product,
            "licence": gpu.licence,
            "licensed": gpu.licensed,
            "expiry": gpu.expiry,
            "recovery": errors.get(gpu.address, {}).pop("recovery", None),
            "ecc": errors.get(gpu.address, {}),
        }
        for gpu in report.gpus
    ]
    cuda, attached = _CUDA.search(text), _ATTACHED.search(text)
    missing = max(0, int(attached.group(1)) - len(gpus)) if attached else 0
    return texts.figures(driver=report.driver, cuda=cuda.group(1) if cuda else None, gpus=gpus, missing=missing)


def _errors(text: str) -> dict[str, dict[str, Any]]:
    """{address: {mode, corrected, uncorrected, replays, pending, remap_failed, unrepairable, exceeded, recovery, ...}}.

    A key that nvidia-smi does not report is missing. unread: values in an unknown form, such as ERR! and Unknown Error.
    """
    found: dict[str, dict[str, Any]]
    section: list[tuple[int, str]]
    found, address, section = {}, None, []
    for line in texts.lines(text):
        gpu = _GPU.match(line)
        if gpu is not None:
            address, section = gpu.group(1), []
            found[address] = {}
            continue
        if address is None or not line.strip():
            continue
        depth = len(line) - len(line.lstrip())
        section = [(at, name) for at, name in section if at < depth]
        pair = _PAIR.match(line)
        if pair is None or pair.group(3) is None:
            section.append((depth, line.strip().rstrip(":").strip()))
            continue
        _count(found[address], [name for _at, name in section], pair.group(2).strip(), pair.group(3).strip())
    return found


def _count(reported: dict[str, Any], path: Sequence[str], key: str, value: str) -> None:
    number = texts.whole(value.split(" ")[0]) if value else None
    if value in smi_text.NOT_SHOWN:
        return
    for words, action in _UNREADABLE:
        if words in value:
            reported.setdefault("recovery", action)
    if not path and key == _RECOVERY and value != "None":
        reported["recovery"] = value
    elif path == ["GPU Reset Status"] and value == "Yes":
        reported.setdefault("recovery", _RESETS.get(key))
    elif path == ["PCI"] and key == _REPLAYS and number is not None:
        reported["replays"] = number
    elif path == ["ECC Mode"] and key == "Current":
        reported["mode"] = value.lower()
    elif path[:1] == ["ECC Errors"] and value in ("Yes", "No"):
        _state(reported, key, value == "Yes")
    elif path[:1] in (["ECC Errors"], ["Remapped Rows"]) and number is None and value not in ("Yes", "No"):
        reported.setdefault("unread", []).append(f"{key}: {value}")
    # Volatile errors count from the load of the driver, so a run can have caused them.
    elif path[:1] == ["ECC Errors"] and path[1:2] in (["Volatile"], ["Aggregate"]) and number is not None:
        if key == "Total":
            # Its parts are listed above it.
            return
        worse = "uncorrect" in key.lower() or "double bit" in " ".join([*path, key]).lower()
        name = ("" if path[1] == "Volatile" else "ever_") + ("uncorrected" if worse else "corrected")
        reported[name] = reported.get(name, 0) + number
    elif path[:1] == ["Remapped Rows"]:
        if key == "Pending":
            reported["pending"] = value == "Yes" or reported.get("pending", False)
        elif key == "Remapping Failure Occurred":
            reported["remap_failed"] = value == "Yes"


def _state(reported: dict[str, Any], key: str, yes: bool) -> None:
    """The memory state that newer drivers report besides counts."""
    if key in ("Channel Repair Pending", "TPC Repair Pending"):
        reported["pending"] = yes or reported.get("pending", False)
    elif key == "Unrepairable Memory":
        reported["unrepairable"] = yes
    elif key == "SRAM Threshold Exceeded":
        reported["exceeded"] = yes
