# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Parse the tools of GPUDirect Storage: gdscheck, gdsio, and the statistics of the kernel module nvidia_fs. Pure."""

from __future__ import annotations

import re
from typing import Any

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import text as texts

CHECK, IO, STATS = "gdscheck", "gdsio", "nvidia-fs"
_RELEASE = re.compile(r"GDS release version[^:]*: *(\S+)")
_MODULE = re.compile(r"nvidia_fs version: *(\S+)")
_GPU = re.compile(r"\s*GPU index (\d+) (.+?) bar:")
_STORAGE = re.compile(r"(\w[\w ()-]*?) *: (Supported|Unsupported|nvfs\b.*|compat\b.*|p2pdma\b.*)$")
_SETTING = re.compile(r"properties\.(\w+) *: *(\S+)")
_PLATFORM = re.compile(r"Platform verification (\w+)", re.I)
_GIB_S = re.compile(r"Throughput: *([\d.]+) GiB/sec")
_TRANSFER = re.compile(r"XferType: *(\w+)")
_PAIR = re.compile(r"(\w+)=(\d+)")
# The transfer type of a direct read, and a storage that nvidia_fs serves.
DIRECT = "GPUD"
NO_MODULE = "The kernel module nvidia_fs is not loaded"


@texts.reader(CHECK)
def check(text: str) -> dict[str, Any]:
    """version, module, gpus [{index, name, supported}], storage [names that nvidia_fs serves], forced, verified."""
    gpus: list[dict[str, Any]]
    gpus, storage, settings, verified = [], [], {}, None
    for line in texts.lines(text):
        gpu, kind = _GPU.match(line), _STORAGE.match(line.strip())
        setting, platform = _SETTING.search(line), _PLATFORM.search(line)
        if gpu is not None:
            gpus.append({"index": int(gpu.group(1)), "name": gpu.group(2), "supported": "supports GDS" in line})
        elif platform is not None:
            verified = platform.group(1).lower() == "succeeded"
        elif setting is not None:
            settings[setting.group(1)] = setting.group(2).lower()
        elif kind is not None and kind.group(2).startswith(("Supported", "nvfs", "p2pdma")):
            storage.append(kind.group(1).strip())
    release, module = _RELEASE.search(text), _MODULE.search(text)
    if release is None or verified is None:
        return texts.not_understood(CHECK, text)
    return texts.figures(
        version=release.group(1),
        module=module.group(1) if module is not None else "",
        gpus=gpus,
        storage=[one for one in storage if not one.startswith("USERSPACE")],
        forced=settings.get("force_compat_mode", "false") in ("true", "1"),
        verified=verified,
    )


@texts.reader(IO)
def read(text: str) -> dict[str, Any]:
    """gib_s, transfer (GPUD is the direct path as requested, which gdsio also prints in compatibility mode)."""
    found, transfer = _GIB_S.search(text), _TRANSFER.search(text)
    if found is None:
        reason = texts.last_line(text)
        return (
            texts.failed(IO, reason, text) if re.search(r"error|fail", reason, re.I) else texts.not_understood(IO, text)
        )
    return texts.figures(gib_s=float(found.group(1)), transfer=transfer.group(1) if transfer is not None else "")


@texts.reader(STATS)
def stats(text: str) -> dict[str, Any]:
    """counted (whether the module counts reads), reads, maps: of /proc/driver/nvidia-fs/stats.

    Ops are the operations in progress, so they are 0 after a read.
    """
    if "NVFS statistics" not in text:
        return texts.failed(STATS, NO_MODULE, text) if not text.strip() else texts.not_understood(STATS, text)
    rows: dict[str, dict[str, int]] = {}
    for line in texts.lines(text):
        name, colon, rest = line.partition(":")
        if colon:
            rows.setdefault(name.strip(), {}).update({key: int(value) for key, value in _PAIR.findall(rest)})
    return texts.figures(
        counted="IO stats: Enabled" in text,
        reads=rows.get("Reads", {}).get("n", 0),
        maps=rows.get("Bar1-map", {}).get("ok", 0),
    )
