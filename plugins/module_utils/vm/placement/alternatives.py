# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Alternatives that would fit: fewer VMs, a smaller profile, less memory, another rule. Each is tried before it is
reported."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Hashable, Iterable, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import catalogue
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.profile_name import parse
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import search

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.profile_name import ProfileName
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import Rules, Vm, World
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.search import Found


_HOSTS_SHOWN = 5


class Alternatives:
    """Other requests, tried on the same hosts."""

    def __init__(self, world: World, vms: Sequence[Vm], rules: Rules, found: Found) -> None:
        self._world = world
        self._vms = vms
        self._rules = rules
        self._fitting = len(found.places)
        self._tried: dict[Hashable, bool] = {}

    def text(self, name: str, short: Sequence[Vm]) -> str:
        """Return the fix for one blocker, in one line."""
        ways = [f"{self._fitting} of {len(self._vms)} VMs"] if self._fitting else []
        other = {
            "profiles": self._profile,
            "memory": self._memory,
            "root": self._without_gpudirect,
            "pvrdma": self._not_ready,
            "host": self._out_of_use,
            "switch": self._switch,
        }.get(name)
        ways += other(short) if other is not None else []
        if self._rules.anti_affinity and self._fits(
            "anti_affinity", self._vms, replace(self._rules, anti_affinity=False)
        ):
            ways.append("all of them without anti_affinity")
        return "; ".join(ways)

    def _profile(self, short: Sequence[Vm]) -> list[str]:
        """The largest smaller profile of the board with which all VMs fit."""
        for wanted in sorted({profile for vm in short for profile in vm.profiles}):
            name = parse(wanted)
            offered = {one for host in self._world.hosts if not host.out_of_use for one in host.offered}
            others = [other for other in map(parse, offered) if other and name and _smaller(other, name)]
            for other in sorted(others, key=lambda one: (-one.gb, -(one.slices or 0), one.text)):
                vms = [
                    replace(vm, profiles=tuple(other.text if one == wanted else one for one in vm.profiles))
                    for vm in self._vms
                ]
                if self._fits(("profile", wanted, other.text), vms, self._rules):
                    return [f"all of them with {other.text}"]
            if not any(wanted in host.offered for host in self._world.hosts):
                return [self._offered(wanted, offered)]
        return []

    def _offered(self, wanted: str, offered: Iterable[str]) -> str:
        owner = catalogue.board_of(wanted)
        same = sorted(one for one in offered if owner is not None and catalogue.board_of(one) == owner)
        shown = same or sorted(offered)
        if not shown:
            return "no host offers any vGPU profile"
        more = f" and {len(shown) - 8} more" if len(shown) > 8 else ""
        return f"no host offers {wanted}; offered are {', '.join(shown[:8])}{more}"

    def _memory(self, short: Sequence[Vm]) -> list[str]:
        """The most memory per VM with which all fit, to the GB."""
        sizes = {vm.memory_mb for vm in short}
        low, high = 0, max(sizes) // 1024
        while high - low > 1:
            middle = (low + high) // 2
            vms = [replace(vm, memory_mb=min(vm.memory_mb, middle * 1024)) for vm in self._vms]
            if self._fits(("memory", middle), vms, self._rules):
                low = middle
            else:
                high = middle
        return [f"all of them with {low} GB each"] if low else []

    def _without_gpudirect(self, short: Sequence[Vm]) -> list[str]:
        if self._fits("gpudirect", self._vms, replace(self._rules, gpudirect=False)):
            return ["all of them without gpudirect"]
        return []

    def _not_ready(self, short: Sequence[Vm]) -> list[str]:
        switch = self._rules.switch
        return _reported(f"{host.name}: {host.pvrdma[switch]}" for host in self._world.hosts if host.pvrdma.get(switch))

    def _out_of_use(self, short: Sequence[Vm]) -> list[str]:
        return _reported(f"{host.name}: {host.out_of_use}" for host in self._world.hosts if host.out_of_use)

    def _switch(self, short: Sequence[Vm]) -> list[str]:
        wanted = self._rules.switch or self._rules.portgroup
        there = (host for host in self._world.hosts if wanted not in host.switches and wanted not in host.portgroups)
        return _reported(f"{host.name} has no {wanted}" for host in there)

    def _fits(self, key: Hashable, vms: Sequence[Vm], rules: Rules) -> bool:
        if key not in self._tried:
            self._tried[key] = not search.greedy(self._world, vms, rules).unplaced
        return self._tried[key]


def _smaller(other: ProfileName, name: ProfileName) -> bool:
    same = (other.board, other.series, other.mig_backed) == (name.board, name.series, name.mig_backed)
    return same and not other.media and (other.gb, other.slices or 0) < (name.gb, name.slices or 0)


def _reported(texts: Iterable[str]) -> list[str]:
    texts = list(texts)
    more = [f"{len(texts) - _HOSTS_SHOWN} more hosts"] if len(texts) > _HOSTS_SHOWN else []
    return texts[:_HOSTS_SHOWN] + more
