# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Restart a host and wait until it is back; if it stays away, the error reports its known state."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.host import marks
from ansible_collections.aiready.vsphere.plugins.module_utils.host.noun import HostNoun
from ansible_collections.aiready.vsphere.plugins.module_utils.host.power import journal, maintenance, params
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.args import BMC
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import args, hosts, session, tasks
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.pauses import Pauses
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import retrieve
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.transport import FateUnknown
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.trouble import NoConnection

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.power.switch import Switch
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row

ARGUMENTS = dict(
    args.CONNECTION,
    **args.HOST_IDENTITY,
    **BMC,
    state={"type": "str", "choices": ["rebooted", "back"], "default": "rebooted"},
    reasons={"type": "list", "elements": "str", "default": []},
    power={"type": "str", "choices": ["warm", "cold"], "default": "warm"},
    booted_after={"type": "str"},
    planned={"type": "dict", "options": {"in_maintenance": {"type": "bool", "default": False}}},
    timeout_s={"type": "int", "default": 1800},
)
_ATTEMPTS = 3


@dataclass(frozen=True)
class Boot:
    """The state of a host that matters for a restart."""

    connection: str
    power: str
    boot_time: datetime.datetime | None
    in_maintenance: bool
    # True if this collection took the host out of service.
    ours: bool = False
    tasks: tuple[journal.Entry, ...] = ()
    # Set in the desired state: the host must have booted after this moment.
    later_than: datetime.datetime | None = None

    @property
    def back(self) -> bool:
        return self.connection == "connected" and not journal.going_down(self.tasks, self.boot_time)


@dataclass(frozen=True)
class RebootRequest:
    """One restart of a host."""

    state: str
    power: str
    booted_after: str | None
    timeout_s: int


