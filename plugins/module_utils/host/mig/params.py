# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The parameters of mig_partition and mig_info, and the rules between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig import layout_text

ARGUMENTS = {
    "gpus": {"type": "list", "elements": "str", "required": True},
    "mode": {"type": "str", "choices": ["enabled", "disabled"], "default": "enabled"},
    "layout": {"type": "list", "elements": "raw"},
    "in_use": {"type": "str", "choices": ["refuse", "try"], "default": "refuse"},
    "vsphere": {"type": "str", "choices": ["mode_only", "instances"], "default": "mode_only"},
    "lost_gpus": {"type": "str", "choices": ["refuse", "ignore"], "default": "refuse"},
    "model": {"type": "str"},
}


@dataclass(frozen=True)
class MigRequest:
    """MIG mode and layout of GPUs. Without a layout, the instances stay."""

    gpus: Sequence[str]
    mode: str
    layout: Sequence[Any] | None
    in_use: str
    vsphere: str
    lost_gpus: str
    model: str | None


INFO_ARGUMENTS = {"gpus": {"type": "list", "elements": "str", "default": ["all"]}}


def check_params(params: Mapping[str, Any]) -> list[str]:
    """Return all problems of the parameters, one sentence each."""
    problems = layout_text.check_entries(params["layout"] or [])
    if not params["gpus"]:
        problems.append("gpus is empty: name the GPUs, or all.")
    if params["mode"] == "disabled" and params["layout"]:
        problems.append("layout needs mode enabled: a GPU without MIG mode has no instances.")
    return problems
