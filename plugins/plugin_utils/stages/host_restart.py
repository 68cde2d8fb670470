# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Everything of a host that waits for a restart, gathered into the one restart that settles it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.proof_gaps import results

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# On ESXi a GPU is reset by the restart of the host (NVIDIA MIG user guide).
KINDS = {"cold_power_cycle": "cold", "reboot": "warm", "gpu_reset": "warm", "xorg_restart": "xorg"}
# The greater one settles what the smaller one would.
ORDER = ("none", "xorg", "warm", "cold")


@dataclass(frozen=True)
class Restart:
    """kind is none, xorg, warm or cold; cold_reasons are those reasons that a warm restart does not settle."""

    kind: str
    reasons: list[str]
    cold_reasons: list[str]
    reboot: bool


def restart(answers: Iterable[Any]) -> Restart:
    """The kind of restart that settles all pending settings of some module results, and the reasons for it."""
    waiting = [(item, entry) for answer in answers for item in results(answer) for entry in item.get("pending") or []]
    kinds = [(KINDS[entry["needs"]], _named(item, entry["what"])) for item, entry in waiting if entry["needs"] in KINDS]
    kind = max((kind for kind, dummy in kinds), key=ORDER.index, default="none")
    told = {"warm": ("warm",), "cold": ("warm", "cold")}.get(kind, (kind,))
    return Restart(
        kind=kind,
        reasons=list(dict.fromkeys(what for one, what in kinds if one in told)),
        cold_reasons=list(dict.fromkeys(what for one, what in kinds if one == "cold")),
        reboot=kind in ("warm", "cold"),
    )


def _named(item: Mapping[str, Any], what: str) -> str:
    """What waits, as an operator knows it; a GPU's own results name only the part of it."""
    return f"MIG {what} of the GPU {item['pci'] or item['index']}" if "index" in item else what
