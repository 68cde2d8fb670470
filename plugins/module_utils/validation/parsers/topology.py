# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Parse the output of `nvidia-smi topo -m` and `nvidia-smi nvlink`: distances, and the links of GPUs. Pure."""

from __future__ import annotations

import re
from typing import Any, Mapping, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import smi_text
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import text as texts

TOOL = "nvidia-smi topo"
# From near to far. NV# are bonds of NVLinks between GPUs.
CLASSES = ("X", "NV", "PIX", "PXB", "PHB", "NODE", "SYS")
_CLASS = re.compile(r"X|NV\d+|PIX|PXB|PHB|NODE|SYS|N/A")
_NIC = re.compile(r"\s*(NIC\d+): (\S+)")
_GPU = re.compile(r"GPU\d+")
_CARD = re.compile(r"GPU (\d+): ")
# The speed of a link, such as 25 GB/s, or <inactive>. Without any active link, one sentence replaces all of them.
_LINK = re.compile(r"\s*Link \d+: (\S+)")
_ALL_INACTIVE = re.compile(r"all links are inactive", re.I)
# Boards up to Hopper print errors, and Blackwell prints recovery events instead (public captures of H100 and GB200).
_ERRORS = re.compile(r"\s*Link +\d+: (Replay|Recovery|CRC|Total link recovery)(?: Flit| Data)? (?:Error|event)s: (\d+)")
_KINDS = {"Replay": "replays", "Recovery": "recoveries", "Total link recovery": "recoveries", "CRC": "crc"}
_UUID = re.compile(r"\(UUID: ([^)]+)\)")
# Rests of underlining in a text copied from a terminal.
_UNDERLINE = re.compile(r"\[\d*m")


@texts.reader(TOOL)
def parse(text: str) -> dict[str, Any]:
    """gpus, nics {NIC0: mlx5_0}, matrix {a: {b: class}}, nearest {GPU0: {nic, class}}, numa {GPU0: [nodes]}."""
    lines = [_UNDERLINE.sub("", line) for line in texts.lines(text)]
    names: list[str]
    names, matrix, numa, columns = [], {}, {}, []
    for line in lines:
        words = line.split()
        if not names and words and _GPU.fullmatch(words[0]) and "CPU" in words:
            columns = words[: words.index("CPU")]
            names = columns
        elif names and words and words[0] in names and len(words) > len(columns):
            classes = words[1 : len(columns) + 1]
            if all(_CLASS.fullmatch(one) for one in classes):
                matrix[words[0]] = {name: one for name, one in zip(columns, classes) if name != words[0]}
                rest = words[len(columns) + 1 :]
                numa[words[0]] = _nodes(rest[1]) if len(rest) > 1 else []
    if not matrix:
        if smi_text.trouble_of(text or "") != "unknown":
            return texts.failed(TOOL, smi_text.complaint(text), text)
        return texts.not_understood(TOOL, text)
    # A row that a terminal cut off could hide a large distance.
    missing = [name for name in names if name not in matrix]
    if missing:
        return texts.not_understood(TOOL, text, f"the row of {missing[0]} is missing")
    legend = dict(cast("tuple[str, str]", found.groups()) for found in map(_NIC.match, lines) if found)
    gpus = [name for name in names if _GPU.fullmatch(name)]
    nics = {name: legend.get(name, name) for name in names if not _GPU.fullmatch(name)}
    return texts.figures(
        gpus=gpus,
        nics=nics,
        matrix=matrix,
        nearest={gpu: _nearest(matrix[gpu], nics) for gpu in gpus},
        numa={gpu: numa[gpu] for gpu in gpus},
    )


def links(text: str | None) -> dict[str, dict[str, int]]:
    """{GPU0: {active, inactive}} of `nvidia-smi nvlink --status`; without a GPU of which the output has no state."""
    found: dict[str, dict[str, int]] = {}
    name = ""
    for line in texts.lines(text or ""):
        card, link = _CARD.match(line), _LINK.match(line)
        if card is not None:
            name = f"GPU{card.group(1)}"
        elif name and (link is not None or _ALL_INACTIVE.search(line)):
            counts = found.setdefault(name, {"active": 0, "inactive": 0})
            if link is not None:
                counts["inactive" if link.group(1) == "<inactive>" else "active"] += 1
    return found


def link_errors(text: str | None) -> dict[str, dict[str, int]]:
    """{UUID: {replays, recoveries, crc}} of `nvidia-smi nvlink --errorcounters`, sums of all links of a GPU."""
    found: dict[str, dict[str, int]] = {}
    uuid = ""
    for line in texts.lines(text or ""):
        errors = _ERRORS.match(line)
        if line.startswith("GPU "):
            named = _UUID.search(line)
            uuid = named.group(1) if named else ""
        elif uuid and errors is not None:
            counts, kind = found.setdefault(uuid, {}), _KINDS[errors.group(1)]
            counts[kind] = counts.get(kind, 0) + int(errors.group(2))
    return found


def rank(one: str | None) -> int | None:
    """The distance of a class, 0 for the device itself; None for an unknown word."""
    word = "NV" if str(one).startswith("NV") else one
    return CLASSES.index(word) if word in CLASSES else None


def _nearest(row: Mapping[str, str], nics: Mapping[str, str]) -> dict[str, str] | None:
    near = [(rank(one), name) for name, one in row.items() if name in nics and rank(one) is not None]
    if not near:
        return None
    name = min(near)[1]
    return {"nic": nics[name], "class": row[name]}


def _nodes(word: str) -> list[int]:
    """[0, 1] of '0-1', [0, 2] of '0,2'; [] of N/A."""
    if not re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", word):
        return []
    ranges = [part.split("-") for part in word.split(",")]
    return [node for part in ranges for node in range(int(part[0]), int(part[-1]) + 1)]
