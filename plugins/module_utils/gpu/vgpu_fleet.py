# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The VMs of one task: found together, read together, changed together."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.module_utils.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import vgpu_read
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import find, tasks
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim

_ATTEMPTS = 3


class Fleet:
    """Everything that is asked of vCenter for the items of a task."""

    def __init__(self, vcenter, in_flight, task_timeout_s):
        self.vcenter = vcenter
        self.clock = vcenter.clock
        self._in_flight = in_flight
        self._task_timeout_s = task_timeout_s
        self._refs = {}

    def find(self, items, datacenter):
        """Find the VMs; an item whose VM cannot be found, or is the VM of another item too, gets its error."""
        owners = {}
        for item, found in zip(items, find.find_vms(self.vcenter, [item.wish for item in items], datacenter)):
            if isinstance(found, OperatorError):
                item.error = found
                continue
            item.ids.update(name=found.name, moid=found.moid, path=found.path)
            self._refs[found.moid] = found.ref
            owners.setdefault(found.moid, []).append(item)
        for twins in owners.values():
            if len(twins) > 1:
                _refuse_twins(twins)

    def read(self, items):
        """Fill item.now, and what else identifies the VM, with one request for all."""
        states = vgpu_read.read_with_hosts(self.vcenter, [self.ref(item) for item in items])
        for item in items:
            if item.ids["moid"] not in states:
                item.error = gone(item)
                continue
            row, item.now = states[item.ids["moid"]]
            item.ids.update(
                name=row.get("name") or item.ids["name"],
                instance_uuid=row.get("config.instanceUuid"),
                host=item.now.host.name if item.now.host else None,
                cluster=item.now.host.cluster if item.now.host else None,
            )

    def refresh(self, items):
        """Read the VMs again, into item.proved, with one request for all; returns the items whose VM is gone."""
        before = {item.ids["moid"]: item.now for item in items}
        states = vgpu_read.read_again(self.vcenter, [self.ref(item) for item in items], before)
        for item in items:
            item.proved = states.get(item.ids["moid"], item.proved)
        return [item for item in items if item.ids["moid"] not in states]

    def ref(self, item):
        return self._refs[item.ids["moid"]]

    def run(self, items, wanted, start, guarded=False):
        """Start one task per item with start(ref, item), await all, and return {moid: Outcome}."""
        jobs = [
            tasks.Job(f"VM {item.label}", lambda item=item: start(self.ref(item), item), wanted, guarded)
            for item in items
        ]
        for item in items:
            item.touched = True
        outcomes = tasks.run_tasks(self.vcenter, jobs, limit=self._in_flight, timeout_s=self._task_timeout_s)
        return {item.ids["moid"]: outcome for item, outcome in zip(items, outcomes)}

    def settle(self, items, wanted, is_done, start, give_up, guarded=False):
        """Run tasks until is_done(item) after a new reading of each VM; give_up(item, error) for the others.

        A task whose fate is unknown, or that met another change of the VM, is judged by that reading and tried
        again from there. guarded: vSphere itself refuses to carry out the same request twice.
        """
        errors = {}
        for _attempt in range(_ATTEMPTS):
            items = [item for item in items if not is_done(item)]
            if not items:
                return
            outcomes = self.run(items, wanted, start, guarded)
            lost = self.refresh(items)
            open_items = []
            for item in items:
                outcome = outcomes[item.ids["moid"]]
                if item in lost:
                    give_up(item, gone(item))
                    continue
                if is_done(item):
                    continue
                if outcome.error is not None and not _worth_another_try(outcome):
                    give_up(item, outcome.error)
                    continue
                errors[item.ids["moid"]] = outcome.error
                open_items.append(item)
            items = open_items
        for item in items:
            give_up(item, errors[item.ids["moid"]] or _never_done(item))


def current(item):
    """The state of an item's VM by the latest reading."""
    return item.proved or item.now


def _worth_another_try(outcome):
    if isinstance(outcome.fault, vim.fault.ConcurrentAccess):
        return True
    # A task that did not end in time still runs: another one would only wait behind it.
    return outcome.uncertain and outcome.error.code != "task_timeout"


def gone(item):
    """The error of a VM that was found and then disappeared."""
    return OperatorError(
        f"VM {item.label}",
        "it was found, and should be read",
        "It is not there any more.",
        "Find out who removed it.",
        "vm_gone",
    )


def _never_done(item):
    return OperatorError(
        f"VM {item.label}",
        f"the change should have been there after {_ATTEMPTS} attempts",
        "vSphere reports success, yet a new reading shows something else.",
        "Look at the VM's events in vCenter for what else changes it.",
        "not_as_wanted",
    )


def _refuse_twins(twins):
    labels = [item.label for item in twins]
    for item in twins:
        item.error = OperatorError(
            f"VM {item.label}",
            "each VM should appear once in a fleet",
            f"The entries {', '.join(labels)} are the same VM, {item.ids['path']}.",
            "Keep one of them, with all profiles that the VM shall have.",
            "duplicate_vm",
            entries=labels,
        )
