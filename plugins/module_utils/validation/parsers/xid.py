# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Errors that the NVIDIA driver writes into the kernel's log, by their numbers (Xid). Pure."""

from __future__ import annotations

import re
from typing import Any, Iterable, Mapping, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import text as texts

TOOL = "the kernel's log"
PROGRAM, HARDWARE, UNKNOWN = "program", "hardware", "unknown"
# What a program does wrong, and what the GPU or its way does wrong. From NVIDIA's public list of Xids; a number that is
# not here counts as unknown and is told all the same.
MEANINGS = {
    13: (PROGRAM, "exception of the graphics engine"),
    31: (PROGRAM, "page fault of the GPU's memory"),
    43: (PROGRAM, "the GPU stopped processing for one program"),
    45: (PROGRAM, "work was removed, mostly because of an error before it"),
    46: (HARDWARE, "the GPU stopped processing and has to be reset"),
    48: (HARDWARE, "double bit error of the memory (ECC)"),
    61: (HARDWARE, "breakpoint of the GPU's internal controller"),
    62: (HARDWARE, "halt of the GPU's internal controller"),
    63: (HARDWARE, "a memory page or row is taken out of use"),
    64: (HARDWARE, "a memory page or row could not be taken out of use"),
    69: (PROGRAM, "exception of the graphics engine's class"),
    74: (HARDWARE, "error of NVLink"),
    79: (HARDWARE, "the GPU has fallen off the bus"),
    92: (HARDWARE, "many single bit errors (ECC)"),
    94: (HARDWARE, "contained error of the memory (ECC)"),
    95: (HARDWARE, "uncontained error of the memory (ECC)"),
    109: (HARDWARE, "the GPU did not change from one work to another in time"),
    119: (HARDWARE, "the GPU's system processor (GSP) does not answer"),
    120: (HARDWARE, "error of the GPU's system processor (GSP)"),
    136: (HARDWARE, "NVLink could not be trained"),
    140: (HARDWARE, "unrecovered error of the memory (ECC)"),
    143: (HARDWARE, "the GPU could not be initialised"),
    # The parts of NVLink since Blackwell.
    **dict.fromkeys((*range(144, 151), 155), (HARDWARE, "error of NVLink")),
    154: (HARDWARE, "the driver asks for something to be done with the GPU"),
    158: (HARDWARE, "the GPU does not answer in time"),
    171: (HARDWARE, "uncorrectable error of the memory (DRAM)"),
    172: (HARDWARE, "uncorrectable error of the memory (SRAM)"),
}
FALLEN = 79
# A switch of NVLinks, which a VM with all GPUs of a board has too, writes the severity behind the number.
_XID = re.compile(r"(?:NVRM: Xid|\bSXid) \(([^)]*)\): (\d+)(?:, (.*))?")
# Whatever else the driver writes of one.
_ANY = re.compile(r"NVRM: Xid\b|\bSXid\b")
_SWITCH = re.compile(r"\bSXid \(")
# What the driver says itself is not severe, and what asks for nothing any more.
_MILD = re.compile(r"\bNon-?fatal\b|action changed from .* to 0x0 ", re.IGNORECASE)
# A GPU that is gone when the driver is loaded, or of which the number was not printed.
_FALLEN = re.compile(r"NVRM: (?:.*GPU (?:at )?(?:PCI:)?([0-9A-Fa-f:]+)\S* .*)?fallen off the bus")
_TIME = re.compile(
    r"^\s*(?:\w+\s*:\w+\s*: )?"
    r"(\[\s*[\d.]+\]|\[\S+ \S+\s+\d+ [\d:]+ \d{4}\]|\w{3}\s+\d+ [\d:]+|\d{4}-\d\d-\d\dT\S+)"
)
_REFUSED = re.compile(r"Operation not permitted|Permission denied|read kernel buffer failed|No journal files were")
# A line of a kernel's log, from dmesg or the journal: a log without Xids has to be told from any other text. Days and
# months are in the language of the guest, and `dmesg -x` has facility and level in front.
_KERNEL = re.compile(
    r"^\s*\[\s*\d+\.\d+\] |\bkernel: |^\[\S+ \S+\s+\d+ [\d:]+ \d{4}\] |^\d{4}-\d\d-\d\dT\S+ |NVRM: |\bSXid \(|"
    r"^(?:kern|user|daemon|auth|syslog)\s*:\w+\s*: "
)


@texts.reader(TOOL)
def parse(text: str) -> dict[str, Any]:
    """The Xids of a log of the kernel: [{code, pci, time, kind, means, says, of}], of being GPU or switch."""
    lines = texts.lines(text)
    said = [line for line in lines if _KERNEL.search(line)]
    if not said:
        # Other programs of the guest may be refused something, too, and say so in this log.
        refused = next((line.strip() for line in lines if _REFUSED.search(line)), None)
        if refused is not None:
            return texts.failed(TOOL, f"it may not be read: {refused}", text, xids=None)
        why = "" if (text or "").strip() else "it is empty, so that nobody knows what happened"
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
        # Two lines with raw data follow the one with the severity.
        if not re.match(r"(Non-?)?Fatal\b", rest, re.IGNORECASE):
            return None
        kind, means = HARDWARE, "error of a switch of NVLinks"
    if kind == HARDWARE and _MILD.search(rest):
        kind = UNKNOWN
    return dict(_told(line, code, pci, kind, means, rest), of="switch" if _SWITCH.search(line) else "GPU")


def _unread(line: str) -> dict[str, Any]:
    """An error in another form is an error all the same."""
    said = line[cast("re.Match[str]", _ANY.search(line)).start() :].strip()
    number = re.search(r"\): (\d+)|\bXid:? (\d+)", said)
    code = int(next(filter(None, number.groups()))) if number else "of unknown number"
    told = _told(line, code, "of unknown address", UNKNOWN, "in a form that is not known", said)
    return dict(told, of="GPU")


def _fallen(line: str) -> dict[str, Any] | None:
    found = _FALLEN.search(line)
    if found is None:
        return None
    # Where the sentence takes several lines, the address is in an earlier one.
    told = _told(line, FALLEN, found.group(1) or "of unknown address", *MEANINGS[FALLEN], found.group(0))
    return dict(told, of="GPU")


def _told(line: str, code: int | str, pci: str, kind: str, means: str, says: str) -> dict[str, Any]:
    when = _TIME.match(line)
    return {
        "code": code,
        "pci": pci.replace("PCI:", "").strip(),
        "time": when.group(1) if when else None,
        "kind": kind,
        "means": means,
        "says": says[: texts.SHOWN],
    }


def since(before: Iterable[Mapping[str, Any]], after: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Those of a later look that were not there before. A log that began anew counts as a whole."""
    old = [(one["code"], one["pci"], one["time"], one["says"]) for one in before]
    new = []
    for one in after:
        key = (one["code"], one["pci"], one["time"], one["says"])
        if key in old:
            old.remove(key)
        else:
            new.append(one)
    return new
