# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The VMs of a wave of hosts: DRS moves them or they are shut down, for how long, and whether they fit. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.upgrade.fleet import MOVES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ansible_collections.aiready.vsphere.plugins.plugin_utils.upgrade.fleet import Cluster, Fleet, Host, Vm

MOVED, SHUT = "moved", "shut down and started again"


@dataclass(frozen=True)
class Evacuation:
    """One VM that leaves a host of a wave, and {bandwidth in Mbit/s: seconds for which it stops during its move}."""

    vm: str
    host: str
    how: str
    stuns: Mapping[int, int]

    @property
    def text(self) -> str:
        if not self.stuns:
            return self.vm
        return f"{self.vm} ({' or '.join(f'{seconds} s at {mbps} Mbit/s' for mbps, seconds in self.stuns.items())})"

    def as_result(self) -> dict[str, Any]:
        stuns = [{"migration_mbps": mbps, "stun_seconds": seconds} for mbps, seconds in self.stuns.items()]
        return {"vm": self.vm, "host": self.host, "how": self.how, "stun_estimates": stuns}


def of_wave(there: Cluster, due: Sequence[Host]) -> list[Evacuation]:
    """The VMs that run now on the hosts of a wave. An earlier wave may move others to these hosts."""
    moving = {host.name for host in due if host.evacuation in MOVES}
    shut = [Evacuation(name, host.name, SHUT, {}) for host in due for name in host.shut]
    return [*(Evacuation(vm.name, vm.host, MOVED, stuns(there, vm)) for vm in there.on(moving)), *shut]


def stuns(there: Cluster, vm: Vm) -> dict[int, int]:
    """The estimate of a VM: the sum of its vGPUs, for each bandwidth that vCenter estimates for all of them."""
    known = [there.stuns.get(profile) or {} for profile in vm.gpus]
    shared = [mbps for mbps in (known[0] if known else ()) if all(mbps in one for one in known)]
    return {mbps: sum(one[mbps] for one in known) for mbps in sorted(shared)}


def shortages(there: Fleet, waves: Sequence[Sequence[str]]) -> Iterator[tuple[Sequence[str], str, int, int]]:
    """(hosts, profile, vGPUs that need a place, places on all other hosts) of waves whose VMs cannot all move.

    DRS only moves VMs, so the number of vGPUs in the cluster stays the same. Each wave must therefore leave enough
    places for all of them, wherever earlier waves moved them.
    """
    cluster, due = there.cluster, {host.name: host for host in there.hosts if host.due}
    for wave in waves:
        out = [due[name] for name in wave if name in due]
        if not out or any(host.evacuation not in MOVES for host in out):
            continue
        names = [host.name for host in out]
        for profile in sorted({profile for vm in cluster.vms for profile in vm.gpus if profile in cluster.free}):
            used = [vm.host for vm in cluster.vms for one in vm.gpus if one == profile]
            places = sum(free for host, free in cluster.free[profile].items() if host not in names)
            places += sum(host not in names for host in used)
            if len(used) > places:
                yield names, profile, len(used), places
