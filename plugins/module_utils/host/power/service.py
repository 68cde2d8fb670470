# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""A daemon of a host, and how to put it back to how it was found."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Collection

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.host import marks
from ansible_collections.aiready.vsphere.plugins.module_utils.host.noun import HostNoun
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import args
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.hosts import HostFound

ARGUMENTS = dict(
    args.CONNECTION,
    **args.HOST_IDENTITY,
    service={"type": "str", "required": True},
    state={"type": "str", "choices": ["started", "stopped", "restored"], "default": "started"},
)
_STOPPED = "was stopped"


@dataclass(frozen=True)
class Daemon:
    """A service. borrowed: this collection started it temporarily, and a note in vCenter records it."""

    running: bool
    policy: str = ""
    borrowed: bool = False


@dataclass(frozen=True)
class ServiceRequest:
    """The state of one service of a host."""

    service: str
    state: str


class Services(HostNoun[ServiceRequest, Daemon]):
    """One service of one host."""

    PROPERTIES = ("config.service.service",) + marks.PROPERTIES

    def request(self) -> ServiceRequest:
        return request(ServiceRequest, self._params)

    def look(self, found: HostFound, requested: ServiceRequest) -> Daemon:
        daemons = {one.key: one for one in found.row.get("config.service.service") or []}
        if requested.service not in daemons:
            raise _unknown(self.label, requested.service, daemons)
        daemon = daemons[requested.service]
        return Daemon(bool(daemon.running), str(daemon.policy), _note(requested) in marks.read(found.row))

    def want(self, item: Item[ServiceRequest, Daemon]) -> Daemon:
        now, state = item.now, item.requested.state
        if state == "started":
            return replace(now, running=True, borrowed=now.borrowed or not now.running)
        if state == "stopped" or now.borrowed:
            return replace(now, running=False, borrowed=False)
        return now

    def compare(self, now: Daemon, wanted: Daemon) -> list[Change]:
        changes = []
        if now.running != wanted.running:
            changes.append(Change("running", now.running, wanted.running))
        if now.borrowed != wanted.borrowed:
            changes.append(Change("borrowed", now.borrowed, wanted.borrowed))
        return changes

    def change(self, item: Item[ServiceRequest, Daemon]) -> None:
        item.touched = True
        now, wanted, key = item.now, item.wanted, item.requested.service
        # First the note, then the change: after a killed run the note still identifies the open service.
        if wanted.borrowed and not now.borrowed:
            marks.write(self._vcenter, self._found.ref, _note(item.requested), _STOPPED)
        if now.running != wanted.running:
            self._switch(key, wanted.running)
        if now.borrowed and not wanted.borrowed:
            marks.write(self._vcenter, self._found.ref, _note(item.requested), "")

    def project(self, state: Daemon) -> dict[str, Any]:
        return {"running": state.running, "policy": state.policy, "borrowed": state.borrowed}

    def _switch(self, key: str, on: bool) -> None:
        system = self.manager("serviceSystem")
        with self.asking(f"cannot {'start' if on else 'stop'} the service {key}"):
            try:
                if on:
                    system.StartService(id=key)
                else:
                    system.StopService(id=key)
            except vim.fault.InvalidState:
                # Another user was faster; the proof shows the state.
                return


def _note(requested: ServiceRequest) -> str:
    return f"service.{requested.service}"


def _unknown(label: str, service: str, daemons: Collection[str]) -> OperatorError:
    near = difflib.get_close_matches(service, daemons, n=1, cutoff=0.3)
    hint = f"Did you mean {near[0]}?" if near else "Correct `service`."
    return OperatorError(
        label,
        f"the host has no service {service}",
        f"Its services are: {', '.join(sorted(daemons)) or 'none'}",
        hint,
        "service_not_found",
        services=sorted(daemons),
    )
