# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Findings on the training VMs and their placement, from the check of their stage. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight.finding import (
    AGAIN,
    BLOCKS,
    CHANGED,
    OK,
    OPEN,
    Finding,
    code_of,
    failed,
    refusal,
)
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages import machine_left

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

STAGE = "The stage machines makes the change."
LATER = "Run the stage hosts first; the stage machines checks it then."
# The modules for VMs, with the subject of each.
PARTS = {
    "clone": "creation",
    "config": "settings and devices",
    "power": "power",
}
# Missing features of hosts that the stage hosts may add; other failures remain.
OF_HOSTS = ("does_not_fit",)
# Start of the fix in the plan's error.
ADVICE = "Add the missing resources"


def machines(preview: Mapping[str, Any] | None, hosts_change: bool) -> list[Finding]:
    """Findings on the VMs; hosts_change: whether the stage hosts changes something first."""
    if not preview:
        return [Finding("machines", "VMs", "VMs", OPEN, "They were not checked.", todo=AGAIN)]
    answers = preview["answers"]
    return [
        *_room(preview, answers, hosts_change),
        *_left(preview, answers),
        *_vms(answers, hosts_change),
        *_running(preview),
        *_drs(answers),
    ]


def _room(
    preview: Mapping[str, Any], answers: Mapping[str, Mapping[str, Any]], hosts_change: bool
) -> Iterator[Finding]:
    answer = answers["placement"]
    if not answer or answer.get("skipped"):
        return
    where = preview["cluster"] or "all hosts"
    if failed(answer):
        later = hosts_change and code_of(answer) in OF_HOSTS
        if code_of(answer) in OF_HOSTS and preview["left"]["holding"]:
            # Before the fix, which comes last.
            holding = preview["left"]["holding"]
            answer = dict(answer, msg=answer["msg"].replace(ADVICE, f"{holding} {ADVICE}"))
        yield refusal("capacity", where, "room for the VMs", answer, OPEN if later else BLOCKS, LATER if later else "")
    elif answer["placement"]["fits"]:
        yield Finding("capacity", where, "room for the VMs", OK, answer["msg"])
        for warning in answer.get("warnings") or ():
            todo = "Use a port and a GPU on one NUMA node and PCIe root, or go on with less bandwidth."
            yield Finding("capacity", where, "distance of GPU and port", OPEN, warning, todo=todo)
    else:
        short = "; ".join(
            f"{one['resource']}: {one['wanted']} requested, {one['free']} free"
            for one in answer["placement"]["shortages"]
        )
        hosts = answer["placement"].get("hosts") or ()
        away = "; ".join(f"{one['name']}: {one['why_not']}" for one in hosts if not one["usable"])
        holding = preview["left"]["holding"]
        found = " ".join(
            [
                answer["msg"],
                *([f"{short}."] if short else []),
                *([f"Hosts that accept no VM: {away}."] if away else []),
                *([holding] if holding else []),
            ]
        )
        state, todo = (
            (OPEN, LATER) if hosts_change else (BLOCKS, "Free the missing resources or add them, or request fewer VMs.")
        )
        yield Finding("capacity", where, "room for the VMs", state, found, todo=todo)


def _left(preview: Mapping[str, Any], answers: Mapping[str, Mapping[str, Any]]) -> Iterator[Finding]:
    """Findings on VMs that left the site, third-party VMs with GPUs, and VMs to be removed."""
    there = preview["left"]
    for vm in there["left"]:
        found = f"{vm['why']} {machine_left.holds(vm)}"
        yield Finding("capacity", vm["path"], "VM that left the site", OPEN, found, todo=machine_left.todo([vm]))
    for vm in there["others"]:
        found = f"{vm['why']} {machine_left.holds(vm)}"
        yield Finding("capacity", vm["path"], "VM of others with GPUs", OK, found)
    for problem in there["problems"]:
        yield Finding("machines", "VMs", "VMs that left the site", BLOCKS, problem["found"], "", problem["todo"])
    answer = answers["removal"]
    vms = list(answer.get("vms") or [])
    if failed(answer) and not any(vm.get("failed") for vm in vms):
        yield refusal("machines", "VMs", "removal", answer)
    for vm in vms:
        name = vm.get("path") or vm["name"]
        if vm.get("failed"):
            yield refusal("machines", name, "removal", vm)
        elif vm["changed"] and vm["name"] in there["running"] and preview["power"] == "refuse":
            todo = "Set site.power to cycle, or shut it down yourself."
            yield Finding(
                "machines", name, "removal", BLOCKS, "It runs, and is removed only while it is off.", "", todo
            )
        elif vm["changed"]:
            first = " after its guest is shut down" if vm["name"] in there["running"] else ""
            yield Finding("machines", name, "removal", CHANGED, f"It is removed with its disks{first}.", todo=STAGE)


