# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Notes on a host, saved as custom attributes in vCenter: they outlive a task, and people see them too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim, vmodl
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.faults import explain
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.transport import FateUnknown

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter

# Properties of a host's row that read() needs.
PROPERTIES = ("availableField", "customValue")
PREFIX = "aiready.vsphere."


def read(row: Row) -> dict[str, str]:
    """{name: value} of the notes of this collection on a host, names without the prefix."""
    names = {field.key: field.name for field in row.get("availableField") or []}
    values = {names.get(entry.key, ""): entry.value for entry in row.get("customValue") or []}
    return {name[len(PREFIX) :]: value for name, value in values.items() if name.startswith(PREFIX) and value}


def write(vcenter: VCenter, ref: vim.HostSystem, name: str, value: str) -> None:
    """Write a note on a host; an empty one removes it."""
    wanted = f"cannot set the custom attribute {PREFIX}{name}"
    manager = vcenter.content.customFieldsManager
    if manager is None:
        raise OperatorError(
            ref._GetMoId(),
            wanted,
            f"{vcenter.name} does not support custom attributes",
            "Connect to the host through its vCenter",
            "no_custom_attributes",
        )
    for last in (False, True):
        try:
            manager.SetField(entity=ref, key=_key(manager, PREFIX + name), value=value)
            return
        except FateUnknown:
            # The same note again is the same note.
            if last:
                raise
        except vmodl.MethodFault as fault:
            raise explain(fault, ref._GetMoId(), wanted) from fault


def _key(manager: vim.CustomFieldsManager, name: str) -> int:
    """Return the number of an attribute, which is created on first use."""
    known = {field.name: field.key for field in manager.field or []}
    if name not in known:
        try:
            return manager.AddCustomFieldDef(name=name, moType=vim.HostSystem).key
        except vim.fault.DuplicateName:
            # Another run has made it in between.
            known = {field.name: field.key for field in manager.field or []}
    return known[name]
