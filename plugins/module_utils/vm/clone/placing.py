# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Which host, resource pool and datastore each VM gets: the same answer to the same inventory, and no I/O."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.state import Target

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Ref
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.params import CloneRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.state import Compute, HostPlace, Store
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.world import World

GB = 1024**3
_NEAR = 5


class Placing:
    """Assign placements to the VMs of a task, one after the other, and remember the assigned ones."""

    def __init__(self, world: World, cluster: Compute | None, pools: Mapping[str, Ref] | None) -> None:
        self._world = world
        self._cluster = cluster
        self._pools = pools
        self._given_vms: dict[str, int] = {}
        self._given_bytes: dict[str, int] = {}

    def target(
        self, label: str, requested: CloneRequest, folder: Row, need: int, source_host: str | None = None
    ) -> Target:
        """The Target of a VM that needs this many bytes."""
        host = self._host(label, requested, need, source_host)
        store = self.store(label, requested.datastore, host, need)
        self._given_vms[host.moid] = self._given_vms.get(host.moid, 0) + 1
        self._given_bytes[store.moid] = self._given_bytes.get(store.moid, 0) + need
        return Target(folder, host, store, self.pool(label, host))

    def overfull(self) -> dict[str, tuple[Store, int]]:
        """{datastore's MoID: (its Store, bytes that were given)} of those with too little space for all together."""
        stores = self._world.stores
        return {moid: (stores[moid], given) for moid, given in self._given_bytes.items() if given > stores[moid].free}

    def store(self, label: str, wanted: str | None, host: HostPlace, need: int) -> Store:
        """The datastore that was named, else the one with the most free space left that the host sees."""
        seen = [self._world.stores[moid] for moid in host.datastores if moid in self._world.stores]
        if wanted:
            return self._named_store(label, wanted, host, seen)
        usable = [store for store in seen if store.usable]
        if not usable:
            raise _refused(
                label,
                "has no datastore",
                f"Host {host.name} has no usable datastore",
                "Connect a datastore to the host, or name another `host`",
                "no_datastore",
            )
        best = min(usable, key=lambda store: (self._given_bytes.get(store.moid, 0) - store.free, store.name))
        left = best.free - self._given_bytes.get(best.moid, 0)
        if left < need:
            raise _refused(
                label,
                f"cannot get {_gb(need)} GB of disk space",
                f"The emptiest datastore of host {host.name}, {best.name}, has {_gb(left)} GB left for it",
                "Free space there, name another `host`, or create fewer VMs",
                "no_disk_space",
                datastore=best.name,
                short_gb=_gb(need - left),
            )
        return best

    def pool(self, label: str, host: HostPlace) -> Ref:
        compute = self._world.computes[host.compute]
        if self._pools is None:
            return compute.pool
        found = self._pools.get(compute.moid)
        if found is None:
            raise _refused(
                label,
                "cannot use the resource pool of the task",
                f"{compute.name} has no resource pool of this name",
                "Correct `resource_pool`",
                "pool_not_found",
            )
        return found

    def host_named(self, label: str, wanted: str) -> HostPlace:
        """The host of the datacenter (and cluster) with this name or MoID."""
        hosts = list(self._world.hosts.values())
        found = [host for host in hosts if wanted.lower() in (host.name.lower(), host.moid)]
        if not found:
            names = {host.name.lower(): host.name for host in hosts}
            near = [names[key] for key in difflib.get_close_matches(wanted.lower(), names, n=_NEAR, cutoff=0.6)]
            near += [
                name for key, name in sorted(names.items()) if key.split(".")[0] == wanted.lower() and name not in near
            ]
            raise _refused(
                label,
                f"cannot be placed on host {wanted}",
                f"Datacenter {self._world.name} has no host of this name"
                + (f"; similar names: {', '.join(near[:_NEAR])}" if near else ""),
                "Correct `host`",
                "host_not_found",
                near=near[:_NEAR],
            )
        host = found[0]
        if self._cluster is not None and host.compute != self._cluster.moid:
            raise _refused(
                label,
                f"cannot be placed on host {host.name}",
                f"The host is in {self._world.computes[host.compute].name}, not in cluster {self._cluster.name}",
                "Name a host of the cluster, or correct `cluster`",
                "host_elsewhere",
            )
        return host

    def _host(self, label: str, requested: CloneRequest, need: int, source_host: str | None) -> HostPlace:
        if requested.host:
            host = self.host_named(label, requested.host)
            refuse_unusable(label, host)
            return host
        compute = self._cluster or self._only_compute(label, source_host)
        usable = [host for host in self._world.hosts_of(compute) if not _why_not(host)]
        if requested.datastore:
            usable = [host for host in usable if self._sees(host, requested.datastore)] or usable
        if not usable:
            raise _refused(
                label,
                f"has no host in {compute.name}",
                "None of its hosts is connected and out of maintenance mode",
                "Connect a host or end its maintenance, or name another `cluster`",
                "no_host",
            )
        return min(usable, key=lambda host: (host.vms + self._given_vms.get(host.moid, 0), host.name))

    def _only_compute(self, label: str, source_host: str | None) -> Compute:
        there = [one for one in self._world.computes.values() if self._world.hosts_of(one)]
        if len(there) == 1:
            return there[0]
        names = sorted(one.name for one in there)
        raise _refused(
            label,
            "has no cluster or host to be placed on",
            f"Datacenter {self._world.name} has {len(names)} clusters and standalone hosts: {', '.join(names)}",
            "Set `cluster`, or `host` for the VM",
            "cluster_needed",
            candidates=names,
        )

    def _sees(self, host: HostPlace, wanted: str) -> bool:
        return any(
            wanted in (self._world.stores[moid].name, moid) for moid in host.datastores if moid in self._world.stores
        )

    def _named_store(self, label: str, wanted: str, host: HostPlace, seen: Sequence[Store]) -> Store:
        store = next((one for one in seen if wanted in (one.name, one.moid)), None)
        if store is None:
            there = wanted in {one.name for one in self._world.stores.values()}
            raise _refused(
                label,
                f"cannot be placed on datastore {wanted}",
                f"Host {host.name} does not have it mounted"
                if there
                else f"Datacenter {self._world.name} has no datastore of this name",
                f"Use one of the datastores of host {host.name}: "
                f"{', '.join(sorted(one.name for one in seen)) or 'none'}",
                "datastore_not_seen" if there else "datastore_not_found",
            )
        if not store.usable:
            raise _refused(
                label,
                f"cannot be placed on datastore {wanted}",
                f"The datastore accepts no new VMs: {store.why_not}",
                "Restore it, or name another one",
                "datastore_not_usable",
            )
        return store


