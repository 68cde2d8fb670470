# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The events of vCenter that name a user: who changed an object, and when."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any, Collection, Iterator, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import args, faults
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim, vmodl

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Ref
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter

ARGUMENTS = dict(
    args.CONNECTION,
    since={"type": "str"},
    objects={"type": "list", "elements": "str", "default": []},
    limit={"type": "int", "default": 1000},
)
STAMP = "%Y-%m-%dT%H:%M:%SZ"
# The most events that vCenter returns at once.
PAGE = 1000
_KINDS = {"vm-": "VirtualMachine", "host-": "HostSystem", "domain-c": "ClusterComputeResource"}
# The object of an event, the narrowest first: the attribute of the event, and of its argument.
_OBJECTS = (("vm", "vm"), ("host", "host"), ("computeResource", "computeResource"))


def check_params(params: Mapping[str, Any]) -> list[str]:
    """Return the problems with the parameters, as sentences."""
    found = []
    if params.get("since"):
        try:
            datetime.datetime.strptime(params["since"], STAMP)
        except ValueError:
            found.append("since must be a time in UTC, such as 2026-03-01T08:15:30Z.")
    if params["limit"] < 1:
        found.append("limit must be at least 1.")
    return found


def read(vcenter: VCenter, params: Mapping[str, Any]) -> list[dict[str, str]]:
    """The events, the newest first."""
    found: list[dict[str, str]] = []
    rest: list[str] = []
    try:
        for moid in dict.fromkeys(params["objects"]):
            entity = _entity(vcenter, moid)
            if entity is None:
                rest.append(moid)
                continue
            try:
                found += _newest(vcenter, params, {moid}, entity)
            except vmodl.fault.ManagedObjectNotFound:
                rest.append(moid)  # deleted: no filter can name it, but its events remain
        if rest or not params["objects"]:
            found += _newest(vcenter, params, set(rest))
    except vmodl.MethodFault as fault:
        raise faults.explain(fault, "vCenter", "cannot read its events") from fault
    return sorted(found, key=lambda one: one["at"], reverse=True)


def _entity(vcenter: VCenter, moid: str) -> Ref | None:
    """The object of an ID for a filter, or nothing if the ID does not show its kind."""
    prefix = moid.rstrip("0123456789")
    return vcenter.managed(_KINDS[prefix], moid) if prefix in _KINDS else None


def _newest(
    vcenter: VCenter, params: Mapping[str, Any], moids: Collection[str], entity: Ref | None = None
) -> list[dict[str, str]]:
    """The newest events of each of these objects, or of all together, up to the limit."""
    found: list[dict[str, str]] = []
    numbers = dict.fromkeys(moids or ("",), 0)
    for event in _pages(vcenter, params, entity):
        reported = _reported(event)
        of = reported.get("moid", "") if moids else ""
        if reported and numbers.get(of, params["limit"]) < params["limit"]:
            found.append(reported)
            numbers[of] += 1
            if min(numbers.values()) == params["limit"]:
                break
    return found


def _pages(vcenter: VCenter, params: Mapping[str, Any], entity: Ref | None) -> Iterator[vim.event.Event]:
    """The events, the newest first, page by page. A collector may leave out its latest page, so none is used."""
    most, time = min(PAGE, 10 * params["limit"]), vim.event.EventFilterSpec.ByTime()
    spec = vim.event.EventFilterSpec(maxCount=most, time=time)
    if entity is not None:
        spec.entity = vim.event.EventFilterSpec.ByEntity(entity=entity, recursion="self")
    if params.get("since"):
        begin = datetime.datetime.strptime(params["since"], STAMP)
        time.beginTime = begin.replace(tzinfo=datetime.timezone.utc)
    seen: set[int] = set()
    while True:
        page = vcenter.content.eventManager.QueryEvents(filter=spec) or []
        new = sorted((one for one in page if one.key not in seen), key=_age, reverse=True)
        yield from new
        if not new or len(page) < most:
            return
        seen.update(one.key for one in new)
        most = spec.maxCount = PAGE
        # Other events of the same moment may be on the next page.
        time.endTime = new[-1].createdTime + datetime.timedelta(milliseconds=1)


def _age(event: vim.event.Event) -> tuple[datetime.datetime, int]:
    return event.createdTime, event.key


def _reported(event: vim.event.Event) -> dict[str, str]:
    """An event of an object by a user, or nothing."""
    if not event.userName:
        return {}
    for attribute, inner in _OBJECTS:
        argument = getattr(event, attribute, None)
        if argument is not None:
            return {
                "at": event.createdTime.astimezone(datetime.timezone.utc).strftime(STAMP),
                "user": event.userName,
                "event": type(event).__name__.rpartition(".")[2],
                "moid": getattr(argument, inner)._GetMoId(),
                "name": argument.name,
            }
    return {}
