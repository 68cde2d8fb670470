# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Resolve the request in this vCenter: its hosts, its VMs, its port group; all problems at once. Pure."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Collection, Iterable, Iterator, Mapping, Sequence, Tuple, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import escapes, inventory

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Ref
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row

    # (code, found, todo)
    Problem = Tuple[str, str, str]


_SHOWN = 8


@dataclass
class Scope:
    """The part of the inventory that a request is about."""

    # {MoID: (row, name of its cluster)}
    hosts: dict[str, tuple[Row, str]] = field(default_factory=dict)
    # {number of the VM in the request: (row, path)}
    vms: dict[int, tuple[Row, str]] = field(default_factory=dict)
    # {number of the VM in the request: MoID of the host that it is pinned to}
    pins: dict[int, str] = field(default_factory=dict)
    # Rows of all VMs that are on these hosts, without templates.
    residents: list[Row] = field(default_factory=list)
    switch: str = ""
    # Set where no distributed switch has it, so that a host's standard switch may.
    portgroup: str = ""
    # Names of all distributed port groups, reported when the requested one does not exist.
    distributed: tuple[str, ...] = ()


def scope_of(rows: Collection[Row], params: Mapping[str, Any]) -> Scope:
    """Return the scope; raises one OperatorError with every reason if there is none."""
    tree = _Tree(rows)
    problems: list[Problem] = []
    scope = Scope()
    datacenter = tree.datacenter(params["datacenter"], problems)
    clusters = tree.clusters(params["cluster"], datacenter, problems)
    if problems:
        raise _refusal(problems)
    # Names of VMs and port groups are unique in a datacenter, so the one in the cluster's datacenter matches.
    homes = {tree.home(row) for row in tree.of("ComputeResource") if row.moid in clusters}
    datacenter = homes.pop() if len(homes) == 1 else datacenter
    scope.hosts = {
        row.moid: (row, clusters[cast(str, _parent(row))]) for row in tree.of("HostSystem") if _parent(row) in clusters
    }
    if not scope.hosts:
        where = params["cluster"] or params["datacenter"] or "vCenter"
        problems.append(
            ("no_hosts", f"There is no host in {where} that this user may see.", "Add hosts, or correct it.")
        )
    _network(tree, datacenter, params, scope, problems)
    _find_vms(tree, datacenter, params, scope, problems)
    scope.residents = [
        row
        for row in tree.of("VirtualMachine")
        if _moid(row.get("runtime.host")) in scope.hosts and not row.get("config.template")
    ]
    if problems:
        raise _refusal(problems)
    return scope


def near(requested: str, names: Collection[str]) -> str:
    """A sentence with the names that may have been meant, or with some that there are."""
    lower = {name.lower(): name for name in sorted(names)}
    requested = requested.lower()
    close = [lower[name] for name in difflib.get_close_matches(requested, lower, n=5, cutoff=0.6)]
    # esx-01 for esx-01.example.com is too far apart for a comparison of letters.
    close += [full for name, full in lower.items() if name.split(".")[0] == requested and full not in close]
    if close:
        return f"Similar names: {', '.join(close)}."
    shown = sorted(names)[:_SHOWN]
    more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    return f"There are: {', '.join(shown)}{more}." if shown else "There are none."


def refusal(wanted: str, problems: Sequence[Problem]) -> OperatorError:
    """Several (code, found, todo) as one error."""
    problems = list(dict.fromkeys(problems))
    return OperatorError(
        "Placement",
        wanted,
        " ".join(found for dummy, found, todo in problems),
        " ".join(dict.fromkeys(todo for dummy, found, todo in problems)),
        problems[0][0],
        problems=[dict(zip(("code", "found", "todo"), problem)) for problem in problems],
    )


def _refusal(problems: Sequence[Problem]) -> OperatorError:
    return refusal("cannot be planned", problems)


