# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""VMs that left a site: their list, the VMs to remove, and the reasons against a removal. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.escapes import unescaped
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.machine_steps import IDENTITY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

OWN = "It is a VM of the site {owner} and not in site.vms."
UNMARKED = "This collection created it, and it is not in site.vms."
OTHER_SITE = "It belongs to the site {owner}."
THIRD_PARTY = "This collection did not create it."
# A message lists at most this many VMs.
SHOWN = 5


@dataclass
class Left:
    """The result, see the filter machine_left."""

    left: list[dict[str, Any]] = field(default_factory=list)
    others: list[dict[str, Any]] = field(default_factory=list)
    remove: list[dict[str, str]] = field(default_factory=list)
    off: list[dict[str, str]] = field(default_factory=list)
    leaving: list[str] = field(default_factory=list)
    running: list[str] = field(default_factory=list)
    problems: list[dict[str, str]] = field(default_factory=list)
    reported: list[str] = field(default_factory=list)
    holding: str = ""


def left(
    found: Iterable[dict[str, Any]], vms: Iterable[Mapping[str, Any]], inputs: Mapping[str, Any]
) -> dict[str, Any]:
    """The VMs that left the site, from the VMs of a cluster (vm_owner_info) and the settings of the site."""
    owner, absent, answer = inputs["owner"], list(inputs["absent"]), Left()
    listed = {(key, _plain(vm[key])) for vm in vms for key in IDENTITY if vm.get(key)}
    pruned: list[dict[str, Any]]
    named, pruned, stay = [], [], 0
    for vm in found:
        ours = _is_ours(vm, owner)
        if any((key, _plain(vm[key])) in listed for key in IDENTITY):
            stay += bool(ours and vm["owner"])
        elif vm["name"] in absent:
            named.append(vm)
        elif ours:
            prunes = inputs["prune"] == "delete" and vm["owner"] is not None
            (pruned if prunes else answer.left).append(_reported(vm, OWN if vm["owner"] else UNMARKED))
        elif vm["gpus"]:
            answer.others.append(_reported(vm, OTHER_SITE if vm["owner"] else THIRD_PARTY))
    if len(pruned) > stay:
        answer.problems.append(_too_many(pruned, stay, owner))
        answer.left, pruned = answer.left + pruned, []
    marked = [vm for vm in answer.left if vm["owner"]]
    if inputs["prune"] == "refuse" and marked:
        answer.problems.append(_refused(marked))
    _remove(answer, named + pruned, absent, owner)
    answer.reported = [f"{vm['name']} on {vm['host']}: {vm['why']} {holds(vm)}" for vm in answer.left]
    if answer.left:
        answer.reported.append(todo(answer.left))
    answer.holding = _holding(answer)
    # No copies, because Ansible does not allow copies of its wrappers.
    return dict(vars(answer))


def _is_ours(vm: Mapping[str, Any], owner: str | None) -> bool:
    """Whether this site created a VM; an owner without a name may be any site without a name."""
    return vm["source"] is not None and vm["owner"] in (None, owner or None)


def _plain(value: str | None) -> str:
    """A name or path in the form that vCenter compares."""
    return unescaped(value or "").rstrip("/").lower()


def todo(vms: Sequence[Mapping[str, Any]]) -> str:
    """The fix that frees the GPUs of VMs that left the site."""
    running = any(vm["power"] != "off" for vm in vms)
    names = ", ".join(vm["name"] for vm in vms)
    power = " and site.power to cycle" if running else ""
    return f"Set site.absent to [{names}]{power} to remove them, or list them in site.vms."


def _reported(vm: Mapping[str, Any], why: str) -> dict[str, Any]:
    return dict(vm, why=why.format(owner=vm["owner"]))


def holds(vm: Mapping[str, Any]) -> str:
    """The power state and GPUs of a VM, as a sentence."""
    if vm["power"] == "off":
        return "It is off."
    state = "It runs" if vm["power"] == "on" else f"It is {vm['power']}"
    return f"{state} and holds {', '.join(vm['gpus'])}." if vm["gpus"] else f"{state} and holds no GPU."


def _remove(answer: Left, vms: Sequence[Mapping[str, Any]], absent: Sequence[str], owner: str | None) -> None:
    """The VMs to remove, by folder and name. vm_clone finds other names itself, and rejects VMs of other owners."""
    answer.remove = [{"name": vm["name"], "folder": vm["path"].rpartition("/")[0]} for vm in vms]
    answer.remove += [{"name": name} for name in absent if name not in {vm["name"] for vm in vms}]
    own = [vm for vm in vms if _is_ours(vm, owner)]
    answer.leaving = [vm["moid"] for vm in own]
    down = [vm for vm in own if vm["power"] != "off"]
    answer.off, answer.running = [{"moid": vm["moid"]} for vm in down], [vm["name"] for vm in down]


def _too_many(pruned: Sequence[Mapping[str, Any]], stay: int, owner: str) -> dict[str, str]:
    """A wrong or truncated site file looks like a site whose VMs have all left."""
    return {
        "found": f"Cannot prune {_listed(pruned)}. Only {stay} VMs of the site {owner} would stay.",
        "todo": f"Correct site.name and site.vms. Or name them to remove them: set site.absent to [{_names(pruned)}].",
    }


def _refused(vms: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    return {"found": f"{_listed(vms)} left the site, and site.prune is refuse.", "todo": todo(vms)}


def _holding(answer: Left) -> str:
    """A sentence each about VMs outside the site that hold GPUs, for messages about missing resources."""
    idle, others = [vm for vm in answer.left if vm["gpus"]], answer.others
    sentences = [f"VMs that left the site hold GPUs: {_listed(idle)}. {todo(idle)}"] if idle else []
    sentences += [f"VMs that the site does not define hold GPUs: {_listed(others)}."] if others else []
    return " ".join(sentences)


def _listed(vms: Sequence[Mapping[str, Any]]) -> str:
    more = f" and {len(vms) - SHOWN} more" if len(vms) > SHOWN else ""
    return ", ".join(f"{vm['name']} ({', '.join([vm['host'], *vm['gpus']])})" for vm in vms[:SHOWN]) + more


def _names(vms: Iterable[Mapping[str, Any]]) -> str:
    return ", ".join(vm["name"] for vm in vms)
