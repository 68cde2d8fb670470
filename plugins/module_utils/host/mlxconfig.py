# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Output of mst and mlxconfig of NVIDIA's firmware tools (MFT). Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.host.pci import normal_address

_COLUMNS = re.compile(r"\s{2,}|\t+")
_VALUE = re.compile(r"(?P<word>.*?)\((?P<code>\w+)\)\Z")
_HEADER = "Configurations:"
_MARKS = ("*", "RO", "*RO")
# mst writes this for a name while its kernel module is not loaded.
_UNNAMED = "NA"
# mlxconfig writes this for a value that the firmware does not report.
_UNTOLD = "N/A"


@dataclass(frozen=True)
class MstDevice:
    """One PCI function of an adapter, as `mst status -vv` lists it. The name follows no rule: mst chooses it.

    If mst chose no name, the address is the name; the tools accept it as well.
    """

    mst: str
    kind: str
    pci: str
    net: str = ""  # several with commas between them, such as those of a DPU

    @property
    def nets(self) -> list[str]:
        return self.net.split(",")

    @property
    def named(self) -> bool:
        return self.mst != self.pci


@dataclass(frozen=True)
class Key:
    """One parameter of the firmware."""

    name: str
    default: str
    current: str
    next: str
    read_only: bool = False


def devices(text: str) -> list[MstDevice]:
    """Parse the devices of `mst status -vv`, with or without columns for RDMA and NUMA.

    Old adapters are listed with two access methods; one is enough.
    """
    found: dict[str, MstDevice] = {}
    for line in text.splitlines():
        words = line.split()
        address = normal_address(words[2]) if len(words) >= 3 else None
        if address is not None:
            name = address if words[1] == _UNNAMED else words[1]
            found.setdefault(address, MstDevice(name, words[0].partition("(")[0], address, _net(words[3:])))
    return [found[address] for address in sorted(found)]


def _net(words: list[str]) -> str:
    """The network devices; on ESXi the column before is often empty, and a long name may be cut in two words."""
    for word, following in zip(words, words[1:] + [""]):
        if word.startswith("net-"):
            return re.sub(r"(\A|,)net-", r"\1", word) or following
    return ""


def keys(text: str) -> tuple[dict[str, Key], list[str]]:
    """({name: Key}, the columns) of `mlxconfig -e query`; columns is empty where no table was printed."""
    columns, found = [], {}
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith(_HEADER):
            columns = [name for name in _COLUMNS.split(stripped[len(_HEADER) :].strip()) if name]
        elif columns:
            key = _key(stripped, columns)
            if key is not None:
                found[key.name] = key
    return found, columns


def _key(line: str, columns: Sequence[str]) -> Key | None:
    words = line.split()
    marks = [word for word in words[:1] if word in _MARKS]
    words = words[len(marks) :]
    if len(words) != len(columns) + 1:
        return None
    values = {column: "" if word == _UNTOLD else word for column, word in zip(columns, words[1:])}
    return Key(
        name=words[0],
        default=values.get("Default", ""),
        current=values.get("Current", ""),
        next=values.get("Next Boot", ""),
        read_only=any(mark.endswith("RO") for mark in marks),
    )


def same(shown: str, requested: Any) -> bool:
    """Return whether a value such as True(1) matches the user's true, 1 or "True"."""
    return request_text(requested).lower() in _meanings(shown)


def equal(one: str, other: str) -> bool:
    """Return whether two shown values are the same."""
    return bool(_meanings(one) & _meanings(other))


def request_text(requested: Any) -> str:
    """Return a requested value in the notation of mlxconfig."""
    if isinstance(requested, bool):
        return "1" if requested else "0"
    return str(requested).strip()


def plain(shown: str) -> str:
    """Return a shown value in the notation of mlxconfig: the code if there is one."""
    match = _VALUE.match(shown)
    return match["code"] if match else shown


def _meanings(shown: str) -> set[str]:
    match = _VALUE.match(shown)
    words = [match["word"], match["code"]] if match else [shown]
    return {word.lower() for word in words}


def complaint(text: str) -> list[str]:
    """Return the lines of an output that describe the failure."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return [line for line in lines if line.startswith("-E-")] or lines[-3:]
