# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The users of a GPU or of its instances, as far as the driver reports them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterable, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.state import lines

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.inventory import Process
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.params import MigRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.rules import Spot
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.state import Instance, State

# Holds every shared GPU of an ESXi host, and only lets a switch of the mode wait for the reboot that is due anyway.
IGNORED = ("Xorg",)


def refuse(item: Item[MigRequest, State], esxi: bool) -> None:
    """Raise if a running process would lose its GPU instance, or its GPU by a switch of the mode.

    Called just before the change and not for the plan: the host of a plan may still be in service.
    """
    now, wanted, requested = item.now, item.wanted, item.requested
    switch = now.mode_next != wanted.mode_next
    going = now.instances if not wanted.mode_next else _going(now, wanted)
    if esxi and going and requested.vsphere == "mode_only":
        raise OperatorError(
            item.label,
            "cannot disable MIG mode",
            f"It has the GPU instances {', '.join(lines(going))}. On ESXi they belong to running VMs",
            "Power these VMs off or move them, or set vsphere: instances to remove instances that were created by hand",
            "instances_in_the_way",
        )
    users = _users(now, None if switch else going)
    held = _held(now, going)
    if requested.in_use == "refuse" and users:
        raise OperatorError(
            item.label,
            "cannot switch the MIG mode" if switch else "cannot change the layout",
            f"In use by: {', '.join(users)} on {'the GPU' if switch else ', '.join(lines(held)) + ', to be removed'}",
            "Power off or move the VMs, stop the programs, or set in_use: try to let the driver decide",
            "in_use",
            users=users,
        )


def busy(state: State) -> set[Spot]:
    """The spots of the instances in which something runs."""
    used = {process.gpu_instance_id for process in state.processes}
    return {instance.spot for instance in state.instances if instance.instance_id in used}


def is_held(state: State) -> bool:
    """Return whether a process that must not be stopped delays a mode change."""
    return any(_is_ignored(process) for process in state.processes)


def _going(now: State, wanted: State) -> list[Instance]:
    """The instances that are removed, or whose compute instances are."""
    if wanted.plan is None:
        return []
    return [
        instance
        for instance in now.instances
        if instance.spot not in wanted.plan.layout or wanted.plan.layout[instance.spot] not in (None, instance.slices)
    ]


def _held(now: State, instances: Iterable[Instance]) -> list[Instance]:
    """Return the instances with running processes; all of them if a process names no instance."""
    ids = {process.gpu_instance_id for process in now.processes if not _is_ignored(process)}
    return [one for one in instances if None in ids or one.instance_id in ids]


def _users(now: State, instances: Sequence[Instance] | None) -> list[str]:
    """Names of the processes on these instances; None means the whole GPU. One without an instance may be on any."""
    if instances is not None and not instances:
        return []
    ids = None if instances is None else {None, *(instance.instance_id for instance in instances)}
    return [
        f"{process.name} (process {process.pid})"
        for process in now.processes
        if not _is_ignored(process) and (ids is None or process.gpu_instance_id in ids)
    ]


def _is_ignored(process: Process) -> bool:
    return process.name.rpartition("/")[2] in IGNORED
