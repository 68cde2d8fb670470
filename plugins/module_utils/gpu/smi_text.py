# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The output of `nvidia-smi -q` in a guest, and its errors. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

# What nvidia-smi says instead of a list, each with a code of ours.
TROUBLE = (
    ("no_devices", r"No devices were found"),
    ("version_mismatch", r"Driver/library version mismatch"),
    ("not_loaded", r"couldn't communicate with the NVIDIA driver|NVIDIA driver is not loaded|Driver Not Loaded"),
    ("no_permission", r"Insufficient Permissions"),
    ("gpu_lost", r"GPU is lost|Unable to determine the device handle for|GPU requires reset"),
    ("not_installed", r"command not found|No such file or directory|couldn't find libnvidia-ml"),
    # Without another reason, as in a container that has lost its devices.
    ("no_nvml", r"Failed to initialize NVML"),
)
LONGEST = 300  # most characters of a complaint, because a guest may send anything
NOT_SHOWN = ("N/A", "[N/A]", "Not Supported", "")
_GPU = re.compile(r"GPU ([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f])\s*\Z")
_PAIR = re.compile(r"(?P<key>.*?\S)\s*:(?: (?P<value>.*))?\Z")
# Headings of the licence; the second is of drivers before R450.
_LICENCES = ("vGPU Software Licensed Product", "GRID Licensed Product")
_EXPIRY = re.compile(r"Expiry: (\d+)-(\d+)-(\d+) (\d+):(\d+):(\d+) GMT")


@dataclass(frozen=True)
class Gpu:
    """A GPU as a guest sees it."""

    address: str
    name: str | None = None
    uuid: str | None = None
    virtualization: str | None = None
    memory_mb: int | None = None
    mig: bool = False
    # Product and state of its licence; None for a GPU that needs none.
    product: str | None = None
    licence: str | None = None
    # When the licence ends, such as 2025-03-19T07:29:04Z.
    expiry: str | None = None

    @property
    def licensed(self) -> bool:
        return self.licence == "Licensed"


@dataclass(frozen=True)
class Report:
    """The report of nvidia-smi: GPUs, or why there are none."""

    driver: str | None = None
    gpus: tuple[Gpu, ...] = ()
    trouble: str | None = None
    said: str = ""


@dataclass
class _Block:
    values: dict[str, str] = field(default_factory=dict)
    blocks: dict[str, _Block] = field(default_factory=dict)

    def get(self, *path: str) -> str | None:
        """The value at the end of a path of headings; None where it is missing or is said to be not available."""
        block: _Block | None
        block = self
        for heading in path[:-1]:
            block = block.blocks.get(heading)
            if block is None:
                return None
        value = block.values.get(path[-1])
        return None if value in NOT_SHOWN else value


def parse(text: str) -> Report:
    """The Report of what `nvidia-smi -q` printed."""
    tree = _tree(text)
    headings = [(_GPU.match(heading), block) for heading, block in tree.blocks.items()]
    gpus = tuple(_gpu(found[1], block) for found, block in headings if found)
    trouble = None if gpus else trouble_of(text)
    return Report(_version(tree), gpus, trouble, complaint(text) if trouble else "")


def trouble_of(text: str) -> str:
    """The code of what nvidia-smi complains of; no_devices where it lists none and says nothing."""
    return next((code for code, pattern in TROUBLE if re.search(pattern, text)), _unnamed(text))


def _unnamed(text: str) -> str:
    # The counter is `Attached GPUs`, and was seen as `Attached vGPUs` too.
    return "no_devices" if re.search(r"Attached v?GPUs\s*: 0\b", text) else "unknown"


def _version(tree: _Block) -> str | None:
    # R610 warns behind the number that there will be another name for it: 610.57.04 [Deprecated; ...].
    reported = tree.get("Driver Version") or tree.get("KMD Version")
    return reported.split(" ")[0] if reported else None


def _gpu(address: str, block: _Block) -> Gpu:
    licences = next((name for name in _LICENCES if name in block.blocks), _LICENCES[0])
    licence = block.get(licences, "License Status")
    memory = re.match(r"(\d+) MiB", block.get("FB Memory Usage", "Total") or "")
    return Gpu(
        address=address,
        name=block.get("Product Name"),
        uuid=block.get("GPU UUID"),
        virtualization=_virtualization(block),
        memory_mb=int(memory[1]) if memory else None,
        mig=block.get("MIG Mode", "Current") == "Enabled",
        product=block.get(licences, "Product Name"),
        licence=_state(licence),
        expiry=_expiry(licence),
    )


def _state(licence: str | None) -> str | None:
    """The state of a licence without its end; None where both are not available."""
    reported = re.sub(r"\s*\(Expiry:.*\)\s*\Z", "", licence or "")
    return None if reported in NOT_SHOWN else reported


def _virtualization(block: _Block) -> str | None:
    # VGPU, Pass-Through, None: the words of nvidia-smi, in one form.
    reported = block.get("GPU Virtualization Mode", "Virtualization Mode")
    return re.sub(r"[^a-z]", "", reported.lower()) if reported else None


def _expiry(licence: str | None) -> str | None:
    """The end of a licence in one form; the parts are not always filled with zeros."""
    found = _EXPIRY.search(licence or "")
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part) for part in found.groups())
    return f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"


def _tree(text: str) -> _Block:
    """Headings and values by their indentation."""
    root = _Block()
    open_ones = [(-1, root)]
    for line in text.splitlines():
        stripped = line.strip()
        if not stripped or stripped.startswith("="):
            continue
        depth = len(line) - len(line.lstrip())
        while open_ones[-1][0] >= depth:
            open_ones.pop()
        block = open_ones[-1][1]
        pair = None if _GPU.match(stripped) else _PAIR.match(stripped)
        if pair is not None:
            block.values.setdefault(pair["key"], (pair["value"] or "").strip())
        else:
            open_ones.append((depth, block.blocks.setdefault(stripped, _Block())))
    return root


def complaint(text: str) -> str:
    """The sentence in which nvidia-smi names the trouble, which can continue in a second line; else the last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    named = (at for at, line in enumerate(lines) if any(re.search(pattern, line) for _code, pattern in TROUBLE))
    return " ".join(lines[next(named, len(lines) - 1) :][:2])[:LONGEST] if lines else "it said nothing"
