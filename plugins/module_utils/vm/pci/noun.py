# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The passthrough devices of VMs: their part of a reconfiguration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.host import dvx
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.noun import VmNoun
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci import near, offer, plan, rules, spec
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci import state as states
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci.availability import Claim
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci.params import PciRequest

if TYPE_CHECKING:
    from ansible.module_utils.basic import AnsibleModule
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change, Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.place import Place
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.request import VmRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import Vm

# Before this API version there are no device groups, and asking for them is an error.
_GROUPS_FROM = "8.0.0.1"


class PassthroughDevices(VmNoun[PciRequest, states.DirectState]):
    """The passthrough devices of VMs, besides their vGPUs."""

    WHAT = "passthrough devices"

    def __init__(self, module: AnsibleModule) -> None:
        super().__init__(module)
        self.WHOLE_CLUSTER = self.params.get("placement") == "cluster"
        self._hosts: dict[str, near.HostDevices] = {}
        self._offers: dict[str | None, offer.Offer] = {}
        self._claims: dict[str, dict[states.Asked, list[Claim]]] = {}

    @property
    def HOST_PROPERTIES(self) -> Sequence[str]:  # type: ignore[override]
        return (*near.HOST_PROPERTIES, *dvx.properties_of(self.vcenter))

    @property
    def VM_PROPERTIES(self) -> Sequence[str]:  # type: ignore[override]
        return ("config.deviceGroups",) if self.vcenter.offers(_GROUPS_FROM) else ()

    def state_of(self, row: Row, vm: Vm, place: Place | None) -> states.DirectState:
        if place is None:
            return states.state_of(row, vm, place, None)
        reach = [self._devices_of(host) for host in place.neighbours] if self.WHOLE_CLUSTER else ()
        system = self._offers.get(place.moid, offer.Offer()).system
        return states.state_of(row, vm, place, self._devices_of(place.row), reach, system)

    def surroundings(self, items: Sequence[Item[VmRequest[PciRequest], states.DirectState]]) -> None:
        placed = [item for item in items if item.now.place is not None]
        asked = {
            cast("Place", item.now.place).moid: cast("Place", item.now.place).row.ref
            for item in placed
            if self._has_to_ask(item)
        }
        self._offers = cast("dict[str | None, offer.Offer]", offer.offers(self.vcenter, asked.values()))
        for item in placed:
            item.now = states.on_system(item.now, self._offer(item.now).system)
            claims = self._claims.setdefault(cast("Place", item.now.place).moid, {})
            for one in self.want_settings(item.now, item.requested.settings).devices:
                claims.setdefault(one.asked, []).append(_claim(item))

    def _has_to_ask(self, item: Item[VmRequest[PciRequest], states.DirectState]) -> bool:
        """Return whether a device is added, or whether a static device is not yet confirmed as the recorded one."""
        wanted = self.want_settings(item.now, item.requested.settings)
        unproved = item.now.vm.power != "on" and any(one.asked.kind == states.STATIC for one in wanted.devices)
        return cast("Place", item.now.place).connected and (unproved or bool(self.setting_changes(item.now, wanted)))

    def want_settings(self, now: states.DirectState, requested: PciRequest) -> states.DirectState:
        return plan.want(now, requested)

    def refuse(self, item: Item[VmRequest[PciRequest], states.DirectState], wanted: states.DirectState) -> None:
        now = item.now
        new, moved = plan.added(now, wanted), plan.moved(now, wanted)
        if new:
            claims = self._claims.get(now.place.moid, {}) if now.place else {}
            rules.refuse_impossible(_claim(item), wanted, new, self._offer(now), claims, item.requested.settings)
        if moved:
            rules.refuse_nodes(item.label, now, moved)

    def warnings(
        self, item: Item[VmRequest[PciRequest], states.DirectState], wanted: states.DirectState
    ) -> Sequence[str]:
        if not plan.added(item.now, wanted):
            return ()
        return [
            f"VM {item.label}: {port} is on another PCIe root than its GPUs, so GPUDirect RDMA between "
            "them would cross the processor or fail. Choose a GPU and a port of one root."
            for port in rules.far_apart(wanted)
        ]

    def setting_changes(self, now: states.DirectState, wanted: states.DirectState) -> Sequence[Change]:
        return plan.setting_changes(now, wanted)

    def reconfiguration(self, now: states.DirectState, wanted: states.DirectState) -> vim.vm.ConfigSpec:
        return spec.reconfiguration(now, wanted, self._offer(now))

    def settings(self, state: states.DirectState) -> dict[str, object]:
        return plan.settings(state)

    def _devices_of(self, row: Row) -> near.HostDevices:
        """The devices of a host, worked out once however many VMs are on it."""
        if row.moid not in self._hosts:
            self._hosts[row.moid] = near.host_devices(row)
        return self._hosts[row.moid]

    def _offer(self, now: states.DirectState) -> offer.Offer:
        return self._offers.get(now.place.moid if now.place else None, offer.Offer())


def _claim(item: Item[VmRequest[PciRequest], states.DirectState]) -> Claim:
    return Claim(item.ids["moid"], item.label)
