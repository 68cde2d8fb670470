# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What is set in VMs by reconfiguring them: each module of VMs gives its state, its wish and its specification."""

from __future__ import annotations

import dataclasses

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import Noun
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import session
from ansible_collections.aiready.vsphere.plugins.module_utils.vm import apply, rules
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.fleet import Fleet
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import project_power


class VmNoun(Noun):
    """A part of VMs. Finding, reading, power cycles, tasks and proofs are here; the rest is pure and the subclass's."""

    # As in "its vGPU configuration should change".
    WHAT = "configuration"
    # What is read besides vm.state.PROPERTIES and vm.place.HOST_PROPERTIES.
    VM_PROPERTIES = ()
    HOST_PROPERTIES = ()
    # Whether all hosts of a VM's cluster are read, and not its own alone.
    WHOLE_CLUSTER = False

    def __init__(self, module):
        self.params = module.params
        self.warn = module.warn
        self.vcenter = None
        self._check_mode = module.check_mode
        self._fleet = None

    def state_of(self, row, vm, place):
        """The state from the row of a VM; it has vm as a field of this name. place is its host, or None."""
        raise NotImplementedError

    def surroundings(self, items):
        """More that has to be read once, after the VMs."""

    def want_settings(self, now, wish):
        """The settings that the wish asks for, from a reading; asked again after each later reading, never refuses."""
        raise NotImplementedError

    def refuse(self, item, wanted):
        """Raise an OperatorError with every reason why the VM cannot get what is wanted."""

    def setting_changes(self, now, wanted):
        """The changes that one reconfiguration makes; they tell nothing of device keys, which vSphere chooses."""
        raise NotImplementedError

    def before_reconfiguration(self, fleet, items, give_up):
        """What VMs that are off need before they can be reconfigured; fleet.settle does it, give_up tells failures."""

    def reconfiguration(self, now, wanted):
        """The ConfigSpec that leads from one state to the other."""
        raise NotImplementedError

    def hot(self, now, wanted):
        """Whether a running VM takes these changes."""
        return False

    def settings(self, state):
        """What is set, in the user's terms."""
        raise NotImplementedError

    def needs_off(self, now, wanted):
        """Whether a running VM has to be switched off for this."""
        return now.vm.power == "on" and bool(self.setting_changes(now, wanted)) and not self.hot(now, wanted)

    def read(self, items):
        self.vcenter = session.connect(self.params, self.warn)
        self._fleet = Fleet(
            self.vcenter, self, self.params["tasks_in_flight"], self.params["task_timeout_s"], planning=self._check_mode
        )
        self._fleet.find(items, self.params["datacenter"])
        self._fleet.read([item for item in items if item.error is None])
        self.surroundings([item for item in items if item.error is None])

    def want(self, item):
        now, wish = item.now, item.wish
        wanted = self.want_settings(now, wish)
        self.refuse(item, wanted)
        changes = self.setting_changes(now, wanted)
        if changes:
            rules.refuse_unreachable(item.label, now.vm, changes)
        if wish["power"] == "refuse" and self.needs_off(now, wanted):
            rules.refuse_running(item.label, now.vm, changes)
        recover = now.vm.power_on_again and wish["power"] == "cycle"
        vm = dataclasses.replace(
            wanted.vm,
            power="on" if recover else now.vm.power,
            # Left on a VM that somebody started since, it would switch the VM on again months later.
            power_on_again=now.vm.power_on_again and not recover and now.vm.power != "on",
        )
        return dataclasses.replace(wanted, vm=vm)

    def compare(self, now, wanted):
        """The changes from one state to the other; a running VM that changes is power cycled."""
        changes = list(self.setting_changes(now, wanted))
        if self.needs_off(now, wanted):
            changes.append(Change("power_cycle", False, True))
        for name in ("power_on_again", "power"):
            before, after = getattr(now.vm, name), getattr(wanted.vm, name)
            if before != after:
                changes.append(Change(name, before, after))
        return changes

    def apply(self, items):
        apply.apply(self, self._fleet, items)

    def prove(self, items):
        apply.prove(self, self._fleet, items)

    def project(self, state):
        return dict(self.settings(state), **project_power(state.vm))

    def pending(self, state):
        if state.vm.power_on_again and state.vm.power == "off":
            return [{"what": "power", "needs": "power_on"}]
        return []

    def close(self):
        if self.vcenter is not None:
            self.vcenter.close()
