# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Sources of VMs: search, read, and refusal of unsuitable ones."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Iterable

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import escapes
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import retrieve
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone import cloud_init, disk
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.state import Source
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.world import moid

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Ref
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.world import World

_NEAR = 5
_PROPERTIES = (
    "config.extraConfig",
    "config.firmware",
    "config.guestId",
    "config.hardware.device",
    "config.template",
    "guest.toolsVersionStatus2",
    "runtime.connectionState",
    "runtime.host",
    "runtime.powerState",
    "summary.storage",
)
_POWER = {"poweredOn": "on", "poweredOff": "off", "suspended": "suspended"}


def find(world: World, requested: str) -> Row:
    """The row of the template with this name, path or MoID; templates go before VMs of the same name."""
    row = world.vm_by_moid(requested)
    if row is not None:
        return row
    rows = world.vm_at(requested) if "/" in requested else world.vms_named(requested)
    templates = [row for row in rows if row.get("config.template")]
    rows = templates or rows
    if len(rows) == 1:
        return rows[0]
    if rows:
        paths = sorted(world.path(row) for row in rows)
        raise OperatorError(
            f"template {requested}",
            "is ambiguous",
            f"There are {len(rows)} templates of this name: {', '.join(paths)}",
            "Use the path of one of them",
            "template_ambiguous",
            candidates=paths,
        )
    names = world.names_of_vms(templates_only=True)
    near = _near(names, requested) or sorted(names)[:_NEAR]
    raise OperatorError(
        f"template {requested}",
        "cannot be found",
        f"Datacenter {world.name} has no template of this name that this user may see"
        + (f"; there are: {', '.join(near)}" if near else ""),
        "Correct `template`",
        "template_not_found",
        near=near,
    )


def read(vcenter: VCenter, ref: Ref, path: str) -> Source:
    """The Source behind a reference, and the references of its tasks; one request."""
    rows = retrieve(vcenter, {"VirtualMachine": _PROPERTIES}, [ref])
    row = rows[0]
    devices = row.get("config.hardware.device") or ()
    storage = row.get("summary.storage")
    disks = [device for device in devices if isinstance(device, vim.vm.device.VirtualDisk)]
    extra = {option.key.lower(): option.value for option in row.get("config.extraConfig") or ()}
    tools = row.get("guest.toolsVersionStatus2")
    return Source(
        path=path,
        ref=row.ref,
        moid=row.moid,
        template=bool(row.get("config.template")),
        power=_POWER.get(str(row.get("runtime.powerState")), "off"),
        connection=str(row.get("runtime.connectionState")),
        firmware=row.get("config.firmware"),
        guest_id=row.get("config.guestId") or "",
        tools=None if tools is None else str(tools) != "guestToolsNotInstalled",
        nics=sum(isinstance(device, vim.vm.device.VirtualEthernetCard) for device in devices),
        thin_bytes=int(storage.committed) if storage is not None else 0,
        thick_bytes=sum((one.capacityInKB or 0) * 1024 for one in disks),
        cloud_init=cloud_init.parts_set(extra),
        host=moid(row.get("runtime.host")),
        disk=disk.first(devices),
    )


def refuse_unfit(source: Source, firmware: str, customized: bool) -> None:
    """Raise the reasons why no VM can be created from this source."""
    if source.connection != "connected":
        raise _unfit(
            source,
            f"vCenter reports it as {source.connection}",
            "Restore its datastore and host, or use another template",
            "template_not_connected",
        )
    if not source.template and source.power != "off":
        raise _unfit(
            source,
            f"It is a VM that is {source.power}, not a template",
            "Power it off while it is cloned, or convert it to a template",
            "source_not_off",
        )
    if firmware == "efi" and source.firmware is not None and source.firmware != "efi":
        raise _unfit(
            source,
            f"Its firmware is {source.firmware}, and GPUs with large memory windows need EFI. An installed guest does "
            "not start after its firmware is changed",
            "Install a template with EFI, or set firmware=ignore for boards that do not need it (such as the T4)",
            "template_firmware",
        )
    if customized and source.tools is False:
        raise _unfit(
            source,
            "VMware Tools are not installed in it, and without them vCenter cannot customize the guest",
            "Install open-vm-tools in the template, or use cloud_init",
            "template_without_tools",
        )


def refuse_disk(source: Source, disk_gb: int) -> None:
    """Raise why its first disk cannot get this size; the disks of an OVF are not known before it is deployed."""
    refusal = disk.refusal(source.disk, disk_gb) if source.item_id is None else None
    if refusal is not None:
        raise _unfit(source, *refusal)


def _unfit(source: Source, found: str, todo: str, code: str) -> OperatorError:
    return OperatorError(f"template {source.path}", "cannot be used as the source of VMs", found, todo, code)


def _near(names: Iterable[str], requested: str) -> list[str]:
    spoken = {escapes.unescaped(name).lower(): name for name in names}
    last = requested.rstrip("/").rpartition("/")[2].lower()
    return [spoken[key] for key in difflib.get_close_matches(last, spoken, n=_NEAR, cutoff=0.6)]
