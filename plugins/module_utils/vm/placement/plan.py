# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Compute the answer from the request and the world. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, Sequence, TypeVar

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import catalogue
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import answer, params, search, shortage
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import DIRECT, NONE, Rules, Vm
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.scope import near, refusal
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.vgpu import offer

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import (
        Gpu,
        Host,
        Nic,
        Present,
        World,
    )
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.scope import Problem, Scope

    D = TypeVar("D", Gpu, Nic)


_SHOWN = 5


def placement(
    world: World, scope: Scope, present: Mapping[int, Present], requested: Mapping[str, Any]
) -> answer.Answer:
    """Return the answer to a request; raises OperatorError for requests that no host can fulfil."""
    world = _narrowed(world, requested)
    _refuse_unknown(world, scope, requested)
    rules = rules_of(scope, requested)
    vms = [
        _vm(entry, number, scope.pins.get(number, ""), present.get(number), requested)
        for number, entry in enumerate(requested["vms"])
    ]
    found = search.solve(world, vms, rules)
    short = shortage.shortages(world, vms, rules, found) if found.unplaced else []
    return answer.answer(world, vms, rules, found, short)


def does_not_fit(result: answer.Answer) -> OperatorError:
    """A plan with shortages as an error."""
    short = result["shortages"]
    reported = [
        f"{one['resource']}: {one['wanted']} requested, {one['free']} free, {one['short']} short"
        + (f" (would fit: {one['would_fit']})." if one["would_fit"] else ".")
        for one in short[:_SHOWN]
    ]
    more = [f"{len(short) - _SHOWN} more shortages are in the result."] if len(short) > _SHOWN else []
    without = [entry["name"] for entry in result["vms"] if entry["host"] is None]
    count = len(result["vms"])
    names = ", ".join(without[:_SHOWN]) + (f" and {len(without) - _SHOWN} more" if len(without) > _SHOWN else "")
    return OperatorError(
        "Placement",
        f"cannot place {f'{len(without)} of {count} VMs' if count > 1 else 'the VM'}",
        f"{'This VM fits' if len(without) == 1 else 'These VMs fit'} on no host: {names}. "
        + " ".join(reported + more)
        + _carried(result)
        + _unusable(result),
        "Add the missing resources, or reduce the request to what would fit",
        "does_not_fit",
        shortages=short,
        vms=without,
    )


def _carried(result: answer.Answer) -> str:
    """Return the setting that fixes the size of GPUs, as the explanation of a shortage of profiles."""
    if not any(one["resource"].startswith("vGPUs ") for one in result["shortages"]):
        return ""
    gpus = [gpu for host in result["hosts"] if host["usable"] for gpu in host["gpus"]]
    sizes = Counter(name for gpu in gpus for name in set(gpu["carries"]))
    reported = [f"{count} {'carries' if count == 1 else 'carry'} {name}" for name, count in sorted(sizes.items())]
    return f" GPUs in use by other VMs: {' and '.join(reported)}." if reported else ""


def _unusable(result: answer.Answer) -> str:
    """The hosts that take no VM, each with the reason: another host that is usable does not hide them."""
    reported = [f"{host['name']} ({host['why_not']})" for host in result["hosts"] if not host["usable"]]
    more = f" and {len(reported) - _SHOWN} more" if len(reported) > _SHOWN else ""
    return f" Hosts that accept no VM: {', '.join(reported[:_SHOWN])}{more}." if reported else ""


def nodes_apart(reported: Sequence[str]) -> OperatorError:
    """Return the refusal for GPUs and ports that must be on one NUMA node."""
    return OperatorError(
        "Placement",
        "cannot keep each GPU on the NUMA node of its network port",
        " ".join(reported[:_SHOWN])
        + (f" {len(reported) - _SHOWN} more are in the result." if len(reported) > _SHOWN else ""),
        "Use another port or GPU of the host, or set gpu_nic_numa to any (in a site: site.machine.numa to auto)",
        "numa_apart",
    )


