# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Driver state of a guest, and its surroundings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.smi_text import Report
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.os_release import Distribution

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.smi_text import Gpu


@dataclass(frozen=True)
class DriverState:
    """State that the module manages."""

    # The version of the guest driver that is installed, by a deb, rpm or run.
    version: str | None = None
    format: str | None = None
    package: str | None = None
    # The version of its module for the kernel that runs; None where it was not built for it.
    built: str | None = None
    # The version of the module that is in the kernel now.
    loaded: str | None = None
    # State of nouveau at boot: allowed or blocked.
    nouveau: str = "allowed"
    nouveau_loaded: bool = False
    # True if the file that blocks it has exactly this module's content.
    ours: bool = False
    # Packages that building the module needs and that are not there.
    missing: tuple[str, ...] = ()
    # True if the driver can be installed only after a reboot: a .run file refuses to work while nouveau is loaded.
    held: bool = False
    # Steps that a killed run left open.
    interrupted: tuple[str, ...] = ()
    report: Report = field(default_factory=Report)

    @property
    def waits(self) -> bool:
        """Return whether the driver cannot be loaded into the kernel before a reboot."""
        return self.nouveau_loaded or self.loaded not in (None, self.version)


@dataclass(frozen=True)
class Surroundings:
    """Conditions for the installation of a driver, which are never changed here."""

    distribution: Distribution
    kernel: str
    machine: str
    # None if it is unknown, as in a guest without EFI variables.
    secure_boot: bool | None = None
    # True if a key that signs modules on this guest is enrolled in its firmware.
    key_enrolled: bool = False
    # Installed packages outside the guest driver: conflicting ones, and all broken ones.
    conflicting: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    # A .run file installed a driver of the other flavour. Only the driver for vGPUs has the licence service.
    other_run: bool = False
    # True if a whole GPU on the PCI bus works with the open kernel modules only.
    needs_open: bool = False
    # Packages of other guest drivers, to remove before one of another branch is installed.
    others: tuple[str, ...] = ()
    # Processes that use the GPU.
    users: tuple[str, ...] = ()
    # True if an NVIDIA GPU is on the PCI bus; None if the bus cannot be read.
    device: bool | None = None
    # Last kernel messages of NVIDIA's driver.
    kernel_said: tuple[str, ...] = ()


def project(state: DriverState) -> dict[str, Any]:
    """A state as the user sees it."""
    return {
        "version": state.version,
        "format": state.format,
        "package": state.package,
        "module": state.built,
        "loaded": state.loaded,
        "nouveau": state.nouveau,
        "missing": list(state.missing),
        "interrupted": list(state.interrupted),
        "gpus": [_gpu(gpu) for gpu in state.report.gpus],
    }


def pending(state: DriverState) -> list[dict[str, Any]]:
    """Return the changes pending until a reboot."""
    found = []
    # A driver other than a guest driver, such as that of a data centre, loads again at each start.
    other_kind = state.version is None and state.loaded is not None and state.built == state.loaded
    other = state.version != state.loaded and not other_kind
    if state.held or other and (state.loaded or (state.version and state.nouveau_loaded)):
        found.append({"what": "driver", "needs": "reboot"})
    if state.nouveau == "blocked" and state.nouveau_loaded:
        found.append({"what": "nouveau", "needs": "reboot"})
    return found


def _gpu(gpu: Gpu) -> dict[str, Any]:
    return {
        "address": gpu.address,
        "name": gpu.name,
        "uuid": gpu.uuid,
        "virtualization": gpu.virtualization,
        "memory_mb": gpu.memory_mb,
        "mig": gpu.mig,
        "licence": gpu.licence,
    }
