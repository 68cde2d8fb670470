# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Options of the rest of the stack: DCGM, GPUDirect Storage, UCX, SHARP. Their checks against the other sections."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import catalogue
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.probe import probes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

VGPU_MODES = ("vgpu", "mig")
# The first level of `dcgmi diag` that measures the hardware. A vGPU reports no PCIe link, power or temperature.
OF_HARDWARE = 2
# GPUDirect Storage from 1.7.2 on does not support vGPUs of these boards (NVIDIA AI Enterprise, GPUDirect page).
# The boards before them have no open kernel modules for a vGPU.
NO_STORAGE = ("a2", "a10", "a16", "a30", "a40", "a800", "rtx_a", "t4", "v100")


def stack(site: Mapping[str, Any]) -> dict[str, Any]:
    """The options that request checks, by their names in the judge's intent."""
    dcgm, gds = site["stack"]["dcgm"], site["stack"]["gds"]
    return {
        "dcgm_diag": dcgm["diag"],
        "dcgm_health": dcgm["health"],
        "gds": gds["check"] == "required" or bool(gds["read_file"]),
        "gds_file": gds["read_file"] or "",
    }


def problems(site: Mapping[str, Any]) -> Iterator[str]:
    """Conflicts between these options and the other sections of a validated site."""
    yield from _dcgm(site["stack"]["dcgm"], site)
    yield from _storage(site["stack"]["gds"], site)
    if site["stack"]["sharp"] == "required":
        yield (
            f"site.stack.sharp: SHARP reduces in the switches of InfiniBand, and site.network.path is "
            f"{site['network']['path']}, which is Ethernet. Remove it; NCCL reduces on the GPUs over RoCE."
        )
    if any(stack(site).values()) and not site["validation"]:
        yield (
            "site.stack: it requests checks, and the site has no validation that runs them. Add site.validation, or "
            "remove diag, health, check and read_file."
        )


def _dcgm(wish: Mapping[str, Any], site: Mapping[str, Any]) -> Iterator[str]:
    levels, mode = list(probes.DIAG_S), site["gpu"]["mode"]
    if wish["diag"] not in (0, *levels):
        yield (
            f"site.stack.dcgm.diag: {wish['diag']} is not a level of `dcgmi diag`. Use {levels[0]} to {levels[-1]}, or "
            "0 for no diagnostic."
        )
    elif wish["diag"] >= OF_HARDWARE and mode in VGPU_MODES:
        yield (
            f"site.stack.dcgm.diag: level {wish['diag']} measures PCIe, power and temperature, which a vGPU does not "
            f"report (site.gpu.mode is {mode}). Use level 1, or GPUs in passthrough."
        )


def _storage(wish: Mapping[str, Any], site: Mapping[str, Any]) -> Iterator[str]:
    name = wish["read_file"]
    if name and not name.startswith("/"):
        yield f"site.stack.gds.read_file: {name} is not an absolute path of the guests. Begin it with /."
    if wish["check"] != "required" and not name:
        return
    key = "site.stack.gds.check" if wish["check"] == "required" else "site.stack.gds.read_file"
    profile = site["gpu"]["profile"] or ""
    board = catalogue.board_of(profile) if site["gpu"]["mode"] in VGPU_MODES else None
    if board is not None and board.key.startswith(NO_STORAGE):
        yield (
            f"{key}: GPUDirect Storage does not support a vGPU of the board {board.title} (site.gpu.profile is "
            f"{profile}). Use Ada, Hopper or Blackwell with the open guest driver, use passthrough, or remove it."
        )
