# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Remaining resources of one host during planning: the only part that changes during the search."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Hashable, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import DIRECT

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import Host, Place, Rules, Vm


class Room:
    """A host with the VMs that the plan has put on it so far."""

    def __init__(self, host: Host, stores: dict[str, int], rules: Rules) -> None:
        self.host = host
        self.stores = stores
        self.rules = rules
        self.memory_mb = host.memory_free_mb
        self.vcpus = host.vcpus
        self.count = 0
        self.jobs: Counter[str] = Counter()
        self.loads = {gpu.id: gpu.carries for gpu in host.gpus}
        self.held = {gpu.id for gpu in host.gpus if gpu.held_by}
        self.vfs = {nic.pci: nic.vfs_free for nic in host.nics if nic.vfs_free}
        self.ports_held = {nic.pci for nic in host.nics if nic.held_by}
        self.limits = dict(host.limits)
        self.gpu_by_id = {gpu.id: gpu for gpu in host.gpus}
        self.nic_by_pci = {nic.pci: nic for nic in host.nics}
        self.switch = rules.switch or host.portgroups.get(rules.portgroup, "")
        # GPUs of one class are interchangeable, and so are hosts.
        self.gpu_class = {gpu.id: (gpu.board, gpu.mode, gpu.numa, gpu.root, gpu.device_id) for gpu in host.gpus}
        self.alike = self._alike()
        used_mb = sum(node.memory_mb for node in host.nodes) - host.memory_free_mb
        self.node_mb = {node.number: node.memory_mb - used_mb / len(host.nodes) for node in host.nodes}

    def take(self, vm: Vm, place: Place, sign: int = 1) -> None:
        """Put a VM on the host; with sign=-1 take it off again."""
        self.memory_mb -= sign * vm.need_mb
        self.vcpus += sign * vm.cpus
        self.count += sign
        self.jobs[vm.job] += sign
        for gpu, profile in place.gpus:
            self._load(gpu, profile, sign)
            if profile in self.limits:
                self.limits[profile] -= sign
        for pci in place.nics:
            self._port(pci, sign)
        for node in place.nodes:
            self.node_mb[node] -= sign * vm.memory_mb / len(place.nodes)
        if place.datastore:
            self.stores[place.datastore] -= sign * cast(int, vm.space_gb(self.host))

    def release(self, vm: Vm, place: Place) -> None:
        self.take(vm, place, -1)

    def signature(self) -> Hashable:
        """Equal for two states of the room in which exactly the same VMs still fit."""
        # Compared as text, since not every GPU has a NUMA node.
        gpus = sorted(((self.gpu_class[gpu], load, gpu in self.held) for gpu, load in self.loads.items()), key=repr)
        jobs = frozenset(job for job, count in self.jobs.items() if count) if self.rules.anti_affinity else None
        limits = tuple(sorted(self.limits.items()))
        return (self.alike, self.memory_mb, repr(gpus), tuple(sorted(self.vfs.items())), self._ports(), jobs, limits)

    def busy_gpus(self) -> int:
        return sum(1 for gpu, load in self.loads.items() if load or gpu in self.held)

    def _ports(self) -> tuple[str, ...]:
        return tuple(sorted(self.ports_held))

    def _load(self, gpu: str, profile: str, sign: int) -> None:
        if self.gpu_by_id[gpu].mode == DIRECT:
            (self.held.add if sign > 0 else self.held.discard)(gpu)
        elif sign > 0:
            self.loads[gpu] = tuple(sorted((*self.loads[gpu], profile)))
        else:
            left = list(self.loads[gpu])
            left.remove(profile)
            self.loads[gpu] = tuple(left)

    def _port(self, pci: str, sign: int) -> None:
        nic = self.nic_by_pci[pci]
        if nic.given:
            (self.ports_held.add if sign > 0 else self.ports_held.discard)(pci)
        elif pci in self.vfs and self.rules.path == "sriov":
            self.vfs[pci] -= sign

    def _alike(self) -> Hashable:
        host = self.host
        return (
            host.cluster,
            host.threads,
            host.version,
            host.out_of_use,
            frozenset(host.offered),
            frozenset(host.switches),
            host.datastores,
            host.pvrdma.get(self.rules.switch),
            self.switch,
            tuple((nic.pci, nic.root, nic.numa, nic.switch, nic.given) for nic in host.nics),
        )
