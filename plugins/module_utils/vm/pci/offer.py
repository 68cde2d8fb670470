# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Offers of hosts to VMs that get new devices: read once, and only if a device is to be added."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Collection, Iterable

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.network import Network, network_of
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import properties
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim, vmodl
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.faults import explain
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci.availability import Claim
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci.state import assigned_to

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter

_HOST = ["name", "parent", "config.network", "config.virtualNicManagerInfo"]
# The devices of all VMs of a host are a long answer, and those of VMs that are off hold nothing.
_VM = ["name", "runtime.powerState", "runtime.host"]
_DEVICES = "config.hardware.device"


@dataclass(frozen=True)
class Offer:
    """Offer of a host beyond the data of its hardware."""

    # {address: vim.vm.PciPassthroughInfo} of devices that a VM could get now.
    targets: dict[str, vim.vm.PciPassthroughInfo] = field(default_factory=dict)
    # Addresses of virtual functions.
    functions: frozenset[str] = frozenset()
    # {name: vim.vm.VendorDeviceGroupInfo}
    groups: dict[str, vim.vm.VendorDeviceGroupInfo] = field(default_factory=dict)
    # Classes of Enhanced DirectPath I/O with a device that a VM could get.
    dvx: frozenset[str] = frozenset()
    # {address: Claim} of the VM that holds a device.
    holders: dict[str, Claim] = field(default_factory=dict)
    network: Network = Network()
    # Reason why the host did not answer.
    trouble: OperatorError | None = None

    @property
    def system(self) -> str:
        """Return the host's own ID in static devices; empty if it offers none."""
        return next((info.systemId or "" for info in self.targets.values()), "")


def offers(vcenter: VCenter, hosts: Collection[vim.HostSystem]) -> dict[str, Offer]:
    """{MoID: Offer} of hosts, given by their references."""
    if not hosts:
        return {}
    rows = properties.retrieve(
        vcenter,
        select={"HostSystem": _HOST, "ComputeResource": ["environmentBrowser"], "VirtualMachine": _VM},
        start=hosts,
        walk=[("HostSystem", "parent"), ("HostSystem", "vm")],
        skip_gone=True,
    )
    browsers: dict[str | None, vim.EnvironmentBrowser | None] = {
        row.moid: row.get("environmentBrowser") for row in rows if row.kind.endswith("ComputeResource")
    }
    held = holders(_with_devices(vcenter, [row for row in rows if row.kind == "VirtualMachine"]))
    return {
        row.moid: offer_of(row, browsers.get(_moid(row.get("parent"))), held.get(row.moid, {}))
        for row in rows
        if row.kind == "HostSystem"
    }


def holders(rows: Iterable[Row]) -> dict[str | None, dict[str, Claim]]:
    """{MoID of a host: {address: Claim of the VM that holds the device}} from rows of VMs that are not off."""
    held: dict[str | None, dict[str, Claim]] = {}
    for row in rows:
        for device in row.get(_DEVICES) or []:
            address = assigned_to(device)
            if address is not None:
                held.setdefault(_moid(row.get("runtime.host")), {})[address] = Claim(row.moid, row.get("name", ""))
    return held


def _with_devices(vcenter: VCenter, rows: Iterable[Row]) -> list[Row]:
    """The VMs that are not off, once more with their devices."""
    running = [row.ref for row in rows if str(row.get("runtime.powerState")) != "poweredOff"]
    return properties.retrieve(vcenter, {"VirtualMachine": [*_VM, _DEVICES]}, running, skip_gone=True)


def offer_of(row: Row, browser: vim.EnvironmentBrowser | None, held: dict[str, Claim]) -> Offer:
    """Return the offer of one host; the failure of a silent host is reported to the VMs that need its answer."""
    try:
        target = _target(row, browser)
    except OperatorError as error:
        return Offer(holders=held, trouble=error)
    return Offer(
        targets={info.pciDevice.id: info for info in target.pciPassthrough or []},
        functions=frozenset(info.pciDevice.id for info in target.sriov or [] if info.virtualFunction),
        groups={info.deviceGroupName: info for info in getattr(target, "vendorDeviceGroupInfo", None) or []},
        dvx=frozenset(info.deviceClass.key for info in getattr(target, "dvxClassInfo", None) or []),
        holders=held,
        network=network_of(row.get("config.network"), row.get("config.virtualNicManagerInfo")),
    )


def _target(row: Row, browser: vim.EnvironmentBrowser | None) -> vim.vm.ConfigTarget:
    """Return the host's answer on devices that a VM could get."""
    subject, wanted = f"Host {row.get('name', row.moid)}", "cannot read the devices that it offers to VMs"
    if browser is None:
        raise OperatorError(
            subject,
            wanted,
            "vCenter does not show this user the environment of the host's cluster.",
            "Give the user the role Read-only, or a role with more privileges, on the cluster.",
            "no_environment",
        )
    try:
        return browser.QueryConfigTarget(host=row.ref) or vim.vm.ConfigTarget()
    except vmodl.MethodFault as fault:
        raise explain(fault, subject, wanted) from fault


def _moid(ref: vim.ManagedEntity | None) -> str | None:
    return ref._GetMoId() if ref is not None else None
