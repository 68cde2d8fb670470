# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Requests that DRS cannot or would not carry out. Pure: a cluster and a request go in, problems come out."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Container, Iterable, Iterator, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.drs.state import ON_ITS_OWN
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.rules import Problem

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Data
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.drs.cluster import Cluster
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.drs.params import DrsRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.drs.state import Drs

_NEAR = 5


def refuse_impossible(cluster: Cluster, requested: DrsRequest, names: Sequence[str], planned: Container[str]) -> None:
    """Raise every reason why the request is invalid; names are those of the VMs of the task."""
    problems = [*_drs_off(cluster, requested), *_vms(cluster, names, planned)]
    if requested.anti_affinity:
        problems += [
            *_name(cluster, requested),
            *_hosts(cluster, requested, names),
            *_conflicts(cluster, requested, names),
        ]
    if problems:
        raise OperatorError(
            f"Cluster {cluster.name}",
            _wanted(requested, names),
            " ".join(problem.found for problem in problems),
            " ".join(dict.fromkeys(problem.todo for problem in problems if problem.todo)),
            problems[0].code,
            problems=[problem._asdict() for problem in problems],
        )


def rules_of_name(cluster: Cluster, name: str) -> list[Data]:
    """The rules with this name, of whatever type."""
    return [rule for rule in cluster.rules if rule.name == name]


def is_ours(rule: Data) -> bool:
    """Return whether the rule is an anti-affinity rule for VMs."""
    return isinstance(rule, vim.cluster.AntiAffinityRuleSpec)


def together(cluster: Cluster, names: Iterable[str]) -> dict[str, list[str]]:
    """{host: names of VMs of the task that run there side by side}."""
    by_host: dict[str, list[str]] = {}
    for name in names:
        for vm in cluster.vms_named(name):
            if vm.running:
                by_host.setdefault(vm.host, []).append(vm.name)
    return {host: sorted(vms) for host, vms in by_host.items() if len(vms) > 1}


def gone(cluster: Cluster, wanted: Drs) -> OperatorError | None:
    """Return the error for VMs that left the cluster since their lookup, or None."""
    needed = {name for name, level in wanted.automation if level != ON_ITS_OWN}
    needed.update(wanted.rule.vms if wanted.rule is not None else ())
    missing = [name for name in needed if not cluster.vms_named(name)]
    if not missing:
        return None
    return OperatorError(
        f"Cluster {cluster.name}",
        "cannot change its DRS configuration",
        f"No longer in the cluster: {_listed(missing)}",
        "Check the events in vCenter for who removed or moved them, and run the task again",
        "vm_gone",
        vms=sorted(missing),
    )


def _drs_off(cluster: Cluster, requested: DrsRequest) -> Iterator[Problem]:
    if cluster.drs:
        if requested.automation not in ("ignore", ON_ITS_OWN) and not cluster.overrides_obeyed:
            yield Problem(
                "overrides_off",
                "The cluster ignores automation levels of single VMs.",
                "Switch VM automation on in the cluster's DRS settings.",
            )
        return
    yield Problem(
        "drs_off",
        "DRS is off, so rules and automation levels have no effect. VMs stay on their hosts, since "
        "without DRS only people and HA move them.",
        "Switch DRS on (vmware.vmware.cluster_drs, at least manual), or remove this task and rely on the hosts "
        "that the "
        "VMs were placed on.",
    )


def _vms(cluster: Cluster, names: Sequence[str], planned: Container[str]) -> Iterator[Problem]:
    known = sorted({vm.name for vm in cluster.vms if not vm.template})
    missing: list[str]
    near: set[str]
    missing, near = [], set()
    for name in names:
        there = cluster.vms_named(name)
        if len(there) == 1 and there[0].template:
            yield Problem("template", f"{name} is a template.", "Name a VM that was created from it.")
        elif len(there) > 1:
            moids = _listed(vm.moid for vm in there)
            yield Problem("vm_ambiguous", f"{name} is the name of {len(there)} VMs: {moids}.", "Use the MoID of one.")
        elif not there and name not in planned:
            missing.append(name)
            near.update(set(difflib.get_close_matches(name, known, n=_NEAR, cutoff=0.6)) - set(names))
    if missing:
        yield Problem(
            "vm_not_in_cluster",
            f"Not in the cluster: {_listed(missing)}{'; near them: ' + _listed(near) if near else ''}.",
            "Correct the names, or move the VMs into the cluster first.",
        )


def _name(cluster: Cluster, requested: DrsRequest) -> Iterator[Problem]:
    there = rules_of_name(cluster, requested.name)
    others = [rule for rule in there if not is_ours(rule)]
    if others:
        yield Problem(
            "rule_of_other_type",
            f"Rule {requested.name} exists, and is {_kind(others[0])}.",
            "Choose another name, or remove that rule.",
        )
    elif len(there) > 1:
        yield Problem(
            "rule_ambiguous",
            f"There are {len(there)} rules named {requested.name}.",
            "Remove all but one in vCenter.",
        )


def _hosts(cluster: Cluster, requested: DrsRequest, names: Sequence[str]) -> Iterator[Problem]:
    if len(names) < 2:
        yield Problem(
            "too_few_vms",
            f"All entries of the task are the same VM, {names[0]}.",
            "Name at least two VMs, each by its name or by its MoID.",
        )
    if requested.mandatory and len(names) > cluster.hosts:
        yield Problem(
            "too_few_hosts",
            f"{len(names)} VMs need one host each, and the cluster has {cluster.hosts} hosts.",
            "List fewer VMs, add hosts, or set mandatory=false.",
        )


def _conflicts(cluster: Cluster, requested: DrsRequest, names: Iterable[str]) -> Iterator[Problem]:
    moids = {vm.moid for name in names for vm in cluster.vms_named(name)}
    for rule in cluster.rules:
        if not isinstance(rule, vim.cluster.AffinityRuleSpec) or rule.enabled is False:
            continue
        shared = [ref for ref in rule.vm or () if ref._GetMoId() in moids]
        if len(shared) > 1:
            yield Problem(
                "conflicting_rule",
                f"Rule {rule.name} keeps {_listed(cluster.name_of(ref) for ref in shared)} on one host. If two "
                "rules contradict each other, DRS may ignore either of them.",
                f"Remove or disable rule {rule.name}, or remove these VMs from it.",
            )


def _wanted(requested: DrsRequest, names: Iterable[str]) -> str:
    if requested.anti_affinity:
        return f"rule {requested.name} cannot keep {_listed(names)} on separate hosts"
    return f"cannot set the automation of {_listed(names)} to {requested.automation}"


def _kind(rule: Data) -> str:
    if isinstance(rule, vim.cluster.AffinityRuleSpec):
        return "one that keeps VMs together"
    if isinstance(rule, vim.cluster.VmHostRuleInfo):
        return "one between VMs and hosts"
    return "one of another type"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
