# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The server behind a BMC: which one, whose make, and whether it is on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.session import Bmc

VENDORS = {"dell": "dell", "hpe": "hpe", "hewlett": "hpe", "supermicro": "supermicro", "super micro": "supermicro"}
OTHER = "other"


@dataclass(frozen=True)
class System:
    """A ComputerSystem."""

    path: str
    body: dict[str, Any]
    vendor: str

    @property
    def power(self) -> str:
        return self.body.get("PowerState") or "Unknown"

    @property
    def serial(self) -> str | None:
        """The serial on the label: Dell's service tag is the SKU; the SKU of others is an order number."""
        kinds = ("SKU", "SerialNumber") if self.vendor == "dell" else ("SerialNumber",)
        # Some boards without a number have blanks instead.
        texts = (str(self.body.get(kind) or "").strip() for kind in kinds)
        return next(filter(None, texts), None)

    @property
    def ids(self) -> dict[str, Any]:
        """The fields that identify the server in results."""
        return {
            "vendor": self.vendor,
            "model": self.body.get("Model"),
            "serial": self.serial,
            "uuid": self.body.get("UUID"),
            "system_id": segment(self.path),
        }


def find(bmc: Bmc, system_id: str | None = None) -> System:
    """Return the only server of a BMC, or the named one."""
    root = bmc.root()
    collection = root.get("Systems", {}).get("@odata.id")
    if collection is None:
        raise OperatorError(
            bmc.name,
            "cannot find the server of this BMC",
            "The service lists no computer systems, so it belongs to a chassis or a fabric",
            "Set `bmc_address` to the BMC of the server itself",
            code="bmc_without_system",
        )
    paths = bmc.links(collection)
    chosen = [path for path in paths if system_id is None or segment(path).lower() == system_id.lower()]
    if len(chosen) != 1:
        there = ", ".join(segment(path) for path in paths) or "none"
        wanted = f"cannot find the system {system_id}" if system_id else "cannot find the server of this BMC"
        todo = "Set `system_id` to one of them" if paths else "Check that the BMC belongs to a server"
        raise OperatorError(bmc.name, wanted, f"The BMC has these systems: {there}", todo, code="system_not_found")
    body = bmc.get(chosen[0]).body
    return System(chosen[0], body, vendor_of(root, body))


def read_again(bmc: Bmc, system: System) -> System:
    """The same server as it is now."""
    return System(system.path, bmc.get(system.path).body, system.vendor)


def vendor_of(root: Mapping[str, Any], body: Mapping[str, Any]) -> str:
    """The vendor as the function map names it."""
    said = [body.get("Manufacturer"), root.get("Vendor"), *(root.get("Oem") or {}), *(body.get("Oem") or {})]
    for text in filter(None, said):
        for beginning, vendor in VENDORS.items():
            if text.lower().startswith(beginning):
                return vendor
    return OTHER


def segment(path: str) -> str:
    """The last part of a resource's path."""
    return path.rstrip("/").rpartition("/")[2]
