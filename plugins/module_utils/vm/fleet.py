# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The VMs of one task: found together, read together, changed together."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Callable, Generic, Iterable, Mapping, Protocol, Sequence, TypeVar, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import properties, tasks
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim
from ansible_collections.aiready.vsphere.plugins.module_utils.vm import lookup, place, state
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.place import moid_of
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import V

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Ref
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.place import Place
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.request import R, VmRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import Vm, VmState

    V_co = TypeVar("V_co", bound=VmState, covariant=True)
    # Records the error of an item that could not be settled.
    GiveUp = Callable[["Item[VmRequest[R], V]", OperatorError], object]

    class Part(Protocol[V_co]):
        """The part of VMs that a noun manages."""

        @property
        def VM_PROPERTIES(self) -> Sequence[str]: ...

        @property
        def HOST_PROPERTIES(self) -> Sequence[str]: ...

        @property
        def WHOLE_CLUSTER(self) -> bool: ...

        def state_of(self, row: Row, vm: Vm, place: Place | None, /) -> V_co: ...


_ATTEMPTS = 3
# Traversal from the root folder down to every host.
_ALL_HOSTS = [
    ("Folder", "childEntity"),
    ("Datacenter", "hostFolder"),
    ("ComputeResource", "host"),
]


class Fleet(Generic[V]):
    """Everything that is asked of vCenter for the items of a task."""

    def __init__(
        self, vcenter: VCenter, noun: Part[V], in_flight: int, task_timeout_s: int, planning: bool = False
    ) -> None:
        self.vcenter = vcenter
        self.clock = vcenter.clock
        self._noun = noun
        self._in_flight = in_flight
        self._task_timeout_s = task_timeout_s
        self._planning = planning
        self._datacenter: str | None = None
        self._refs: dict[int, Ref] = {}
        self._places: dict[int, Place | None] = {}

    def find(self, items: Sequence[Item[VmRequest[R], V]], datacenter: str | None) -> None:
        """Find the VMs; an item whose VM cannot be found, or is the VM of another item too, gets its error."""
        self._datacenter = datacenter
        self._refs = lookup.look_up(self.vcenter, items, datacenter, self._planning)

    def read(self, items: Sequence[Item[VmRequest[R], V]]) -> None:
        """Fill item.now, and the other identifiers of the VM, with one request for all."""
        rows = self._read_with_hosts(items)
        copied = self._take_templates(items, rows) if self._planning else {}
        if copied:
            self._refs.update(copied)
            rows = self._read_with_hosts(items)
        by_moid = {row.moid: row for row in rows if row.kind == "VirtualMachine"}
        places = place.places_of(rows)
        wanted = {lookup.planned_of(item).get("host") for item in items} if self._planning else set()
        if wanted - {None} - {one.name for one in places.values()}:
            places = self._all_hosts()
        for item in items:
            row = by_moid.get(self.ref(item)._GetMoId())
            if row is None:
                item.error = gone(item)
                continue
            where = places.get(moid_of(row.get("runtime.host")))
            vm = state.vm_of(row)
            if _is_unfinished(row):
                item.error = _unfinished(item)
                continue
            if self._planning:
                vm, where = _as_planned(item, vm, where, places)
            if item.error is not None:
                continue
            self._places[id(item)] = where
            item.now = self._noun.state_of(row, vm, where)
            made = item.ids["moid"] is not None
            item.ids.update(
                name=row.get("name") if made else item.ids["name"],
                instance_uuid=row.get("config.instanceUuid") if made else None,
                host=where.name if where else None,
                cluster=where.cluster if where else None,
            )

    def refresh(self, items: Sequence[Item[VmRequest[R], V]]) -> list[Item[VmRequest[R], V]]:
        """Read the VMs again, into item.proved, with one request for all; returns the items whose VM is gone."""
        rows = properties.retrieve(
            self.vcenter,
            select={"VirtualMachine": self._vm_properties()},
            start=[self.ref(item) for item in items],
            skip_gone=True,
        )
        by_moid = {row.moid: row for row in rows}
        for item in items:
            row = by_moid.get(item.ids["moid"])
            if row is not None:
                item.proved = self._noun.state_of(row, state.vm_of(row), self._places[id(item)])
        return [item for item in items if item.ids["moid"] not in by_moid]

    def ref(self, item: Item[VmRequest[R], V]) -> Ref:
        return self._refs[id(item)]

    def run(
        self,
        items: Sequence[Item[VmRequest[R], V]],
        wanted: str,
        start: Callable[[Ref, Item[VmRequest[R], V]], Ref],
        guarded: bool = False,
    ) -> dict[str, tasks.Outcome]:
        """Start one task per item with start(ref, item), await all, and return {moid: Outcome}."""
        jobs = [
            tasks.Job(
                f"VM {item.label}",
                cast("Callable[[], Ref]", lambda item=item: start(self.ref(item), item)),
                wanted,
                guarded,
            )
            for item in items
        ]
        for item in items:
            item.touched = True
        outcomes = tasks.run_tasks(self.vcenter, jobs, limit=self._in_flight, timeout_s=self._task_timeout_s)
        return {item.ids["moid"]: outcome for item, outcome in zip(items, outcomes)}

    def settle(
        self,
        items: Sequence[Item[VmRequest[R], V]],
        wanted: str,
        is_done: Callable[[Item[VmRequest[R], V]], bool],
        start: Callable[[Ref, Item[VmRequest[R], V]], Ref],
        give_up: GiveUp[R, V],
        guarded: bool = False,
    ) -> None:
        """Run tasks until is_done(item) after a new reading of each VM; give_up(item, error) for the others.

        A task whose fate is unknown, or that met another change of the VM, is judged by that reading and tried
        again from there. guarded: vSphere itself refuses to carry out the same request twice.
        """
        errors: dict[str, OperatorError | None] = {}
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

    def _take_templates(self, items: Sequence[Item[VmRequest[R], V]], rows: Iterable[Row]) -> dict[int, Ref]:
        """Plan VMs that are being copied, possibly by a killed run, like missing ones."""
        unfinished = {row.moid for row in rows if row.kind == "VirtualMachine" and _is_unfinished(row)}
        copied = [item for item in items if self.ref(item)._GetMoId() in unfinished]
        return lookup.templates_of(self.vcenter, copied, self._datacenter)

    def _vm_properties(self) -> list[str]:
        return [*state.PROPERTIES, *self._noun.VM_PROPERTIES]

    def _host_properties(self) -> list[str]:
        return [*place.HOST_PROPERTIES, *self._noun.HOST_PROPERTIES]

    def _read_with_hosts(self, items: Iterable[Item[VmRequest[R], V]]) -> list[Row]:
        walk = [("VirtualMachine", "runtime.host"), ("HostSystem", "parent")]
        if self._noun.WHOLE_CLUSTER:
            walk.append(("ComputeResource", "host"))
        refs = {self.ref(item)._GetMoId(): self.ref(item) for item in items}
        return properties.retrieve(
            self.vcenter,
            select={
                "VirtualMachine": self._vm_properties(),
                "HostSystem": self._host_properties(),
                "ComputeResource": ["name"],
            },
            start=refs.values(),
            walk=walk,
            skip_gone=True,
        )

    def _all_hosts(self) -> dict[str | None, Place]:
        """Return the placements of all hosts; read only for VMs that will be on a host without a VM of their kind."""
        rows = properties.retrieve(
            self.vcenter,
            select={"HostSystem": self._host_properties(), "ComputeResource": ["name"]},
            start=[self.vcenter.content.rootFolder],
            walk=_ALL_HOSTS,
        )
        return place.places_of(rows)


