# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Finding one ESXi host, and the cluster that it is in."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Iterable, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import escapes, inventory
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import managed_type
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row, retrieve

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Ref
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter

_NEAR = 5
_MOID = re.compile(r"(host-\d+|ha-host)\Z", re.ASCII)
_STATE = "runtime.connectionState"
_POWER = "runtime.powerState"
_WALK = (("Folder", "childEntity"), ("Datacenter", "hostFolder"), ("ComputeResource", "host"))
# A cluster is a ComputeResource too.
_PLACES = ("Folder", "Datacenter", "ComputeResource")
_UP = tuple((kind, "parent") for kind in ("HostSystem",) + _PLACES)


@dataclass(frozen=True)
class HostFound:
    """A found host. cluster and cluster_ref are None for a host without a cluster."""

    ref: Ref
    moid: str
    name: str
    path: str
    cluster: str | None
    cluster_ref: Ref | None
    # Inventory path of the datacenter, without a leading slash: dcPath in file access.
    datacenter: str
    datacenter_ref: Ref | None
    connection: str
    row: Row


def find_host(
    vcenter: VCenter, name: str, properties: Sequence[str] = (), allow_unreachable: bool = False
) -> HostFound:
    """Return the host with this name, inventory path or MoID; its row holds the requested properties.

    vCenter reports remembered properties of a disconnected host. So such a host is an error unless allow_unreachable.
    """
    if not name.strip():
        raise OperatorError(
            "host", "the option is empty", "It names no host", "Set `host` to a name, path or MoID", "host_not_found"
        )
    tree, rows = _candidates(vcenter, name)
    if len(rows) != 1:
        raise _not_one(tree, name, rows)
    found = _found(vcenter, tree, rows[0], properties)
    if found.connection != "connected" and not allow_unreachable:
        raise unreachable(found)
    return found


def find_hosts(vcenter: VCenter, names: Sequence[str], properties: Sequence[str] = ()) -> list[HostFound]:
    """Return these hosts, or all if no name is given, in two requests; their rows hold the requested properties.

    Disconnected hosts are included, with the data that vCenter remembers.
    """
    tree = inventory.Tree(retrieve(vcenter, _select(), [vcenter.content.rootFolder], _WALK))
    everything = sorted(tree.of_kind("HostSystem"), key=lambda row: row.get("name", ""))
    chosen = (
        {row.moid: row for name in names for row in [_only(tree, name)]}
        if names
        else {row.moid: row for row in everything}
    )
    found = [_found(vcenter, tree, row, ()) for row in chosen.values()]
    if not found:
        return []
    rows = retrieve(vcenter, {"HostSystem": ("name", _STATE, _POWER, *properties)}, [one.ref for one in found])
    read = {row.moid: row for row in rows}
    return [replace(one, connection=str(read[one.moid].get(_STATE)), row=read[one.moid]) for one in found]


def find_each(vcenter: VCenter, names: Sequence[str]) -> dict[str, HostFound | OperatorError]:
    """{name: the host, or why no host or several have the name}, in one request."""
    tree = inventory.Tree(retrieve(vcenter, _select(), [vcenter.content.rootFolder], _WALK))
    result: dict[str, HostFound | OperatorError] = {}
    for name in names:
        try:
            result[name] = _found(vcenter, tree, _only(tree, name), ())
        except OperatorError as error:
            result[name] = error
    return result


def read_again(vcenter: VCenter, found: HostFound, properties: Iterable[str]) -> HostFound:
    """The same host with these properties as they are now, one request."""
    rows = retrieve(vcenter, {"HostSystem": ("name", _STATE, _POWER) + tuple(properties)}, [found.ref])
    return replace(found, connection=str(rows[0].get(_STATE)), row=rows[0])


def over(vcenter: VCenter, found: HostFound) -> HostFound:
    """The same host, whose own reference and services are asked over another connection."""

    def moved(ref: Ref) -> Ref:
        return vcenter.managed(ref._wsdlName, ref._GetMoId())

    row, services = found.row, found.row.get("configManager")
    if services is not None:
        named = {one.name: getattr(services, one.name) for one in services._GetPropertyList()}
        others = type(services)(**{name: moved(ref) for name, ref in named.items() if hasattr(ref, "_GetMoId")})
        row = Row(row.ref, dict(row.values, configManager=others), row.missing)
    return replace(found, ref=moved(found.ref), row=row)


