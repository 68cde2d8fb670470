# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""One datacenter from the view of vm_clone: its VMs and folders, and the possible placements. One request for all of
it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import escapes, find, inventory
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import retrieve
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.state import Compute, HostPlace, Store

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Ref
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter

_WALK = (
    ("Folder", "childEntity"),
    ("Datacenter", "vmFolder"),
    ("Datacenter", "hostFolder"),
    ("Datacenter", "datastoreFolder"),
    ("VirtualApp", "vm"),
    ("VirtualApp", "resourcePool"),
    ("ComputeResource", "host"),
)
_VM = ("name", "parent", "parentVApp", "config.template", "runtime.host")
_SELECT = {
    "VirtualMachine": _VM,
    "VirtualApp": ("name", "parentFolder", "parentVApp"),
    "Folder": ("name", "parent"),
    "Datacenter": ("name", "parent", "vmFolder"),
    "ComputeResource": ("name", "resourcePool"),
    "HostSystem": ("name", "parent", "datastore", "runtime.connectionState", "runtime.inMaintenanceMode"),
    "Datastore": ("summary",),
}


class World:
    """Reading of the datacenter."""

    def __init__(self, tree: inventory.Tree, above: inventory.Tree, home: Row) -> None:
        self.datacenter = home
        self.above = above
        self._tree = inventory.Tree()
        # Parents of the datacenter come first: its own row has more properties in the tree below.
        self._tree.add(above)
        self._tree.add(tree)
        self.hosts: dict[str | None, HostPlace] = {}
        self.stores: dict[str, Store] = {}
        self.computes: dict[str, Compute] = {}
        self._sort()

    def _sort(self) -> None:
        vms = self._tree.of_kind("VirtualMachine")
        load = Counter(moid(row.get("runtime.host")) for row in vms)
        for kind in ("ComputeResource", "ClusterComputeResource"):
            for row in self._tree.of_kind(kind):
                name = escapes.unescaped(row.get("name", row.moid))
                self.computes[row.moid] = Compute(row.moid, name, row.get("resourcePool"))
        for row in self._tree.of_kind("Datastore"):
            store = _store(row)
            if store is not None:
                self.stores[row.moid] = store
        for row in self._tree.of_kind("HostSystem"):
            self.hosts[row.moid] = HostPlace(
                ref=row.ref,
                moid=row.moid,
                name=row.get("name", row.moid),
                connection=str(row.get("runtime.connectionState")),
                maintenance=bool(row.get("runtime.inMaintenanceMode")),
                compute=cast(str, moid(row.get("parent"))),
                datastores=tuple(ref._GetMoId() for ref in row.get("datastore") or ()),
                vms=load[row.moid],
            )

    @property
    def name(self) -> str:
        return escapes.unescaped(self.datacenter.get("name", "?"))

    @property
    def vm_folder(self) -> Row:
        """The row of the datacenter's own folder of VMs."""
        return cast("Row", self._tree.row(cast(str, moid(self.datacenter.get("vmFolder")))))

    def path(self, row: Row) -> str:
        return self._tree.path(row)

    def vms_named(self, name: str) -> list[Row]:
        """Rows of VMs and templates of this name; letters of the other case count as equal, as for vCenter."""
        wanted = escapes.unescaped(name).lower()
        rows = self._tree.of_kind("VirtualMachine")
        return [row for row in rows if escapes.unescaped(row.get("name", "")).lower() == wanted]

    def names_of_vms(self, templates_only: bool) -> list[str]:
        rows = self._tree.of_kind("VirtualMachine")
        return [
            escapes.unescaped(row.get("name", "")) for row in rows if row.get("config.template") or not templates_only
        ]

    def vm_at(self, path: str) -> list[Row]:
        """Rows of VMs with this path, absolute or from the datacenter's folder of VMs."""
        rows = self._tree.of_kind("VirtualMachine")
        return [row for row in rows if self._is_at(row, path)]

    def vm_by_moid(self, wanted: str) -> Row | None:
        row = self._tree.row(wanted)
        return row if row is not None and row.kind == "VirtualMachine" else None

    def folder_at(self, path: str) -> Row | None:
        """Return the row of a folder of VMs; None if it does not exist."""
        if not path.strip("/"):
            return self.vm_folder
        return next((row for row in self.folders() if self._is_at(row, path)), None)

    def folders(self) -> list[Row]:
        """Rows of all folders of VMs, the datacenter's own included."""
        top = self.vm_folder
        return [row for row in self._tree.of_kind("Folder") if top in self._tree.ancestors(row)]

    def taken_by_other_kind(self, folder: Row, name: str) -> bool:
        """Return whether an object other than a VM has this name in a folder."""
        wanted = escapes.unescaped(name).lower()
        for kind, above in (("Folder", "parent"), ("VirtualApp", "parentFolder")):
            for row in self._tree.of_kind(kind):
                if moid(row.get(above)) == folder.moid and escapes.unescaped(row.get("name", "")).lower() == wanted:
                    return True
        return False

    def hosts_of(self, compute: Compute) -> list[HostPlace]:
        return [host for host in self.hosts.values() if host.compute == compute.moid]

    def _is_at(self, row: Row, path: str) -> bool:
        full = self._tree.path(row)
        if escapes.same_path(full, path):
            return True
        below = full[len(self._tree.path(self.vm_folder)) :]
        return not path.startswith("/") and bool(below) and escapes.same_path(below, path)