def current(item: Item[VmRequest[R], V]) -> V:
    """The state of an item's VM by the latest reading."""
    return item.proved or item.now


def gone(item: Item[VmRequest[R], V]) -> OperatorError:
    """The error of a VM that was found and then disappeared."""
    return OperatorError(
        f"VM {item.label}",
        "cannot be read",
        "The module found the VM, and then it was removed from vCenter.",
        "Check the tasks and events in vCenter for who removed it.",
        "vm_gone",
    )


def _is_unfinished(row: Row) -> bool:
    # vCenter reports no configuration of an inaccessible VM either; that has its own error.
    return row.get("config.version") is None and str(row.get("runtime.connectionState")) == "connected"


def _unfinished(item: Item[VmRequest[R], V]) -> OperatorError:
    return OperatorError(
        f"VM {item.label}",
        "has no configuration yet",
        "vCenter reports no configuration while a VM is being cloned or registered.",
        "Wait until that task has ended, then run the task again.",
        "vm_unfinished",
    )


def _as_planned(
    item: Item[VmRequest[R], V], vm: Vm, where: Place | None, places: Mapping[str | None, Place]
) -> tuple[Vm, Place | None]:
    """The VM as earlier tasks of the same play would have made it."""
    planned = lookup.planned_of(item)
    if item.ids["moid"] is None:
        vm = dataclasses.replace(vm, template=False, power="off", power_on_again=False, change_version="")
    if planned.get("host"):
        where = next((one for one in places.values() if one.name == planned["host"]), None)
        if where is None:
            item.error = _no_such_host(item, planned["host"])
    vm = dataclasses.replace(
        vm,
        hardware_version=max(vm.hardware_version, planned.get("hardware_version") or 0),
        memory_locked=vm.memory_locked or planned.get("memory_reservation") == "all",
    )
    return vm, where


def _worth_another_try(outcome: tasks.Outcome) -> bool:
    if isinstance(outcome.fault, vim.fault.ConcurrentAccess):
        return True
    # A task that did not end in time still runs: another one would only wait behind it.
    return outcome.uncertain and cast(OperatorError, outcome.error).code != "task_timeout"


def _never_done(item: Item[VmRequest[R], V]) -> OperatorError:
    return OperatorError(
        f"VM {item.label}",
        f"did not change as requested in {_ATTEMPTS} attempts",
        "vSphere reports success, but the settings read afterwards differ.",
        "Check the VM's events in vCenter for another task or user that changes it.",
        "not_proved",
    )


def _no_such_host(item: Item[VmRequest[R], V], name: str) -> OperatorError:
    return OperatorError(
        f"VM {item.label}",
        f"cannot be planned on host {name}",
        "vCenter has no host of this name that this user may see.",
        "Correct `planned`, or check the user's permissions.",
        "host_not_found",
    )
