# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Base of settings that a reconfiguration of VMs applies: each module gives its state, its request and its
specification."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Callable, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import Noun, planned
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import session
from ansible_collections.aiready.vsphere.plugins.module_utils.vm import apply, rules
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.fleet import Fleet
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.request import R, VmRequest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import V, project_power

if TYPE_CHECKING:
    from ansible.module_utils.basic import AnsibleModule
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.fleet import GiveUp
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.place import Place
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import Vm


class VmNoun(Noun[VmRequest[R], V]):
    """A part of VMs. Finding, reading, power cycles, tasks and proofs are here; the rest is pure and the subclass's."""

    # Used in messages such as "its vGPU configuration should change".
    WHAT = "configuration"
    # Properties to read besides vm.state.PROPERTIES and vm.place.HOST_PROPERTIES.
    VM_PROPERTIES: Sequence[str] = ()
    HOST_PROPERTIES: Sequence[str] = ()
    # True if all hosts of a VM's cluster are read, and not its own alone.
    WHOLE_CLUSTER = False

    def __init__(self, module: AnsibleModule) -> None:
        self.params: dict[str, Any] = module.params
        self.warn: Callable[[str], None] = module.warn
        self.vcenter: VCenter = None  # type: ignore[assignment]
        self._planning = bool(planned(module, True))
        self._fleet: Fleet[V] = None  # type: ignore[assignment]

    def attach(self, vcenter: VCenter) -> None:
        """Take the session, before the first request."""
        self.vcenter = vcenter

    def state_of(self, row: Row, vm: Vm, place: Place | None) -> V:
        """Return the state from the row of a VM; it has vm as a field of this name. place is its host, or None."""
        raise NotImplementedError

    def surroundings(self, items: Sequence[Item[VmRequest[R], V]]) -> None:
        """More that has to be read once, after the VMs."""

    def want_settings(self, now: V, requested: R) -> V:
        """Compute the requested settings from a reading; called again after each later reading, never refuses."""
        raise NotImplementedError

    def refuse(self, item: Item[VmRequest[R], V], wanted: V) -> None:
        """Raise an OperatorError with every reason why the VM cannot reach the desired state."""

    def warnings(self, item: Item[VmRequest[R], V], wanted: V) -> Sequence[str]:
        """Return what the user should know of a valid request, as sentences."""
        return ()

    def setting_changes(self, now: V, wanted: V) -> Sequence[Change]:
        """Return the changes of one reconfiguration; they contain no device keys, because vSphere chooses those."""
        raise NotImplementedError

    def before_reconfiguration(
        self, fleet: Fleet[V], items: Sequence[Item[VmRequest[R], V]], give_up: GiveUp[R, V]
    ) -> None:
        """Prepare powered-off VMs for the reconfiguration; fleet.settle calls it, give_up reports failures."""

    def reconfiguration(self, now: V, wanted: V) -> vim.vm.ConfigSpec:
        """The ConfigSpec that leads from one state to the other."""
        raise NotImplementedError

    def hot(self, now: V, wanted: V) -> bool:
        """Return whether a running VM accepts these changes."""
        return False

    def settings(self, state: V) -> dict[str, object]:
        """Return the settings in the user's terms."""
        raise NotImplementedError

    def needs_off(self, now: V, wanted: V) -> bool:
        """Return whether a running VM has to be powered off for this."""
        return now.vm.power == "on" and bool(self.setting_changes(now, wanted)) and not self.hot(now, wanted)

    def read(self, items: Sequence[Item[VmRequest[R], V]]) -> None:
        self.attach(session.connect(self.params, self.warn))
        self._fleet = Fleet(
            self.vcenter, self, self.params["tasks_in_flight"], self.params["task_timeout_s"], planning=self._planning
        )
        self._fleet.find(items, self.params["datacenter"])
        self._fleet.read([item for item in items if item.error is None])
        self.surroundings([item for item in items if item.error is None])

    def want(self, item: Item[VmRequest[R], V]) -> V:
        now, requested = item.now, item.requested
        wanted = self.want_settings(now, requested.settings)
        self.refuse(item, wanted)
        changes = self.setting_changes(now, wanted)
        if changes:
            rules.refuse_unreachable(item.label, now.vm, changes)
        if requested.power == "refuse" and self.needs_off(now, wanted):
            rules.refuse_running(item.label, now.vm, changes)
        recover = now.vm.power_on_again and requested.power == "cycle"
        vm = dataclasses.replace(
            wanted.vm,
            power="on" if recover else now.vm.power,
            # A note left on a VM that was started since would power the VM on again months later.
            power_on_again=now.vm.power_on_again and not recover and now.vm.power != "on",
        )
        return dataclasses.replace(wanted, vm=vm)

    def compare(self, now: V, wanted: V) -> list[Change]:
        """The changes from one state to the other; a running VM that changes is power cycled."""
        changes = list(self.setting_changes(now, wanted))
        if self.needs_off(now, wanted):
            changes.append(Change("power_cycle", False, True))
        for name in ("power_on_again", "power"):
            before, after = getattr(now.vm, name), getattr(wanted.vm, name)
            if before != after:
                changes.append(Change(name, before, after))
        return changes

    def explain(self, item: Item[VmRequest[R], V]) -> None:
        for sentence in self.warnings(item, item.wanted):
            self.warn(sentence)

    def apply(self, items: Sequence[Item[VmRequest[R], V]]) -> None:
        apply.apply(self, self._fleet, items)

    def prove(self, items: Sequence[Item[VmRequest[R], V]]) -> None:
        apply.prove(self, self._fleet, items)

    def project(self, state: V) -> dict[str, object]:
        return dict(self.settings(state), **project_power(state.vm))

    def pending(self, state: V) -> list[dict[str, object]]:
        if state.vm.power_on_again and state.vm.power == "off":
            return [{"what": "power", "needs": "power_on"}]
        return []

    def close(self) -> None:
        if self.vcenter is not None:
            self.vcenter.close()
