# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The GPUs of a host from `nvidia-smi -q -x`, the one output whose form does not depend on the width of a table."""

from __future__ import annotations

import re
from dataclasses import dataclass
from xml.etree import ElementTree

from ansible_collections.aiready.vsphere.plugins.module_utils.mig import listing

_END = "</nvidia_smi_log>"


@dataclass(frozen=True)
class Process:
    """A process on a GPU; on an ESXi host, a running VM shows as one."""

    pid: int | None
    name: str
    # C, G or C+G.
    kind: str
    # The GPU instance in which it runs; None on a GPU that is not partitioned.
    gpu_instance_id: int | None


@dataclass(frozen=True)
class FoundGpu:
    """A GPU as the driver describes it."""

    index: int
    name: str
    uuid: str
    # As lspci and esxcli write it: 0000:0f:00.0
    pci: str
    device_id: int | None
    subsystem: int | None
    # None on a GPU that cannot do MIG.
    mig: bool | None
    mig_pending: bool | None
    processes: tuple = ()
    # True in a VM whose GPU is a vGPU, and in one that has a whole GPU.
    guest: bool = False
    passed_through: bool = False
    # What is told instead of the mode, as of a GPU that was lost; empty where the mode is known or there is none.
    trouble: str = ""


@dataclass(frozen=True)
class Inventory:
    """All GPUs that the driver of a host has."""

    driver_version: str
    gpus: tuple
    # How many the host has; more than are described where some no longer answer.
    attached: int | None = None

    @property
    def driver_branch(self):
        """550 of 550.54.14."""
        return _whole(self.driver_version.split(".")[0])


def parse(text):
    """The inventory in an XML document; raises ValueError when there is none."""
    begin, end = text.find("<nvidia_smi_log"), text.rfind(_END)
    if begin < 0:
        raise ValueError("there is no nvidia_smi_log in it")
    if end < begin:
        raise ValueError(f"it is no whole XML document, {_END} is missing")
    try:
        root = ElementTree.fromstring(text[begin : end + len(_END)])
    except ElementTree.ParseError as error:
        raise ValueError(f"it is no whole XML document, {error}") from error
    gpus = tuple(_gpu(index, gpu) for index, gpu in enumerate(root.findall("gpu")))
    # The text form of R610 has a warning behind the number.
    version = _text(root, "driver_version").split(" ")[0]
    return Inventory(version, gpus, _whole(_text(root, "attached_gpus")))


def pci_address(text):
    """0000:0f:00.0, whether it was written 00000000:0F:00.0, 0000:0F:00.0 or 0F:00.0; None for anything else."""
    match = re.match(r"^(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}:[0-9a-f]{2}\.[0-7])$", text.strip().lower())
    if match is None:
        return None
    return f"{int(match[1] or '0', 16):04x}:{match[2]}"


def _gpu(index, gpu):
    bus_id = _text(gpu, "pci/pci_bus_id") or gpu.get("id", "")
    virtual = _text(gpu, "gpu_virtualization_mode/virtualization_mode").lower()
    mode = _text(gpu, "mig_mode/current_mig")
    return FoundGpu(
        index,
        _text(gpu, "product_name"),
        _text(gpu, "uuid"),
        pci_address(bus_id) or bus_id.lower(),
        _upper_half(_text(gpu, "pci/pci_device_id")),
        _upper_half(_text(gpu, "pci/pci_sub_system_id")),
        listing.mode(mode),
        listing.mode(_text(gpu, "mig_mode/pending_mig")),
        tuple(_process(process) for process in gpu.iterfind("processes/process_info")),
        virtual == "vgpu",
        virtual == "pass-through",
        "" if listing.is_mode(mode) else mode,
    )


def _process(process):
    return Process(
        _whole(_text(process, "pid")),
        _text(process, "process_name"),
        _text(process, "type"),
        _whole(_text(process, "gpu_instance_id")),
    )


def _text(element, path):
    return (element.findtext(path) or "").strip()


def _whole(text):
    return int(text) if text.isdigit() else None


def _upper_half(text):
    """The device in 20B010DE; the lower half is NVIDIA's vendor id."""
    return int(text[:-4], 16) if re.match(r"^(0x)?[0-9A-Fa-f]{8}$", text) else None
