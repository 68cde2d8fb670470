# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Find the VM of each request, and in check mode predict a VM that earlier tasks would have created."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import find

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item, S
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Ref
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.request import R, VmRequest


def look_up(
    vcenter: VCenter, items: Sequence[Item[VmRequest[R], S]], datacenter: str | None, planning: bool
) -> dict[int, Ref]:
    """Return {id of item: reference} of the object to read for each item; the other items have got their error.

    planning: a missing VM is no error if its request names the template for its creation.
    """
    named = list(dict.fromkeys(filter(None, map(_template, items)))) if planning else []
    requests = [item.requested.identity for item in items] + [_identity(name) for name in named]
    answers = find.find_vms(vcenter, requests, datacenter)
    templates = dict(zip(named, answers[len(items) :]))
    refs: dict[int, Ref]
    owners: dict[str, list[Item[VmRequest[R], S]]]
    refs, owners = {}, {}
    for item, found in zip(items, answers):
        if isinstance(found, OperatorError):
            source = templates.get(_template(item) or "") if planning and found.code == "vm_not_found" else None
            if source is None or isinstance(source, OperatorError):
                item.error = source or found
                continue
            item.ids.update(name=item.requested.identity.get("name") or item.label, moid=None, path=None)
            refs[id(item)] = source.ref
            continue
        item.ids.update(name=found.name, moid=found.moid, path=found.path)
        refs[id(item)] = found.ref
        owners.setdefault(found.moid, []).append(item)
    for twins in owners.values():
        if len(twins) > 1:
            _refuse_twins(twins)
    return refs


def templates_of(vcenter: VCenter, items: Sequence[Item[VmRequest[R], S]], datacenter: str | None) -> dict[int, Ref]:
    """Return {id of item: reference of the template of its VM}, for requests that name an existing template."""
    named = [(item, name) for item, name in zip(items, map(_template, items)) if name]
    answers = find.find_vms(vcenter, [_identity(name) for _item, name in named], datacenter) if named else []
    refs = {id(item): found.ref for (item, _name), found in zip(named, answers) if not isinstance(found, OperatorError)}
    for item, _name in named:
        if id(item) in refs:
            item.ids.update(moid=None, path=None)
    return refs


def planned_of(item: Item[VmRequest[R], S]) -> dict[str, Any]:
    """Predict the VM that earlier tasks of the play will have created, from the data of the request."""
    return {key: value for key, value in item.requested.planned.items() if value is not None}


def _template(item: Item[VmRequest[R], S]) -> str | None:
    return planned_of(item).get("template")


def _identity(name: str) -> dict[str, str]:
    return {"path" if "/" in name else "name": name}


def _refuse_twins(twins: Sequence[Item[VmRequest[R], S]]) -> None:
    labels = [item.label for item in twins]
    for item in twins:
        item.error = OperatorError(
            f"VM {item.label}",
            "is listed more than once in `vms`",
            f"The entries {', '.join(labels)} are the same VM, {item.ids['path']}.",
            "Remove all but one of them, and put all settings of the VM into that entry.",
            "duplicate_vm",
            entries=labels,
        )
