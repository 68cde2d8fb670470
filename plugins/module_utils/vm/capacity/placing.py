# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Capacity for a placement: the devices of a request, and limits where vCenter reports less than the model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity import check, server
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity.model import UNSURE, Wanted, basis, numbers
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import DIRECT

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity.check import Check
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import Host, World
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.scope import Scope


_NO_GPU = "the request has no GPU"


def capacity(
    vcenter: VCenter, scope: Scope, world: World, now: Callable[[], World], requested: Mapping[str, Any]
) -> tuple[World, list[Check], dict[str, Any]]:
    """Return the world with the limits that vCenter reports, the checks, and the result of the task."""
    wanted = devices(world, requested)
    why = server.why_not(vcenter) if wanted else _NO_GPU
    if why:
        return world, [], {"source": check.MODEL, "why_model": [why], "checks": [], "unsure": _unsure(world, wanted)}
    present = now().hosts
    found = check.sparing(check.asking(vcenter), scope, present, wanted)
    result = {
        "source": check.source_of(found),
        "why_model": check.reasons(found),
        "checks": [check.row(one) for one in found],
        "unsure": [] if check.source_of(found) == check.SERVER else _unsure(world, wanted),
    }
    return limited(world, present, found), found, result


def _unsure(world: World, wanted: Sequence[Wanted]) -> list[str]:
    """Return the profiles of which no vendor publishes how many fit on a GPU of this world."""
    return [one.profile for one in wanted if one.profile and basis(world.hosts, one) == UNSURE]


def devices(world: World, requested: Mapping[str, Any]) -> list[Wanted]:
    """Return the distinct devices that the VMs of the request need."""
    profiles = sorted({profile for entry in requested["vms"] for profile in entry["profiles"]})
    found = [Wanted(profile) for profile in profiles]
    if any(entry["gpus"] for entry in requested["vms"]):
        label = requested["gpu_label"] or ""
        direct = [gpu for host in world.hosts for gpu in host.gpus if gpu.mode == DIRECT and gpu.device_id]
        ids = sorted({(gpu.vendor_id, gpu.device_id) for gpu in direct if label in ("", gpu.label)})
        found += [Wanted("", vendor, device, label) for vendor, device in ids]
    return found


def limited(world: World, present: Sequence[Host], found: Sequence[Check]) -> World:
    """Return the world in which a host gives no more devices than vCenter reports.

    The VMs of the request have what they have now: their devices count beside those that are free.
    """
    there = {host.moid: host for host in present}
    hosts = [replace(host, limits=_limits(host, there.get(host.moid), found)) for host in world.hosts]
    return replace(world, hosts=tuple(hosts))


def _limits(host: Host, now: Host | None, found: Sequence[Check]) -> dict[str, int]:
    mine = [one for one in found if one.place.moid == host.moid and one.place.kind == server.HOST]
    limits: dict[str, int] = {}
    if now is None or not any(_lower(one) for one in mine):
        return limits
    for one in mine:
        own = numbers(now, one.wanted).used - numbers(host, one.wanted).used
        if _lower(one) or not one.wanted.profile:
            free = min(one.numbers.free, one.model.free)
            limits[one.wanted.profile] = limits.get(one.wanted.profile, 0) + free + own
    return limits


def _lower(one: Check) -> bool:
    return one.numbers.free < one.model.free


def footer(result: Mapping[str, Any]) -> str:
    """Return the lines below the table: who answered, and maxima without a source. Empty if vCenter was not asked."""
    unsure = ""
    if result["unsure"]:
        unsure = (
            f"No vendor document states how many {', '.join(result['unsure'])} fit on one GPU [unsure]. The model of "
            "this collection has a default. most_per_gpu (in a site: site.gpu.most_per_gpu) replaces it.\n"
        )
    if not result["checks"]:
        return unsure
    who = {check.SERVER: "vCenter", check.MODEL: "the model", check.MIXED: "vCenter and the model"}[result["source"]]
    why = f" ({'; '.join(result['why_model'])})" if result["why_model"] else ""
    return f"GPU capacity answered by {who}{why}.\n{unsure}"


def warnings(found: Sequence[Check]) -> list[str]:
    """Return a sentence for each disagreement, with the effect on the plan."""
    return [
        f"{one.warning} The plan uses the smaller number. gpu_capacity_info shows the GPUs and what blocks them."
        for one in check.disagreements(found)
    ]
