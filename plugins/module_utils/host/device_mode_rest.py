# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Modes of PCI devices (vSphere 9.1): SOAP cannot set them, REST does.

Names and answers are those of the Python stubs of vCenter 9.1.1.0. Filters import device_mode.py alone.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Iterable, Iterator, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.device_mode import REST_NAMES
from ansible_collections.aiready.vsphere.plugins.module_utils.host.pci import normal_address
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.rest import Answered, Rest, refused

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.hosts import HostFound
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter

# The need of a change by its impact. Nothing is known of an impact that is not listed.
_NEEDS = {"HOST_MAINTENANCE_MODE_REQUIRED": "maintenance_mode", "HOST_REBOOT_REQUIRED": "reboot"}
_TIMEOUT_S = 300


@contextlib.contextmanager
def opened(vcenter: VCenter, host: HostFound) -> Iterator[DeviceModes]:
    """The modes of a host over REST; the session begins with the first request."""
    rest = Rest(vcenter)
    try:
        yield DeviceModes(rest, host)
    finally:
        rest.close()


class DeviceModes:
    """Sets modes of the devices of one host."""

    def __init__(self, rest: Rest, host: HostFound) -> None:
        self._rest = rest
        self._label = f"Host {host.name}"
        self._path = f"/api/vcenter/host/{host.moid}/hardware/direct-path-devices"
        self._devices: dict[str, str] | None = None

    def configure(self, address: str, mode: str) -> str | None:
        """Set the mode of a device; return what the change needs to take effect, None for nothing."""
        wanted = f"cannot set the mode of {address} to {mode}"
        body = {"device": self._id(address, wanted), "new_mode": REST_NAMES[mode]}
        try:
            result = self._rest.task(
                "POST", f"{self._path}?action=configure&vmw-task=true", body, self._label, wanted, _TIMEOUT_S
            )
        except Answered as error:
            raise refused(error, self._label, wanted, "PCI devices of hosts (Host.Config.PciPassthru)") from error
        return needs_of((result or {}).get("configure_impacts") or ())

    def _id(self, address: str, wanted: str) -> str:
        """The name of a device in REST: that it contains the PCI address is unsure, so it is looked up."""
        if self._devices is None:
            self._devices = {normal_address(name) or name: name for name in self._names(wanted)}
        if address not in self._devices:
            raise OperatorError(
                self._label,
                wanted,
                f"vCenter's REST service lists no such device. It lists: {', '.join(self._devices) or 'none'}",
                "Set `method` to soap, or check the device in vCenter",
                "device_mode_missing",
                device=address,
            )
        return self._devices[address]

    def _names(self, wanted: str) -> Sequence[str]:
        try:
            answer = self._rest.call("GET", self._path)
        except Answered as error:
            raise refused(error, self._label, wanted, "hosts (System.Read)") from error
        return [item["device"] for item in (answer or {}).get("items") or ()]


def needs_of(impacts: Iterable[str]) -> str | None:
    """What a change with these impacts needs: a restart includes maintenance mode."""
    needs = {_NEEDS[one] for one in impacts if one in _NEEDS}
    return "reboot" if "reboot" in needs else "maintenance_mode" if needs else None