class _Tree:
    """The rows by MoID, with the way up."""

    def __init__(self, rows: Collection[Row]) -> None:
        self._rows: Mapping[str | None, Row] = {row.moid: row for row in rows}
        self._paths = inventory.Tree(rows)

    def of(self, *kinds: str) -> list[Row]:
        return [row for row in self._rows.values() if row.kind.endswith(kinds)]

    def up(self, row: Row | None) -> Iterator[Row]:
        """Yield the rows from an object to the root."""
        while row is not None:
            yield row
            row = self._rows.get(_parent(row))

    def home(self, row: Row) -> str | None:
        """The MoID of the datacenter that an object is in."""
        return next((one.moid for one in self.up(row) if one.kind == "Datacenter"), None)

    def path(self, row: Row) -> str:
        return self._paths.path(row)

    def home_of_vm(self, row: Row) -> str | None:
        found = self._paths.datacenter(row)
        return found.moid if found is not None else None

    def datacenter(self, requested: str | None, problems: list[Problem]) -> str | None:
        """The MoID of the datacenter; None for all."""
        if not requested:
            return None
        there = self.of("Datacenter")
        rows = [row for row in there if _means(requested, row, self._paths)]
        if len(rows) == 1:
            return rows[0].moid
        if rows:
            paths = ", ".join(sorted(self.path(row) for row in rows))
            found, todo = f"Several datacenters are named {requested}: {paths}.", "Use the path of one of them."
            problems.append(("datacenter_ambiguous", found, todo))
        else:
            found = f"There is no datacenter {requested}. {near(requested, _names(there))}"
            problems.append(("datacenter_not_found", found, "Correct datacenter."))
        return None

    def clusters(self, requested: str | None, datacenter: str | None, problems: list[Problem]) -> dict[str, str]:
        """{MoID: name} of the compute resources in question."""
        there = [row for row in self.of("ComputeResource") if datacenter in (None, self.home(row))]
        if not requested:
            return {row.moid: _name(row) for row in there}
        rows = [
            row for row in there if row.kind == "ClusterComputeResource" and escapes.same_name(_name(row), requested)
        ]
        if len(rows) > 1:
            found = f"There are {len(rows)} clusters {requested} in different datacenters."
            problems.append(("cluster_ambiguous", found, "Set datacenter."))
        if not rows and not problems:
            names = _names(row for row in there if row.kind == "ClusterComputeResource")
            found = f"There is no cluster {requested}. {near(requested, names)}"
            problems.append(("cluster_not_found", found, "Correct cluster."))
        return {row.moid: _name(row) for row in rows}


def _network(
    tree: _Tree, datacenter: str | None, params: Mapping[str, Any], scope: Scope, problems: list[Problem]
) -> None:
    """Return the switch of the port group; only hosts know standard port groups."""
    switches = {row.moid: _name(row) for row in tree.of("VirtualSwitch") if datacenter in (None, tree.home(row))}
    requested, group = params["switch"], params["portgroup"]
    if requested and requested not in switches.values():
        found = f"There is no distributed switch {requested}. {near(requested, set(switches.values()))}"
        problems.append(("switch_not_found", found, "Correct switch."))
        return
    scope.switch = requested or ""
    if not group:
        return
    there = [
        (_name(row), cast(str, _moid(row.get("config.distributedVirtualSwitch"))))
        for row in tree.of("VirtualPortgroup")
        if _moid(row.get("config.distributedVirtualSwitch")) in switches and not row.get("config.uplink")
    ]
    scope.distributed = tuple(sorted({name for name, dummy in there}))
    others = sorted({switches[moid] for name, moid in there if name == group})
    homes = {moid for name, moid in there if name == group and requested in (None, "", switches[moid])}
    if len(homes) > 1:
        found = (
            f"Port group {group} is on {len(homes)} switches: {', '.join(sorted(switches[moid] for moid in homes))}."
        )
        problems.append(("portgroup_ambiguous", found, "Set switch, cluster or datacenter to select one."))
    elif homes:
        scope.switch = switches[homes.pop()]
    elif requested and others:
        found = f"Port group {group} is not on {requested}, but on {', '.join(others)}."
        problems.append(("portgroup_on_other_switch", found, "Correct switch or portgroup."))
    elif requested:
        names = {name for name, moid in there if switches[moid] == requested}
        found = f"Switch {requested} has no port group {group}. {near(group, names)}"
        problems.append(("portgroup_not_found", found, "Correct portgroup."))
    else:
        scope.portgroup = group


