# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What a guest has of a driver, and what surrounds it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.smi_text import Report
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.os_release import Distribution

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.smi_text import Gpu


@dataclass(frozen=True)
class DriverState:
    """What the module manages."""

    # The version of the guest driver that is installed, by a deb, rpm or run.
    version: str | None = None
    format: str | None = None
    package: str | None = None
    # The version of its module for the kernel that runs; None where it was not built for it.
    built: str | None = None
    # The version of the module that is in the kernel now.
    loaded: str | None = None
    # Whether nouveau is kept from loading at boot.
    nouveau: str = "allowed"
    nouveau_loaded: bool = False
    # Whether the file that blocks it is as this module writes it.
    ours: bool = False
    # Packages that building the module needs and that are not there.
    missing: tuple[str, ...] = ()
    # Whether the driver can be installed only after a reboot: a .run file refuses to work while nouveau is loaded.
    held: bool = False
    # Steps that a killed run left open.
    interrupted: tuple[str, ...] = ()
    report: Report = field(default_factory=Report)

    @property
    def waits(self) -> bool:
        """Whether the driver cannot get into the kernel before a reboot."""
        return self.nouveau_loaded or self.loaded not in (None, self.version)


@dataclass(frozen=True)
class Surroundings:
    """What decides whether a driver can be installed, and what is never changed here."""

    distribution: Distribution
    kernel: str
    machine: str
    # None where it cannot be found out, as in a guest without EFI variables.
    secure_boot: bool | None = None
    # Whether a key by which modules are signed on this guest is enrolled in its firmware.
    key_enrolled: bool = False
    # Installed packages that are not of the guest driver: those that must not be there, and all that are broken.
    conflicting: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    # A driver that was installed by NVIDIA's .run file and has no licence service: that of a data centre.
    foreign_run: bool = False
    # Packages of other guest drivers, which have to go before one of another branch comes.
    others: tuple[str, ...] = ()
    # Processes that use the GPU.
    users: tuple[str, ...] = ()
    # Whether a GPU of NVIDIA's is on the PCI bus; None where the bus cannot be read.
    device: bool | None = None
    # What the kernel said last of NVIDIA's driver.
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
    """What waits for a reboot."""
    found = []
    # A driver that is no guest driver, such as that of a data centre, comes back with each start.
    foreign = state.version is None and state.loaded is not None and state.built == state.loaded
    other = state.version != state.loaded and not foreign
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
