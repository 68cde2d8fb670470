# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Every command that a capture sends to a shell, of an ESXi host or of a guest.

docs/capture_requests.md lists the same ones.
All of them only read. In particular, a capture never starts mst, so mlxconfig on ESXi answers only where mst runs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

TEXT, XML, OPTIONS = "text", "xml", "options"
DEVICE = "DEVICE"
_MFT = "/opt/mellanox/bin"


@dataclass(frozen=True)
class Line:
    """A command of a shell. One with DEVICE is sent for each adapter in the answer of the command `after`."""

    words: tuple[str, ...]
    form: str = TEXT
    after: tuple[str, ...] = ()


def _line(text: str, form: str = TEXT, after: str = "") -> Line:
    return Line(tuple(text.split()), form, tuple(after.split()))


HOST_LINES = (
    _line("esxcfg-module -g nmlx5_core", OPTIONS),
    _line("esxcfg-module -g nmlx5_rdma", OPTIONS),
    _line("esxcfg-module -g nvidia", OPTIONS),
    _line("nvidia-smi -q -x", XML),
    _line("nvidia-smi vgpu -q"),
    _line("nvidia-smi vgpu -s"),
    _line("nvidia-smi vgpu -c"),
    _line("nvidia-smi mig -lgip"),
    _line("nvidia-smi mig -lgi"),
    _line("nvidia-smi mig -lci"),
    _line("nvidia-smi mig -lcip"),
    _line(f"{_MFT}/mst status -v"),
    _line(f"{_MFT}/mlxconfig -d DEVICE -e query", after=f"{_MFT}/mst status -v"),
)
GUEST_LINES = (
    _line("uname -r"),
    _line("nvidia-smi -q -x", XML),
    _line("nvidia-smi topo -m"),
    _line("ip -j link"),
    _line("lspci -Dvvvnn"),
    _line("ibv_devinfo -v"),
    _line("mlxconfig -d DEVICE -e query", after="lspci -Dvvvnn"),
    _line("nvidia-smi nvlink --status"),
    _line("cat /proc/driver/nvidia/version"),
    _line("grep PRETTY_NAME /etc/os-release"),
    _line("ls /sys/module"),
)
# Before each command of a guest: nvidia-smi can hang on a GPU that is lost. Not every ESXi release has it.
GUEST_LIMIT = ("timeout", "-k", "5", "120")
# Adapters of one host or guest that are asked.
MOST_DEVICES = 32
# An adapter in the answers of `mst status -v` and of `lspci -Dvvvnn`.
_DEVICES = re.compile(
    r"\bmt\d{3,6}_pciconf\d{1,2}(?:\.\d)?\b|^([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) .*\[15b3:[0-9a-f]{4}\]",
    re.MULTILINE,
)


def devices(text: str) -> list[str]:
    """The adapters of NVIDIA in an answer, as mlxconfig takes them."""
    found = dict.fromkeys(one[1] or one[0] for one in _DEVICES.finditer(text))
    return list(found)[:MOST_DEVICES]
