# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Present VMs of a task: looked up in a World, and read with one request for all."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Iterable, Iterator, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import escapes
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import retrieve
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone import cloud_init, disk
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.state import UNFINISHED, Machine
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.world import moid
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.owner import origin_of

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.params import CloneRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.world import World

_PROPERTIES = (
    "config.annotation",
    "config.extraConfig",
    "config.files.vmPathName",
    "config.firmware",
    "config.instanceUuid",
    "config.template",
    "runtime.connectionState",
    "runtime.host",
    "runtime.powerState",
)
# Disks that a removal would delete with the VM, and the disk that grows.
_DEVICES = ("config.hardware.device", "snapshot")
_POWER = {"poweredOn": "on", "poweredOff": "off", "suspended": "suspended"}
# A disk that several VMs write to.
_SHARED = "sharingMultiWriter"
_LOST = ("inaccessible", "invalid", "orphaned")


def read(
    vcenter: VCenter, world: World, items: Sequence[Item[CloneRequest, Machine]]
) -> dict[int, tuple[Row, Machine]]:
    """Return {index of an item: (row of its VM, Machine)} of existing VMs; an item with a problem gets its error."""
    rows = {}
    for index, item in enumerate(items):
        try:
            row = _the_one(world, item.requested)
        except OperatorError as error:
            item.error = error
            continue
        if row is not None:
            rows[index] = row
    asked = _PROPERTIES + (_DEVICES if any(_needs_devices(item.requested) for item in items) else ())
    read_rows = retrieve(vcenter, {"VirtualMachine": asked}, [row.ref for row in rows.values()], skip_gone=True)
    details = {row.moid: row for row in read_rows}
    found = {}
    for index, row in rows.items():
        detail = details.get(row.moid)
        if detail is None:
            continue
        if str(detail.get("runtime.connectionState")) in _LOST:
            items[index].error = _lost(items[index], world.path(row), detail)
            continue
        # While vCenter copies, the new VM has a name and no configuration.
        ready = bool(detail.get("config.files.vmPathName"))
        found[index] = (detail, _machine(world, row, detail, items[index].requested) if ready else Machine(making=True))
    return found


def folder_of(world: World, requested: CloneRequest) -> Row | None:
    """Return the row of the requested folder; None if the request names none."""
    if not requested.folder:
        return None
    row = world.folder_at(requested.folder)
    if row is not None:
        return row
    paths = sorted(world.path(folder) for folder in world.folders())
    raise OperatorError(
        f"VM {requested.name}",
        f"cannot find folder {requested.folder}",
        f"Datacenter {world.name} has no such folder of VMs; there are: {', '.join(paths[:10])}",
        "Correct `folder`, or create the folder first (with community.vmware.vcenter_folder)",
        "folder_not_found",
        candidates=paths,
    )


def _the_one(world: World, requested: CloneRequest) -> Row | None:
    """Return the row of the requested VM, or None; a VM of this name in another folder does not match."""
    folder = folder_of(world, requested)
    rows = world.vms_named(requested.name)
    if folder is not None:
        here = [row for row in rows if moid(row.get("parent")) == folder.moid]
        elsewhere = [row for row in rows if row not in here and not row.get("config.template")]
        if elsewhere and not here:
            raise _elsewhere(world, requested, folder, elsewhere)
        rows = here
    if len(rows) > 1:
        raise _several(world, requested, rows)
    if not rows:
        _refuse_taken(world, requested, folder or world.vm_folder)
        return None
    stored = escapes.unescaped(rows[0].get("name", ""))
    if not escapes.same_name(stored, requested.name):
        raise _refused(
            requested,
            f"{world.path(rows[0])} has this name in a different case, and vCenter ignores the case of names",
            "Correct `name` to that spelling, or choose another one",
            "name_taken",
        )
    return rows[0]


def _needs_devices(requested: CloneRequest) -> bool:
    return requested.state == "absent" or bool(requested.disk_gb)


def _machine(world: World, row: Row, detail: Row, requested: CloneRequest) -> Machine:
    extra = {option.key.lower(): option.value for option in detail.get("config.extraConfig") or ()}
    host = world.hosts.get(moid(detail.get("runtime.host")))
    home = detail.get("config.files.vmPathName")
    devices = detail.get("config.hardware.device") or ()
    first = disk.first(devices) if requested.disk_gb else None
    origin = origin_of(extra, row.get("name", ""))
    return Machine(
        exists=True,
        path=world.path(row),
        host=host.name if host is not None else None,
        datastore=home[1 : home.index("]")] if home.startswith("[") else None,
        source=origin.source,
        owner=origin.owner,
        disk_gb=disk.gb(first) if first is not None else None,
        cloud_init=cloud_init.parts_set(extra),
        finished=detail.get("config.annotation") != UNFINISHED,
        power=_POWER.get(str(detail.get("runtime.powerState")), "off"),
        template=bool(detail.get("config.template")),
        firmware=detail.get("config.firmware"),
        snapshots=detail.get("snapshot") is not None,
        other_disks=tuple(_other_disks(home, devices)),
        disk=first,
    )


def _other_disks(home: str, devices: Iterable[vim.vm.device.VirtualDevice]) -> Iterator[str]:
    """Disks that would be deleted with the VM and are not its own."""
    own = _folder(home)
    for device in devices:
        backing = device.backing if isinstance(device, vim.vm.device.VirtualDisk) else None
        name = getattr(backing, "fileName", None) or ""
        # vSphere numbers the folder of a VM on another datastore where the name is taken.
        there = re.sub(r"_[0-9]+$", "", _folder(name))
        if name and (getattr(backing, "sharing", None) == _SHARED or own not in (there, _folder(name))):
            yield name


def _folder(path: str) -> str:
    """The folder of a file, without its datastore."""
    return path.partition("] ")[2].rpartition("/")[0]


def _refuse_taken(world: World, requested: CloneRequest, folder: Row) -> None:
    if world.taken_by_other_kind(folder, requested.name):
        raise _refused(
            requested,
            f"{world.path(folder)} has a folder or vApp of this name",
            "Choose another name or `folder`",
            "name_taken",
        )


def _elsewhere(world: World, requested: CloneRequest, folder: Row, rows: Sequence[Row]) -> OperatorError:
    paths = sorted(world.path(row) for row in rows)
    return _refused(
        requested,
        f"It is not in {world.path(folder)}, and a VM of this name is at {', '.join(paths)}",
        "Move that VM, correct `folder`, or choose another name: the module does not create a second VM of one name",
        "vm_elsewhere",
        candidates=paths,
    )


def _several(world: World, requested: CloneRequest, rows: Sequence[Row]) -> OperatorError:
    paths = sorted(world.path(row) for row in rows)
    return _refused(
        requested,
        f"There are {len(rows)} VMs of this name: {', '.join(paths)}",
        "Set `folder` to the folder of the VM",
        "vm_ambiguous",
        candidates=paths,
    )


def _lost(item: Item[CloneRequest, Machine], path: str, detail: Row) -> OperatorError:
    return _refused(
        item.requested,
        f"{path} exists, and vCenter reports it as {detail.get('runtime.connectionState')}",
        "Restore its datastore and host, or remove it from the inventory",
        "vm_not_connected",
    )


def _refused(requested: CloneRequest, found: str, todo: str, code: str, **data: object) -> OperatorError:
    wanted = "cannot be removed" if requested.state == "absent" else "cannot be created or managed"
    return OperatorError(f"VM {requested.name}", wanted, found, todo, code, **data)