def _find_vms(
    tree: _Tree, datacenter: str | None, params: Mapping[str, Any], scope: Scope, problems: list[Problem]
) -> None:
    everyone = {_name(row).lower(): row for row in tree.of("HostSystem")}
    inside = {_name(row).lower(): moid for moid, (row, cluster) in scope.hosts.items()}
    by_name: dict[str, list[Row]] = {}
    for row in tree.of("VirtualMachine"):
        if datacenter in (None, tree.home_of_vm(row)):
            by_name.setdefault(escapes.unescaped(_name(row)), []).append(row)
    for number, entry in enumerate(params["vms"]):
        problems += _find_vm(tree, by_name, scope, number, entry)
        if entry["host"]:
            problems += _pin(everyone, inside, scope, number, entry)
    named: dict[str, tuple[str, list[str]]] = {}
    for number, (row, path) in scope.vms.items():
        named.setdefault(row.moid, (path, []))[1].append(_label(params["vms"][number]))
    for path, labels in named.values():
        if len(labels) > 1:
            problems.append(("vm_twice", f"{' and '.join(labels)} are the same VM, {path}.", "List each VM once."))


def _find_vm(
    tree: _Tree, by_name: Mapping[str, Sequence[Row]], scope: Scope, number: int, entry: Mapping[str, Any]
) -> Iterator[Problem]:
    requested = entry["path"] or entry["name"]
    name = escapes.unescaped(requested.rstrip("/").rpartition("/")[2])
    rows = by_name.get(name, [])
    if entry["path"]:
        rows = [row for row in rows if escapes.same_path(tree.path(row), requested)]
    if len(rows) > 1:
        paths = ", ".join(sorted(tree.path(row) for row in rows))
        yield "vm_ambiguous", f"There are {len(rows)} VMs {requested}: {paths}.", "Use path to select one."
    elif rows and rows[0].get("config.template"):
        yield "vm_is_template", f"{requested} is a template.", "Choose another name for the VM."
    elif rows and _moid(rows[0].get("runtime.host")) not in scope.hosts and _runs(rows[0]):
        found = f"VM {requested} runs on a host that is not among the requested ones."
        yield "vm_elsewhere", found, "Shut it down so that it can move, or correct cluster."
    elif rows:
        scope.vms[number] = (rows[0], tree.path(rows[0]))


def _pin(
    everyone: Collection[str], inside: Mapping[str, str], scope: Scope, number: int, entry: Mapping[str, Any]
) -> Iterator[Problem]:
    requested = entry["host"].lower()
    if requested in inside:
        scope.pins[number] = inside[requested]
    elif requested in everyone:
        found = f"Host {entry['host']} is not among the requested hosts."
        yield "host_elsewhere", found, f"Choose one of them for VM {_label(entry)}, or correct cluster."
    else:
        found = f"There is no host {entry['host']}. {near(entry['host'], set(inside))}"
        yield "host_not_found", found, f"Correct host of VM {_label(entry)}."


def _label(entry: Mapping[str, Any]) -> str:
    return entry["path"] or entry["name"]


def _means(requested: str, row: Row, paths: inventory.Tree) -> bool:
    return (
        escapes.same_path(paths.path(row), requested) if "/" in requested else escapes.same_name(_name(row), requested)
    )


def _runs(row: Row) -> bool:
    return str(row.get("runtime.powerState")) != "poweredOff"


def _names(rows: Iterable[Row]) -> set[str]:
    return {escapes.unescaped(_name(row)) for row in rows}


def _name(row: Row) -> str:
    return row.get("name", row.moid)


def _parent(row: Row) -> str | None:
    return _moid(row.get("parent"))


def _moid(ref: Ref | None) -> str | None:
    return ref._GetMoId() if ref is not None else None
