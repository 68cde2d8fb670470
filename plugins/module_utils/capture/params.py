# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The parameters of site_capture_info: their spec and their rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, List, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.capture.args import CAPTURE
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import args

MOST_DAYS = 365
ARGUMENTS = dict(
    args.CONNECTION,
    event_days={"type": "int", "default": 7},
    **CAPTURE,
)


@dataclass(frozen=True)
class CaptureRequest:
    """A capture as a task requests it."""

    dest: str
    keep: List[str]
    event_days: int


def check_params(params: Mapping[str, Any]) -> list[str]:
    """Everything that is wrong with the parameters together, one sentence each."""
    problems = args.check_common(params)
    if not 0 <= params["event_days"] <= MOST_DAYS:
        problems.append(f"event_days is {params['event_days']}; it must be between 0 and {MOST_DAYS}.")
    return problems
