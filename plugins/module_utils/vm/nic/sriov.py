# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Fields and rules of SR-IOV adapters. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Mapping, NamedTuple, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.host.pci import normal_address
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic import rules
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci import costs
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.rules import Problem

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.network import Port, Switch
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.passthrough import Given
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.networks import Fabric
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.params import AdapterRequest, SriovRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.state import Adapter, HostView, NicState

# vSphere Networking asks for compatibility with ESXi 5.5.
OLDEST_HARDWARE = 10
HOST_PROPERTIES = ("config.pciPassthruInfo",)


class Holder(NamedTuple):
    """An SR-IOV adapter of a running VM, or one that this task requests."""

    vm: str
    # The port by its PCI address; None where the host chooses among the uplinks of the switch.
    function: str | None
    # The key of the port group's network; reports the uplinks that the host may choose from.
    network: str


def details(adapter: Adapter, entry: AdapterRequest, now: NicState) -> Adapter:
    """The port and the guest's right to change the MTU."""
    function = address_of(entry.physical_function, now.host)
    mtu = entry.guest_mtu_change
    return replace(
        adapter,
        physical_function=function or adapter.physical_function,
        guest_mtu_change=adapter.guest_mtu_change if mtu is None else mtu,
    )


def card(adapter: Adapter, targets: Mapping[str, vim.vm.PciPassthroughInfo]) -> vim.vm.device.VirtualSriovEthernetCard:
    """Return the device of an adapter, without common fields; targets are the host's ports as vCenter lists them."""
    device = vim.vm.device.VirtualSriovEthernetCard(allowGuestOSMtuChange=adapter.guest_mtu_change)
    if adapter.physical_function is not None:
        device.sriovBacking = _kept(adapter) or vim.vm.device.VirtualSriovEthernetCard.SriovBackingInfo(
            physicalFunctionBacking=_function(adapter, targets)
        )
    return device


def address_of(text: str | None, host: HostView | None) -> str | None:
    """Return the PCI address of a port that is named by its device or address; unchanged if it cannot be determined."""
    if not text:
        return None
    port = host.network.port(text) if host is not None else None
    return port.pci if port is not None else normal_address(text) or text


def candidates(adapter: Adapter, fabric: Fabric, host: HostView) -> list[str]:
    """The PCI addresses of the ports that can give an adapter its virtual function."""
    if adapter.physical_function is not None:
        return [adapter.physical_function]
    switch = _switch(adapter.network, fabric, host)
    ports = [host.network.port(device) for device in (switch.uplinks if switch is not None else ())]
    return [port.pci for port in ports if port is not None and _active(host, port.pci)]


def does_rdma(state: NicState, fabric: Fabric) -> bool:
    """Return whether every port under the adapters has an RDMA device on the host."""
    if state.host is None or not state.adapters:
        return False
    devices = {port.pci: port.device for port in state.host.network.ports}
    ports = {address for one in state.adapters for address in candidates(one, fabric, state.host)}
    return bool(ports) and all(
        state.host.network.rdma_of(cast("str", devices.get(address))) is not None for address in ports
    )


def against(
    now: NicState, wanted: NicState, requested: SriovRequest, fabric: Fabric, holders: Sequence[Holder]
) -> list[Problem]:
    """Return all problems of these adapters in this VM; holders are those that need functions of its host."""
    problems = rules.against_hardware(now, OLDEST_HARDWARE, "SR-IOV")
    problems += rules.against_reservation(now, "SR-IOV")
    new = len(wanted.adapters) > len(now.adapters)
    if now.vm.snapshots and new:
        problems.append(
            Problem(
                "snapshots",
                f"The VM has snapshots. {costs.cost_sentence('sriov')}",
                "Delete its snapshots first, or choose pvrdma or tcp, which keep them.",
            )
        )
    problems += rules.against_number(now, wanted)
    faults = []
    for adapter in wanted.adapters:
        faults += _against_port(adapter, requested.port_off_switch, fabric, cast("HostView", now.host))
    return problems + (
        list(dict.fromkeys(faults)) or _against_shortage(wanted, fabric, cast("HostView", now.host), holders)
    )


def _against_port(adapter: Adapter, off_switch: str, fabric: Fabric, host: HostView) -> list[Problem]:
    address = adapter.physical_function
    if address is None:
        return _against_switch(adapter, fabric, host)
    given = host.given.get(address)
    port = next((one for one in host.network.ports if one.pci == address), None)
    name = f"{port.device} ({address})" if port is not None else address
    if given is None:
        there = ", ".join(_reported(host, one) for one in host.given if _active(host, one)) or "none"
        return [
            Problem(
                "port_not_found",
                f"Host {host.name} has no port {address}; its ports with virtual functions are: {there}.",
                "Correct `physical_function`, or remove it to let the host choose.",
            )
        ]
    if given.configured or given.active:
        return [
            Problem(
                "port_passed_through",
                f"The port {name} of host {host.name} is in passthrough mode as a whole.",
                "Choose another port, or disable its passthrough with the module pci_passthrough and restart the host.",
            )
        ]
    if not _active(host, address):
        return [_inactive(host, name, given)]
    switch = _switch(adapter.network, fabric, host)
    # No document states that vSphere refuses a port off the switch [unsure], hence the option.
    if off_switch == "refuse" and switch is not None and port is not None and port.device not in switch.uplinks:
        return [
            Problem(
                "port_off_switch",
                f"The port {name} of host {host.name} is not an uplink of {switch.name}, the switch of its port "
                "group; the "
                f"uplinks are: {', '.join(switch.uplinks) or 'none'}.",
                "Choose one of them, or a port group on the switch of the port; port_off_switch=allow skips "
                "this check.",
            )
        ]
    return []


