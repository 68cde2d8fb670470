# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Make, move, finish and remove the VMs of a task, and be sure of the end whatever happens on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import recent, tasks
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim, vmodl
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.pauses import Pauses
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone import library, machines, rules, spec, world
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.state import Machine, compare

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Ref
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.rest import Rest
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.params import CloneRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.state import Source, Target

_ATTEMPTS = 3
_CLONING = "VirtualMachine.clone"


class Maker:
    """Everything that is changed in vCenter for the items of a task."""

    def __init__(self, vcenter: VCenter, service: Rest, first: world.World, params: Mapping[str, Any]) -> None:
        self.vcenter = vcenter
        self._service = service
        self._world = first
        self._datacenter = first.datacenter
        self._disk = params["disk"]
        self._in_flight = params["tasks_in_flight"]
        self._timeout_s = params["task_timeout_s"]
        self._refs: dict[int, Ref] = {}

    def adopt(self, item: Item[CloneRequest, Machine], row: Row) -> None:
        """Take note of which VM an item means, and report it in the item's ids."""
        host = self._world.hosts.get(world.moid(row.get("runtime.host")))
        compute = self._world.computes.get(host.compute) if host is not None else None
        self._refs[id(item)] = row.ref
        item.ids.update(
            moid=row.moid,
            instance_uuid=row.get("config.instanceUuid"),
            host=host.name if host is not None else None,
            cluster=compute.name if compute is not None else None,
        )

    def refresh(self, items: Sequence[Item[CloneRequest, Machine]]) -> None:
        """Read the VMs again into item.proved."""
        self._world = world.read_again(self.vcenter, self._world)
        found = machines.read(self.vcenter, self._world, items)
        for index, item in enumerate(items):
            row, item.proved = found.get(index, (None, Machine()))
            if item.proved.exists:
                self.adopt(item, cast("Row", row))
                item.ids["path"] = item.proved.path

    def create(
        self,
        items: Sequence[Item[CloneRequest, Machine]],
        source: Source,
        targets: Mapping[int, Target],
        customizations: Mapping[int, vim.vm.customization.Specification],
    ) -> None:
        """Clones of a template, side by side; copies that an earlier run has started are waited for first."""
        for attempt in range(_ATTEMPTS):
            if self._await_clones(source) or attempt:
                self.refresh(items)
            self._await_others(items)
            items = [item for item in items if item.error is None and not current(item).exists]
            if not items:
                return
            jobs = [self._clone_job(item, source, targets[id(item)], customizations.get(id(item))) for item in items]
            outcomes = self._run(items, jobs)
            self.refresh(items)
            for item, outcome in zip(items, outcomes):
                if item.error is None and not current(item).exists and not _again(outcome, attempt):
                    item.error = outcome.error or _vanished(item)
            items = [item for item in items if item.error is None and not current(item).exists]
            if not items:
                return

    def deploy(
        self,
        items: Sequence[Item[CloneRequest, Machine]],
        source: Source,
        entry: library.Entry,
        targets: Mapping[int, Target],
    ) -> None:
        """Deploy VMs of an OVF item one by one: its service accepts one request per VM and answers at the end."""
        failed = {}
        with self.vcenter.patience(self._timeout_s):
            for item in items:
                item.touched = True
                label, wanted = f"VM {item.label}", f"cannot be created from {source.path}"
                name = world.stored_name(item.requested.name)
                try:
                    library.deploy(self._service, entry, name, targets[id(item)], self._disk, label, wanted)
                except OperatorError as error:
                    failed[id(item)] = error
        self.refresh(items)
        for item in items:
            if item.error is None and not current(item).exists:
                item.error = failed.get(id(item)) or _vanished(item)

    def finish(
        self,
        items: Sequence[Item[CloneRequest, Machine]],
        source: Source,
        customizations: Mapping[int, vim.vm.customization.Specification],
    ) -> None:
        """Configure a VM of an OVF item after its deployment; its marker is set in the same request."""
        for item in items:
            try:
                rules.refuse_shrinking(item, current(item))
            except OperatorError as error:
                item.error = error
        items = [item for item in items if item.error is None]
        todo = [item for item in items if customizations.get(id(item)) is not None]
        wanted = "cannot customize its guest"
        jobs = [
            self._job(item, wanted, lambda ref, item: ref.CustomizeVM_Task(spec=customizations[id(item)]))
            for item in todo
        ]
        for item, outcome in zip(todo, self._run(todo, jobs)):
            # Left behind by a run that was killed between the two requests.
            if outcome.error is not None and not isinstance(outcome.fault, vim.fault.CustomizationPending):
                item.error = outcome.error
        self._settle(
            [item for item in items if item.error is None],
            "cannot be configured after the deployment",
            lambda ref, item: ref.ReconfigVM_Task(spec=spec.first_settings(item.requested, source, current(item).disk)),
        )

    def claim(self, items: Sequence[Item[CloneRequest, Machine]]) -> None:
        """The mark of whose VM it is, in one that has none."""
        todo = [item for item in items if item.error is None and item.wanted.owner != item.now.owner]
        job = "cannot be marked with its owner"
        self._settle(todo, job, lambda ref, item: ref.ReconfigVM_Task(spec=spec.claim(item.requested)))

    def move(self, items: Sequence[Item[CloneRequest, Machine]], targets: Mapping[int, Target]) -> None:
        """Cold moves to another host or datastore."""
        self._settle(
            items,
            "cannot be moved",
            lambda ref, item: ref.RelocateVM_Task(
                spec=spec.relocate(targets[id(item)], item.wanted.datastore != item.now.datastore)
            ),
        )

    def remove(self, items: Sequence[Item[CloneRequest, Machine]]) -> None:
        """VMs go, with their files."""
        self._settle(items, "cannot be removed", lambda ref, item: ref.Destroy_Task())

    def _clone_job(
        self,
        item: Item[CloneRequest, Machine],
        source: Source,
        target: Target,
        customization: vim.vm.customization.Specification | None,
    ) -> tasks.Job:
        def start() -> Ref:
            return source.ref.CloneVM_Task(
                folder=cast("Row", target.folder).ref,
                name=world.stored_name(item.requested.name),
                spec=spec.clone(item.requested, target, source, self._disk, customization),
            )

        return tasks.Job(f"VM {item.label}", start, f"cannot be cloned from {source.path}")

    def _job(
        self, item: Item[CloneRequest, Machine], wanted: str, start: Callable[[Ref, Item[CloneRequest, Machine]], Ref]
    ) -> tasks.Job:
        return tasks.Job(f"VM {item.label}", lambda: start(self._refs[id(item)], item), wanted)

    def _settle(
        self,
        items: Sequence[Item[CloneRequest, Machine]],
        wanted: str,
        start: Callable[[Ref, Item[CloneRequest, Machine]], Ref],
    ) -> None:
        """Run a task per VM; where its fate is not known, a new reading decides whether it is run again."""
        for attempt in range(_ATTEMPTS):
            outcomes = self._run(items, [self._job(item, wanted, start) for item in items])
            unsure = []
            for item, outcome in zip(items, outcomes):
                if outcome.error is not None and _again(outcome, attempt):
                    unsure.append(item)
                elif outcome.error is not None:
                    item.error = outcome.error
            if not unsure:
                return
            for item in unsure:
                # The task is running if only its answer was lost.
                ref, label = self._refs[id(item)], f"VM {item.label}"
                recent.await_unended(self.vcenter, ref, label, self._is_of_this_user, self._timeout_s)
            self.refresh(unsure)
            items = [item for item in unsure if item.error is None and compare(current(item), item.wanted)]

    def _run(self, items: Sequence[Item[CloneRequest, Machine]], jobs: Sequence[tasks.Job]) -> list[tasks.Outcome]:
        for item in items:
            item.touched = True
        return tasks.run_tasks(self.vcenter, jobs, limit=self._in_flight, timeout_s=self._timeout_s)

    def _await_clones(self, source: Source) -> bool:
        """Wait for copies of the same template that this user has started before; whether there were any."""
        label = f"template {source.path}"
        return recent.await_unended(self.vcenter, source.ref, label, self._is_our_clone, self._timeout_s)

    def _await_others(self, items: Sequence[Item[CloneRequest, Machine]]) -> None:
        """Wait for VMs of these names that any client is creating from any source."""
        pauses = Pauses(self.vcenter.clock, self._timeout_s)
        making = [item for item in items if item.error is None and current(item).making]
        while making:
            if pauses.over:
                for item in making:
                    item.error = rules.being_made(item, self._timeout_s)
                return
            pauses.sleep()
            self.refresh(making)
            making = [item for item in making if item.error is None and current(item).making]

    def _is_our_clone(self, info: vim.TaskInfo) -> bool:
        return info.descriptionId == _CLONING and self._is_of_this_user(info)

    def _is_of_this_user(self, info: vim.TaskInfo) -> bool:
        user = getattr(info.reason, "userName", None)
        return user is not None and self._service.is_user(user)


def current(item: Item[CloneRequest, Machine]) -> Machine:
    """The state of an item's VM by the latest reading."""
    return item.proved or item.now


def _again(outcome: tasks.Outcome, attempt: int) -> bool:
    """Return whether another read and attempt are useful: another client may be creating or removing this VM."""
    if attempt == _ATTEMPTS - 1:
        return False
    if isinstance(outcome.fault, (vim.fault.DuplicateName, vmodl.fault.ManagedObjectNotFound)):
        return True
    return outcome.uncertain and cast(OperatorError, outcome.error).code != "task_timeout"


def _vanished(item: Item[CloneRequest, Machine]) -> OperatorError:
    return OperatorError(
        f"VM {item.label}",
        "is missing after its creation",
        "vSphere reports success, but the VM is not in the inventory",
        "Check the recent tasks and events in vCenter for what removed it",
        "not_proved",
    )
