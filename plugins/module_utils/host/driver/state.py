# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""NVIDIA host driver of one ESXi host: the installed and the running one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import matrix, version

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver.depot import DriverVib


@dataclass(frozen=True)
class Device:
    """A graphics device of NVIDIA's, as the host lists it."""

    id: str
    name: str
    type: str


@dataclass(frozen=True)
class HostDriver:
    """Host data that matters for its driver."""

    # VIBs of host drivers, of any family; more than one only after a forced installation.
    vibs: tuple[DriverVib, ...] = ()
    components: tuple[tuple[str, str], ...] = ()
    loaded: bool = False
    # Version of the running module, if the host reports it.
    running: str | None = None
    # Family of the VIB from which the host loaded the module.
    running_family: str | None = None
    # True if software of the host was changed after its boot; None if that is unknown.
    changed_since_boot: bool | None = None
    esxi: str = ""
    acceptance: str = ""
    in_maintenance: bool = False
    # The REST answer: whether one image manages the host's cluster.
    by_image: bool = False
    # True if vCenter manages the software of clusters only by images, and the host is in a cluster.
    images_only: bool = False
    # (name, version) of the driver's components in that image.
    in_image: tuple[tuple[str, str], ...] = ()
    devices: tuple[Device, ...] = ()
    running_vms: tuple[str, ...] = ()

    @property
    def vib(self) -> DriverVib | None:
        """The one driver that is installed, or None."""
        return self.vibs[0] if len(self.vibs) == 1 else None

    @property
    def installed(self) -> version.DriverVersion | None:
        """The version that is installed, as far as it can be read."""
        return version.parse(self.vib.version) if self.vib is not None else None

    @property
    def booted(self) -> str | None:
        """Return the driver version that the host has run since its boot; None if it runs none, or if it is unknown."""
        if not self.loaded:
            return None
        if self.running is not None:
            return self.running
        return self.installed.driver if self.installed is not None and self.changed_since_boot is False else None

    @property
    def waits_for_reboot(self) -> bool:
        """Return whether the next boot starts another driver than the running one; the answer of esxcli is no proof of
        it.

        The installer answers "Reboot Required: false" for this driver although only a boot loads it (NVIDIA AI
        Enterprise user guide 5.0, chapter 2.7; frankdenneman.nl 2023-07-06).
        """
        if self.vib is None:
            return self.loaded
        if not self.loaded:
            return self.changed_since_boot is not False
        if self.running is not None and self.installed is not None and self.running != self.installed.driver:
            return True
        # Both products come in the same versions, so that an equal version alone proves nothing.
        return self.running_family not in (None, self.vib.family) or self.changed_since_boot is True

    @property
    def failed_to_load(self) -> bool:
        """Return whether the host was booted with this driver, has a device for it, and does not run it."""
        usable = [device for device in self.devices if device.type != "direct"]
        return self.vib is not None and not self.loaded and not self.waits_for_reboot and bool(usable)


def project(state: HostDriver) -> dict[str, Any]:
    """A state as the user sees it."""
    installed = state.installed
    return {
        "family": state.vib.family if state.vib is not None else None,
        "version": installed.driver if installed is not None else None,
        "branch": installed.branch if installed is not None else None,
        "release": matrix.release_of(installed.driver) if installed is not None else None,
        "vibs": [
            {"name": vib.name, "version": vib.version, "family": vib.family, "acceptance": vib.acceptance}
            for vib in state.vibs
        ],
        "components": [{"name": name, "version": text} for name, text in state.components],
        "loaded": state.loaded,
        "booted_version": state.booted,
        "guest_branches": matrix.guest_branches(installed.driver) if installed is not None else [],
        "esxi": state.esxi,
        "acceptance": state.acceptance,
        "managed_by": "image" if state.by_image else "nothing" if state.images_only else "baselines",
        "image_components": [{"name": name, "version": text} for name, text in state.in_image],
        "in_maintenance": state.in_maintenance,
        "devices": [{"id": device.id, "name": device.name, "type": device.type} for device in state.devices],
    }


def pending(state: HostDriver) -> list[dict[str, Any]]:
    """Return the pending steps of the state."""
    return [{"what": "driver", "needs": "reboot"}] if state.waits_for_reboot else []
