# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Running VMs that hold PCI devices of a host as whole devices. vCenter names only the device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Collection, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.host import pci
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import properties
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.hosts import HostFound
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter

DEVICES = "config.hardware.device"


def of(vcenter: VCenter, found: HostFound, addresses: Collection[str]) -> dict[str, Sequence[str]]:
    """{address: names of the running VMs that hold it}, of these addresses."""
    held: dict[str, list[str]] = {}
    select = {"HostSystem": ("name",), "VirtualMachine": ("name", "runtime.powerState", DEVICES)}
    for row in properties.retrieve(vcenter, select, [found.ref], [("HostSystem", "vm")]):
        if str(row.get("runtime.powerState")) == "poweredOn":
            for address in sorted(_held(row).intersection(addresses)):
                held.setdefault(address, []).append(row.get("name", row.moid))
    return {address: sorted(names) for address, names in held.items()}


def _held(row: Row) -> set[str]:
    """Addresses of the devices of a VM; a dynamic device has that of its last power-on."""
    kind = vim.vm.device.VirtualPCIPassthrough
    backings = [one.backing for one in row.get(DEVICES) or [] if isinstance(one, kind)]
    ids = [getattr(one, "id", None) or getattr(one, "assignedId", None) for one in backings]
    return {address for address in (pci.normal_address(one) for one in ids if one) if address}
