# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The only part that asks vCenter: one request for the inventory, one for all privileges, one for each clock."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import properties
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vmodl
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.faults import explain
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.privileges import state

if TYPE_CHECKING:
    import datetime

    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Ref
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter

_UP = ("name", "parent")
_SELECT = {
    "Folder": _UP,
    "Datacenter": ("name", "parent", "vmFolder"),
    "ComputeResource": _UP,
    "HostSystem": (
        "name",
        "parent",
        "config.product",
        "configManager.dateTimeSystem",
        "datastore",
        "runtime.connectionState",
    ),
    "VirtualMachine": _UP,
    "Datastore": ("name", "parent", "summary"),
    "Network": _UP,
}
_DOWN = (
    ("Folder", "childEntity"),
    ("Datacenter", "hostFolder"),
    ("Datacenter", "vmFolder"),
    ("Datacenter", "networkFolder"),
    ("Datacenter", "datastoreFolder"),
    ("ComputeResource", "host"),
)


def read(vcenter: VCenter, params: Mapping[str, Any]) -> dict[str, Any]:
    """{the result for vCenter, its hosts, datastores and the privileges}."""
    root = vcenter.content.rootFolder
    rows = properties.retrieve(vcenter, _SELECT, [root], _DOWN)
    there = state.Inventory(rows, root, params["datacenter"], params["hosts"])
    return {
        "vcenter": _vcenter(vcenter),
        "hosts": [_host(row) for row in there.hosts],
        "strangers": there.strangers,
        "datastores": [state.datastore(row) for row in there.datastores() if row.get("summary") is not None],
        "objects": _privileges(vcenter, there, params["objects"]),
    }


def _vcenter(vcenter: VCenter) -> dict[str, Any]:
    about = vcenter.content.about
    ahead, within = _clock(vcenter.si.CurrentTime, vcenter.name)
    return {
        "name": vcenter.name,
        "user": vcenter.user,
        "version": about.version,
        "build": about.build,
        "api_version": about.apiVersion,
        "is_vcenter": vcenter.is_vcenter,
        "clock_ahead_s": ahead,
        "clock_known_within_s": within,
    }


def _host(row: Row) -> dict[str, Any]:
    product = row.get("config.product")
    reported = {
        "name": state.name_of(row),
        "connection": str(row.get("runtime.connectionState")),
        "version": product.version if product else None,
        "build": product.build if product else None,
        "clock_ahead_s": None,
        "clock_known_within_s": None,
        "why_no_clock": "",
    }
    system = row.get("configManager.dateTimeSystem")
    if reported["connection"] != "connected" or system is None:
        return dict(reported, why_no_clock=f"The host is {reported['connection']}.")
    try:
        ahead, within = _clock(system.QueryDateTime, f"Host {reported['name']}")
    except OperatorError as error:
        return dict(reported, why_no_clock=error.message)
    return dict(reported, clock_ahead_s=ahead, clock_known_within_s=within)


def _clock(ask: Callable[[], datetime.datetime], subject: str) -> tuple[float, float]:
    before = time.time()
    try:
        theirs = ask()
    except vmodl.MethodFault as fault:
        raise explain(fault, subject, "cannot read its clock") from fault
    return state.skew(theirs, before, time.time())


def _privileges(
    vcenter: VCenter, there: state.Inventory, requests: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return for each request whether the object exists and which privileges are missing, from one query."""
    meant = [there.meant(requested["kind"], requested["name"]) for requested in requests]
    refs = list({ref._GetMoId(): ref for found in meant for ref in found}.values())
    asked = sorted({privilege for requested in requests for privilege in requested["privileges"]})
    held = _held(vcenter, refs, asked) if refs else {}
    return [
        {
            "kind": requested["kind"],
            "name": requested["name"],
            "found": bool(found),
            "missing": sorted(
                {name for name in requested["privileges"] for ref in found if name not in held[ref._GetMoId()]}
            ),
        }
        for requested, found in zip(requests, meant)
    ]


def _held(vcenter: VCenter, refs: Sequence[Ref], asked: Sequence[str]) -> dict[str, set[str]]:
    """{MoID: the privileges that the session has there}."""
    wanted = "cannot read the user's privileges"
    try:
        key = vcenter.content.sessionManager.currentSession.key
        manager = vcenter.content.authorizationManager
        try:
            reported = manager.HasPrivilegeOnEntities(entity=refs, sessionId=key, privId=asked)
        except vmodl.fault.InvalidArgument:
            # An earlier vCenter does not have all of them [unsure: that it rejects those].
            known = {one.privId for one in manager.privilegeList or ()}
            asked = [one for one in asked if one in known]
            reported = manager.HasPrivilegeOnEntities(entity=refs, sessionId=key, privId=asked)
    except vmodl.MethodFault as fault:
        raise explain(fault, vcenter.name, wanted) from fault
    return {
        one.entity._GetMoId(): {each.privId for each in one.privAvailability or () if each.isGranted}
        for one in reported
    }
