# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Options of the rest of the stack: DCGM, GPUDirect Storage, UCX, SHARP, MIG in guests, images with a digest.

Also their checks against the other sections.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import catalogue
from ansible_collections.aiready.vsphere.plugins.module_utils.training import params
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import suite
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.probe import probes
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import directpath

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

UCX = params.UCX
# A name of a MIG profile, its number of slices, or its id.
ENTRY = re.compile(r"\d{1,3}|\dg(\.\d+gb)?([+-]me(\.all)?|\+gfx)?")
VGPU_MODES = ("vgpu", "mig")
DIGEST = "sha256:"
# The first level of `dcgmi diag` that measures the hardware. A vGPU reports no PCIe link, power or temperature.
OF_HARDWARE = 2
# GPUDirect Storage from 1.7.2 on does not support vGPUs of these boards (NVIDIA AI Enterprise, GPUDirect page).
# The boards before them have no open kernel modules for a vGPU.
NO_STORAGE = ("a2", "a10", "a16", "a30", "a40", "a100", "a800", "rtx_a5000", "rtx_a6000", "t4", "v100", "v100s")


def has_no_storage(board: str) -> bool:
    """Whether a vGPU of this board cannot use GPUDirect Storage. A key is a family, or begins with it and a line."""
    return any(board == family or board.startswith(f"{family}_") for family in NO_STORAGE)


def stack(site: Mapping[str, Any]) -> dict[str, Any]:
    """The options that request checks, by their names in the judge's intent."""
    dcgm, gds = site["stack"]["dcgm"], site["stack"]["gds"]
    return {
        "dcgm_diag": dcgm["diag"],
        "dcgm_health": dcgm["health"],
        "gds": gds["check"] == "required" or bool(gds["read_file"]),
        "gds_file": gds["read_file"] or "",
        "ucx": site["stack"]["mpi"]["transport"] == UCX,
    }


