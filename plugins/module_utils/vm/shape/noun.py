# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The size and the settings of VMs: their part of a reconfiguration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.vm.noun import VmNoun
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape import hardware, plan, read, rules, spec
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape.params import ShapeRequest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape.state import Shape, project

if TYPE_CHECKING:
    from ansible.module_utils.basic import AnsibleModule
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change, Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.fleet import Fleet, GiveUp
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.place import Place
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.request import VmRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import Vm


class VmShapes(VmNoun[ShapeRequest, Shape]):
    """The size and the settings of VMs."""

    WHAT = "shape"
    HOST_PROPERTIES = read.HOST_PROPERTIES

    def __init__(self, module: AnsibleModule) -> None:
        super().__init__(module)
        self._hosts = read.Hosts()
        # {moid of a host: its newest hardware version}, read only when the version of a VM must be raised.
        self._newest: dict[str, int] = {}

    @property
    def VM_PROPERTIES(self) -> Sequence[str]:  # type: ignore[override]
        return read.vm_properties(self.vcenter)

    def state_of(self, row: Row, vm: Vm, place: Place | None) -> Shape:
        return read.shape_of(row, vm, self._hosts.of(place))

    def surroundings(self, items: Sequence[Item[VmRequest[ShapeRequest], Shape]]) -> None:
        raised = [item for item in items if (item.requested.settings.hardware_version or 0) > item.now.hardware_version]
        self._newest = hardware.newest_versions(self.vcenter, [item.now.host for item in raised])

    def want_settings(self, now: Shape, requested: ShapeRequest) -> Shape:
        return plan.want(now, requested)

    def refuse(self, item: Item[VmRequest[ShapeRequest], Shape], wanted: Shape) -> None:
        newest = self._newest.get(item.now.host.moid) if item.now.host is not None else None
        rules.refuse_impossible(item.label, item.now, wanted, item.requested.settings, newest)

    def setting_changes(self, now: Shape, wanted: Shape) -> Sequence[Change]:
        return plan.setting_changes(now, wanted)

    def before_reconfiguration(
        self,
        fleet: Fleet[Shape],
        items: Sequence[Item[VmRequest[ShapeRequest], Shape]],
        give_up: GiveUp[ShapeRequest, Shape],
    ) -> None:
        hardware.upgrade(fleet, items, give_up)

    def reconfiguration(self, now: Shape, wanted: Shape) -> vim.vm.ConfigSpec:
        return spec.reconfiguration(now, wanted)

    def hot(self, now: Shape, wanted: Shape) -> bool:
        return plan.is_hot(now, wanted)

    def settings(self, state: Shape) -> dict[str, object]:
        return project(state)
