# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The NVIDIA package that a name represents: names distinguish the families, nvidia-smi does not."""

from __future__ import annotations

from dataclasses import dataclass

NVAIE = "nvaie"
GRAPHICS = "graphics"
FAMILIES = {NVAIE: "NVIDIA AI Enterprise (compute)", GRAPHICS: "NVIDIA vGPU (graphics)"}


@dataclass(frozen=True)
class Prefix:
    """The beginning of the names of VIBs and components of one package."""

    text: str
    family: str
    sure: bool
    source: str


# Names changed with the releases of ESXi, so only their beginning identifies them; letters of either case.
PREFIXES = (
    Prefix("NVIDIA-AIE", NVAIE, True, "VIB on ESXi 7.0 and 8.0, as installed systems list it"),
    Prefix("NVD-AIE", NVAIE, True, "VIB and component on ESXi 8.0, frankdenneman.nl 2023-07-06"),
    Prefix("NVIDIA-VMware", GRAPHICS, True, "VIB of the vGPU releases since ESXi 6.7"),
    Prefix("NVD-VMware", GRAPHICS, True, "VIB on ESXi 7.0 and 8.0, as esxcli prints it after an installation"),
    Prefix("NVIDIA-vGPU", GRAPHICS, False, "component, by habit"),
    Prefix("NVD-VGPU", GRAPHICS, True, "component on ESXi 7.0 and 8.0, depots of vGPU 12 to 20"),
)
# The GPU management daemon contains no driver, and has a depot of its own (user guide 5.0, chapter 2.7.1).
_DAEMONS = ("nvdgpumgmtdaemon", "nvd-gpu-mgmt-daemon")


def family_of(name: str) -> str | None:
    """The family of a host driver's VIB or component; None for anything that is no such driver."""
    folded = name.lower()
    return next((prefix.family for prefix in PREFIXES if folded.startswith(prefix.text.lower())), None)


def is_daemon(name: str) -> bool:
    """Return whether a VIB or component is the GPU management daemon."""
    folded = name.lower()
    return any(daemon in folded for daemon in _DAEMONS)


def family_of_file(name: str) -> str | None:
    """Return the family that a file's name suggests; its content, if readable, has priority.

    NVIDIA's own guide quotes a depot for AI Enterprise that begins with NVD-VMware-x86_64, so that name proves nothing.
    """
    family = family_of(name)
    return None if name.lower().startswith("nvd-vmware-") else family
