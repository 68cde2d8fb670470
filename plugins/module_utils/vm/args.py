# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Argument specs that modules which change VMs share; the documentation fragment vm_change has the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.args import Options

PLANNED: Options = {
    "planned": {
        "type": "dict",
        "options": {
            "template": {"type": "str"},
            "host": {"type": "str"},
            "hardware_version": {"type": "int"},
            "memory_reservation": {"type": "str", "choices": ["all"]},
        },
    }
}

POWER: Options = {
    "power": {"type": "str", "choices": ["refuse", "cycle"], "default": "refuse"},
    "guest_shutdown_timeout_s": {"type": "int", "default": 300},
}
