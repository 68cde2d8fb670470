# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The PCI functions of the guest that the module itself runs on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Iterable

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files


DEVICES = "/sys/bus/pci/devices"
NVIDIA, DISPLAY = "0x10de", "0x03"
# Hopper has 23xx, Ada 26xx to 28xx, Blackwell all from 29xx on; 24xx and 25xx are Ampere.
OPEN_ONLY = r"0x(23|2[6-9a-f]|3)"


def nvidia_gpus(files: Files) -> list[str] | None:
    """The addresses of NVIDIA's GPUs; None where the bus cannot be read."""
    addresses = files.names(DEVICES)
    return [one for one in addresses if _is_nvidia_gpu(files, one)] if addresses else None


def open_only(files: Files, gpus: Iterable[str]) -> list[str]:
    """Those of these GPUs that work with the open kernel modules only: Ada, Hopper and Blackwell.

    The generation follows from the ranges of device IDs in the public PCI database [unsure for boards to come].
    """
    reported = {one: (files.text(f"{DEVICES}/{one}/device") or "").strip() for one in gpus}
    return [one for one, device in reported.items() if re.match(OPEN_ONLY, device.lower())]


def _is_nvidia_gpu(files: Files, address: str) -> bool:
    vendor, kind = ((files.text(f"{DEVICES}/{address}/{what}") or "").strip() for what in ("vendor", "class"))
    return vendor == NVIDIA and kind.startswith(DISPLAY)
