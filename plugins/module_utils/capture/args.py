# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The argument spec that all modules of a capture share; its documentation fragment is capture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict

if TYPE_CHECKING:
    # Options of a module in the form of AnsibleModule.
    Options = Dict[str, Dict[str, Any]]

CAPTURE: Options = {
    "dest": {"type": "path", "required": True},
    "keep": {"type": "list", "elements": "str", "choices": ["names"], "default": []},
}
