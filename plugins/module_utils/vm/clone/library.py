# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Items of content libraries as sources of VMs, over vCenter's REST services."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Mapping, cast
from urllib.parse import quote

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import rest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.state import UNFINISHED

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.state import Store, Target

_PROVISIONING = {"thin": "thin", "thick": "thick", "template": None}


@dataclass(frozen=True)
class Entry:
    """An item of a content library. template: the MoID of the template behind it, None for an OVF."""

    item_id: str
    path: str
    template: str | None
    size: int


def find(service: rest.Rest, library: str | None, item: str) -> Entry:
    """The Entry with this name, in the library of this name or in the only one that has it."""
    where = f" in library {library}" if library else ""
    subject = f"library item {item}"
    wanted = "cannot be used as the source of VMs"
    spec = {"name": item}
    libraries = None
    if library:
        libraries = _ask(service, "POST", "/api/content/library?action=find", {"name": library}, subject)
        if not libraries:
            raise OperatorError(
                f"library {library}",
                "cannot be found",
                "vCenter has no content library of this name that this user may see",
                "Correct `library`",
                "library_not_found",
            )
        spec["library_id"] = libraries[0]
    found = _ask(service, "POST", "/api/content/library/item?action=find", spec, subject) or []
    if len(found) != 1:
        raise OperatorError(
            subject,
            wanted,
            f"There are {len(found)} items of this name{where}" if found else f"There is no item of this name{where}",
            "Set `library` to the library of the item" if found else "Correct `library_item`",
            "item_ambiguous" if found else "item_not_found",
        )
    return _entry(service, found[0], library, item, subject, wanted)


def _entry(service: rest.Rest, item_id: str, library: str | None, item: str, subject: str, wanted: str) -> Entry:
    info = _ask(service, "GET", f"/api/content/library/item/{quote(item_id, safe='')}", None, subject)
    if not library:
        home = _ask(service, "GET", f"/api/content/library/{quote(info['library_id'], safe='')}", None, subject)
        library = home.get("name")
    path = f"{library}/{item}"
    kind = info.get("type")
    if kind == "vm-template":
        template = _ask(
            service, "GET", f"/api/vcenter/vm-template/library-items/{quote(item_id, safe='')}", None, subject
        )
        return Entry(item_id, path, template["vm_template"], int(info.get("size") or 0))
    if kind == "ovf":
        return Entry(item_id, path, None, int(info.get("size") or 0))
    raise OperatorError(
        subject,
        wanted,
        f"It is of type {kind}",
        "Name an item of type vm-template or ovf",
        "item_of_wrong_type",
        type=kind,
    )


def refuse_eula(service: rest.Rest, entry: Entry, target: Target, accepted: bool) -> None:
    """Raise if an OVF item requires the acceptance of a licence that the task does not accept."""
    path = f"/api/vcenter/ovf/library-item/{quote(entry.item_id, safe='')}?action=filter"
    subject = f"library item {entry.path}"
    summary = _ask(service, "POST", path, _target(target), subject) or {}
    eulas = summary.get("EULAs") or summary.get("eulas") or []
    if eulas and not accepted:
        raise OperatorError(
            subject,
            "cannot be used as the source of VMs",
            f"It has {len(eulas)} licence agreement(s) that must be accepted",
            "Read them in vCenter, then set accept_eula=true",
            "eula_not_accepted",
        )


def deploy(service: rest.Rest, entry: Entry, name: str, target: Target, disk: str, label: str, wanted: str) -> str:
    """The MoID of a new VM from an OVF item, switched off and marked as not finished."""
    spec = {
        "name": name,
        "annotation": UNFINISHED,
        "accept_all_EULA": True,
        "default_datastore_id": cast("Store", target.store).moid,
    }
    if _PROVISIONING[disk]:
        spec["storage_provisioning"] = _PROVISIONING[disk]
    path = f"/api/vcenter/ovf/library-item/{quote(entry.item_id, safe='')}?action=deploy"
    answer = _ask(service, "POST", path, dict(_target(target), deployment_spec=spec), label, wanted) or {}
    if answer.get("succeeded"):
        return answer["resource_id"]["id"]
    said = " / ".join(rest.messages_in(answer.get("error") or {})) or "vCenter gave no reason"
    raise OperatorError(
        label,
        wanted,
        f"vCenter refused to deploy {entry.path}: {said}",
        "Check the messages, and the item in vCenter",
        "deploy_refused",
        messages=rest.messages_in(answer.get("error") or {}),
    )


def _target(target: Target) -> dict[str, object]:
    return {
        "target": {
            "resource_pool_id": target.pool._GetMoId(),
            "host_id": target.host.moid,
            "folder_id": cast("Row", target.folder).moid,
        }
    }


def _ask(
    service: rest.Rest,
    method: str,
    path: str,
    body: Mapping[str, object] | None,
    label: str,
    wanted: str = "cannot read the content library",
) -> Any:
    try:
        return service.call(method, path, body)
    except rest.Answered as error:
        raise rest.refused(error, label, wanted, "content libraries") from error
