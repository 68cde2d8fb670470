# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Effects that a command of nvidia-smi reports, or the reason of its failure.

Neither its text nor its exit status is proof: a pending mode change also ends with "All done." Exit statuses are NVML's
return codes (NVML API reference), but none was ever seen on ESXi, so the text has priority.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Callable, NamedTuple, Union


class MadeInstance(NamedTuple):
    """A created GPU instance. R450 reports neither its id nor the name of its profile."""

    instance_id: int | None
    gpu: int
    profile_name: str | None
    profile_id: int


class MadeCompute(NamedTuple):
    """A compute instance was made."""

    instance_id: int
    gpu: int
    gpu_instance_id: int
    profile_name: str
    profile_id: int


class GoneInstance(NamedTuple):
    """A GPU instance was removed."""

    instance_id: int
    gpu: int


class GoneCompute(NamedTuple):
    """A compute instance was removed."""

    instance_id: int
    gpu: int
    gpu_instance_id: int


class Switched(NamedTuple):
    """The MIG mode was switched, or will be after a restart and why not now."""

    pci: str
    enabled: bool
    pending: bool
    why: str


if TYPE_CHECKING:
    Effect = Union[MadeInstance, MadeCompute, GoneInstance, GoneCompute, Switched]

# Stable codes by the content of the text; the first match counts.
_REASONS = (
    ("Insufficient Resources", "insufficient_resources"),
    ("Invalid Argument", "invalid_argument"),
    ("In use by another client", "in_use"),
    ("No MIG-enabled devices found", "mig_is_off"),
    ("No MIG-supported devices found", "not_mig_capable"),
    ("Insufficient Permissions", "no_permission"),
    ("Invalid combination of input arguments", "driver_without_mig"),
    ("couldn't communicate with the NVIDIA driver", "driver_not_loaded"),
    ("couldn't find libnvidia-ml", "driver_not_loaded"),
    ("Driver/library version mismatch", "driver_mismatch"),
    ("GPU is lost", "gpu_lost"),
    ("GPU requires reset", "reset_required"),
    ("No devices were found", "no_gpu"),
    ("not found", "nvidia_smi_missing"),
    ("No such file", "nvidia_smi_missing"),
    ("is not supported", "not_supported"),
    ("Not Supported", "not_supported"),
    ("Unknown Error", "unknown_error"),
)
_BY_STATUS = {
    2: "invalid_argument",
    3: "not_supported",
    4: "no_permission",
    9: "driver_not_loaded",
    12: "driver_not_loaded",
    15: "gpu_lost",
    16: "reset_required",
    18: "driver_mismatch",
    19: "in_use",
    23: "insufficient_resources",
    127: "nvidia_smi_missing",
}
_NOTHING = re.compile(r"No (GPU|compute) instances found: Not Found")
# R450 reports neither the instance nor the name of the profile.
_MADE = re.compile(
    r"Successfully created GPU instance(?: ID\s+(\d+))? on GPU\s+(\d+) using profile"
    r"(?: (?:MIG )?(\S+) \(ID\s+(\d+)\)| ID\s+(\d+))"
)
_MADE_COMPUTE = re.compile(
    r"Successfully created compute instance ID\s+(\d+) on GPU\s+(\d+) GPU instance ID\s+(\d+) using profile"
    r" (?:MIG )?(\S+) \(ID\s+(\d+)\)"
)
_GONE = re.compile(r"Successfully destroyed GPU instance ID\s+(\d+) from GPU\s+(\d+)")
_GONE_COMPUTE = re.compile(
    r"Successfully destroyed compute instance ID\s+(\d+) from GPU\s+(\d+) GPU instance ID\s+(\d+)"
)
_SWITCHED = re.compile(r"(Enabled|Disabled) MIG Mode for GPU (\S+)")
_PENDING = re.compile(r"MIG mode is in pending (enable|disable) state for GPU ([\da-fA-F:]+\.[0-7]):(.*)$")


def nothing_there(text: str) -> bool:
    """Return whether a list or a removal found nothing, which is an answer and no error."""
    return _NOTHING.search(text) is not None


def reason(text: str, rc: int) -> str | None:
    """Return the reason of a failed command, as a stable code; None if it did not fail."""
    if nothing_there(text):
        return None
    for words, code in _REASONS:
        if words in text:
            return code
    return None if rc == 0 else _BY_STATUS.get(rc, "failed")


def effects(text: str) -> list[Effect]:
    """Return the created, removed and switched objects, in the order of the lines."""
    found = []
    for line in text.splitlines():
        for pattern, make in _EFFECTS:
            match = pattern.search(line)
            if match:
                found.append(make(match))
    return found


def _number(text: str | None) -> int | None:
    return None if text is None else int(text)


_EFFECTS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Effect]], ...] = (
    (_MADE, lambda m: MadeInstance(_number(m[1]), int(m[2]), m[3], int(m[4] or m[5]))),
    (_MADE_COMPUTE, lambda m: MadeCompute(int(m[1]), int(m[2]), int(m[3]), m[4], int(m[5]))),
    (_GONE, lambda m: GoneInstance(int(m[1]), int(m[2]))),
    (_GONE_COMPUTE, lambda m: GoneCompute(int(m[1]), int(m[2]), int(m[3]))),
    (_SWITCHED, lambda m: Switched(m[2], m[1] == "Enabled", False, "")),
    (_PENDING, lambda m: Switched(m[2], m[1] == "enable", True, m[3].strip())),
)
