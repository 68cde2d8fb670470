# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Rules of vm_clone for VMs, existing or not: the desired state, or the reason of the refusal. No I/O."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Iterable, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone import cloud_init, disk
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.state import Machine
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.world import stored_name

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.params import CloneRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.state import HostPlace, Source, Store, Target

_PARTS = ("metadata", "userdata", "vendordata")


def new(item: Item[CloneRequest, Machine], target: Target, source: Source, folder_path: str) -> Machine:
    """Return the desired state of a VM that does not exist yet."""
    requested = item.requested
    return Machine(
        exists=True,
        path=f"{folder_path}/{stored_name(requested.name)}",
        host=target.host.name,
        datastore=cast("Store", target.store).name,
        source=source.path,
        owner=requested.owner,
        disk_gb=requested.disk_gb or None,
        cloud_init=_parts(requested, source.cloud_init),
    )


def unfinished(item: Item[CloneRequest, Machine], source: Source) -> Machine:
    """Return the desired state of a VM that a killed run deployed from a library and did not set up."""
    refuse_shrinking(item, item.now)
    return dataclasses.replace(
        item.now,
        source=source.path,
        owner=item.requested.owner,
        disk_gb=item.requested.disk_gb or None,
        cloud_init=_parts(item.requested, item.now.cloud_init),
        finished=True,
    )


def refuse_shrinking(item: Item[CloneRequest, Machine], found: Machine) -> None:
    """Refuse the size of a disk of which nothing was known before its VM was deployed."""
    refusal = disk.refusal(found.disk, item.requested.disk_gb)
    if refusal is not None:
        cause, fix, code = refusal
        fix += ", then run the task again. Remove the VM with state=absent if you do not need it"
        raise _refused(item, f"cannot set its first disk to {item.requested.disk_gb} GB", cause, fix, code)


def claimed(item: Item[CloneRequest, Machine], wanted: Machine) -> Machine:
    """The same with its owner, where vm_clone made the VM before it wrote owners."""
    if wanted.source and not wanted.owner and not wanted.template:
        return dataclasses.replace(wanted, owner=item.requested.owner)
    return wanted


def moved(item: Item[CloneRequest, Machine], host: HostPlace | None, store: Store | None) -> Machine:
    """Return the desired state of an existing VM; host and store are the requested ones, or None."""
    now, requested = item.now, item.requested
    if now.template:
        raise _refused(
            item,
            "cannot be managed as a VM",
            "It is a template",
            "Choose another name for the VM, or convert the template to a VM",
            "is_template",
        )
    changes: dict[str, Any] = {}
    if host is not None and host.name != now.host:
        changes["host"] = host.name
    if store is not None and store.name != now.datastore:
        changes["datastore"] = store.name
    if not changes or requested.move == "keep":
        return now
    place = " and ".join(f"{what} {name}" for what, name in changes.items())
    if requested.move == "refuse":
        raise _refused(
            item,
            f"is not on {place}",
            f"It is on host {now.host}, datastore {now.datastore}",
            "Set move=cold to move it while it is off, or move=keep to leave it on its host",
            "on_another_host",
            **changes,
        )
    if now.power != "off":
        raise _refused(
            item,
            f"cannot move to {place}",
            f"It is {now.power}, and vm_clone moves VMs only while they are off, since a VM with a vGPU or a "
            "passthrough "
            "device may not migrate while it runs",
            "Power it off first (vm_power), or migrate it in vCenter",
            "running",
        )
    return dataclasses.replace(now, **changes)


def removed(item: Item[CloneRequest, Machine]) -> Machine:
    """Return the desired state of a VM to remove."""
    now = item.now
    if now.making:
        raise being_made(item, 0)
    if not now.exists:
        return now
    if now.template:
        raise _refused(
            item, "cannot be removed", "It is a template", "Remove it in vCenter, if you intend to", "is_template"
        )
    if now.source is None and now.finished:
        raise _refused(
            item,
            "cannot be removed",
            "It was not created by vm_clone, which removes only VMs that it created",
            "Remove it in vCenter, or with community.vmware.vmware_guest, if you intend to",
            "not_ours",
        )
    _refuse_other(item)
    _refuse_kept(item, now)
    if now.power != "off" and not item.requested.planned_off:
        raise _refused(
            item,
            "cannot be removed",
            f"It is {now.power}, and a running VM may be in use",
            "Power it off first (vm_power)",
            "running",
        )
    return Machine()


def _refuse_other(item: Item[CloneRequest, Machine]) -> None:
    """Refuse to delete a VM that only has the name of the requested one."""
    uuid, found = item.requested.instance_uuid, str(item.ids.get("instance_uuid") or "")
    if uuid and found.lower() != uuid:
        raise _refused(
            item,
            "cannot be removed",
            f"Its instance UUID is {found or 'unknown'}, and the request names {uuid}",
            "Correct `instance_uuid`, or remove the VM in vCenter, if you intend to",
            "other_instance",
        )


def _refuse_kept(item: Item[CloneRequest, Machine], now: Machine) -> None:
    """Refuse to delete disks that vSphere would remove together with the VM, and a VM of another owner."""
    if now.owner and now.owner != item.requested.owner:
        raise _refused(
            item,
            "cannot be removed",
            f"It belongs to {now.owner}",
            "Set `owner` to its owner, or remove it in vCenter",
            "other_owner",
        )
    if now.snapshots:
        raise _refused(
            item,
            "cannot be removed",
            "It has snapshots, which would be deleted with it",
            "Delete the snapshots in vCenter, then run the task again",
            "has_snapshots",
        )
    if now.other_disks:
        raise _refused(
            item,
            "cannot be removed",
            f"These disks do not belong to it and would be deleted with it: {', '.join(now.other_disks)}",
            "Remove the disks from the VM in vCenter and keep their files, then run the task again",
            "other_disks",
            disks=list(now.other_disks),
        )


def being_made(item: Item[CloneRequest, Machine], waited_s: int) -> OperatorError:
    """The error of a VM that another task is creating."""
    found = "Another task is creating a VM of this name"
    if waited_s:
        found += f", and has not ended within {waited_s} seconds"
    return _refused(
        item,
        f"cannot be set to state={item.requested.state}",
        found,
        "Wait for that task in vCenter, then run the task again",
        "being_made",
    )


def _parts(requested: CloneRequest, there: Iterable[str]) -> tuple[str, ...]:
    parts = set(there)
    if requested.cloud_init:
        parts.update(key.split(".")[1] for key in cloud_init.settings(requested.cloud_init, requested.name))
    return tuple(part for part in _PARTS if part in parts)


def _refused(
    item: Item[CloneRequest, Machine], wanted: str, found: str, todo: str, code: str, **data: object
) -> OperatorError:
    return OperatorError(f"VM {item.label}", wanted, found, todo, code, **data)
