# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""A cluster as DRS sees it: found, and read with its rules, overrides, hosts and VMs in one request."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import escapes, find
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import retrieve

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Data, Ref
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter

_NEAR = 5
_PLACES = {"Folder": ("name", "parent"), "Datacenter": ("name", "parent"), "ComputeResource": ("name", "parent")}
_DOWN = (("Folder", "childEntity"), ("Datacenter", "hostFolder"))


@dataclass(frozen=True)
class Vm:
    """A VM of the cluster."""

    ref: Ref
    moid: str
    name: str
    host: str
    template: bool
    running: bool


@dataclass(frozen=True)
class Cluster:
    """Reading of a cluster."""

    ref: Ref
    moid: str
    name: str
    drs: bool
    overrides_obeyed: bool
    rules: tuple[Data, ...]
    # MoID of a VM: its DrsVmConfigInfo.
    overrides: dict[str, Data]
    hosts: int
    vms: tuple[Vm, ...]

    def vms_named(self, name: str) -> list[Vm]:
        return [vm for vm in self.vms if name in (vm.name, vm.moid)]

    def label(self, vm: Vm) -> str:
        """Return the label of a VM: its name, or its MoID if another VM has the same name."""
        return vm.name if len(self.vms_named(vm.name)) == 1 else vm.moid

    def name_of(self, ref: Ref) -> str:
        """The label of a VM in a rule; its MoID where it is in the cluster no more."""
        moid = ref._GetMoId()
        return next((self.label(vm) for vm in self.vms if vm.moid == moid), moid)


def locate(vcenter: VCenter, name: str, datacenter: str | None) -> Ref:
    """The reference of the cluster with this name; one request, and one for the datacenter if one was named."""
    start = vcenter.content.rootFolder
    if datacenter:
        dummy, start = find.datacenter_of_name(vcenter, datacenter)
    rows = [row for row in retrieve(vcenter, _PLACES, [start], _DOWN) if row.kind == "ClusterComputeResource"]
    found = [row for row in rows if escapes.same_name(row.get("name", ""), name) or row.moid == name]
    if len(found) == 1:
        return found[0].ref
    names = {escapes.unescaped(row.get("name", "")).lower(): escapes.unescaped(row.get("name", "")) for row in rows}
    near = [names[key] for key in difflib.get_close_matches(name.lower(), names, n=_NEAR, cutoff=0.5)]
    there = near or sorted(names.values())[:_NEAR]
    raise OperatorError(
        f"Cluster {name}",
        "is ambiguous" if found else "cannot be found",
        f"There are {len(found)} clusters of this name"
        if found
        else f"There is no cluster of this name that this user may see; there are: {', '.join(there) or 'none'}",
        "Set `datacenter`" if found else "Correct `cluster`",
        "cluster_ambiguous" if found else "cluster_not_found",
        near=there,
    )


def read(vcenter: VCenter, ref: Ref) -> Cluster:
    """The Cluster behind a reference, one request."""
    rows = retrieve(
        vcenter,
        {
            "ClusterComputeResource": ("name", "configurationEx"),
            "HostSystem": ("name",),
            "VirtualMachine": ("name", "config.template", "runtime.host", "runtime.powerState"),
        },
        [ref],
        [("ComputeResource", "host"), ("HostSystem", "vm")],
    )
    kinds: dict[str, list[Row]] = {}
    for row in rows:
        kinds.setdefault(row.kind, []).append(row)
    hosts = {row.moid: row.get("name", "") for row in kinds.get("HostSystem", ())}
    row = kinds["ClusterComputeResource"][0]
    config = row.get("configurationEx")
    return Cluster(
        ref=ref,
        moid=row.moid,
        name=escapes.unescaped(row.get("name", "")),
        drs=bool(config.drsConfig.enabled),
        overrides_obeyed=config.drsConfig.enableVmBehaviorOverrides is not False,
        rules=tuple(config.rule or ()),
        overrides={entry.key._GetMoId(): entry for entry in config.drsVmConfig or ()},
        hosts=len(hosts),
        vms=tuple(_vm(row, hosts) for row in kinds.get("VirtualMachine", ())),
    )


def _vm(row: Row, hosts: Mapping[str, str]) -> Vm:
    host = row.get("runtime.host")
    return Vm(
        ref=row.ref,
        moid=row.moid,
        name=escapes.unescaped(row.get("name", "")),
        host=hosts.get(host._GetMoId(), "") if host is not None else "",
        template=bool(row.get("config.template")),
        running=str(row.get("runtime.powerState")) == "poweredOn",
    )