def no_gpudirect(names: Sequence[str]) -> str:
    """Return a warning on VMs that run without the requested feature, and that only a restart could change."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return (
        f"{', '.join(names[:_SHOWN])}{more}: GPUDirect is requested, but vSphere started these VMs with a GPU on "
        "another PCIe root than their network adapter, so their traffic goes through the processor. The VMs keep "
        "running. vSphere chooses among the GPUs of a host: reserve only GPUs near the adapter for this job, use "
        "the assignment policy consolidation, or use a vendor device group or passthrough."
    )


def rules_of(scope: Scope, requested: Mapping[str, Any]) -> Rules:
    """Return the rules for all VMs."""
    return Rules(
        policy=requested["policy"],
        anti_affinity=requested["anti_affinity"],
        gpudirect=requested["gpudirect"],
        # The search knows whole ports; the hosts of the plan have those of the path only.
        path="passthrough" if requested["path"] == "dvx" else requested["path"],
        switch=scope.switch,
        portgroup=scope.portgroup,
        max_per_vm=requested["max_per_vm"],
    )


def _vm(entry: Mapping[str, Any], number: int, pin: str, present: Present | None, requested: Mapping[str, Any]) -> Vm:
    memory_mb = entry["memory_gb"] * 1024 if entry["memory_gb"] else None
    return Vm(
        name=params.label(entry),
        profiles=tuple(entry["profiles"]),
        gpus=entry["gpus"],
        nics=params.ports(entry, requested["path"]),
        memory_mb=memory_mb or (present.memory_mb if present else 0),
        cpus=entry["cpus"] or (present.cpus if present else 0),
        disk_gb=entry["disk_gb"] or 0,
        pin=pin,
        job=entry["job"] or "",
        present=present,
    )


def _narrowed(world: World, requested: Mapping[str, Any]) -> World:
    """Return the world with only the devices that have the labels, and the requested datastore."""
    hosts: Sequence[Host] = world.hosts
    if requested["gpu_mode"] == "dvx":
        hosts = [replace(host, gpus=tuple(map(_enhanced, host.gpus))) for host in hosts]
    if requested["path"] == "dvx":
        hosts = [replace(host, nics=tuple(replace(nic, given=nic.enhanced) for nic in host.nics)) for host in hosts]
    if requested["gpu_label"]:
        hosts = [replace(host, gpus=_labelled(host.gpus, requested["gpu_label"], _is_direct)) for host in hosts]
    if requested["nic_label"]:
        hosts = [replace(host, nics=_labelled(host.nics, requested["nic_label"], _is_given)) for host in hosts]
    stores = world.datastores
    if requested["datastore"]:
        stores = {moid: store for moid, store in stores.items() if store[0] == requested["datastore"]}
        if not stores:
            names = {name for name, free in world.datastores.values()}
            found = (
                f"There is no datastore {requested['datastore']} that is in use. {near(requested['datastore'], names)}"
            )
            raise refusal("cannot be planned", [("datastore_not_found", found, "Correct datastore.")])
    return replace(world, hosts=tuple(hosts), datastores=stores)


def _enhanced(gpu: Gpu) -> Gpu:
    """Return a GPU as one for a plan of Enhanced DirectPath I/O, which uses no GPU of another mode."""
    return replace(gpu, mode=DIRECT if gpu.enhanced else NONE)


def _is_direct(gpu: Gpu) -> bool:
    return gpu.mode == DIRECT


def _is_given(nic: Nic) -> bool:
    return nic.given


def _labelled(devices: Iterable[D], label: str, concerned: Callable[[D], bool]) -> tuple[D, ...]:
    return tuple(one for one in devices if not concerned(one) or one.label == label)


def _refuse_unknown(world: World, scope: Scope, requested: Mapping[str, Any]) -> None:
    """Raise on names that only the hosts know: profiles, and the port groups of standard switches."""
    offered = sorted({profile for host in world.hosts for profile in host.offered})
    problems: list[Problem] = []
    for profile in sorted({one for entry in requested["vms"] for one in entry["profiles"]}):
        if profile in offered or catalogue.is_known(profile):
            continue
        close = offer.near(profile, offered) or offer.near(profile, catalogue.all_profiles())
        todo = (
            f"Use a similar name: {', '.join(close)}."
            if close
            else f"Use an offered one: {', '.join(offered[:8]) or 'none'}."
        )
        found = f"{profile} is not a vGPU profile that a host offers or that this collection knows."
        problems.append(("unknown_profile", found, todo))
    group = scope.portgroup
    if group:
        names = {name for host in world.hosts for name in host.portgroups}
        if group not in names:
            there = names.union(scope.distributed)
            found = f"There is no port group {group}, neither distributed nor on one of the hosts. {near(group, there)}"
            problems.append(("portgroup_not_found", found, "Correct portgroup."))
        elif requested["path"] == "pvrdma":
            found = f"Port group {group} is on standard switches, and PVRDMA needs a distributed switch."
            problems.append(
                ("portgroup_standard", found, "Use a port group of the distributed switch of the RDMA ports.")
            )
    if problems:
        raise refusal("cannot be planned", problems)
