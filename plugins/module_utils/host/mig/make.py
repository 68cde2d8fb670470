# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Create a layout on a device step by step, read each step back, and roll back after a failure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Collection, Container, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig import planner
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.nvidia_smi import subject
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.rules import Spot
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.state import lines
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.table import COMPUTE_INSTANCE_PROFILES

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.inventory import FoundGpu
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.nvidia_smi import NvidiaSmi
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.order import Step
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.rules import Rules
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.state import Instance

# Codes of a driver that rejects a placement in the request; their text is unknown.
PLACEMENT_UNKNOWN = ("invalid_argument", "driver_without_mig", "not_supported", "failed")


class _Misplaced(Exception):
    """An instance is at another start, or the driver rejected its placement."""

    def __init__(self, step: Step, found: str) -> None:
        self.step = step
        self.found = found
        super().__init__(f"{step.spot} is at {found}")


class Maker:
    """Creates layouts on one GPU."""

    def __init__(self, smi: NvidiaSmi, gpu: FoundGpu, rules: Rules, warn: Callable[[str], None]) -> None:
        self._smi = smi
        self._gpu = gpu
        self._rules = rules
        self._warn = warn

    def make(
        self,
        plan: planner.Plan,
        requests: Sequence[planner.RequestedInstance],
        earlier: Sequence[Instance],
        busy: Collection[Spot] = (),
    ) -> planner.Plan:
        """Execute a plan and return the final one, which may place instances elsewhere.

        earlier: the instances to restore after a failure. busy: spots in use.
        """
        try:
            return self._reach(plan, requests, busy)
        except OperatorError as error:
            raise self.put_back(error, earlier) from error

    def clear(self, earlier: Sequence[Instance]) -> None:
        """Remove all instances."""
        self.make(planner.Plan(destroy=[instance.spot for instance in earlier]), [], earlier)

    def _reach(
        self, plan: planner.Plan, requests: Sequence[planner.RequestedInstance], busy: Collection[Spot] = ()
    ) -> planner.Plan:
        placement = "where_needed"
        # Each round either ends or excludes one of the two methods of placement.
        while True:
            try:
                self._carry_out(plan)
                return plan
            except _Misplaced as surprise:
                placement = self._learn(placement, surprise)
            present = {instance.spot: instance.slices for instance in self._smi.instances(self._gpu)}
            plan = cast("planner.Plan", planner.plan(self._rules, present, requests, busy, placement))
            if plan is None or set(busy).intersection(plan.destroy):
                raise OperatorError(
                    subject(self._gpu),
                    "cannot create the layout",
                    "It needs a placement such as 15:6, which this nvidia-smi rejects",
                    "Use a newer driver, or a layout that leaves the last two slots to 1g instances",
                    "placement_not_taken",
                )

    def _learn(self, placement: str, surprise: _Misplaced) -> str:
        step, found = surprise.step, surprise.found
        if step.explicit and placement == "where_needed":
            self._warn(
                f"{subject(self._gpu)}: nvidia-smi rejects the placement {step.spot.profile_id}:{step.spot.start}; "
                "the module continues with the driver's own choices."
            )
            return "never"
        if not step.explicit and placement == "where_needed":
            return "always"
        raise OperatorError(
            subject(self._gpu),
            f"cannot create profile {step.spot.profile_id} at slot {step.spot.start}",
            f"The driver put it at {found}, and it accepts no placement",
            "Check the layout with aiready.vsphere.mig_info, and request one that leaves the driver the choice",
            "placement_not_reached",
        )

    def _carry_out(self, plan: planner.Plan) -> None:
        present = {instance.spot: instance for instance in self._smi.instances(self._gpu)}
        for spot in plan.destroy:
            self._destroy(present[spot])
        for spot in plan.keep:
            self._fit_compute(present[spot], plan.layout[spot])
        there = {instance.spot for instance in self._smi.instances(self._gpu)}
        for step in plan.create:
            there = self._create(step, plan.layout[step.spot], there)

    def _create(self, step: Step, compute: tuple[int, ...] | None, there: Container[Spot]) -> set[Spot]:
        profile = self._rules.profiles[step.spot.profile_id]
        fills = compute == (profile.compute_slices,)
        try:
            self._smi.create(self._gpu, step.spot, step.explicit, with_compute=fills)
        except OperatorError as error:
            if step.explicit and error.code in PLACEMENT_UNKNOWN:
                raise _Misplaced(step, "no slot") from error
            raise
        after = self._smi.instances(self._gpu)
        new = [instance for instance in after if instance.spot not in there]
        if [instance.spot for instance in new] != [step.spot]:
            raise _Misplaced(step, ", ".join(f"slot {instance.start}" for instance in new) or "no slot")
        self._fit_compute(new[0], compute)
        return {instance.spot for instance in after}

    def _fit_compute(self, instance: Instance, slices: tuple[int, ...] | None) -> None:
        if slices is None or instance.slices == slices:
            return
        if instance.compute:
            self._smi.destroy_compute(self._gpu, instance.instance_id)
        if slices:
            profile = self._rules.profiles[instance.profile_id]
            # The compute instance that fills its GPU instance is the default; its id differs for the 1g with double
            # memory.
            fills = slices == (profile.compute_slices,)
            ids = [] if fills else [COMPUTE_INSTANCE_PROFILES[f"{count}c"] for count in slices]
            self._smi.create_compute(self._gpu, instance.instance_id, ids)

    def _destroy(self, instance: Instance) -> None:
        if instance.compute:
            self._smi.destroy_compute(self._gpu, instance.instance_id)
        self._smi.destroy(self._gpu, instance.instance_id)

    def put_back(self, error: OperatorError, earlier: Sequence[Instance]) -> OperatorError:
        """The error with the state of the earlier layout."""
        restored = False
        try:
            if lines(self._smi.instances(self._gpu)) == lines(earlier):
                reported, restored = "Nothing has changed", True
            elif self._restore(earlier):
                reported, restored = "The earlier layout is restored", True
            else:
                there = ", ".join(lines(self._smi.instances(self._gpu))) or "no instance"
                before = ", ".join(lines(earlier)) or "no instance"
                reported = f"The earlier layout ({before}) could not be restored. The GPU now has {there}"
        except OperatorError as trouble:
            reported = f"The current layout could not be read: {trouble.found}"
        found = f"{error.found}. {reported}"
        return OperatorError(
            error.subject, error.wanted, found, error.todo, error.code, **error.data, restored=restored
        )

    def _restore(self, earlier: Sequence[Instance]) -> bool:
        requests = [planner.RequestedInstance(one.profile_id, one.start, one.slices) for one in earlier]
        present = {instance.spot: instance.slices for instance in self._smi.instances(self._gpu)}
        if any(
            Spot(requested.profile_id, cast("int", requested.start)) not in self._rules.spots for requested in requests
        ):
            return False
        plan = planner.plan(self._rules, present, requests)
        try:
            if plan is not None:
                self._reach(plan, requests)
        except OperatorError:
            return False
        return lines(self._smi.instances(self._gpu)) == lines(earlier)
