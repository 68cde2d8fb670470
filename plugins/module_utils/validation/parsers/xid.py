# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Errors of the NVIDIA driver in the kernel log, by their numbers (Xid). Pure."""

from __future__ import annotations

import re
from typing import Any, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import text as texts

TOOL = "the kernel log"
PROGRAM, HARDWARE, UNKNOWN = "program", "hardware", "unknown"
# Errors of a program, and errors of the GPU or its bus. From the public Xid list of NVIDIA; a number that is not here
# counts as unknown and is reported too.
MEANINGS = {
    13: (PROGRAM, "graphics engine exception"),
    31: (PROGRAM, "GPU memory page fault"),
    43: (PROGRAM, "the GPU stopped processing for one program"),
    45: (PROGRAM, "preemptive cleanup, usually after an earlier error"),
    46: (HARDWARE, "the GPU stopped processing and needs a reset"),
    48: (HARDWARE, "double bit error of the GPU memory (ECC)"),
    61: (HARDWARE, "internal microcontroller breakpoint"),
    62: (HARDWARE, "internal microcontroller halt"),
    63: (HARDWARE, "a memory page or row is retired or remapped"),
    64: (HARDWARE, "a memory page or row could not be retired or remapped"),
    69: (PROGRAM, "graphics engine class error"),
    74: (HARDWARE, "NVLink error"),
    79: (HARDWARE, "the GPU has fallen off the bus"),
    92: (HARDWARE, "many single bit errors (ECC)"),
    94: (HARDWARE, "contained memory error (ECC)"),
    95: (HARDWARE, "uncontained memory error (ECC)"),
    109: (HARDWARE, "context switch timeout"),
    119: (HARDWARE, "the GPU system processor (GSP) does not answer"),
    120: (HARDWARE, "GPU system processor (GSP) error"),
    136: (HARDWARE, "NVLink training failed"),
    140: (HARDWARE, "unrecovered memory error (ECC)"),
    143: (HARDWARE, "GPU initialisation failed"),
    # The NVLink parts since Blackwell.
    **dict.fromkeys((*range(144, 151), 155), (HARDWARE, "NVLink error")),
    154: (HARDWARE, "the driver requests a recovery action for the GPU"),
    158: (HARDWARE, "GPU timeout"),
    171: (HARDWARE, "uncorrectable DRAM error"),
    172: (HARDWARE, "uncorrectable SRAM error"),
}
FALLEN = 79
# An NVSwitch, which a VM with all GPUs of a board has too, prints the severity after the number.
_XID = re.compile(r"(?:NVRM: Xid|\bSXid) \(([^)]*)\): (\d+)(?:, (.*))?")
# Other formats of the driver.
_ANY = re.compile(r"NVRM: Xid\b|\bSXid\b")
_SWITCH = re.compile(r"\bSXid \(")
# Errors that the driver calls non-fatal, and recovery actions that are cleared.
_MILD = re.compile(r"\bNon-?fatal\b|action changed from .* to 0x0 ", re.IGNORECASE)
# A GPU that is missing when the driver is loaded, or whose number was not printed.
_FALLEN = re.compile(r"NVRM: (?:.*GPU (?:at )?(?:PCI:)?([0-9A-Fa-f:]+)\S* .*)?fallen off the bus")
_TIME = re.compile(
    r"^\s*(?:<\d+>|\w+\s*:\w+\s*: )?"
    r"(\[\s*[\d.]+\]|\[\S+ \S+\s+\d+ [\d:]+ \d{4}\]|\w{3}\s+\d+ [\d:]+|\d{4}-\d\d-\d\dT\S+)"
)
_REFUSED = re.compile(r"Operation not permitted|Permission denied|read kernel buffer failed|No journal files were")
# A line of a kernel log, from dmesg or the journal: a log without Xids must differ from any other text. Days and
# months are in the language of the guest. `dmesg -x` starts with facility and level, and `dmesg -r` with their number.
_KERNEL = re.compile(
    r"^\s*(?:<\d+>)?\[\s*\d+\.\d+\] |\bkernel: |^\[\S+ \S+\s+\d+ [\d:]+ \d{4}\] |^\d{4}-\d\d-\d\dT\S+ |NVRM: |"
    r"\bSXid \(|^(?:kern|user|daemon|auth|syslog)\s*:\w+\s*: "
)


@texts.reader(TOOL)
def parse(text: str) -> dict[str, Any]:
    """The Xids of a kernel log: [{code, pci, time, kind, means, says, of}]; `of` is GPU or switch."""
    lines = texts.lines(text)
    said = [line for line in lines if _KERNEL.search(line)]
    if not said:
        # Refusals of other programs may also be in this log.
        refused = next((line.strip() for line in lines if _REFUSED.search(line)), None)
        if refused is not None:
            return texts.failed(TOOL, f"access denied: {refused}", text, xids=None)
        why = "" if (text or "").strip() else "it is empty, so errors are unknown"
        return texts.not_understood(TOOL, text, why)
    xids = [one for one in map(_xid, said) if one is not None]
    if not any(one["code"] == FALLEN for one in xids):
        xids += filter(None, map(_fallen, said))
    return texts.figures(xids=xids, lines=len(said))


def _xid(line: str) -> dict[str, Any] | None:
    found = _XID.search(line)
    if found is None:
        return _unread(line) if _ANY.search(line) else None
    pci, code, rest = found.group(1), int(found.group(2)), (found.group(3) or "").strip()
    kind, means = MEANINGS.get(code, (UNKNOWN, "not in the list of this collection"))
    if _SWITCH.search(line):
        # Two lines with raw data follow the line with the severity.
        if not re.match(r"(Non-?)?Fatal\b", rest, re.IGNORECASE):
            return None
        kind, means = HARDWARE, "NVSwitch error"
    if kind == HARDWARE and _MILD.search(rest):
        kind = UNKNOWN
    return dict(_reported(line, code, pci, kind, means, rest), of="switch" if _SWITCH.search(line) else "GPU")


def _unread(line: str) -> dict[str, Any]:
    """An error in another format is an error too."""
    said = line[cast("re.Match[str]", _ANY.search(line)).start() :].strip()
    number = re.search(r"\): (\d+)|\bXid:? (\d+)", said)
    code = int(next(filter(None, number.groups()))) if number else "of unknown number"
    reported = _reported(line, code, "of unknown address", UNKNOWN, "in an unknown format", said)
    return dict(reported, of="GPU")


def _fallen(line: str) -> dict[str, Any] | None:
    found = _FALLEN.search(line)
    if found is None:
        return None
    # If the sentence has several lines, the address is in an earlier one.
    reported = _reported(line, FALLEN, found.group(1) or "of unknown address", *MEANINGS[FALLEN], found.group(0))
    return dict(reported, of="GPU")


def _reported(line: str, code: int | str, pci: str, kind: str, means: str, says: str) -> dict[str, Any]:
    when = _TIME.match(line)
    return {
        "code": code,
        "pci": pci.replace("PCI:", "").strip(),
        "time": when.group(1) if when else None,
        "kind": kind,
        "means": means,
        "says": says[: texts.SHOWN],
    }
