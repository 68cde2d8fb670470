# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Apply the planned changes to all VMs of a task, with a power cycle for running ones."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Mapping, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import tasks
from ansible_collections.aiready.vsphere.plugins.module_utils.vm import fleet as fleets
from ansible_collections.aiready.vsphere.plugins.module_utils.vm import power_cycle
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.fleet import current

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.noun import VmNoun
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.request import R, VmRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import V


def apply(noun: VmNoun[R, V], fleet: fleets.Fleet[V], items: Sequence[Item[VmRequest[R], V]]) -> None:
    """Apply item.changes of every item; item.error gets a failure, item.proved the state afterwards."""
    running = [item for item in items if noun.needs_off(item.now, item.wanted)]
    power_cycle.stop(fleet, running, _failed)
    noun.before_reconfiguration(fleet, [item for item in items if item.error is None], _failed)
    _configure(noun, fleet, [item for item in items if item.error is None])
    # A VM that was switched off is switched on again even if it could not be changed.
    restart = [item for item in items if item.wanted.vm.power == "on" and current(item).vm.power == "off"]
    refused = _start(fleet, restart)
    for item in restart:
        # The VM may be starting at this moment if no refusal was reported.
        if item.ids["moid"] in refused and "fault" not in refused[item.ids["moid"]].data:
            _failed(item, refused.pop(item.ids["moid"]))
    _put_back(noun, fleet, [item for item in restart if item.ids["moid"] in refused], refused)
    noted = [item for item in items if current(item).vm.power_on_again and _stays_on(item)]
    power_cycle.set_note(fleet, noted, False, _failed)
    for item in items:
        if item.error is not None and item.proved is not None and item not in running:
            item.touched = bool(noun.compare(item.now, item.proved))


def prove(noun: VmNoun[R, V], fleet: fleets.Fleet[V], items: Sequence[Item[VmRequest[R], V]]) -> None:
    """Read all again; a setting that still differs from the request is an error, unless the item has one already."""
    for item in fleet.refresh(items):
        _failed(item, fleets.gone(item))
    for item in items:
        if item.error is not None:
            continue
        wanted = _wanted_now(noun, item)
        vm = dataclasses.replace(wanted.vm, power=item.wanted.vm.power, power_on_again=item.wanted.vm.power_on_again)
        left = noun.compare(cast("V", item.proved), dataclasses.replace(wanted, vm=vm))
        if left:
            item.error = OperatorError(
                f"VM {item.label}",
                "did not change as requested",
                "vSphere reported success, but these settings did not change: "
                f"{'; '.join(str(change) for change in left)}.",
                "Run the task again. If the error repeats, check the VM's events in vCenter.",
                "not_proved",
                left=[change.as_result() for change in left],
            )


def _stays_on(item: Item[VmRequest[R], V]) -> bool:
    """Return whether a running VM stays on; without a refusal, a late power-off may still follow."""
    late = item.error is not None and item.error.code in tasks.LATE
    return current(item).vm.power == "on" and not late


def _configure(noun: VmNoun[R, V], fleet: fleets.Fleet[V], items: Sequence[Item[VmRequest[R], V]]) -> None:
    """Reconfigure until a new reading shows nothing left to change."""
    fleet.settle(
        items,
        f"cannot change its {noun.WHAT}",
        lambda item: not noun.setting_changes(current(item), _wanted_now(noun, item)),
        lambda ref, item: ref.ReconfigVM_Task(spec=_spec(noun, current(item), _wanted_now(noun, item))),
        _failed,
        guarded=True,
    )


def _wanted_now(noun: VmNoun[R, V], item: Item[VmRequest[R], V]) -> V:
    """Compute the desired state again from the latest reading: vSphere may have chosen other device keys."""
    return noun.want_settings(current(item), item.requested.settings)


def _spec(noun: VmNoun[R, V], now: V, wanted: V) -> vim.vm.ConfigSpec:
    """Return the change as a specification, which vSphere refuses if the VM changed since this reading."""
    spec = noun.reconfiguration(now, wanted)
    spec.changeVersion = now.vm.change_version
    return spec


def _start(fleet: fleets.Fleet[V], items: Sequence[Item[VmRequest[R], V]]) -> dict[str, OperatorError]:
    """Power VMs on; return {moid: error} for those that vSphere refuses."""
    refused: dict[str, OperatorError] = {}
    power_cycle.start(fleet, items, lambda item, error: refused.setdefault(item.ids["moid"], error))
    return refused


def _put_back(
    noun: VmNoun[R, V],
    fleet: fleets.Fleet[V],
    items: Sequence[Item[VmRequest[R], V]],
    refused: Mapping[str, OperatorError],
) -> None:
    """Give VMs that do not start with the new configuration the old one, and start them with it."""
    broken: dict[str, OperatorError] = {}
    changed = [item for item in items if noun.setting_changes(current(item), item.now)]
    fleet.settle(
        changed,
        f"cannot restore its previous {noun.WHAT}",
        lambda item: not noun.setting_changes(current(item), item.now),
        lambda ref, item: ref.ReconfigVM_Task(spec=_spec(noun, current(item), item.now)),
        lambda item, error: broken.setdefault(item.ids["moid"], error),
        guarded=True,
    )
    broken.update(_start(fleet, [item for item in changed if item.ids["moid"] not in broken]))
    for item in items:
        power = current(item).vm.power
        again = broken.get(item.ids["moid"])
        if item not in changed:
            outcome = f"The VM is {power}."
        elif again is None:
            outcome = "The previous configuration was restored, and the VM runs with it."
        else:
            outcome = (
                f"Restoring the previous configuration and starting the VM failed too: {_ended(again)} The VM "
                f"is {power}."
            )
        item.error = _start_refused(noun, item, refused[item.ids["moid"]], outcome)


def _start_refused(noun: VmNoun[R, V], item: Item[VmRequest[R], V], why: OperatorError, outcome: str) -> OperatorError:
    """Report the answer of vSphere and the state of the VM, after the reason of the failed change, if there is one."""
    first = item.error
    return OperatorError(
        f"VM {item.label}",
        first.wanted if first else f"cannot start with the new {noun.WHAT}",
        f"{_ended(first) + ' ' if first else ''}vSphere refused to power it on: {_ended(why)} {outcome}",
        why.todo,
        first.code if first else "power_on_refused",
        cause=why.failure,
        running=current(item).vm.power == "on",
    )


def _ended(error: OperatorError) -> str:
    return error.found.rstrip(".") + "."


def _failed(item: Item[VmRequest[R], V], error: OperatorError) -> None:
    if item.error is None:
        item.error = error
