# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The vGPUs of VMs: their part of a reconfiguration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.vm.noun import VmNoun
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.vgpu import plan, read, rules, spec
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.vgpu import state as vgpu_state
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.vgpu.params import VgpuRequest

if TYPE_CHECKING:
    from ansible.module_utils.basic import AnsibleModule
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change, Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.place import Place
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.request import VmRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import Vm


class VgpuProfiles(VmNoun[VgpuRequest, vgpu_state.VmState]):
    """The vGPUs of VMs."""

    WHAT = "vGPU configuration"
    HOST_PROPERTIES = read.HOST_PROPERTIES
    WHOLE_CLUSTER = True

    def __init__(self, module: AnsibleModule) -> None:
        super().__init__(module)
        # A thousand VMs share their hosts; the offer of a host is computed once.
        self._hosts: dict[str, vgpu_state.Host] = {}

    def state_of(self, row: Row, vm: Vm, place: Place | None) -> vgpu_state.VmState:
        if place is None:
            return read.state_of(row, vm, None, ())
        if place.moid not in self._hosts:
            for neighbour in place.neighbours:
                self._hosts[neighbour.moid] = read.host_of(neighbour, place.cluster)
        cluster = tuple(self._hosts[neighbour.moid] for neighbour in place.neighbours)
        return read.state_of(row, vm, self._hosts[place.moid], cluster)

    def want_settings(self, now: vgpu_state.VmState, requested: VgpuRequest) -> vgpu_state.VmState:
        return plan.want(now, requested)

    def refuse(self, item: Item[VmRequest[VgpuRequest], vgpu_state.VmState], wanted: vgpu_state.VmState) -> None:
        added = plan.added_profiles(item.now, wanted.devices)
        if added:
            rules.refuse_impossible(item.label, item.now, wanted.devices, added, item.requested.settings.max_per_vm)

    def setting_changes(self, now: vgpu_state.VmState, wanted: vgpu_state.VmState) -> Sequence[Change]:
        return plan.setting_changes(now, wanted)

    def reconfiguration(self, now: vgpu_state.VmState, wanted: vgpu_state.VmState) -> vim.vm.ConfigSpec:
        return spec.reconfiguration(now, wanted)

    def settings(self, state: vgpu_state.VmState) -> dict[str, object]:
        return vgpu_state.settings(state)