def read(vcenter: VCenter, datacenter: str | None) -> World:
    """The World of the datacenter that was named, or of the only one."""
    if datacenter:
        above, ref = find.datacenter_of_name(vcenter, datacenter)
        home = cast("Row", above.row(ref._GetMoId()))
    else:
        above = inventory.read_datacenters(vcenter)
        there = above.of_kind("Datacenter")
        if len(there) != 1:
            raise _which_datacenter(above, there)
        home = there[0]
    return _read(vcenter, above, home)


def read_again(vcenter: VCenter, world: World) -> World:
    """The same datacenter as it is now."""
    return _read(vcenter, world.above, world.datacenter)


def _read(vcenter: VCenter, above: inventory.Tree, home: Row) -> World:
    tree = inventory.Tree(retrieve(vcenter, _SELECT, [home.ref], _WALK))
    return World(tree, above, cast("Row", tree.row(home.moid)))


def moid(ref: Ref | None) -> str | None:
    return ref._GetMoId() if ref is not None else None


def stored_name(name: str) -> str:
    """A name as vCenter stores it; a percent sign that starts an escape already stays one."""
    return escapes.unescaped(name).replace("%", "%25").replace("/", "%2f").replace("\\", "%5c")


def _store(row: Row) -> Store | None:
    summary = row.get("summary")
    if summary is None:
        return None
    state = str(summary.maintenanceMode or "normal")
    why_not = "" if summary.accessible else "it is not accessible"
    if not why_not and state != "normal":
        why_not = f"its maintenance mode is {state}"
    name = escapes.unescaped(summary.name)
    return Store(row.ref, row.moid, name, int(summary.freeSpace or 0), not why_not, why_not)


def _which_datacenter(tree: inventory.Tree, there: Sequence[Row]) -> OperatorError:
    names = ", ".join(sorted(tree.path(row) for row in there))
    return OperatorError(
        "datacenter",
        "is not set",
        f"There are {len(there)} datacenters that this user may see{': ' + names if names else ''}",
        "Set `datacenter`" if there else "Check the user's permissions",
        "datacenter_needed",
        candidates=sorted(tree.path(row) for row in there),
    )


def pools_named(vcenter: VCenter, world: World, name: str) -> dict[str, Ref]:
    """{MoID of a compute resource: its resource pool of this name}, wherever below the root pool it is."""
    starts = {compute.pool._GetMoId(): compute.moid for compute in world.computes.values()}
    rows = retrieve(
        vcenter,
        {"ResourcePool": ("name", "owner")},
        [compute.pool for compute in world.computes.values()],
        [("ResourcePool", "resourcePool")],
    )
    wanted = [row for row in rows if row.moid not in starts and escapes.same_name(row.get("name", ""), name)]
    return {cast(str, moid(row.get("owner"))): row.ref for row in wanted}
