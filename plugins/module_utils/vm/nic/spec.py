# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Build the specification that gives a VM its network adapters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic import plan
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.state import FIXED

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.networks import Fabric
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.state import Adapter, NicState


def reconfiguration(
    now: NicState,
    wanted: NicState,
    fabric: Fabric,
    make: Callable[[Adapter, NicState], vim.vm.device.VirtualEthernetCard],
) -> vim.vm.ConfigSpec:
    """Return the ConfigSpec from one state to the other; make(adapter, now) is a card with the fields of its kind."""
    removed: list[vim.vm.device.VirtualDeviceSpec]
    edited: list[vim.vm.device.VirtualDeviceSpec]
    added: list[vim.vm.device.VirtualDeviceSpec]
    removed, edited, added = [], [], []
    for before, after in plan.pairs(now, wanted):
        if after is None:
            card = make(cast("Adapter", before), now)
            card.key = cast("Adapter", before).key
            removed.append(_change("remove", card))
        elif before is None:
            card = _fill(make(after, now), after, fabric)
            # Keys below zero ask vSphere to choose; they only have to differ within one specification.
            card.key = -1 - len(added)
            added.append(_change("add", card))
        elif before != after:
            edited.append(_change("edit", _edited(_fill(make(after, now), after, fabric), before, after)))
    return vim.vm.ConfigSpec(deviceChange=removed + edited + added)


def _change(operation: str, card: vim.vm.device.VirtualEthernetCard) -> vim.vm.device.VirtualDeviceSpec:
    return vim.vm.device.VirtualDeviceSpec(operation=operation, device=card)


def _fill(
    card: vim.vm.device.VirtualEthernetCard, adapter: Adapter, fabric: Fabric
) -> vim.vm.device.VirtualEthernetCard:
    card.backing = _backing(adapter, fabric)
    card.wakeOnLanEnabled = True
    card.addressType = FIXED if adapter.mac_fixed else "assigned"
    card.macAddress = adapter.mac or None
    card.connectable = vim.vm.device.VirtualDevice.ConnectInfo(
        startConnected=adapter.start_connected,
        allowGuestControl=True,
        connected=bool(adapter.connected),
    )
    return card


def _edited(
    card: vim.vm.device.VirtualEthernetCard, before: Adapter, after: Adapter
) -> vim.vm.device.VirtualEthernetCard:
    """Return the card with all unchanged fields as read: its bus position, its port on the switch, its address."""
    device = cast("vim.vm.device.VirtualEthernetCard", before.device)
    card.key, card.controllerKey, card.unitNumber = before.key, device.controllerKey, device.unitNumber
    card.wakeOnLanEnabled = device.wakeOnLanEnabled
    if before.network == after.network:
        card.backing = device.backing
    if before.fixed_mac == after.fixed_mac:
        card.addressType = device.addressType
    if device.connectable is not None:
        cast(
            "vim.vm.device.VirtualDevice.ConnectInfo", card.connectable
        ).allowGuestControl = device.connectable.allowGuestControl
    return card


def _backing(adapter: Adapter, fabric: Fabric) -> vim.vm.device.VirtualDevice.BackingInfo:
    cards = vim.vm.device.VirtualEthernetCard
    if adapter.switch_uuid:
        port = vim.dvs.PortConnection(switchUuid=adapter.switch_uuid, portgroupKey=adapter.network)
        return cards.DistributedVirtualPortBackingInfo(port=port)
    group = fabric.named(adapter.network)
    return cards.NetworkBackingInfo(
        deviceName=group.name if group is not None else adapter.network,
        network=vim.Network(adapter.network) if group is not None else None,
    )
