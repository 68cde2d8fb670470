# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The only part that asks vCenter: two requests, however many hosts and VMs there are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Callable, Collection, Iterator, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.host import dvx, port_groups
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import properties
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import peers, rows, scope
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.capacity import board_in
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import World
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.params import maxima

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import Host, Present


INVENTORY: dict[str, tuple[str, ...]] = {
    "Folder": ("name", "parent"),
    "Datacenter": ("name", "parent"),
    "ComputeResource": ("name", "parent"),
    "HostSystem": ("name", "parent"),
    "VirtualApp": ("name", "parentFolder", "parentVApp"),
    "VirtualMachine": (
        "name",
        "config.memoryReservationLockedToMax",
        "config.template",
        "parent",
        "parentVApp",
        "runtime.host",
        "runtime.powerState",
    ),
    "DistributedVirtualSwitch": ("name", "parent"),
    "DistributedVirtualPortgroup": ("name", "config.distributedVirtualSwitch", "config.uplink"),
}
DOWN = (
    ("Folder", "childEntity"),
    ("Datacenter", "hostFolder"),
    ("Datacenter", "vmFolder"),
    ("Datacenter", "networkFolder"),
    ("ComputeResource", "host"),
    ("VirtualApp", "vm"),
    ("VirtualApp", "resourcePool"),
)
_DATASTORE = ("name", "summary.accessible", "summary.freeSpace", "summary.maintenanceMode")


def read(
    vcenter: VCenter, params: Mapping[str, Any]
) -> tuple[scope.Scope, World, dict[int, Present], Callable[[], World]]:
    """(the scope, the world without the request's VMs, {number in the request: Present}, the world with all VMs)."""
    there = scope.scope_of(properties.retrieve(vcenter, INVENTORY, [vcenter.content.rootFolder], DOWN), params)
    asked = {row.moid for row, path in there.vms.values()}
    free = asked.union(params["leaving"])
    counted = [row for row in there.residents if row.moid not in asked and _counts(row)]
    select = {
        "HostSystem": rows.HOST_PROPERTIES
        + dvx.bound_properties(vcenter)
        + (("config.option",) if params["path"] == "pvrdma" else ()),
        "VirtualMachine": rows.VM_PROPERTIES,
        "Datastore": _DATASTORE,
    }
    walk = [("HostSystem", "datastore")]
    if params["path"] == "pvrdma":
        select[port_groups.KIND] = port_groups.PROPERTIES
        walk.append(port_groups.FROM_HOST)
    start = [row.ref for row, cluster in there.hosts.values()]
    start += [row.ref for row, path in there.vms.values()] + [row.ref for row in counted]
    found = {row.moid: row for row in properties.retrieve(vcenter, select, start, walk, skip_gone=True)}
    machines = {moid: rows.machine_of(row) for moid, row in found.items() if row.kind == "VirtualMachine"}
    machines = rows.bound(machines, (row for row in found.values() if row.kind == "HostSystem"))
    world = _world(there, found, machines, free, params)
    return there, world, _present(there, found, machines), lambda: _world(there, found, machines, (), params)


def _with_maxima(host: Host, known: Mapping[str, int]) -> Host:
    """Return the host whose GPUs have the maxima of their boards."""
    boards = {board_in(profile) for profile in known}
    gpus = tuple(
        replace(gpu, maxima=tuple(sorted((one, most) for one, most in known.items() if board_in(one) == gpu.board)))
        if gpu.board in boards
        else gpu
        for gpu in host.gpus
    )
    return replace(host, gpus=gpus)


def _counts(row: Row) -> bool:
    """VMs that run use something; a VM that is off may ask for a GPU or a device only if all its memory is reserved."""
    return str(row.get("runtime.powerState")) != "poweredOff" or bool(row.get("config.memoryReservationLockedToMax"))


def _world(
    there: scope.Scope,
    found: Mapping[str, Row],
    machines: Mapping[str, rows.Machine],
    left_out: Collection[str],
    params: Mapping[str, Any],
) -> World:
    on_host: dict[str, list[rows.Machine]] = {}
    for moid, machine in machines.items():
        if moid not in left_out:
            on_host.setdefault(machine.host, []).append(machine)
    overhead_mb, groups = 1024 * params["host_overhead_gb"], port_groups.groups_of(found.values())
    hosts = [
        rows.host_of(found[moid], cluster, on_host.get(moid, []), overhead_mb, groups)
        for moid, (row, cluster) in there.hosts.items()
        if moid in found
    ]
    if params["most_per_gpu"]:
        hosts = [_with_maxima(host, maxima(params["most_per_gpu"])) for host in hosts]
    hosts.sort(key=lambda host: (host.cluster, host.name, host.moid))
    return World(tuple(peers.compared(hosts)), {row.moid: store for row, store in _datastores(found)})


def _datastores(found: Mapping[str, Row]) -> Iterator[tuple[Row, tuple[str, int]]]:
    for row in found.values():
        usable = row.get("summary.accessible") and row.get("summary.maintenanceMode") in (None, "normal")
        if row.kind == "Datastore" and usable:
            yield row, (row.get("name"), (row.get("summary.freeSpace") or 0) // rows.GB)


def _present(there: scope.Scope, found: Mapping[str, Row], machines: Mapping[str, rows.Machine]) -> dict[int, Present]:
    return {
        number: rows.present_of(machines[row.moid], path, found.get(machines[row.moid].host))
        for number, (row, path) in there.vms.items()
        if row.moid in machines
    }
