# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""DRS state of a cluster for the VMs of a task: one anti-affinity rule, and an automation level each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Ref

ON_ITS_OWN = "cluster"
LEVELS = {
    "manual": "manual",
    "partially_automated": "partiallyAutomated",
    "fully_automated": "fullyAutomated",
}
_SPOKEN = {wire: spoken for spoken, wire in LEVELS.items()}


@dataclass(frozen=True)
class Rule:
    """A rule that keeps VMs apart."""

    vms: tuple[str, ...]
    mandatory: bool
    enabled: bool = True


@dataclass(frozen=True)
class Drs:
    """The part of a cluster's DRS that a task manages."""

    rule: Rule | None
    # (name of a VM, its automation) of the VMs of the task, sorted; "cluster" where it has no override.
    automation: tuple[tuple[str, str], ...]


def automation_of(entry: vim.cluster.DrsVmConfigInfo | None) -> str:
    """Return the automation level of a VM's override."""
    if entry is None:
        return ON_ITS_OWN
    if entry.enabled is False:
        return "disabled"
    return _SPOKEN.get(str(entry.behavior), ON_ITS_OWN) if entry.behavior is not None else ON_ITS_OWN


def override(ref: Ref, level: str) -> vim.cluster.DrsVmConfigInfo:
    """The override of a VM for a level that is not the cluster's."""
    if level == "disabled":
        return vim.cluster.DrsVmConfigInfo(key=ref, enabled=False)
    return vim.cluster.DrsVmConfigInfo(key=ref, enabled=True, behavior=LEVELS[level])


def project(state: Drs) -> dict[str, object]:
    """A state as the user sees it."""
    rule = state.rule
    return {
        "rule": None if rule is None else _rule(rule),
        "automation": dict(state.automation),
    }


def compare(now: Drs, wanted: Drs) -> list[Change]:
    """The list of changes that lead from one state to the other."""
    before, after = (_rule(state.rule) if state.rule else {} for state in (now, wanted))
    changes = [
        Change(f"rule.{key}", before.get(key), after.get(key))
        for key in ("vms", "mandatory", "enabled")
        if before.get(key) != after.get(key)
    ]
    old = dict(now.automation)
    for vm, level in wanted.automation:
        if old.get(vm, ON_ITS_OWN) != level:
            changes.append(Change(f"automation.{vm}", old.get(vm, ON_ITS_OWN), level))
    return changes


def _rule(rule: Rule) -> dict[str, object]:
    return {"vms": list(rule.vms), "mandatory": rule.mandatory, "enabled": rule.enabled}
