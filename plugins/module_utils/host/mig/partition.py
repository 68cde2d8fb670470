# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The MIG mode and layout of GPUs, as the noun of mig_partition."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change, Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import Noun
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig import (
    identify,
    layout_text,
    planner,
    refusal,
    select,
    usage,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.make import Maker
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.nvidia_smi import NO_DRIVER, NvidiaSmi, subject
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.params import MigRequest
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.rules import Rules
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.state import Instance, State, lines

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.remote import Remote
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.inventory import FoundGpu


class MigPartitions(Noun[MigRequest, State]):
    """The MIG mode and the instances of GPUs."""

    def __init__(
        self, params: Mapping[str, Any], remote: Remote, warn: Callable[[str], None], model: str | None
    ) -> None:
        self._request = request(MigRequest, params)
        self._smi = NvidiaSmi(remote.run)
        self._warn = warn
        # The GPU to plan for if the host has no driver yet.
        self._without_device = model
        self._esxi = select.is_esxi(remote)
        self._reader: select.Reader | None = None
        self._gpus: dict[str, FoundGpu] = {}

    def items(self) -> list[Item[MigRequest, State]]:
        """Return one item for each named GPU; raises OperatorError if the host cannot list its GPUs."""
        try:
            inventory = self._smi.inventory()
        except OperatorError as error:
            if error.code not in NO_DRIVER or self._without_device is None:
                raise
            return [self._imagined()]
        self._reader = select.Reader(self._smi, inventory, self._esxi)
        chosen = select.choose(inventory, self._request.gpus, lost=self._request.lost_gpus)
        if inventory.missing:
            self._warn(f"{select.lost_gpus(inventory)}.")
        if not chosen and self._request.mode == "enabled":
            raise OperatorError(
                "the host",
                "cannot enable MIG mode",
                f"None of its GPUs supports MIG: {', '.join(gpu.name for gpu in inventory.gpus)}",
                "Remove the host from the play, or use time-sliced vGPU profiles",
                "not_mig_capable",
            )
        self._gpus = {subject(gpu): gpu for gpu in chosen}
        return [Item(label, self._request, select.ids(gpu)) for label, gpu in self._gpus.items()]

    def read(self, items: Sequence[Item[MigRequest, State]]) -> None:
        for item in items:
            if item.now is None:
                self._each(item, self._read)

    def want(self, item: Item[MigRequest, State]) -> State:
        now, requested_one = item.now, item.requested
        if requested_one.mode == "disabled":
            return self._want_disabled(item)
        requests = self._requests(item)
        target = State(now.rules, now.mode, True, now.instances, now.mode_needs)
        if not now.mode_next:
            target.mode = now.mode or not self._switch_waits(now)
        if requests is None:
            return target
        target.requests = requests
        if target.mode:
            target.plan, target.instances = _planned(now, requests)
        else:
            target.layout_waits = bool(requests)
        return target

    def compare(self, now: State, wanted: State) -> list[Change]:
        changes = []
        if now.mode_next != wanted.mode_next:
            needs = None if wanted.mode == wanted.mode_next else wanted.mode_needs
            changes.append(Change("mode", _mode(now), _mode(wanted), needs))
        if not _alike(now, wanted):
            changes.append(Change("layout", lines(now.instances), lines(wanted.instances)))
        return changes

    def explain(self, item: Item[MigRequest, State]) -> None:
        # There are no instances before the mode is active; the layout needs another run then.
        item.now.layout_waits = item.wanted.layout_waits

    def apply(self, items: Sequence[Item[MigRequest, State]]) -> None:
        for item in items:
            self._each(item, self._make)

    def prove(self, items: Sequence[Item[MigRequest, State]]) -> None:
        for item in items:
            failure, item.error = item.error, None
            self._each(item, self._prove)
            item.error = failure or item.error

    def project(self, state: State) -> dict[str, Any]:
        return state.project()

    def pending(self, state: State) -> list[dict[str, Any]]:
        waiting = [{"what": "layout", "needs": state.mode_needs}] if state.layout_waits else []
        if state.mode != state.mode_next:
            waiting.append({"what": "mode", "needs": state.mode_needs})
        return waiting

    @staticmethod
    def _each(item: Item[MigRequest, State], step: Callable[[Item[MigRequest, State]], None]) -> None:
        try:
            step(item)
        except OperatorError as error:
            item.error = error

    def _read(self, item: Item[MigRequest, State]) -> None:
        gpu = self._gpus[item.label]
        if gpu.guest:
            # In a VM with a MIG-backed vGPU -lgi has one row whose ids belong to the host (NVIDIA vGPU documentation).
            raise OperatorError(
                item.label,
                "cannot read its MIG partitions",
                "This is a vGPU. The host of this VM partitions the GPU",
                "Run the task on the host",
                "vgpu_guest",
            )
        item.now = cast("select.Reader", self._reader).state(gpu)

    def _imagined(self) -> Item[MigRequest, State]:
        """A GPU that is not present yet, for a plan before the driver is installed."""
        model = cast("str", self._without_device)
        entry = identify.by_model(model)
        if entry is None or not entry.profiles:
            raise OperatorError(
                model,
                "cannot plan without a device",
                "The table of this collection does not contain this model, or does not contain its profiles",
                "Set model to one that the guide of mig_partition lists",
                "unknown_model",
            )
        item: Item[MigRequest, State] = Item(
            entry.key, self._request, {"name": entry.key, "index": None, "uuid": None, "pci": None}
        )
        item.now = State(Rules(entry), False, False, (), select.mode_needs(self._esxi))
        return item

    def _requests(self, item: Item[MigRequest, State]) -> list[planner.RequestedInstance] | None:
        """The instances of the layout on this GPU, or None when the task sets only the mode."""
        entries = item.requested.layout
        if entries is None:
            return None
        if self._esxi and item.requested.vsphere == "mode_only":
            raise OperatorError(
                item.label,
                "cannot create GPU instances on an ESXi host",
                "vSphere creates the instances itself when a VM with a MIG-backed vGPU starts. Others would block it",
                "Remove layout, or set vsphere: instances if no vGPU will use this GPU",
                "vsphere_makes_instances",
            )
        rules = item.now.rules
        if entries and not rules.profiles:
            raise OperatorError(
                item.label,
                "cannot plan a layout of GPU instances",
                "The table of this collection does not contain this GPU, and nvidia-smi reports no placements now",
                "Set mode to enabled without a layout first, then check the output of `nvidia-smi mig -lgipp`",
                "no_profiles",
            )
        requests, problems = layout_text.resolve(rules.gpu, entries, default_compute=not self._esxi)
        if problems or planner.plan(rules, {}, requests) is None:
            refusal.refuse_impossible(item.label, rules, requests, problems, entries)
        return requests

    def _want_disabled(self, item: Item[MigRequest, State]) -> State:
        now = item.now
        target = State(now.rules, now.mode, False, (), now.mode_needs)
        target.mode = now.mode and self._switch_waits(now)
        return target

    def _switch_waits(self, state: State) -> bool:
        """Return whether a mode change is known to wait for a restart (NVIDIA AI Enterprise user guide 5.0, 2.11.1)."""
        return (self._esxi and state.rules.gpu.esxi_enable_needs_host_reboot) or usage.is_held(state)

    def _make(self, item: Item[MigRequest, State]) -> None:
        gpu, now, wanted = self._gpus[item.label], item.now, item.wanted
        usage.refuse(item, self._esxi)
        maker = Maker(self._smi, gpu, now.rules, self._warn)
        item.touched = True
        if not wanted.mode_next:
            self._disable(gpu, now, maker)
            return
        if not now.mode_next:
            self._smi.set_mode(gpu, True)
            if not self._smi.mode(gpu)[0]:
                # A switch may wait although no known process delays it; the layout then waits too.
                waits = bool(wanted.requests)
                self._change_plan(item, replace(wanted, mode=False, instances=(), plan=None, layout_waits=waits))
                return
        if wanted.plan is not None:
            earlier = now.instances if now.mode else ()
            made = maker.make(wanted.plan, wanted.requests, earlier, usage.busy(now))
            if made is not wanted.plan:
                self._change_plan(item, replace(wanted, instances=_instances(now, made), plan=made))

    def _disable(self, gpu: FoundGpu, now: State, maker: Maker) -> None:
        if now.instances:
            maker.clear(now.instances)
        try:
            self._smi.set_mode(gpu, False)
        except OperatorError as error:
            raise maker.put_back(error, now.instances) from error

    def _change_plan(self, item: Item[MigRequest, State], wanted: State) -> None:
        item.wanted = wanted
        item.changes = self.compare(item.now, wanted)

    def _prove(self, item: Item[MigRequest, State]) -> None:
        item.proved = cast("select.Reader", self._reader).state(self._gpus[item.label], fresh=True)
        item.proved.layout_waits = item.wanted.layout_waits
        missing = self.compare(item.proved, item.wanted)
        if missing:
            raise OperatorError(
                item.label,
                f"the change is incomplete ({'; '.join(str(change) for change in item.changes)})",
                f"nvidia-smi reported success, but this still differs: {'; '.join(str(change) for change in missing)}",
                "Run the task again, and check whether another user or task changes this GPU",
                "not_proved",
            )


def _instances(now: State, plan: planner.Plan) -> tuple[Instance, ...]:
    """The instances that a plan leads to."""
    found = []
    for spot, slices in plan.layout.items():
        there = now.by_spot.get(spot)
        profile = now.rules.profiles[spot.profile_id]
        unsaid = there.slices if there is not None else ()
        found.append(Instance.planned(profile, spot.start, unsaid if slices is None else slices))
    return tuple(sorted(found, key=lambda one: one.start))


def _planned(
    now: State, requests: Sequence[planner.RequestedInstance]
) -> tuple[planner.Plan | None, tuple[Instance, ...]]:
    """(the plan of a layout, the instances after it)."""
    present = {instance.spot: instance.slices for instance in now.instances}
    plan = planner.plan(now.rules, present, requests, usage.busy(now))
    return plan, _instances(now, cast("planner.Plan", plan))


def _alike(now: State, wanted: State) -> bool:
    """Return whether the instances match the plan; compute instances count only if the plan lists them."""
    if set(now.by_spot) != set(wanted.by_spot):
        return False
    return all(_fits(one, wanted) for one in now.instances)


def _fits(instance: Instance, wanted: State) -> bool:
    if wanted.plan is not None and wanted.plan.layout.get(instance.spot) is None:
        return True
    return instance.slices == wanted.by_spot[instance.spot].slices


def _mode(state: State) -> str:
    return "enabled" if state.mode_next else "disabled"
