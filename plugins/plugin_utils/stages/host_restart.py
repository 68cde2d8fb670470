# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Collects all pending settings of a host into one restart. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.proof_gaps import results

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# On ESXi a restart of the host resets a GPU (NVIDIA MIG user guide).
KINDS = {
    "cold_power_cycle": "cold",
    "reboot": "warm",
    "gpu_reset": "warm",
    "xorg_restart": "xorg",
    "maintenance_mode": "maintenance",
}
# A stronger restart includes the weaker ones. The role makes all changes in maintenance mode, so that alone needs none.
IMAGE = "the driver in the image of the cluster"
ORDER = ("none", "maintenance", "xorg", "warm", "cold")


@dataclass(frozen=True)
class Restart:
    """kind is none, maintenance, xorg, warm or cold; cold_reasons are the reasons that need a cold restart.

    remediated: vCenter restarts the host, because it brings the driver of the cluster's image to it.
    """

    kind: str
    reasons: list[str]
    cold_reasons: list[str]
    reboot: bool
    remediated: bool = False

    @property
    def why(self) -> str:
        """The reasons of all restarts; empty without any."""
        own = self.reasons if self.reboot else []
        return ", ".join(dict.fromkeys([*own, *([IMAGE] if self.remediated else [])]))


def restart(answers: Sequence[Any]) -> Restart:
    """The restart that makes all pending settings of some module results effective, and its reasons."""
    waiting = [(item, entry) for answer in answers for item in results(answer) for entry in item.get("pending") or []]
    kinds = [(KINDS[entry["needs"]], _named(item, entry["what"])) for item, entry in waiting if entry["needs"] in KINDS]
    kind = max((kind for kind, dummy in kinds), key=ORDER.index, default="none")
    reported = {"warm": ("warm",), "cold": ("warm", "cold")}.get(kind, (kind,))
    return Restart(
        kind=kind,
        reasons=list(dict.fromkeys(what for one, what in kinds if one in reported)),
        cold_reasons=list(dict.fromkeys(what for one, what in kinds if one == "cold")),
        reboot=kind in ("warm", "cold"),
        remediated=any(_is_remediated(item) for answer in answers for item in results(answer)),
    )


def _is_remediated(item: Mapping[str, Any]) -> bool:
    """Whether a module result has another driver for a host that gets it from the image of its cluster."""
    by_image = (item.get("after") or {}).get("managed_by") == "image"
    return by_image and any(change["path"] == "driver" for change in item.get("changes") or [])


def _named(item: Mapping[str, Any], what: str) -> str:
    """A pending setting in an operator's terms; the results of a GPU name only a part of it."""
    return f"MIG {what} of the GPU {item['pci'] or item['index']}" if "index" in item else what