def unreachable(found: HostFound) -> OperatorError:
    """The error for a host that cannot be asked now."""
    power = str(found.row.get(_POWER, "unknown"))
    todo = "Connect it in vCenter" if found.connection == "disconnected" else "Check its power and management network"
    return OperatorError(
        f"Host {found.name}",
        "is not connected to vCenter",
        f"vCenter reports the connection state {found.connection} and the power state {power}",
        f"{todo}, then run again",
        "host_not_connected",
        connection=found.connection,
        power=power,
    )


def _candidates(vcenter: VCenter, name: str) -> tuple[inventory.Tree, list[Row]]:
    """Return a tree, and its rows that match the name."""
    if _MOID.match(name):
        ref = managed_type("HostSystem")(name, vcenter.stub)
        tree = inventory.Tree(retrieve(vcenter, _select(), [ref], _UP, skip_gone=True))
        row = tree.row(name)
        if row is not None:
            return tree, [row]
    tree = inventory.Tree(retrieve(vcenter, _select(), [vcenter.content.rootFolder], _WALK))
    return tree, _among(tree, name)


def _among(tree: inventory.Tree, name: str) -> list[Row]:
    """Return the rows that match a name or an inventory path."""
    hosts = tree.of_kind("HostSystem")
    if "/" in name:
        return [row for row in hosts if escapes.same_path(_path(tree, row), name)]
    return [row for row in hosts if row.get("name", "").lower() == name.lower()]


def _only(tree: inventory.Tree, name: str) -> Row:
    """Return the one row that matches a name, an inventory path or a MoID."""
    row = tree.row(name) if _MOID.match(name) else None
    rows = [row] if row is not None else _among(tree, name)
    if len(rows) != 1:
        raise _not_one(tree, name, rows)
    return rows[0]


def _select() -> dict[str, tuple[str, ...]]:
    select: dict[str, tuple[str, ...]] = dict.fromkeys(_PLACES, ("name", "parent"))
    select["HostSystem"] = ("name", "parent", _STATE, _POWER)
    return select


def _found(vcenter: VCenter, tree: inventory.Tree, row: Row, properties: Sequence[str]) -> HostFound:
    parent = row.get("parent")
    place = tree.row(parent._GetMoId()) if parent is not None else None
    in_cluster = place is not None and place.kind == "ClusterComputeResource"
    home = next((entry for entry in _chain(tree, row) if entry.kind == "Datacenter"), None)
    found = HostFound(
        ref=row.ref,
        moid=row.moid,
        name=row.get("name", row.moid),
        path=_path(tree, row),
        cluster=escapes.unescaped(place.get("name", place.moid)) if place and in_cluster else None,
        cluster_ref=place.ref if place and in_cluster else None,
        datacenter=_path(tree, home)[1:] if home is not None else "",
        datacenter_ref=home.ref if home is not None else None,
        connection=str(row.get(_STATE)),
        row=row,
    )
    return read_again(vcenter, found, properties) if properties else found


def _path(tree: inventory.Tree, row: Row) -> str:
    """Return a path in the notation of vCenter; a standalone host has the same name as its compute resource."""
    chain = _chain(tree, row)
    if chain[-1].kind == "Folder" and chain[-1].get("parent") is None:
        chain = chain[:-1]
    return "/" + "/".join(entry.get("name", "?") for entry in reversed(chain))


def _chain(tree: inventory.Tree, row: Row | None) -> list[Row]:
    """Return the object and its parents, as far as they are visible."""
    chain: list[Row] = []
    while row is not None and row not in chain:
        chain.append(row)
        above = row.get("parent")
        row = tree.row(above._GetMoId()) if above is not None else None
    return chain


def _not_one(tree: inventory.Tree, name: str, rows: Sequence[Row]) -> OperatorError:
    if rows:
        paths = sorted(_path(tree, row) for row in rows)
        return OperatorError(
            f"Host {name}",
            "the name is not unique",
            f"There are {len(rows)}: {', '.join(paths)}",
            "Use the path or the MoID of one of them",
            "host_ambiguous",
            candidates=paths,
        )
    names = {row.get("name", "").lower(): row.get("name", "") for row in tree.of_kind("HostSystem")}
    requested = name.rstrip("/").rpartition("/")[2].lower()
    near = [names[key] for key in difflib.get_close_matches(requested, names, n=_NEAR, cutoff=0.6)]
    # esx-01 for esx-01.example.com is the usual slip, and too far apart for a comparison of letters.
    near += [full for key, full in sorted(names.items()) if key.split(".")[0] == requested and full not in near]
    found = "There is none that this user may see"
    if near:
        found += f"; near it: {', '.join(near[:_NEAR])}"
    return OperatorError(
        f"Host {name}",
        "cannot find the host",
        found,
        "Correct `host`, or check the user's permissions",
        "host_not_found",
        near=near[:_NEAR],
    )
