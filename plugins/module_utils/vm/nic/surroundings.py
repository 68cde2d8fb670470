# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Environment data of VMs for their adapters: read once per task, from few objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Container, Iterable, NamedTuple

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import properties
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim, vmodl
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.faults import explain
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.sriov import Holder
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.state import SRIOV, adapter_of, kind_of
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.place import moid_of

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.state import HostView


def option_of(host: HostView, name: str) -> str:
    """An advanced option of a host; empty where the host does not know it."""
    if host.options is None:
        return ""
    try:
        found = host.options.QueryOptions(name=name)
    except vim.fault.InvalidName:
        return ""
    except vmodl.MethodFault as fault:
        raise explain(fault, f"Host {host.name}", f"cannot read the advanced option {name}") from fault
    return next((str(entry.value) for entry in found or ()), "")


class PvrdmaOffer(NamedTuple):
    """What a host offers to the PVRDMA adapters of a VM; None if it is not reported."""

    most: int | None = None
    protocols: frozenset[str] | None = None


def pvrdma_offer(browser: vim.EnvironmentBrowser, hardware_version: int, host: vim.HostSystem | None) -> PvrdmaOffer:
    """Return what a host offers to a VM of this hardware version."""
    spec = vim.EnvironmentBrowser.ConfigOptionQuerySpec(key=f"vmx-{hardware_version:02}", host=host)
    try:
        option = browser.QueryConfigOptionEx(spec=spec)
    except vmodl.MethodFault:
        # A limit that cannot be asked is vSphere's to enforce.
        return PvrdmaOffer()
    hardware = option.hardwareOptions if option is not None else None
    most: int | None = None
    protocols: frozenset[str] | None = None
    for device in (hardware.virtualDeviceOption if hardware is not None else None) or ():
        if isinstance(device, vim.vm.device.VirtualPCIControllerOption):
            limit = device.numVmxnet3VrdmaEthernetCards
            most = limit.max if limit is not None else None
        elif isinstance(device, vim.vm.device.VirtualVmxnet3VrdmaOption) and device.deviceProtocol is not None:
            protocols = frozenset(one.key for one in device.deviceProtocol.choiceInfo)
    return PvrdmaOffer(most, protocols)


def functions_of(
    browser: vim.EnvironmentBrowser, host_ref: vim.HostSystem, name: str
) -> dict[str, vim.vm.PciPassthroughInfo]:
    """{PCI address: the host's entry for a port that can be split}."""
    try:
        target = browser.QueryConfigTarget(host=host_ref)
    except vmodl.MethodFault as fault:
        raise explain(fault, f"Host {name}", "cannot list its ports for virtual functions") from fault
    rows = [*(target.pciPassthrough or ()), *(target.sriov or ())] if target is not None else []
    return {row.pciDevice.id: row for row in rows}


def running_holders(vcenter: VCenter, hosts: Iterable[str], without: Container[str]) -> dict[str | None, list[Holder]]:
    """{MoID of a host: [Holder]} of its running VMs, except those with the MoIDs in without."""
    rows = properties.retrieve(
        vcenter,
        {"VirtualMachine": ("runtime.powerState", "runtime.host")},
        [vcenter.managed("HostSystem", moid) for moid in sorted(hosts)],
        [("HostSystem", "vm")],
        skip_gone=True,
    )
    running = {
        row.moid: moid_of(row.get("runtime.host"))
        for row in rows
        if str(row.get("runtime.powerState")) == "poweredOn" and row.moid not in without
    }
    rows = properties.retrieve(
        vcenter,
        {"VirtualMachine": ("name", "config.hardware.device")},
        [vcenter.managed("VirtualMachine", moid) for moid in sorted(running)],
        skip_gone=True,
    )
    found: dict[str | None, list[Holder]] = {}
    for row in rows:
        for card in row.get("config.hardware.device") or []:
            if isinstance(card, vim.vm.device.VirtualEthernetCard) and kind_of(card) == SRIOV:
                adapter = adapter_of(card, running=True)
                holder = Holder(row.get("name", row.moid), adapter.physical_function, adapter.network)
                found.setdefault(running[row.moid], []).append(holder)
    return found