class Reboot(HostNoun[RebootRequest, Boot]):
    """One restart of one host. bmc: its power switch, needed for power=cold and for a host that is powered off.

    planned: the state after the earlier tasks, for check mode, where they change nothing.
    """

    PROPERTIES = ("runtime.bootTime", "runtime.inMaintenanceMode") + marks.PROPERTIES + journal.PROPERTIES

    def __init__(
        self,
        params: Mapping[str, Any],
        warn: Callable[[str], None],
        bmc: Switch | None = None,
        planned: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(params, warn)
        self._bmc = bmc
        self._planned = planned or {}

    def read(self, items: Sequence[Item[RebootRequest, Boot]]) -> None:
        self._vcenter = session.connect(self._params, self._warn)
        for item in items:
            self._found = hosts.find_host(self._vcenter, self._params["host"], self.PROPERTIES, allow_unreachable=True)
            item.ids.update(name=self._found.name, moid=self._found.moid)
            item.now = self.look(self._found, item.requested)

    def request(self) -> RebootRequest:
        return request(RebootRequest, self._params)

    def look(self, found: hosts.HostFound, requested: RebootRequest) -> Boot:
        return self._state(found.row)

    def want(self, item: Item[RebootRequest, Boot]) -> Boot:
        now, requested = item.now, item.requested
        if now.connection == "disconnected":
            # An administrator disconnected the host, and no wait ends that; a host that restarts is notResponding.
            raise hosts.unreachable(self._found)
        if requested.state == "back":
            after = params.moment(requested.booted_after)
            if journal.going_down(now.tasks, now.boot_time) and not _later(after, now.boot_time):
                after = now.boot_time
            return replace(now, connection="connected", power="poweredOn", later_than=after)
        if now.back and not (now.in_maintenance or self._planned.get("in_maintenance")):
            raise OperatorError(
                self.label,
                "cannot reboot the host",
                "It is not in maintenance mode, so its VMs would stop",
                "Put it into maintenance mode first, with esxi_maintenance",
                "not_in_maintenance",
            )
        return replace(now, connection="connected", power="poweredOn", later_than=now.boot_time)

    def compare(self, now: Boot, wanted: Boot) -> list[Change]:
        if wanted.later_than is None or _later(now.boot_time, wanted.later_than):
            seen = "going down" if now.connection == "connected" else now.connection
            return [] if now.back else [Change("connection", seen, wanted.connection)]
        return [Change("boot_time", shown(now.boot_time), f"later than {shown(wanted.later_than)}")]

    def changed(self, now: Boot, proved: Boot) -> bool:
        return True  # A host that does not answer in time may still restart.

    def gap(self, proved: Boot, wanted: Boot) -> list[Change]:
        return self.compare(replace(proved, tasks=()), wanted)

    def change(self, item: Item[RebootRequest, Boot]) -> None:
        now, requested = item.now, item.requested
        pauses = Pauses(self._vcenter.clock, requested.timeout_s)
        item.touched = True
        if requested.state == "rebooted" and now.back:
            self._ask(item, requested.power)
        self._await(item, pauses)

    def project(self, state: Boot) -> dict[str, Any]:
        return {
            "connection": state.connection,
            "power": state.power,
            "in_maintenance": state.in_maintenance,
            # The time of a planned restart is unknown.
            "boot_time": shown(state.boot_time) if not _planned(state) else f"later than {shown(state.later_than)}",
        }

    def _state(self, row: Row) -> Boot:
        notes = marks.read(row)
        return Boot(
            connection=str(row.get("runtime.connectionState")),
            power=str(row.get("runtime.powerState")),
            boot_time=row.get("runtime.bootTime"),
            in_maintenance=bool(row.get("runtime.inMaintenanceMode")),
            ours=bool(notes.get(maintenance.MARK)),
            tasks=journal.read(self._vcenter, row),
        )

    def _ask(self, item: Item[RebootRequest, Boot], power: str) -> None:
        """Send the restart or shutdown once; if its result is unknown, the host's own tasks show it."""
        error: OperatorError | None
        ref, error = self._found.ref, None
        for _attempt in range(_ATTEMPTS):
            wanted = "the shutdown did not start" if power == "cold" else "the restart did not start"
            job = tasks.Job(self.label, lambda: _start(ref, power), wanted)
            (outcome,) = tasks.run_tasks(self._vcenter, [job], timeout_s=item.requested.timeout_s)
            error = outcome.error
            if error is None:
                return
            state = self._look_again()
            if state is None or not state.back or _later(state.boot_time, item.now.boot_time):
                return
            if not outcome.uncertain:
                break
        raise cast(OperatorError, error)

    def _look_again(self) -> Boot | None:
        """The state, or None while vCenter itself does not answer."""
        try:
            return self._state(self._row())
        except (NoConnection, FateUnknown):
            return None

    def _row(self) -> Row:
        select = {"HostSystem": self.PROPERTIES + ("runtime.connectionState", "runtime.powerState")}
        (row,) = retrieve(self._vcenter, select, [self._found.ref])
        return row

    def _await(self, item: Item[RebootRequest, Boot], pauses: Pauses) -> None:
        # A host that another user powered off stays off.
        may_switch = self._bmc is not None and (item.requested.power == "cold" or item.now.ours)
        last = None
        while True:
            state = self._look_again()
            last = state or last
            if state is not None and state.back and _past(state, item.wanted.later_than):
                return
            if pauses.over:
                raise self._not_back(item, last)
            # vCenter only reports that a host does not respond; the BMC shows if it is off.
            if may_switch and state is not None and state.connection != "connected":
                cast("Switch", self._bmc).switch_on_if_off()
            pauses.sleep()

    def _not_back(self, item: Item[RebootRequest, Boot], last: Boot | None) -> OperatorError:
        if last is None:
            seen = "vCenter itself did not answer"
        else:
            seen = f"vCenter reports the connection state {last.connection} and the power state {last.power}"
            since = shown(last.boot_time) or "an unknown time"
            seen += f"; the last boot that it reports was at {since}"
        if self._bmc is not None:
            seen += f"; {self._said_by_bmc()}"
        return OperatorError(
            self.label,
            f"is not back within {item.requested.timeout_s} seconds",
            seen,
            "Check its console through the BMC. Nothing else has changed. Once the host is back, run again to continue",
            "host_not_back",
            connection=last.connection if last else None,
            power=last.power if last else None,
            later_than=shown(item.wanted.later_than),
        )

    def _said_by_bmc(self) -> str:
        try:
            return f"its BMC reports the power state {cast('Switch', self._bmc).power_state()}"
        except OperatorError as error:
            return f"its BMC could not be read ({error.message})"


def shown(moment: datetime.datetime | None) -> str | None:
    """A time as results carry it, in UTC."""
    if moment is None:
        return None
    return moment.astimezone(datetime.timezone.utc).strftime(params.MOMENT)


def _start(ref: Any, power: str) -> Any:
    return ref.ShutdownHost_Task(force=False) if power == "cold" else ref.RebootHost_Task(force=False)


def _later(moment: datetime.datetime | None, than: datetime.datetime | None) -> bool:
    return moment is not None and (than is None or moment > than)


def _past(state: Boot, than: datetime.datetime | None) -> bool:
    return than is None or _later(state.boot_time, than)


def _planned(state: Boot) -> bool:
    return state.later_than is not None and not _later(state.boot_time, state.later_than)
