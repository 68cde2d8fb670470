# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The state of a GPU: its mode and its instances, as the modules compare and show it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Iterable

from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.rules import Rules, Spot

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.gpu import MigProfile
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.inventory import Process
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.planner import Plan, RequestedInstance


@dataclass(frozen=True)
class Compute:
    """A compute instance."""

    slices: int
    instance_id: int | None = None
    start: int | None = None


@dataclass(frozen=True)
class Instance:
    """A GPU instance. Its id does not contain its position, so two are the same by profile and start."""

    profile_id: int
    start: int
    size: int
    name: str
    instance_id: int | None = None
    compute: tuple[Compute, ...] = ()

    @classmethod
    def planned(cls, profile: MigProfile, start: int, slices: Iterable[int]) -> Instance:
        """Return a planned instance, whose id is still unknown."""
        return cls(profile.id, start, profile.size, profile.name, None, tuple(Compute(count) for count in slices))

    @property
    def spot(self) -> Spot:
        return Spot(self.profile_id, self.start)

    @property
    def slices(self) -> tuple[int, ...]:
        """The compute slices of its compute instances, the largest first."""
        return tuple(sorted((one.slices for one in self.compute), reverse=True))


@dataclass
class State:
    """A GPU at a moment, or in its desired state."""

    rules: Rules
    # The mode now, and after the restart that may be pending.
    mode: bool
    mode_next: bool
    instances: tuple[Instance, ...] = ()
    # Action that a restart must precede: reboot or gpu_reset.
    mode_needs: str = "reboot"
    # True if the desired layout needs an active mode first.
    layout_waits: bool = False
    processes: tuple[Process, ...] = ()
    # Plan to reach the desired state, and the requests again in case that the plan cannot reach it.
    plan: Plan | None = field(default=None, repr=False)
    requests: list[RequestedInstance] = field(default_factory=list, repr=False)

    @property
    def by_spot(self) -> dict[Spot, Instance]:
        return {instance.spot: instance for instance in self.instances}

    def project(self) -> dict[str, Any]:
        """The state as a user sees it."""
        return {
            "mode": _word(self.mode),
            "pending_mode": _word(self.mode_next),
            "layout": [
                {
                    "profile": instance.name,
                    "profile_id": instance.profile_id,
                    "start": instance.start,
                    "size": instance.size,
                    "compute": [f"{slices}c" for slices in instance.slices],
                }
                for instance in sorted(self.instances, key=lambda one: one.start)
            ],
        }


def lines(instances: Iterable[Instance]) -> list[str]:
    """Return one line per instance, from the lowest slot on: 0-3 3g.20gb [1c 1c]."""
    return [_line(instance) for instance in sorted(instances, key=lambda one: one.start)]


def entry_of(line: str) -> dict[str, Any]:
    """The entry of a layout for an instance in a line of `lines`."""
    slots, _space, rest = line.partition(" ")
    name, _space, compute = rest.partition(" [")
    return {"profile": name, "start": int(slots.partition("-")[0]), "compute": compute.rstrip("]").split()}


def free_regions(state: State) -> list[tuple[int, int]]:
    """(start, length) of every run of free slots."""
    taken: set[int] = set()
    for instance in state.instances:
        taken.update(range(instance.start, instance.start + instance.size))
    regions: list[tuple[int, int]] = []
    for slot in range(state.rules.gpu.memory_slots or 0):
        if slot in taken:
            continue
        if regions and sum(regions[-1]) == slot:
            regions[-1] = (regions[-1][0], regions[-1][1] + 1)
        else:
            regions.append((slot, 1))
    return regions


def still_fits(state: State) -> dict[str, int]:
    """Return {profile name: how many more instances of it fit}, each counted alone."""
    rules = state.rules
    bits, counts = _occupied(state)
    return {rules.profiles[profile_id].name: rules.more(bits, counts, profile_id) for profile_id in rules.largest_first}


def blockers(state: State) -> list[dict[str, Any]]:
    """For each profile that no longer fits although slots are free: return the start with the fewest blocking
    instances.

    Idle instances can be removed, so a start that only they block comes before one with a busy instance.
    """
    rules = state.rules
    users = {process.gpu_instance_id for process in state.processes}
    fitting = still_fits(state)
    free = (rules.gpu.memory_slots or 0) - sum(instance.size for instance in state.instances)
    found = []
    for profile_id in rules.largest_first:
        profile = rules.profiles[profile_id]
        counts = _occupied(state)[1]
        if fitting[profile.name] or profile.size > free or counts.get(profile_id, 0) >= profile.max_instances:
            continue
        ways = []
        for start in profile.starts:
            end = start + profile.size
            ways.append((start, [one for one in state.instances if one.start < end and start < one.start + one.size]))
        start, way = min(
            ways, key=lambda entry: (sum(one.instance_id in users for one in entry[1]), len(entry[1]), entry[0])
        )
        found.append({"profile": profile.name, "start": start, "blocked_by": [_at(instance) for instance in way]})
    return found


def _occupied(state: State) -> tuple[int, Counter[int]]:
    bits = 0
    for instance in state.instances:
        bits |= ((1 << instance.size) - 1) << instance.start
    known = Counter(one.profile_id for one in state.instances if one.profile_id in state.rules.profiles)
    return bits, known


def _line(instance: Instance) -> str:
    compute = " ".join(f"{slices}c" for slices in instance.slices)
    return f"{_slots(instance)} {instance.name}" + (f" [{compute}]" if compute else "")


def _at(instance: Instance) -> str:
    return f"{instance.name} at {instance.start}"


def _slots(instance: Instance) -> str:
    last = instance.start + instance.size - 1
    return str(instance.start) if last == instance.start else f"{instance.start}-{last}"


def _word(mode: bool) -> str:
    return "enabled" if mode else "disabled"
