# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Find the cause if an installed driver has no GPU: the message of nvidia-smi is only a symptom. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import matrix

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver.state import DriverState, Surroundings

# Messages of modprobe and the kernel for a module without a valid signature.
UNSIGNED = re.compile(r"Key was rejected by service|Required key not available|module verification failed")
OTHER_KERNEL = re.compile(r"Invalid module format|Exec format error|Unknown symbol|disagrees about version")
UNUSABLE = (
    "Compare the driver with that of the host. A guest driver that is newer than the host driver, or a driver for "
    "whole GPUs, leaves the vGPU disabled"
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
        f"the driver {state.version} does not see the GPU of this VM",
        f"{found}. nvidia-smi reports: {report.said or 'nothing'}{'. The kernel reports: ' + said if said else ''}",
        todo,
        code,
        symptom=report.trouble,
        version=state.version,
        host_version=host or None,
        kernel_said=list(around.kernel_said),
    )


def not_loaded(label: str, version: str | None, words: str, around: Surroundings) -> OperatorError:
    """The error for a module that the kernel refuses."""
    wanted = f"cannot load the module of the driver {version}"
    found = f"The kernel refuses it: {words or 'no reason reported'}"
    # A kernel that is locked down by secure boot refuses it in other words.
    if UNSIGNED.search(words) or (around.secure_boot and "Operation not permitted" in words):
        todo = "Add the signing key to the firmware (`mokutil --import`), sign the module, or switch off secure boot"
        return OperatorError(label, wanted, found, todo, "module_not_signed")
    if OTHER_KERNEL.search(words):
        todo = (
            f"Reboot the guest, or run `dkms autoinstall`: the module was built for another kernel than {around.kernel}"
        )
        return OperatorError(label, wanted, found, todo, "module_of_another_kernel", kernel=around.kernel)
    if NOT_THERE.search(words):
        todo = (
            "Check `dkms status` and /var/lib/dkms/nvidia/*/build/make.log: the module was not built for the kernel "
            f"{around.kernel}"
        )
        return OperatorError(label, wanted, found, todo, "module_missing", kernel=around.kernel)
    if "No such device" in words and around.device:
        found = f"{found}, although an NVIDIA GPU is on the PCI bus"
        return OperatorError(label, wanted, found, UNUSABLE, "no_device")
    if "No such device" in words:
        todo = "Add a vGPU to the VM with the module vgpu_profile. Without a planned vGPU, set `gpu: optional`"
        return OperatorError(label, wanted, found, todo, "no_vgpu")
    return OperatorError(label, wanted, found, "Check `dmesg` on the guest", "module_not_loaded")


def _cause(state: DriverState, around: Surroundings, host: str) -> tuple[str, str, str]:
    """(cause, fix, code), the most certain cause first."""
    trouble = state.report.trouble
    if trouble == "version_mismatch":
        return (
            "The loaded kernel module has another version than the installed driver",
            "Reboot the guest",
            "reboot_needed",
        )
    if trouble == "not_installed":
        return (
            "The package of the driver is installed, but nvidia-smi is missing",
            "Remove the driver with `state: absent`, then install it again",
            "driver_incomplete",
        )
    if state.nouveau_loaded:
        return "The driver nouveau uses the GPU", "Reboot the guest. After the reboot, nouveau is blocked", "nouveau"
    if host and not matrix.guest_allowed(host, cast("str", state.version)).allowed:
        verdict = matrix.guest_allowed(host, cast("str", state.version))
        return (
            f"The host runs {host}, and the VM started without its vGPU. {verdict.reason.rstrip('.')}",
            "Install a guest driver that the host driver supports",
            "driver_pair",
        )
    if around.device is False:
        return (
            "No NVIDIA GPU is on the PCI bus of this VM",
            "Add a vGPU to the VM with the module vgpu_profile. Without a planned vGPU, set `gpu: optional`",
            "no_vgpu",
        )
    if trouble == "gpu_lost":
        return (
            "The driver lost the GPU of this VM",
            "Power the VM off and on. Check the kernel logs of guest and host for Xids",
            "gpu_lost",
        )
    return "The driver finds no usable device", f"{UNUSABLE}. Check that the VM has a vGPU", "no_device"
