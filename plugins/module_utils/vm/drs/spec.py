# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The one reconfiguration of a cluster that leads from one state to the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.drs import rules, state

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Data
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.drs.cluster import Cluster


def reconfiguration(cluster: Cluster, name: str, now: state.Drs, wanted: state.Drs) -> vim.cluster.ConfigSpecEx:
    """Return ConfigSpecEx with the task's rule and overrides, without those of other owners."""
    spec = vim.cluster.ConfigSpecEx()
    if now.rule != wanted.rule:
        spec.rulesSpec = [_rule(cluster, name, wanted.rule)]
    before = dict(now.automation)
    spec.drsVmConfigSpec = [
        _override(cluster, vm, level) for vm, level in wanted.automation if before.get(vm, state.ON_ITS_OWN) != level
    ]
    return spec


def _rule(cluster: Cluster, name: str, wanted: state.Rule | None) -> vim.cluster.RuleSpec:
    there: Data = next((rule for rule in rules.rules_of_name(cluster, name) if rules.is_ours(rule)), None)
    if wanted is None:
        return vim.cluster.RuleSpec(operation="remove", removeKey=there.key)
    info = vim.cluster.AntiAffinityRuleSpec(
        name=name,
        enabled=True,
        mandatory=wanted.mandatory,
        userCreated=True,
        vm=[cluster.vms_named(vm)[0].ref for vm in wanted.vms],
    )
    if there is None:
        return vim.cluster.RuleSpec(operation="add", info=info)
    info.key = there.key
    return vim.cluster.RuleSpec(operation="edit", info=info)


def _override(cluster: Cluster, vm: str, level: str) -> vim.cluster.DrsVmConfigSpec:
    found = cluster.vms_named(vm)[0]
    if level == state.ON_ITS_OWN:
        return vim.cluster.DrsVmConfigSpec(operation="remove", removeKey=found.ref)
    operation = "edit" if found.moid in cluster.overrides else "add"
    return vim.cluster.DrsVmConfigSpec(operation=operation, info=state.override(found.ref, level))
