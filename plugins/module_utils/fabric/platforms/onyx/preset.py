# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Read the preset of NVIDIA Onyx from `show roce`, and thresholds. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import cast

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import number, numbers
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.onyx.settings import KB, PROMPT
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Marking
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.unread import lacks

# A row of the traffic classes of RoCE.
_USED = r"\s*(\d)\s+(\d)\s+(\S+)\s+(Strict|WRR\s*\d+)"


@dataclass
class Preset:
    """The values of `show roce`. mode is off if the command `roce` did not turn the preset on."""

    mode: str = "off"
    trust: str | None = None
    pfc: list[int] | None = None
    pools: dict[str, tuple[str, list[int]]] = field(default_factory=dict)
    queues: dict[int, int] = field(default_factory=dict)  # {priority: traffic class}
    ecn: dict[int, Marking] = field(default_factory=dict)
    strict: list[int] = field(default_factory=list)
    shares: dict[int, int] = field(default_factory=dict)
    exceptions: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)


def preset(text: str) -> Preset | None:
    """Return the values of `show roce`; labels differ slightly between releases."""
    mode = _reported(text, r"RoCE mode")
    if mode is None:
        return None
    found = Preset(mode="off" if mode in ("N/A", "off", "disabled", "none") else mode.replace("-", "_").lower())
    found.exceptions = exceptions(text)
    if found.mode == "off":
        return found
    found.trust = _reported(text, r"Port trust mode")
    flow = (_reported(text, r"PFC") or "").lower()
    if flow.startswith("enabled"):
        # Without a listed priority, the priorities are unknown.
        found.pfc = [int(one) for one in re.findall(r"(?m)^\s*switch-priority (\d)\s*:\s*enabled", text)] or None
    elif flow.startswith("disabled"):
        found.pfc = []
    if found.pfc is None:
        found.unread.append(lacks("show roce", "the priorities of PFC"))
    for priority, queue, role, share in re.findall(f"(?m)^{_USED}", text):
        found.queues[int(priority)] = int(queue)
        if share.startswith("Strict"):
            found.strict.append(int(queue))
        else:
            found.shares[int(queue)] = cast("int", number(share))
        mode = (_reported(text, r"Mode") or "").lower()
        if role.upper() == "ROCE" and not mode.startswith(("ecn", "red", "none", "disabled")):
            found.unread.append(lacks("show roce", f"the mode of congestion control, {mode!r}"))
        elif role.upper() == "ROCE" and (_reported(text, r"Mode") or "").lower().startswith(("ecn", "red")):
            low, high = (_threshold(text, name) for name in ("Min", "Max"))
            if low is None or high is None:
                found.unread.append(lacks("show roce", f"the thresholds of ECN of traffic class {queue}"))
                continue
            found.ecn[int(queue)] = Marking(low, high, mark=mode.startswith("ecn"))
    for line in _after(text, "RoCE used TCs").splitlines():
        if re.match(r"\s*\S+\s+\S+\s+(?:RoCE|CNP)\b", line) and not re.match(_USED, line):
            found.unread.append(lacks("show roce", f"the row {' '.join(line.split())!r}"))
    found.pools = _pools(_after(text, "RoCE buffer pools"))
    return found


def exceptions(text: str) -> list[str]:
    """Return the settings that contradict the preset, in the words of the switch."""
    listed = (PROMPT.sub("", line).strip() for line in _after(text, "Exception list").splitlines())
    return [line for line in listed if line.lstrip("-") and line != "N/A" and not line.startswith(":")]


def _pools(table: str) -> dict[str, tuple[str, list[int]]]:
    """Return {name: (type, priorities)}; long lists of priorities continue on the next line."""
    found, last = {}, None
    for line in table.splitlines():
        columns = re.split(r"\s{2,}", line.strip())
        if columns[1:2] in (["lossless"], ["lossy"]):
            last = columns[0]
            found[last] = (columns[1], numbers(columns[3]) if len(columns) > 3 else [])
        elif last and re.fullmatch(r"[0-7](?:,\s*[0-7])*,?", columns[0]):
            found[last] = (found[last][0], sorted({*found[last][1], *numbers(columns[0])}))
    return found


def _threshold(text: str, label: str) -> int | None:
    """Return the bytes after a label, which can contain the unit; None for units other than KB."""
    found = re.search(rf"(?m)^\s*{label}\b([^:\n]*):\s*(\S.*?)\s*$", text)
    unit = re.search(r"[(\[](\w+)[)\]]", found.group(1)) if found else None
    return threshold_bytes(found.group(2)) if found and (unit is None or unit.group(1).upper() == "KB") else None


def threshold_bytes(shown: str | None) -> int | None:
    """Return the bytes of a threshold in KB, with or without its unit; None for other units."""
    found = re.fullmatch(r"(\d+)(?:\s*KB)?", (shown or "").strip(), re.IGNORECASE)
    return int(found.group(1)) * KB if found else None


def _reported(text: str, label: str) -> str | None:
    match = re.search(rf"(?m)^\s*{label}\s*:\s*(\S.*?)\s*$", text)
    return match.group(1) if match else None


def _after(text: str, heading: str) -> str:
    found = re.search(rf"(?m)^\s*{heading}\s*:?(.*)$", text)
    if not found:
        return ""
    rest = text[found.end() :]
    ends = re.search(r"(?m)^\s*(?:RoCE used|RoCE buffer|Exception list)", rest)
    return found.group(1) + rest[: ends.start() if ends else None]
