# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Customization specification of each VM: a saved one of vCenter, or one from the options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim, vmodl
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.faults import explain
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone import spec

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Data
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.params import CloneRequest, Customization
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.state import Machine, Source


def specifications(
    vcenter: VCenter, items: Sequence[Item[CloneRequest, Machine]], source: Source
) -> dict[int, vim.vm.customization.Specification]:
    """Return {id of an item: specification} of items that request one; an item with a problem gets its error."""
    kept, found = {}, {}
    for item in items:
        requested = item.requested.customization
        if not requested:
            continue
        name = requested.spec
        if name and name not in kept:
            kept[name] = _kept(vcenter, name)
        found[id(item)] = kept[name] if name else spec.linux_prep(item.requested.name, requested, source.nics)
    for name, wanted in kept.items():
        users = [
            item
            for item in items
            if item.requested.customization is not None and item.requested.customization.spec == name
        ]
        _refuse_unfit(name, wanted, users)
    for item in items:
        if id(item) in found:
            item.error = _mismatch(item, found[id(item)], source)
    return found


def _kept(vcenter: VCenter, name: str) -> vim.vm.customization.Specification:
    try:
        return vcenter.content.customizationSpecManager.GetCustomizationSpec(name=name).spec
    except vim.fault.NotFound as fault:
        raise OperatorError(
            f"customization specification {name}",
            "cannot be used for the guests",
            "vCenter has no customization specification of this name",
            "Correct `customization.spec`, or create it in vCenter (Policies and Profiles)",
            "customization_not_found",
        ) from fault
    except vmodl.MethodFault as fault:
        raise explain(fault, f"customization specification {name}", "cannot be read") from fault


def _refuse_unfit(
    name: str, wanted: vim.vm.customization.Specification, users: Sequence[Item[CloneRequest, Machine]]
) -> None:
    """Refuse a saved specification that does not give every VM its own name without asking a user."""
    host_name = getattr(wanted.identity, "hostName", None)
    if host_name is None:
        raise _unfit(
            name, "It is not for Linux guests", "Name one for Linux, or use the other options of `customization`"
        )
    if isinstance(host_name, vim.vm.customization.UnknownNameGenerator):
        raise _unfit(
            name, "It prompts for the host name each time", "Set its host name to the name of the VM in vCenter"
        )
    if isinstance(host_name, vim.vm.customization.FixedName) and len(users) > 1:
        raise _unfit(
            name,
            f"It gives the host name {host_name.name} to every VM, and {len(users)} VMs of this task use it",
            "Set its host name to the name of the VM in vCenter",
        )


def _mismatch(item: Item[CloneRequest, Machine], wanted: Data, source: Source) -> OperatorError | None:
    """The error for a specification that does not describe the adapters of the source, or None."""
    adapters = len(wanted.nicSettingMap or ())
    if source.item_id is not None:
        if adapters or cast("Customization", item.requested.customization).spec:
            return None
        found, todo = (
            ("The number of adapters of an OVF item is known only after its deployment"),
            "Set customization.networks",
        )
    elif adapters and adapters != source.nics:
        found, todo = (
            f"{source.path} has {source.nics}",
            ("List each adapter of the template in customization.networks, in their order"),
        )
    else:
        return None
    wanted = f"cannot customize {adapters or 'all'} network adapters"
    return OperatorError(f"VM {item.label}", wanted, found, todo, "customization_adapters")


def _unfit(name: str, found: str, todo: str) -> OperatorError:
    return OperatorError(
        f"customization specification {name}",
        "cannot be used for the guests",
        found,
        todo,
        "customization_unfit",
    )
