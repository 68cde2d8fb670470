# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The VMs on the hosts of a cluster with who created them and the GPUs that they hold: two requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Collection, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host import pci
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import args, escapes, inventory, properties
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.owner import origin_of
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import read, rows, scope

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter


_UUIDS = {"instance_uuid": "config.instanceUuid", "bios_uuid": "config.uuid"}
ARGUMENTS = dict(args.CONNECTION, **args.DATACENTER, cluster={"type": "str"})


def owners(vcenter: VCenter, params: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the result of vm_owner_info, by path."""
    tree = properties.retrieve(vcenter, read.INVENTORY, [vcenter.content.rootFolder], read.DOWN)
    there = _scope(tree, params)
    paths = inventory.Tree(tree)
    select = {"HostSystem": ("hardware.pciDevice",), "VirtualMachine": (*rows.VM_PROPERTIES, *_UUIDS.values())}
    start = [row.ref for row, cluster in there.hosts.values()] + [row.ref for row in there.residents]
    found = {row.moid: row for row in properties.retrieve(vcenter, select, start, skip_gone=True)}
    gpus = {moid: _gpus_of(found[moid]) for moid in there.hosts if moid in found}
    rows_of_vms = [(found[row.moid], paths.path(row)) for row in there.residents if row.moid in found]
    made = [_vm(row, path, there.hosts, gpus) for row, path in rows_of_vms]
    # A VM may have left the cluster since the first read.
    vms = [vm for vm in made if vm is not None]
    return sorted(vms, key=lambda vm: vm["path"])


def _scope(tree: Collection[Row], params: Mapping[str, Any]) -> scope.Scope:
    requested = dict(params, vms=[], switch=None, portgroup=None)
    try:
        return scope.scope_of(tree, requested)
    except OperatorError as error:
        raise OperatorError("VMs", "cannot read their owners", error.found, error.todo, error.code) from error


def _gpus_of(row: Row) -> set[str]:
    tree = pci.tree_of(row.get("hardware.pciDevice"), None)
    return {one.address for one in tree.all() if one.vendor == pci.NVIDIA and one.kind == pci.DISPLAY}


def _vm(
    row: Row, path: str, hosts: Mapping[str, tuple[Row, str]], gpus: Mapping[str, Collection[str]]
) -> dict[str, Any] | None:
    machine = rows.machine_of(row)
    if machine.host not in hosts:
        return None
    extra = {option.key.lower(): option.value for option in row.get("config.extraConfig") or ()}
    origin = origin_of(extra, machine.name)
    boards = [address for address in machine.devices if address in gpus.get(machine.host, ())]
    return {
        "name": escapes.unescaped(machine.name),
        "moid": machine.moid,
        "path": path,
        **{key: row.get(name) for key, name in _UUIDS.items()},
        "host": hosts[machine.host][0].get("name"),
        "power": machine.power,
        "source": origin.source,
        "owner": origin.owner,
        # A VM that is off holds nothing.
        "gpus": [] if machine.power == "off" else [*machine.profiles, *boards],
    }