def _against_switch(adapter: Adapter, fabric: Fabric, host: HostView) -> list[Problem]:
    """Check a request without a port: some uplink of the switch must have virtual functions."""
    if candidates(adapter, fabric, host):
        return []
    switch = _switch(adapter.network, fabric, host)
    if switch is None:
        return []
    for device in switch.uplinks:
        port = host.network.port(device)
        given = host.given.get(port.pci) if port is not None else None
        if given is not None and given.vfs_configured:
            return [_inactive(host, f"{device} ({cast('Port', port).pci})", given)]
    return [
        Problem(
            "sriov_inactive",
            f"No uplink of {switch.name} on host {host.name} has virtual functions; its uplinks are: "
            f"{', '.join(switch.uplinks) or 'none'}.",
            "Switch SR-IOV on for one of them with the module pci_passthrough (sriov_vfs) and restart the host, or use "
            "a port group of a switch whose uplink has it.",
        )
    ]


def _inactive(host: HostView, name: str, given: Given) -> Problem:
    if given.vfs_configured:
        return Problem(
            "sriov_pending",
            f"SR-IOV is configured for {name} of host {host.name} ({given.vfs_configured} virtual functions) "
            "and pending "
            "a restart.",
            "Restart the host with the module esxi_reboot.",
        )
    what = "does not support SR-IOV" if not given.sriov_capable else "has SR-IOV switched off"
    return Problem(
        "sriov_inactive",
        f"The port {name} of host {host.name} {what}.",
        "Switch it on in the firmware (module nic_firmware) and with the module pci_passthrough (sriov_vfs), and "
        "restart the host.",
    )


def _against_shortage(wanted: NicState, fabric: Fabric, host: HostView, holders: Sequence[Holder]) -> list[Problem]:
    """More adapters than virtual functions, counting those of running VMs and of all VMs of this task."""
    problems = []
    for adapter in wanted.adapters:
        pool = frozenset(candidates(adapter, fabric, host))
        there = sum(host.given[address].vfs_active for address in pool)
        users = [one for one in holders if _draws_on(one, pool, fabric, host)]
        if len(users) <= there:
            continue
        names = ", ".join(sorted({one.vm for one in users}))
        ports = ", ".join(_reported(host, address) for address in sorted(pool))
        problems.append(
            Problem(
                "no_free_function",
                f"{ports} of host {host.name} {'has' if len(pool) == 1 else 'have'} {there} virtual "
                f"function{'' if there == 1 else 's'}, but {len(users)} are needed for: {names}.",
                "Move a VM to another host, remove adapters, or raise sriov_vfs with the module pci_passthrough.",
            )
        )
    return list(dict.fromkeys(problems))


def _draws_on(holder: Holder, pool: frozenset[str], fabric: Fabric, host: HostView) -> bool:
    """Return whether a holder can only be served from these ports."""
    if holder.function is not None:
        return holder.function in pool
    switch = _switch(holder.network, fabric, host)
    ports = [host.network.port(device) for device in (switch.uplinks if switch is not None else ())]
    own = {port.pci for port in ports if port is not None and _active(host, port.pci)}
    return bool(own) and own <= pool


def _active(host: HostView, address: str) -> bool:
    given = host.given.get(address)
    return given is not None and given.vfs_active > 0


def _reported(host: HostView, address: str) -> str:
    port = next((one for one in host.network.ports if one.pci == address), None)
    return f"{port.device} ({address})" if port is not None else address


def _switch(key: str, fabric: Fabric, host: HostView) -> Switch | None:
    group = fabric.named(key)
    if group is None:
        return None
    if group.distributed:
        return host.by_uuid(group.switch_uuid)
    name = host.standard.get(group.name)
    return next((one for one in host.network.switches if one.name == name and not one.distributed), None)


def _kept(adapter: Adapter) -> vim.vm.device.VirtualSriovEthernetCard.SriovBackingInfo | None:
    """Return an unchanged port as read: another notation would be a change, which needs the VM off."""
    backing = getattr(adapter.device, "sriovBacking", None)
    function = backing.physicalFunctionBacking if backing is not None else None
    return backing if function is not None and function.id == adapter.physical_function else None


def _function(
    adapter: Adapter, targets: Mapping[str, vim.vm.PciPassthroughInfo]
) -> vim.vm.device.VirtualPCIPassthrough.DeviceBackingInfo:
    backing = vim.vm.device.VirtualPCIPassthrough.DeviceBackingInfo
    target = targets.get(cast("str", adapter.physical_function))
    if target is None:
        return backing(id=adapter.physical_function, deviceName="", deviceId="", systemId="", vendorId=0)
    device = target.pciDevice
    return backing(
        id=device.id,
        deviceName=device.deviceName or "",
        # The host reports numbers as signed; a backing has the identifier as text without sign.
        deviceId=f"{device.deviceId & 0xFFFF:x}",
        systemId=target.systemId,
        vendorId=device.vendorId,
    )