def _vms(answers: Mapping[str, Mapping[str, Any]], hosts_change: bool) -> Iterator[Finding]:
    placed = not failed(answers["placement"])
    made = {vm.get("name") for vm in answers["clone"].get("vms") or [] if vm.get("failed") or _is_made(vm)}
    for part, what in PARTS.items():
        answer = answers[part]
        vms = list(answer.get("vms") or [])
        if failed(answer) and not any(vm.get("failed") for vm in vms):
            yield from _refused(part, "VMs", what, answer, placed, hosts_change)
        for vm in vms:
            name = vm.get("path") or vm.get("name") or "VM"
            if vm.get("failed"):
                yield from _refused(part, name, what, vm, placed, hosts_change)
            elif part == "clone" and _is_made(vm):
                yield Finding("machines", name, what, CHANGED, "It is created.", todo=STAGE)
            elif vm.get("changed") and vm.get("name") not in made and part != "power":
                paths = ", ".join(change["path"] for change in vm["changes"])
                yield Finding("machines", name, what, CHANGED, f"These differ: {paths}.", todo=STAGE)
    there = [vm for vm in answers["config"].get("vms") or [] if vm.get("name") not in made]
    right = [vm for vm in there if not any(_changes(answers[part], vm) for part in PARTS if part != "power")]
    for vm in right:
        yield Finding("machines", vm.get("path") or vm["name"], "settings", OK, "No change is needed.")


def _is_made(vm: Mapping[str, Any]) -> bool:
    """Whether vm_clone would create a VM, and not move or mark an existing one."""
    return bool(vm.get("changed")) and not (vm.get("before") or {}).get("exists")


def _refused(
    part: str, name: str, what: str, answer: Mapping[str, Any], placed: bool, hosts_change: bool
) -> Iterator[Finding]:
    # Without a placement, no check of a VM that does not exist can succeed.
    if not placed and part != "clone":
        return
    later = hosts_change and part != "clone"
    category = "capacity" if code_of(answer) == "no_disk_space" else "machines"
    yield refusal(category, name, what, answer, OPEN if later else BLOCKS, LATER if later else "")


def _changes(answer: Mapping[str, Any], vm: Mapping[str, Any]) -> bool:
    return any(
        one.get("path") == vm.get("path") and one.get("name") == vm.get("name") and (one["changed"] or one["failed"])
        for one in answer.get("vms") or []
    )


def _running(preview: Mapping[str, Any]) -> Iterator[Finding]:
    running = preview["due"].get("running") or []
    for name in running:
        found = "It runs, and the change requires it to be off."
        if preview["power"] == "refuse":
            todo = "Set site.power to cycle, or shut it down yourself."
            yield Finding("machines", name, "power", BLOCKS, found, "", todo)
        else:
            yield Finding("machines", name, "power", CHANGED, found + " It is shut down and started again.", todo=STAGE)


def _drs(answers: Mapping[str, Mapping[str, Any]]) -> Iterator[Finding]:
    answer = answers["drs"]
    if failed(answer):
        yield refusal("machines", "DRS", "rules", answer)
    elif (answer.get("cluster") or {}).get("changed"):
        paths = ", ".join(change["path"] for change in answer["cluster"]["changes"])
        yield Finding("machines", "DRS", "rules", CHANGED, f"These differ: {paths}.", todo=STAGE)
