# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Arguments of validation_report; documented in the module."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

ARGUMENTS: dict[str, dict[str, Any]] = {
    "results": {"type": "path", "required": True},
    "compare_with": {"type": "path"},
    "plots": {"type": "str", "choices": ["auto", "required", "none"], "default": "auto"},
}


@dataclass(frozen=True)
class ReportRequest:
    """The report of one results folder, compared with an earlier run where one is named."""

    results: str
    compare_with: str | None
    plots: str
