# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The events of vCenter that name a user: who changed an object, and when."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import args, faults
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim, vmodl

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter

ARGUMENTS = dict(
    args.CONNECTION,
    since={"type": "str"},
    objects={"type": "list", "elements": "str", "default": []},
    limit={"type": "int", "default": 1000},
)
STAMP = "%Y-%m-%dT%H:%M:%SZ"
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
    spec = vim.event.EventFilterSpec(maxCount=params["limit"])
    if params.get("since"):
        begin = datetime.datetime.strptime(params["since"], STAMP).replace(tzinfo=datetime.timezone.utc)
        spec.time = vim.event.EventFilterSpec.ByTime(beginTime=begin)
    try:
        events = vcenter.content.eventManager.QueryEvents(filter=spec)
    except vmodl.MethodFault as fault:
        raise faults.explain(fault, "vCenter", "cannot read its events") from fault
    reported = [one for one in map(_reported, events or ()) if one]
    wanted = set(params["objects"])
    reported = [one for one in reported if not wanted or one["moid"] in wanted]
    return sorted(reported, key=lambda one: one["at"], reverse=True)


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
