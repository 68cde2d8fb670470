# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The GPUs of a host from `nvidia-smi -q -x`, the one output whose form does not depend on the width of a table."""

from __future__ import annotations

import re
from dataclasses import dataclass
from xml.etree import ElementTree

from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig import listing

_END = "</nvidia_smi_log>"
# R550 writes `GPU0: 0000:34:00.0`, older branches `GPU 0000:34:00.0` or `GPU0000:34:00.0`, some only the index.
_LOST = re.compile(
    r"Unable to determine the device handle for GPU\s*"
    r"(?:(?P<index>\d{1,3}):?(?=\s|$))?\s*(?P<pci>(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])?",
    re.I,
)
# XML allows no such character, but nvidia-smi prints the bytes of a process name as they are
# (https://github.com/common-workflow-language/cwltool/pull/1910).
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


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
    # In the notation of lspci and esxcli: 0000:0f:00.0
    pci: str
    device_id: int | None
    subsystem: int | None
    # None on a GPU without MIG support.
    mig: bool | None
    mig_pending: bool | None
    processes: tuple[Process, ...] = ()
    # True in a VM whose GPU is a vGPU, and in one that has a whole GPU.
    guest: bool = False
    passed_through: bool = False
    # Report in place of the mode, as for a lost GPU; empty if the mode is known or there is none.
    trouble: str = ""
    # The number in /dev/nvidia<minor>.
    minor: int | None = None


@dataclass(frozen=True)
class Inventory:
    """GPUs that the driver of a host has."""

    driver_version: str
    gpus: tuple[FoundGpu, ...]
    # Number of GPUs of the host; higher than the number of described ones if some no longer answer.
    attached: int | None = None
    # GPUs that nvidia-smi cannot describe: PCI addresses or indices.
    refused: tuple[str, ...] = ()

    @property
    def missing(self) -> list[str]:
        """A name for each GPU that is attached and does not answer, as exact as the host reports it."""
        count = (self.attached or 0) - len(self.gpus)
        answering = {gpu.pci for gpu in self.gpus}
        names = [name for name in self.refused if name not in answering]
        count = max(count, len(names))
        if len(names) < count:
            minors = {gpu.minor for gpu in self.gpus}
            gaps = [number for number in range(self.attached or 0) if number not in minors]
            # If each answering GPU has a minor number, the numbers left over belong to the others.
            if None not in minors and len(gaps) == count and not names:
                names = [f"/dev/nvidia{number}" for number in gaps]
        return names + ["a GPU whose address is unknown"] * (count - len(names))

    @property
    def driver_branch(self) -> int | None:
        """550 of 550.54.14."""
        return _whole(self.driver_version.split(".")[0])


def parse(text: str, beside: str = "") -> Inventory:
    """Parse the inventory in an XML document; raises ValueError if there is none. beside: output on stderr."""
    begin, end = text.find("<nvidia_smi_log"), text.rfind(_END)
    if begin < 0:
        raise ValueError("it contains no nvidia_smi_log")
    if end < begin:
        raise ValueError(f"the XML document is incomplete, {_END} is missing")
    try:
        root = ElementTree.fromstring(_NO_XML.sub("?", text[begin : end + len(_END)]))
    except ElementTree.ParseError as error:
        raise ValueError(f"the XML document is damaged, {error}") from error
    gpus = tuple(_gpu(index, gpu) for index, gpu in enumerate(root.findall("gpu")))
    # The text form of R610 has a warning behind the number.
    version = _text(root, "driver_version").split(" ")[0]
    return Inventory(version, gpus, _whole(_text(root, "attached_gpus")), _refused(f"{text}\n{beside}"))


def pci_address(text: str) -> str | None:
    """0000:0f:00.0, whether it was written 00000000:0F:00.0, 0000:0F:00.0 or 0F:00.0; None for anything else."""
    match = re.match(r"^(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}:[0-9a-f]{2}\.[0-7])$", text.strip().lower())
    if match is None:
        return None
    return f"{int(match[1] or '0', 16):04x}:{match[2]}"


def _refused(text: str) -> tuple[str, ...]:
    """The GPUs that nvidia-smi names as not answering, each once."""
    named = [pci_address(one["pci"] or "") or one["index"] for one in _LOST.finditer(text)]
    return tuple(dict.fromkeys(f"GPU {name}" if name.isdecimal() else name for name in named if name))


def _gpu(index: int, gpu: ElementTree.Element) -> FoundGpu:
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
        _whole(_text(gpu, "minor_number")),
    )


def _process(process: ElementTree.Element) -> Process:
    return Process(
        _whole(_text(process, "pid")),
        _text(process, "process_name"),
        _text(process, "type"),
        _whole(_text(process, "gpu_instance_id")),
    )


def _text(element: ElementTree.Element, path: str) -> str:
    return (element.findtext(path) or "").strip()


def _whole(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def _upper_half(text: str) -> int | None:
    """The device in 20B010DE; the lower half is NVIDIA's vendor id."""
    return int(text[:-4], 16) if re.match(r"^(0x)?[0-9A-Fa-f]{8}$", text) else None
