# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The change set of playbook restore: all steps of a journal, the last change first, and what none restores."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from ansible.errors import AnsibleFilterError
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore import clusters, drivers, hosts, machines, table
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.read import read
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.steps import (
    Cannot,
    Entry,
    Made,
    Step,
    cannot,
    net,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_PARTLY = (
    "Earlier runs changed the guests, too, and the record of a guest has only its state before all of them. Set "
    "restore_guest_driver to the package of the earlier driver to restore the driver alone, or restore_guests to true "
    "to restore that state."
)
_NO_VM = "The journal has no change of this VM in these runs. If the name is wrong, correct restore_vms."
# Ids that stay the same when an object gets another name.
STABLE = ("moid", "instance_uuid", "uuid", "pci", "mst", "path")


def plan(
    folder: str,
    start: str = "",
    stage: str = "",
    host: str = "",
    delete_vms: bool = False,
    vms: Sequence[str] | str = (),
    delete_namespaces: bool = False,
    driver_packages: Mapping[str, Any] | str | None = None,
    host_name: str = "",
) -> dict[str, Any]:
    """The change set of a stage and a host, each empty for all: {runs, problems, steps, cannot, guests}.

    guests: {changed: whether these runs changed guests, which have a record of their own, partly: whether earlier runs
    did so, too, so that the record cannot return to start}.

    start is the first run to restore; empty for the first run of the site. delete_vms: whether to delete VMs that the
    runs created, also the nodes of a cluster. vms: names of the only VMs to restore; empty for all VMs and the DRS
    settings. delete_namespaces: whether to delete empty namespaces that the runs created. driver_packages: {version of
    a host driver: its package}, see drivers.Packages. Both may be texts with several lines, from a survey of AWX.
    host_name: the present name of the host in vCenter, which may have another one since the runs.
    """
    vms = [name for line in vms.splitlines() if (name := line.strip())] if isinstance(vms, str) else vms
    reported = read(folder)
    runs = reported.runs
    if start and start not in runs:
        known = ", ".join(runs) or "none"
        raise AnsibleFilterError(
            f"Cannot restore from the run {start}. The journal {folder} has these runs: {known}. Set restore_from to "
            "one of them."
        )
    runs = runs[runs.index(start) :] if start else runs
    steps, lost = [], []
    named: set[str] = set()
    every = [_renamed(entry, host, host_name) for entry in reported.entries if entry.run in runs]
    due = [machines.plain(table.with_stage(entry)) for entry in every]
    packages = drivers.Packages(reported.entries, driver_packages or {})
    new, gone, nodes = machines.created(due), clusters.deleted_secrets(reported.entries), clusters.has_nodes(due)
    for entries in objects(due):
        last = entries[-1]
        if (stage and last.stage != stage) or (host and last.host != host):
            continue
        if last.module != "vm_clone" and last.module in machines.OF_VMS and machines.is_of(last, new):
            # A VM that did not exist before has no earlier values.
            continue
        if vms and last.stage == machines.STAGE and not machines.is_named(last, vms):
            continue
        own = drivers.prepared(entries, due, packages) if last.module == drivers.MODULE else entries
        found = inverse(own)
        if last.module in table.OF_CLUSTER:
            found = clusters.without_secrets(found, entries, gone, named)
            found = clusters.permitted(found, delete_vms, delete_namespaces)
        if last.module == clusters.HELM:
            found = clusters.without_rollback(found, entries, due, named)
        if last.module == clusters.VM_CLASS and nodes and not delete_vms:
            found = clusters.kept_classes(found)
        for one in found if delete_vms or last.module in clusters.INVERSE else machines.kept(found):
            if isinstance(one, Cannot):
                lost.append(asdict(_named(last, one)))
            else:
                steps.append((last.when, dict(shown(_named(last, one)), entries=[asdict(entry) for entry in own])))
    if stage in ("", machines.STAGE):
        unknown = [name for name in vms if not any(machines.is_named(entry, [name]) for entry in due)]
        lost += [asdict(Cannot(machines.STAGE, name, "settings", _NO_VM)) for name in unknown]
    lost += [clusters.of_kept(one) for _when, one in steps if clusters.is_kept(one, named)]
    steps = [pair for pair in steps if not clusters.is_kept(pair[1], named)]
    # The role itself starts and returns the shell of these hosts, also one that a killed run has left.
    shells = {one["host"] for _when, one in steps if one["on"] != "localhost"}
    steps = [pair for pair in steps if not (pair[1]["host"] in shells and hosts.returns_shell(pair[1]))]
    steps.sort(key=lambda pair: pair[0], reverse=True)
    # Objects of a cluster need each other in an order that later changes do not change.
    steps.sort(key=lambda pair: clusters.rank(pair[1]))
    guests = [run for run, module in reported.tasks if module in table.IN_GUESTS]
    changed = any(run in runs for run in guests)
    partly = changed and any(run not in runs for run in guests)
    if partly and not (stage or host):
        lost.append(asdict(Cannot(drivers.GUESTS, drivers.GUESTS, "settings of these runs", _PARTLY)))
    return {
        "runs": runs,
        "problems": list(reported.problems),
        "steps": [one for _when, one in steps],
        "cannot": lost,
        "guests": {"changed": changed, "partly": partly},
    }


def _renamed(entry: Entry, host: str, name: str) -> Entry:
    """The entry of the stage for a host, with the present name of the host in its request."""
    is_of = name and entry.stage == "hosts" and entry.host == host and entry.request.get("host")
    return replace(entry, request={**entry.request, "host": name}) if is_of else entry


def _named(last: Entry, one: Any) -> Any:
    """The same step, whose object names its host if it is a device or a BMC: several hosts may have the same names."""
    of_host = last.module in (*table.ON_HOST, *table.OF_BMC) and one.object != last.host
    return replace(one, object=f"{one.object} of {last.host}") if of_host else one


def objects(entries: Iterable[Entry]) -> list[list[Entry]]:
    """The entries of each object and module, the oldest first."""
    found: dict[tuple[Any, ...], list[Entry]] = {}
    for entry in entries:
        # A VM that was renamed or moved to another folder keeps its instance UUID.
        stable = ("instance_uuid",) if entry.ids.get("instance_uuid") else STABLE
        ids = tuple(str(entry.ids[name]) for name in stable if entry.ids.get(name))
        found.setdefault((entry.module, entry.host, *(ids or (entry.label,))), []).append(entry)
    return list(found.values())


def inverse(entries: Sequence[Entry]) -> list[Any]:
    """The steps of one object, and what none restores."""
    module = entries[-1].module
    if module in (*table.PASSING, *table.IN_GUESTS):
        return []
    if module not in table.INVERSE:
        return [
            cannot(entries, path, f"This release has no function that restores changes of {module}.")
            for path in net(entries)
        ]
    return list(table.INVERSE[module](entries))


def shown(step: Step) -> dict[str, Any]:
    """A step as data for a playbook; on is the host whose connection its module needs."""
    on = step.host if step.module in table.ON_HOST else "localhost"
    return dict(asdict(step), on=on, place=clusters.place(step))


def entry_of(data: Mapping[str, Any]) -> Entry:
    """An entry from the data of a step."""
    return Entry(**{**data, "changes": tuple(Made(**change) for change in data["changes"])})


def narrowed(step: Mapping[str, Any], paths: Iterable[str]) -> Step | None:
    """The same step for some of its settings alone; None if its module cannot restore them without the others."""
    wanted = set(paths)
    entries = [entry_of(data) for data in step["entries"]]
    fewer = [
        Entry(**{**vars(entry), "changes": tuple(made for made in entry.changes if made.path in wanted)})
        for entry in entries
    ]
    left = [entry for entry in fewer if entry.changes]
    for one in inverse(left) if left else ():
        if isinstance(one, Step) and set(one.back) == wanted:
            return one
    return None