def unpinned(site: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """(key, image, fix) of each image of a validated site without a digest."""
    pods = site["kubernetes"] or {}
    checks = pods.get("checks") or {}
    images = {
        "site.training.image": (site["training"] or {}).get("image"),
        "site.runtime.proof_image": (site["runtime"] or {}).get("proof_image"),
        "site.kubernetes.checks.image": checks.get("image"),
        "site.kubernetes.checks.pairs.image": (checks.get("pairs") or {}).get("image"),
    }
    for key, image in images.items():
        if image and "@" not in image:
            yield key, image, f"Append @{DIGEST} and the digest of the image"
    driver = (pods.get("gpu_operator") or {}).get("driver") or {}
    if (driver.get("image") or driver.get("version")) and not is_digest(driver["version"]):
        parts = (driver["repository"], driver["image"] or "driver")
        image = "/".join(part for part in parts if part) + (f":{driver['version']}" if driver["version"] else "")
        key = "site.kubernetes.gpu_operator.driver.version"
        yield key, image, f"Set it to {DIGEST} and the digest of the image"


def is_digest(version: str | None) -> bool:
    """Whether the GPU Operator takes the version of a driver image as its digest (ImagePath in its API)."""
    return (version or "").startswith(DIGEST)


def problems(site: Mapping[str, Any]) -> Iterator[str]:
    """Conflicts between these options and the other sections of a validated site."""
    yield from _dcgm(site["stack"]["dcgm"], site)
    yield from _storage(site["stack"]["gds"], site)
    yield from _instances(site["stack"]["mig"], site)
    if site["stack"]["sharp"] == "required":
        yield (
            f"site.stack.sharp: SHARP reduces in the switches of InfiniBand, and site.network.path is "
            f"{site['network']['path']}, which is Ethernet. Remove it; NCCL reduces on the GPUs over RoCE."
        )
    if site["stack"]["mpi"]["transport"] == UCX:
        yield from _ucx(site)
    if site["stack"]["images"] == "required":
        for key, image, fix in unpinned(site):
            yield (
                f"{key}: {image} has no digest, and site.stack.images requires one. {fix}, or set site.stack.images to "
                "report."
            )
    requested = stack(site)
    checks = (site["kubernetes"] or {}).get("checks")
    if checks:
        # Pods of the checks run them.
        requested.update(dcgm_diag=0, gds_file="")
        requested["dcgm_health"] = requested["dcgm_health"] and not suite.is_timed(checks)
    if site["kubernetes"] and not requested["gds_file"]:
        # The GPU Operator loads the module of GPUDirect Storage, also without a check of the validation.
        requested["gds"] = False
    if any(requested.values()) and not site["validation"]:
        yield (
            "site.stack: it requests checks, and the site has no validation that runs them. Add site.validation, or "
            "remove diag, health, check, read_file and transport."
        )


def _instances(requested: Mapping[str, Any] | None, site: Mapping[str, Any]) -> Iterator[str]:
    """A MIG layout that the guests apply to their own GPUs."""
    if requested is None:
        return
    key, mode = "site.stack.mig", site["gpu"]["mode"]
    for index, entry in enumerate(requested["layout"]):
        if not ENTRY.fullmatch(entry):
            yield (
                f"{key}.layout[{index}]: {entry} is not a profile of MIG. Write it as 3g, 1g.10gb or the id of the "
                "profile."
            )
    if mode not in directpath.WHOLE:
        yield (
            f"{key}: the guests have vGPUs (site.gpu.mode is {mode}), and only a whole GPU can be partitioned in a "
            "guest. Use site.gpu.mode mig with a MIG-backed profile, or passthrough."
        )
    if site["gpu"]["nvlink"] == "required":
        yield f"{key}: MIG disables NVLink, and site.gpu.nvlink is required. Remove one of them."
    if not site["guests"] and not site["kubernetes"]:
        yield (
            f"{key}: the stages guests and kubernetes apply it, and the site has neither. Add site.guests or "
            "site.kubernetes, or remove it."
        )
    slots = (site["training"] or {}).get("slots")
    if site["training"] and site["training"]["gpus"] == "auto" and slots != 1:
        yield (
            f"{key}: a process uses one instance, so NCCL cannot have several ranks in a guest. Set "
            "site.training.slots to 1, or remove it."
        )


def _ucx(site: Mapping[str, Any]) -> Iterator[str]:
    path, key = site["network"]["path"], "site.stack.mpi.transport"
    if directpath.lowered(site)["network"]["path"] not in params.UCX_PATHS:
        yield (
            f"{key}: UCX has no RDMA transport for site.network.path {path}. Use the path directpath, "
            "sriov or passthrough, or remove it."
        )
    if (site["training"] or {}).get("engine") != "horovod":
        yield (
            f"{key}: it needs mpirun and an image with MPI, which only the engine horovod has. Set "
            "site.training.engine to horovod, or remove it."
        )
    osu = (site["validation"] or {}).get("osu") or {}
    if site["validation"] and not any(osu.get(name) for name in suite.PROGRAMS.values()):
        yield f"{key}: no program uses MPI. Name one in site.validation.osu, see docs/stack.md, or remove it."


def _dcgm(requested: Mapping[str, Any], site: Mapping[str, Any]) -> Iterator[str]:
    levels, mode = list(probes.DIAG_S), site["gpu"]["mode"]
    if requested["diag"] not in (0, *levels):
        yield (
            f"site.stack.dcgm.diag: {requested['diag']} is not a level of `dcgmi diag`. Use {levels[0]} to "
            f"{levels[-1]}, or 0 for no diagnostic."
        )
    elif requested["diag"] >= OF_HARDWARE and mode in VGPU_MODES:
        yield (
            f"site.stack.dcgm.diag: level {requested['diag']} measures PCIe, power and temperature, which a vGPU does "
            f"not report (site.gpu.mode is {mode}). Use level 1, or GPUs in passthrough."
        )


def _driver_of_pods(site: Mapping[str, Any], key: str) -> Iterator[str]:
    """The driver containers of the GPU Operator that cannot load nvidia_fs (NVIDIA: precompiled drivers, GPUDirect)."""
    operator = (site["kubernetes"] or {}).get("gpu_operator") or {}
    driver = (operator.get("spec") or {}).get("driver")
    driver = driver if isinstance(driver, dict) else {}
    place = "site.kubernetes.gpu_operator.spec.driver"
    if driver.get("usePrecompiled"):
        yield (
            f"{key}: precompiled driver containers do not support GPUDirect Storage ({place}.usePrecompiled is true). "
            "Set it to false, or remove the request."
        )
    if driver.get("kernelModuleType") == "proprietary" or driver.get("useOpenKernelModules") is False:
        yield (
            f"{key}: nvidia_fs needs the open kernel modules of the driver, and {place} selects the proprietary ones. "
            "Set kernelModuleType to open, or remove the request."
        )


def _storage(requested: Mapping[str, Any], site: Mapping[str, Any]) -> Iterator[str]:
    name = requested["read_file"]
    if name and not name.startswith("/"):
        yield f"site.stack.gds.read_file: {name} is not an absolute path of the guests. Begin it with /."
    if requested["check"] != "required" and not name:
        return
    key = "site.stack.gds.check" if requested["check"] == "required" else "site.stack.gds.read_file"
    yield from _driver_of_pods(site, key)
    profile = site["gpu"]["profile"] or ""
    board = catalogue.board_of(profile) if site["gpu"]["mode"] in VGPU_MODES else None
    if board is not None and has_no_storage(board.key):
        yield (
            f"{key}: GPUDirect Storage does not support a vGPU of the board {board.title} (site.gpu.profile is "
            f"{profile}). Use Ada, Hopper or Blackwell with the open guest driver, use passthrough, or remove it."
        )