def choose_cluster(world: World, wanted: str | None) -> Compute | None:
    """The compute resource of this name; None where no name was given."""
    if not wanted:
        return None
    found = [one for one in world.computes.values() if wanted in (one.name, one.moid)]
    if len(found) == 1:
        return found[0]
    names = sorted(one.name for one in world.computes.values())
    raise OperatorError(
        f"cluster {wanted}",
        "cannot be used for the VMs",
        f"Datacenter {world.name} has {len(found) or 'none'} of this name; there are: {', '.join(names) or 'none'}",
        "Correct `cluster`",
        "cluster_not_found",
        candidates=names,
    )


def refuse_unusable(label: str, host: HostPlace) -> None:
    """Raise the reason why no VM can be put on a host now."""
    why_not = _why_not(host)
    if why_not:
        raise _refused(label, f"cannot be placed on host {host.name}", *why_not)


def too_little_space(label: str, store: Store, given: int) -> OperatorError:
    """The error of each VM of a datastore that cannot hold all of them."""
    return _refused(
        label,
        f"cannot get {_gb(given)} GB on datastore {store.name} for all new VMs of this task",
        f"{_gb(store.free)} GB are free, {_gb(given - store.free)} GB too few",
        "Free space, spread the VMs over more datastores, or create fewer; with disk=thin they may need less",
        "no_disk_space",
        datastore=store.name,
        short_gb=_gb(given - store.free),
    )


def _why_not(host: HostPlace) -> tuple[str, str, str] | None:
    if host.connection != "connected":
        return (
            f"vCenter reports the host as {host.connection}",
            "Connect it, or name another host",
            "host_not_connected",
        )
    if host.maintenance:
        return (
            "The host is in maintenance mode",
            "Take it out of maintenance mode, or name another host",
            "host_in_maintenance",
        )
    return None


def _gb(size: int) -> float:
    return round(size / GB, 1)


def _refused(label: str, wanted: str, found: str, todo: str, code: str, **data: object) -> OperatorError:
    return OperatorError(f"VM {label}", wanted, found, todo, code, **data)
