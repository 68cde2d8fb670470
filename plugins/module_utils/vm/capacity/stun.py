# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""vCenter's estimates of how long a VM with a vGPU stops at the end of its vMotion (vSphere 8.0 Update 2 and newer)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import properties
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vmodl
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.faults import explain

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.scope import Scope


def read(vcenter: VCenter, scope: Scope) -> list[dict[str, Any]]:
    """The estimates of each profile, by cluster; one request for all clusters and one for each of them."""
    parents = {row.get("parent")._GetMoId(): (row.get("parent"), name) for row, name in scope.hosts.values()}
    refs = [ref for ref, dummy in parents.values()]
    rows = properties.retrieve(vcenter, {"ComputeResource": ("environmentBrowser",)}, refs)
    return [one for row in rows for one in estimates(parents[row.moid][1], _target(row.get("environmentBrowser")))]


def estimates(cluster: str, target: vim.vm.ConfigTarget | None) -> list[dict[str, Any]]:
    """The estimates of an answer, the profiles and bandwidths in order. The API has Mbit/s and seconds."""
    found = [
        {
            "cluster": cluster,
            "profile": profile.profileName,
            "migration_mbps": one.migrationBW,
            "stun_seconds": one.stunTime,
        }
        for profile in getattr(target, "vgpuProfileInfo", None) or ()
        for one in getattr(profile, "stunTimeEstimates", None) or ()
    ]
    return sorted(found, key=lambda one: (one["profile"], one["migration_mbps"]))


def _target(browser: vim.EnvironmentBrowser | None) -> vim.vm.ConfigTarget | None:
    if browser is None:
        return None
    try:
        return browser.QueryConfigTarget(host=None)
    except vmodl.MethodFault as fault:
        raise explain(fault, "Stun time estimates", "cannot read them") from fault
