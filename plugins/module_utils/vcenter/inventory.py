# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The inventory as a tree: who is whose parent, and the paths that follow from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterable, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import retrieve

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Ref
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter

# A VM inside a vApp has no parent folder of its own, and a vApp inside another one has only that.
_PARENTS: dict[str, tuple[str, ...]] = {
    "VirtualMachine": ("parent", "parentVApp"),
    "VirtualApp": ("parentFolder", "parentVApp"),
    "Folder": ("parent",),
    "Datacenter": ("parent",),
}
_DOWN = (("Folder", "childEntity"), ("Datacenter", "vmFolder"), ("VirtualApp", "vm"), ("VirtualApp", "resourcePool"))
_UP = tuple((kind, path) for kind, paths in _PARENTS.items() for path in paths)


class Tree:
    """Rows by MoID, with paths."""

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self._rows = {row.moid: row for row in rows}

    def of_kind(self, kind: str) -> list[Row]:
        return [row for row in self._rows.values() if row.kind == kind]

    def row(self, moid: str) -> Row | None:
        return self._rows.get(moid)

    def add(self, other: Tree) -> None:
        self._rows.update(other._rows)

    def ancestors(self, row: Row | None) -> list[Row]:
        """Return the rows from the object itself up to the root, as far as they are visible."""
        chain: list[Row] = []
        while row is not None and row not in chain:
            chain.append(row)
            refs = [row.get(path) for path in _PARENTS.get(row.kind, ())]
            row = next((self._rows.get(ref._GetMoId()) for ref in refs if ref is not None), None)
        return chain

    def datacenter(self, row: Row) -> Row | None:
        """The row of the datacenter that the object lives in."""
        return next((entry for entry in self.ancestors(row) if entry.kind == "Datacenter"), None)

    def path(self, row: Row) -> str:
        """The inventory path as vCenter writes it, with its escapes; the root folder has no name in it."""
        chain = self.ancestors(row)
        top = chain[-1]
        if len(chain) > 1 and top.kind == "Folder" and top.get("parent") is None and "parent" not in top.missing:
            chain = chain[:-1]
        return "/" + "/".join(entry.get("name", "?") for entry in reversed(chain))


def read_down(vcenter: VCenter, start: Ref, vm_properties: Sequence[str] = ()) -> Tree:
    """The tree of all VMs below a folder or datacenter, one request."""
    return Tree(retrieve(vcenter, _select(vm_properties), [start], _DOWN))


def read_datacenters(vcenter: VCenter) -> Tree:
    """The tree of all datacenters, one small request."""
    select = {kind: ("name",) + _PARENTS[kind] for kind in ("Folder", "Datacenter")}
    return Tree(retrieve(vcenter, select, [vcenter.content.rootFolder], [("Folder", "childEntity")]))


def read_up(vcenter: VCenter, refs: Iterable[Ref]) -> Tree:
    """The tree of some VMs and everything above them, one request; VMs that do not exist are left out."""
    return Tree(retrieve(vcenter, _select(()), refs, _UP, skip_gone=True))


def _select(vm_properties: Sequence[str]) -> dict[str, tuple[str, ...]]:
    select = {kind: ("name",) + paths for kind, paths in _PARENTS.items()}
    select["VirtualMachine"] += tuple(vm_properties)
    return select
