# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""VMs with several parts, each of which adds its piece to one reconfiguration.

The parts depend on each other: devices need the memory and the hardware that the shape requests, and the shape gives
NUMA nodes and an MMIO window to devices of the same reconfiguration. So the shape is computed twice, for the present
devices and for the future ones.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.config import pieces
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.config.params import ConfigRequest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.config.state import (
    ADAPTERS,
    DEVICES,
    PARTS,
    PASSTHROUGH,
    SHAPE,
    VGPU,
    ConfigState,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.pvrdma_noun import PvrdmaNics
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.sriov_noun import SriovNics
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.vmxnet3_noun import Vmxnet3Nics
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.noun import VmNoun
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci import plan as pci_plan
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci.noun import PassthroughDevices
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape import plan as shape_plan
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape import read as shape_read
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape.noun import VmShapes
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.vgpu.noun import VgpuProfiles
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.vgpu.state import UVM

if TYPE_CHECKING:
    from ansible.module_utils.basic import AnsibleModule
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.fleet import Fleet, GiveUp
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci.state import DirectState
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.place import Place
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.request import VmRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape.state import Shape
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import Vm
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.vgpu.state import VmState

    # The item of a part, whose request and state are those of its own noun.
    PartItem = Item[VmRequest[Any], Any]

_NOUNS: Mapping[str, type[VmNoun[Any, Any]]] = {
    SHAPE: VmShapes,
    VGPU: VgpuProfiles,
    PASSTHROUGH: PassthroughDevices,
    "vmxnet3": Vmxnet3Nics,
    "pvrdma": PvrdmaNics,
    "sriov": SriovNics,
}


# The vGPU module reports these too; here they belong to the shape.
_OF_SHAPE = ("memory_reservation", "mmio_64bit", "mmio_size_gb")


class VmConfigs(VmNoun[ConfigRequest, ConfigState]):
    """Manage all parts of VMs that a task configures."""

    def __init__(self, module: AnsibleModule) -> None:
        super().__init__(module)
        self._module = module
        # {part: its noun}, of the parts that the task requests for at least one VM.
        self._parts: dict[str, VmNoun[Any, Any]] = {}

    def use(self, names: Iterable[str]) -> None:
        """Take these parts into account."""
        self._parts = {part: _NOUNS[part](self._module) for part in PARTS if part in names}

    def attach(self, vcenter: VCenter) -> None:
        super().attach(vcenter)
        for noun in self._parts.values():
            noun.attach(vcenter)

    @property
    def VM_PROPERTIES(self) -> Sequence[str]:  # type: ignore[override]
        return _all(noun.VM_PROPERTIES for noun in self._parts.values())

    @property
    def HOST_PROPERTIES(self) -> Sequence[str]:  # type: ignore[override]
        return _all(noun.HOST_PROPERTIES for noun in self._parts.values())

    @property
    def WHOLE_CLUSTER(self) -> bool:  # type: ignore[override]
        return any(noun.WHOLE_CLUSTER for noun in self._parts.values())

    def read(self, items: Sequence[Item[VmRequest[ConfigRequest], ConfigState]]) -> None:
        self.use({part for item in items for part in item.requested.settings.managed})
        for item in items:
            item.ids["expects"] = {}
        super().read(items)

    def state_of(self, row: Row, vm: Vm, place: Place | None) -> ConfigState:
        return ConfigState(
            vm=vm,
            parts={part: noun.state_of(row, vm, place) for part, noun in self._parts.items()},
            devices=tuple(row.get("config.hardware.device") or ()),
        )

    def surroundings(self, items: Sequence[Item[VmRequest[ConfigRequest], ConfigState]]) -> None:
        for part, noun in self._parts.items():
            mine = [(item, self._item(item, part, self._before(item.now, self._shape(item)))) for item in items]
            asked = [(item, one) for item, one in mine if one is not None]
            if not asked:
                continue
            noun.surroundings([one for item, one in asked])
            for item, one in asked:
                # The data of the host may change how a device is seen.
                state = dataclasses.replace(one.now, vm=item.now.vm)
                item.now = dataclasses.replace(item.now, parts={**item.now.parts, part: state})
                if part in ADAPTERS:
                    item.ids["expects"][part] = one.ids["expects"]

    def want_settings(self, now: ConfigState, requested: ConfigRequest) -> ConfigState:
        wanted = dict(now.parts)
        asked = requested.managed
        if SHAPE in asked:
            wanted[SHAPE] = self._parts[SHAPE].want_settings(now.parts[SHAPE], requested.parts[SHAPE])
        before = self._before(now, wanted.get(SHAPE))
        # The future vGPUs decide which GPU a port is near to, and the removed devices decide which keys are free.
        if VGPU in asked:
            wanted[VGPU] = self._parts[VGPU].want_settings(before[VGPU], requested.parts[VGPU])
        if PASSTHROUGH in asked:
            known = before[PASSTHROUGH]
            if VGPU in asked:
                known = dataclasses.replace(known, vgpus=tuple(wanted[VGPU].profiles))
            wanted[PASSTHROUGH] = self._parts[PASSTHROUGH].want_settings(known, requested.parts[PASSTHROUGH])
            if VGPU in asked:
                free = _freed(before[VGPU], before[PASSTHROUGH], wanted[PASSTHROUGH])
                wanted[VGPU] = self._parts[VGPU].want_settings(free, requested.parts[VGPU])
        for part in ADAPTERS:
            if part in asked:
                wanted[part] = self._parts[part].want_settings(before[part], requested.parts[part])
        if SHAPE in asked:
            beside, dummy = self._beside(now, before, wanted)
            wanted[SHAPE] = self._parts[SHAPE].want_settings(beside, requested.parts[SHAPE])
        return dataclasses.replace(now, parts=wanted)

    def refuse(self, item: Item[VmRequest[ConfigRequest], ConfigState], wanted: ConfigState) -> None:
        errors = []
        for part, one in self._items(item, wanted):
            try:
                self._parts[part].refuse(one, wanted.parts[part])
            except OperatorError as error:
                errors.append(error)
        if errors:
            raise _joined(errors)

    def warnings(self, item: Item[VmRequest[ConfigRequest], ConfigState], wanted: ConfigState) -> Sequence[str]:
        return [
            sentence
            for part, one in self._items(item, wanted)
            for sentence in self._parts[part].warnings(one, wanted.parts[part])
        ]

    def setting_changes(self, now: ConfigState, wanted: ConfigState) -> Sequence[Change]:
        before, after = self._aligned(now, wanted)
        changes: dict[str, Change] = {}
        for part, noun in self._parts.items():
            for change in noun.setting_changes(before[part], after[part]):
                changes.setdefault(change.path, change)
        return list(changes.values())

    def hot(self, now: ConfigState, wanted: ConfigState) -> bool:
        before, after = self._aligned(now, wanted)
        return all(
            noun.hot(before[part], after[part])
            for part, noun in self._parts.items()
            if noun.setting_changes(before[part], after[part])
        )

    def before_reconfiguration(
        self,
        fleet: Fleet[ConfigState],
        items: Sequence[Item[VmRequest[ConfigRequest], ConfigState]],
        give_up: GiveUp[ConfigRequest, ConfigState],
    ) -> None:
        for noun in self._parts.values():
            noun.before_reconfiguration(fleet, items, give_up)

    def reconfiguration(self, now: ConfigState, wanted: ConfigState) -> vim.vm.ConfigSpec:
        before, after = self._aligned(now, wanted)
        specs = [self._parts[part].reconfiguration(before[part], after[part]) for part in self._changing(before, after)]
        changes = pieces.device_changes(specs)
        shape = [self._parts[SHAPE].reconfiguration(before[SHAPE], after[SHAPE])] if SHAPE in self._parts else []
        return pieces.merged([*specs, *shape], changes, shape[0].deviceChange or [] if shape else [])

    def settings(self, state: ConfigState) -> dict[str, Any]:
        reported = {part: noun.settings(state.parts[part]) for part, noun in self._parts.items()}
        for name in _OF_SHAPE:
            reported.get(VGPU, {}).pop(name, None)
        return reported

    def _shape(self, item: Item[VmRequest[ConfigRequest], ConfigState]) -> Shape | None:
        """The shape that a VM will have, as far as its other parts depend on it."""
        if SHAPE not in item.requested.settings.managed:
            return None
        return self._parts[SHAPE].want_settings(item.now.parts[SHAPE], item.requested.settings.parts[SHAPE])

    def _item(
        self, item: Item[VmRequest[ConfigRequest], ConfigState], part: str, before: Mapping[str, Any]
    ) -> PartItem | None:
        """Return a VM as an item of one part; None if the request does not manage the part."""
        if part not in item.requested.settings.managed:
            return None
        return Item(
            item.label,
            dataclasses.replace(item.requested, settings=item.requested.settings.parts[part]),
            dict(item.ids, expects={}),
            now=before[part],
        )

    def _items(
        self, item: Item[VmRequest[ConfigRequest], ConfigState], wanted: ConfigState
    ) -> Iterator[tuple[str, PartItem]]:
        """(part, the VM as an item of it) for each part that the request manages."""
        before, dummy = self._aligned(item.now, wanted)
        for part in self._parts:
            one = self._item(item, part, before)
            if one is not None:
                yield part, one

    def _before(self, now: ConfigState, shape: Shape | None) -> dict[str, Any]:
        """The states of all parts as the devices find them, with the memory and the hardware of the shape to come."""
        if shape is None:
            return dict(now.parts)
        vm = shape_plan.vm_to_be(now.vm, shape)
        return {
            part: state if part == SHAPE else dataclasses.replace(state, vm=vm) for part, state in now.parts.items()
        }

    def _changing(self, before: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[str]:
        """The parts whose devices change."""
        for part in DEVICES:
            if part in self._parts and self._parts[part].setting_changes(before[part], wanted[part]):
                yield part

    def _beside(self, now: ConfigState, before: Mapping[str, Any], wanted: Mapping[str, Any]) -> tuple[Shape, bool]:
        """(the shape with the devices that will be there and with their settings, whether there are other devices)."""
        specs = []
        for part in self._changing(before, wanted):
            try:
                specs.append(self._parts[part].reconfiguration(before[part], wanted[part]))
            except OperatorError:
                # The rules of the part refuse this device, with the reason.
                continue
        shape = _with_memory(before[SHAPE], wanted[VGPU]) if VGPU in wanted else before[SHAPE]
        changes = pieces.device_changes(specs)
        if not changes:
            return shape, False
        return shape_read.with_devices(shape, pieces.devices_after(now.devices, changes)), True

    def _aligned(self, now: ConfigState, wanted: ConfigState) -> tuple[dict[str, Any], dict[str, Any]]:
        """(states before, states after) between which each part has only its own changes."""
        before, after = self._before(now, wanted.parts.get(SHAPE)), dict(wanted.parts)
        if SHAPE in self._parts:
            before[SHAPE], other = self._beside(now, before, after)
            if other:
                after[SHAPE] = _on_nodes(before[SHAPE], after[SHAPE])
        if VGPU in self._parts and PASSTHROUGH in self._parts:
            before[VGPU] = _freed(before[VGPU], before[PASSTHROUGH], after[PASSTHROUGH])
        return before, after


def _all(lists: Iterable[Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(name for names in lists for name in names))


def _freed(vgpus: VmState, direct: DirectState, wanted: DirectState) -> VmState:
    """Return the vGPUs beside the remaining passthrough devices: vSphere gives the key of a removed one to a new
    one.
    """
    gone = {device.key for one in pci_plan.removed(direct, wanted) for device in one.devices}
    return dataclasses.replace(vgpus, other_keys=tuple(key for key in vgpus.other_keys if key not in gone))


def _with_memory(shape: Shape, vgpus: VmState) -> Shape:
    """The shape with the unified memory of the vGPUs, whose settings are in the same file."""
    vmx = {name: value for name, value in shape.vmx.items() if not name.endswith(UVM)}
    vmx.update((name, value) for name, value in vgpus.vmx.items() if name.endswith(UVM))
    return dataclasses.replace(shape, vmx=vmx)


def _on_nodes(beside: Shape, wanted: Shape) -> Shape:
    """Return the desired shape with the devices of the other one, each on the node that is requested for it or for its
    like."""
    left = {one.key: one for one in wanted.direct}
    same = {one.key: left.pop(one.key) for one in beside.direct if one.key in left}
    for one in beside.direct:
        like = next((other for other in left.values() if (other.kind, other.name) == (one.kind, one.name)), None)
        if one.key not in same and like is not None:
            same[one.key] = left.pop(like.key)
    devices = [
        dataclasses.replace(one, node=same[one.key].node if one.key in same else one.node) for one in beside.direct
    ]
    return dataclasses.replace(wanted, direct=tuple(devices))


def _joined(errors: Sequence[OperatorError]) -> OperatorError:
    """Join the refusals of several parts into one error."""
    if len(errors) == 1:
        return errors[0]
    problems: list[object] = [problem for error in errors for problem in error.data.get("problems") or ()]
    return OperatorError(
        errors[0].subject,
        "; ".join(dict.fromkeys(error.wanted for error in errors)),
        " ".join(dict.fromkeys(error.found for error in errors)),
        " ".join(dict.fromkeys(error.todo for error in errors)),
        errors[0].code,
        problems=problems,
    )
