# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Arguments of nic_firmware, shared by its documentation file and its action plugin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Sequence

ARGUMENTS = {
    "devices": {"type": "list", "elements": "str", "default": ["all"]},
    "settings": {"type": "dict", "required": True},
    "activation": {"type": "str", "choices": ["cold", "warm"], "default": "cold"},
}


@dataclass(frozen=True)
class FirmwareRequest:
    """Firmware parameters of network adapters."""

    devices: Sequence[str]
    settings: Mapping[str, Any]
    activation: str
