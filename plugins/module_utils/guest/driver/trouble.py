# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Why a driver that is installed has no GPU: what nvidia-smi says is a symptom, and the cause lies elsewhere. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import matrix

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver.state import DriverState, Surroundings

# What modprobe and the kernel say of a module without a valid signature.
UNSIGNED = re.compile(r"Key was rejected by service|Required key not available|module verification failed")
OTHER_KERNEL = re.compile(r"Invalid module format|Exec format error|Unknown symbol|disagrees about version")
UNUSABLE = (
    "Compare the driver with that of the host: a guest driver that is newer than the host's, or one that is not a "
    "guest driver, leaves the vGPU disabled"
)
NOT_THERE = re.compile(r"not found in directory|No such file or directory")


def refuse_without_gpu(label: str, state: DriverState, around: Surroundings, host: str) -> None:
    """An error unless nvidia-smi shows a GPU."""
    report = state.report
    if report.gpus:
        return
    found, todo, code = _cause(state, around, host)
    said = "; ".join(around.kernel_said)
    raise OperatorError(
        label,
        f"the driver {state.version} shall see the GPU of this VM",
        f"{found}. nvidia-smi says: {report.said or 'nothing'}{'. The kernel says: ' + said if said else ''}",
        todo,
        code,
        symptom=report.trouble,
        version=state.version,
        host_version=host or None,
        kernel_said=list(around.kernel_said),
    )


def not_loaded(label: str, version: str | None, words: str, around: Surroundings) -> OperatorError:
    """The error for a module that the kernel does not take."""
    wanted = f"the module of the driver {version} was to be loaded"
    found = f"The kernel refuses it: {words or 'without a word'}"
    # A kernel that is locked down by secure boot refuses it in other words.
    if UNSIGNED.search(words) or (around.secure_boot and "Operation not permitted" in words):
        todo = "It has no signature that the firmware knows: enrol the key, sign the module, or switch secure boot off"
        return OperatorError(label, wanted, found, todo, "module_not_signed")
    if OTHER_KERNEL.search(words):
        todo = (
            f"It was built for another kernel than {around.kernel}: reboot, or build it again with `dkms autoinstall`"
        )
        return OperatorError(label, wanted, found, todo, "module_of_another_kernel", kernel=around.kernel)
    if NOT_THERE.search(words):
        todo = (
            f"It was not built for the kernel {around.kernel}: look at `dkms status` and at "
            "/var/lib/dkms/nvidia/*/build/make.log"
        )
        return OperatorError(label, wanted, found, todo, "module_missing", kernel=around.kernel)
    if "No such device" in words and around.device:
        found = f"{found}, though a GPU of NVIDIA's is on the PCI bus"
        return OperatorError(label, wanted, found, UNUSABLE, "no_device")
    if "No such device" in words:
        todo = "Give the VM a vGPU; the module vgpu_profile does it. Or say `gpu: optional` where none is meant to be"
        return OperatorError(label, wanted, found, todo, "no_vgpu")
    return OperatorError(label, wanted, found, "Look at `dmesg` on the guest", "module_not_loaded")


def _cause(state: DriverState, around: Surroundings, host: str) -> tuple[str, str, str]:
    """(what is the matter, what to do, code), the most certain cause first."""
    trouble = state.report.trouble
    if trouble == "version_mismatch":
        return (
            "The module in the kernel is of another version than what is installed",
            "Reboot the guest",
            "reboot_needed",
        )
    if trouble == "not_installed":
        return (
            "The driver's package is installed, and its nvidia-smi is missing",
            "Install the driver again: remove it with `state: absent` first",
            "driver_incomplete",
        )
    if state.nouveau_loaded:
        return "The driver nouveau has taken the GPU", "Reboot the guest: nouveau is blocked from then on", "nouveau"
    if host and not matrix.guest_allowed(host, cast("str", state.version)).allowed:
        verdict = matrix.guest_allowed(host, cast("str", state.version))
        return (
            f"The host runs {host}, and the VM has started without its vGPU. {verdict.reason.rstrip('.')}",
            "Install a guest driver that fits the host",
            "driver_pair",
        )
    if around.device is False:
        return (
            "No GPU of NVIDIA's is on the PCI bus of this VM",
            "Give the VM a vGPU; the module vgpu_profile does it. Or say `gpu: optional` where none is meant to be",
            "no_vgpu",
        )
    if trouble == "gpu_lost":
        return (
            "The driver has lost the GPU of this VM",
            "Power the VM off and on, and look on guest and host for Xids in the kernel's log",
            "gpu_lost",
        )
    return "The driver finds no device that it can use", f"{UNUSABLE}. See that the VM has a vGPU at all", "no_device"
