# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The power of VMs: the five steps."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import Noun, planned
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import properties, session
from ansible_collections.aiready.vsphere.plugins.module_utils.vm import fleet as fleets
from ansible_collections.aiready.vsphere.plugins.module_utils.vm import power_cycle
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.fleet import current
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.place import moid_of
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.power import guest, rules, waiting
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.power.params import PowerRequest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.request import VmRequest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import Vm, project_power

if TYPE_CHECKING:
    from ansible.module_utils.basic import AnsibleModule
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.place import Place


@dataclass(frozen=True)
class PowerState:
    """State of a VM, with the report of its guest."""

    vm: Vm
    guest: guest.Guest


class Power(Noun[VmRequest[PowerRequest], PowerState]):
    """The power of the VMs of a task."""

    VM_PROPERTIES = ("guest.ipAddress", "guest.net")
    HOST_PROPERTIES: Sequence[str] = ()
    WHOLE_CLUSTER = False

    def __init__(self, module: AnsibleModule) -> None:
        self._params: dict[str, Any] = module.params
        self._warn: Callable[[str], None] = module.warn
        self._planning = bool(planned(module, True))
        self._vcenter: VCenter = None  # type: ignore[assignment]
        self._fleet: fleets.Fleet[PowerState] = None  # type: ignore[assignment]
        self._items: Sequence[Item[VmRequest[PowerRequest], PowerState]] = []

    def state_of(self, row: Row, vm: Vm, dummy: Place | None) -> PowerState:
        """The state from a row that the fleet has read."""
        return PowerState(vm, guest.guest_of(row))

    def read(self, items: Sequence[Item[VmRequest[PowerRequest], PowerState]]) -> None:
        self._vcenter = session.connect(self._params, self._warn)
        self._fleet = fleets.Fleet(
            self._vcenter,
            self,
            self._params["tasks_in_flight"],
            self._params["task_timeout_s"],
            planning=self._planning,
        )
        self._fleet.find(items, self._params["datacenter"])
        self._items = items
        self._fleet.read([item for item in items if item.error is None])
        if not self._planning and all(self._is_settled(item) for item in items if item.error is None):
            # No VM needs a power operation, and apply() is not called; the awaited guest state may still be pending.
            self._wait(items)

    def want(self, item: Item[VmRequest[PowerRequest], PowerState]) -> PowerState:
        rules.refuse_impossible(item)
        vm, requested = item.now.vm, item.requested.settings
        if requested.state == "on":
            noted = False
        else:
            noted = vm.power_on_again or (requested.again and vm.power == "on")
        wanted = dataclasses.replace(vm, power=requested.state, power_on_again=noted)
        says = item.now.guest if requested.state == "on" else guest.Guest()
        return PowerState(wanted, says)

    def compare(self, now: PowerState, wanted: PowerState) -> list[Change]:
        waits = "power_on" if wanted.vm.power == "off" and wanted.vm.power_on_again else None
        return [
            Change(name, getattr(now.vm, name), getattr(wanted.vm, name), waits if name == "power" else None)
            for name in ("power", "power_on_again")
            if getattr(now.vm, name) != getattr(wanted.vm, name)
        ]

    def apply(self, items: Sequence[Item[VmRequest[PowerRequest], PowerState]]) -> None:
        if self._params["state"] == "on":
            self._switch_on(items)
        else:
            self._switch_off(items)
        for item in items:
            if item.error is not None and item.proved is not None:
                item.touched = bool(self.compare(item.now, item.proved))
        self._wait([item for item in self._items if item.error is None])

    def prove(self, items: Sequence[Item[VmRequest[PowerRequest], PowerState]]) -> None:
        gone = self._fleet.refresh(items)
        self._report_hosts([item for item in items if item not in gone])
        for item in items:
            if item.error is not None:
                continue
            if item in gone:
                item.error = fleets.gone(item)
                continue
            left = self.compare(cast(PowerState, item.proved), item.wanted)
            if left:
                item.error = _not_proved(item, left)

    def project(self, state: PowerState) -> dict[str, object]:
        return dict(
            project_power(state.vm),
            address=state.guest.address,
            addresses=guest.project(state.guest),
        )

    def pending(self, state: PowerState) -> list[dict[str, object]]:
        if state.vm.power_on_again and state.vm.power == "off":
            return [{"what": "power", "needs": "power_on"}]
        return []

    def close(self) -> None:
        if self._vcenter is not None:
            self._vcenter.close()

    def _report_hosts(self, items: Sequence[Item[VmRequest[PowerRequest], PowerState]]) -> None:
        """DRS may have started a VM on another host than it was on."""
        rows = properties.retrieve(
            self._vcenter,
            {"VirtualMachine": ("runtime.host",), "HostSystem": ("name",)},
            [self._fleet.ref(item) for item in items],
            [("VirtualMachine", "runtime.host")],
            skip_gone=True,
        )
        names: dict[str | None, str] = {row.moid: row.get("name") for row in rows if row.kind == "HostSystem"}
        hosts = {row.moid: names.get(moid_of(row.get("runtime.host"))) for row in rows if row.kind == "VirtualMachine"}
        for item in items:
            item.ids["host"] = hosts.get(item.ids["moid"]) or item.ids["host"]

    def _is_settled(self, item: Item[VmRequest[PowerRequest], PowerState]) -> bool:
        vm = item.now.vm
        return vm.power == self._params["state"] and not vm.power_on_again

    def _wait(self, items: Sequence[Item[VmRequest[PowerRequest], PowerState]]) -> None:
        wait_for = self._params["wait_for"]
        items = [item for item in items if item.error is None and current(item).vm.power == "on"]
        if wait_for == "none" or not items:
            return
        waiting.wait(self._fleet, items, wait_for, self._params["wait_timeout_s"])
        self._fleet.refresh(items)
        for item in items:
            if not item.touched and item.proved is not None and not self.compare(item.now, item.proved):
                # Not changed by this task: the state found is the present state of its guest.
                item.now, item.proved = item.proved, None
                item.wanted = item.now

    def _switch_on(self, items: Sequence[Item[VmRequest[PowerRequest], PowerState]]) -> None:
        off = [item for item in items if item.now.vm.power != "on"]
        power_cycle.start(self._fleet, off, _refused)
        noted = [item for item in items if current(item).vm.power == "on"]
        power_cycle.set_note(self._fleet, noted, False, _failed)

    def _switch_off(self, items: Sequence[Item[VmRequest[PowerRequest], PowerState]]) -> None:
        running = [item for item in items if item.now.vm.power != "off"]
        if self._params["again"]:
            power_cycle.set_note(
                self._fleet, [item for item in running if item.wanted.vm.power_on_again], True, _failed
            )
        running = [item for item in running if item.error is None]
        for item in running:
            item.touched = True
        not_asked = power_cycle.shut_guests_down(self._fleet, running)
        self._fleet.refresh(running)
        left = [item for item in running if current(item).vm.power != "off"]
        if self._params["force"]:
            self._fleet.settle(
                left,
                "cannot be powered off",
                lambda item: current(item).vm.power == "off",
                lambda ref, item: ref.PowerOffVM_Task(),
                _failed,
            )
            return
        for item in left:
            _failed(item, not_asked.get(item.ids["moid"]) or rules.still_running(item))
        # The note would make a later run power on a VM that no run powered off.
        power_cycle.set_note(self._fleet, [item for item in left if not item.now.vm.power_on_again], False, _failed)


def _failed(item: Item[VmRequest[PowerRequest], PowerState], error: OperatorError) -> None:
    if item.error is None:
        item.error = error


def _refused(item: Item[VmRequest[PowerRequest], PowerState], error: OperatorError) -> None:
    _failed(item, rules.explained(error))


def _not_proved(item: Item[VmRequest[PowerRequest], PowerState], left: Sequence[Change]) -> OperatorError:
    return OperatorError(
        f"VM {item.label}",
        "did not change as requested",
        f"vSphere reported success, but these settings did not change: {'; '.join(str(change) for change in left)}",
        "Run the task again. If the error repeats, check the VM's events in vCenter",
        "not_proved",
        left=[change.as_result() for change in left],
    )
