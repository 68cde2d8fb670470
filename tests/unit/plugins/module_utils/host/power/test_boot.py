# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""A restart of a host: when it is requested, and when the host is back."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, documented
from ansible_collections.aiready.vsphere.plugins.module_utils.host.power import boot, journal
from ansible_collections.aiready.vsphere.plugins.module_utils.host.power.boot import Boot, Reboot, RebootRequest
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.tasks import Outcome
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.transport import FateUnknown
from pyVmomi import vim

from unit.plugins.module_utils.vcenter.fakes import FakeClock

THEN = datetime(2026, 3, 1, 12, 0, 0, 250000, tzinfo=timezone.utc)
BEFORE, AFTER = THEN - timedelta(hours=1), THEN + timedelta(microseconds=1)
TEXT = "2026-03-01T12:00:00.250000Z"
UP = Boot("connected", "poweredOn", THEN, True)
DOWN = replace(UP, connection="notResponding")
GOING = replace(UP, tasks=(journal.Entry(journal.REBOOT, None, "success", AFTER),))
LOST = OperatorError("Host esx-01", "a restart was to begin", "No answer", "Look", "fate_unknown")
REFUSED = OperatorError("Host esx-01", "a restart was to begin", "No", "Look", "no_permission")


class Switch:
    """A BMC that counts how often it switches the host on."""

    def __init__(self):
        self.switched = 0

    def switch_on_if_off(self):
        self.switched += 1

    def power_state(self):
        if self.switched > 1:
            raise OperatorError("BMC", "its power was to be read", "No answer", "Look", "bmc")
        return "PoweringOn"


class Readings(Reboot):
    """A host whose states are read one after the other; the last one stays."""

    def __init__(self, *states, bmc=None, planned=None):
        super().__init__({"host": "esx-01"}, print, bmc, planned)
        self._found = SimpleNamespace(
            name="esx-01",
            connection="disconnected",
            ref=SimpleNamespace(RebootHost_Task=lambda force: ("warm", force), ShutdownHost_Task=self.shut_down),
            row={},
        )
        self._vcenter = SimpleNamespace(clock=FakeClock())
        self.states = list(states)

    def shut_down(self, force):
        return "cold", force

    def _look_again(self):
        return self.states.pop(0) if len(self.states) > 1 else self.states[0]


def item(now=UP, wanted=None, **requested):
    usual = {"state": "rebooted", "power": "warm", "booted_after": None, "timeout_s": 60}
    made = Item("esx-01", RebootRequest(**{**usual, **requested}), {})
    made.now, made.wanted = now, wanted or replace(now, later_than=now.boot_time)
    return made


def failure(call, *arguments):
    with pytest.raises(OperatorError) as refused:
        call(*arguments)
    return refused.value


@pytest.mark.parametrize(
    "now, requested, planned, later_than",
    [
        (UP, {}, None, THEN),
        (replace(UP, in_maintenance=False), {}, {"in_maintenance": True}, THEN),
        (replace(DOWN, in_maintenance=False), {}, None, THEN),
        (replace(GOING, in_maintenance=False), {}, None, THEN),
        (UP, {"state": "back"}, None, None),
        (GOING, {"state": "back"}, None, THEN),
        (GOING, {"state": "back", "booted_after": "2026-03-01T11:00:00.000000Z"}, None, THEN),
        (GOING, {"state": "back", "booted_after": TEXT}, None, THEN),
        (DOWN, {"state": "back", "booted_after": TEXT}, None, THEN),
        (
            GOING,
            {"state": "back", "booted_after": "2026-03-01T13:00:00.000000Z"},
            None,
            datetime(2026, 3, 1, 13, tzinfo=timezone.utc),
        ),
    ],
)
def test_which_boot_is_waited_for(now, requested, planned, later_than):
    wanted = Readings(planned=planned).want(item(now, **requested))
    assert wanted == replace(now, connection="connected", power="poweredOn", later_than=later_than)


@pytest.mark.parametrize(
    "now, requested, planned, code",
    [
        (replace(UP, connection="disconnected"), {}, None, "host_not_connected"),
        (replace(UP, connection="disconnected"), {"state": "back"}, None, "host_not_connected"),
        (replace(UP, in_maintenance=False), {}, None, "not_in_maintenance"),
        (replace(UP, in_maintenance=False), {}, {"in_maintenance": False}, "not_in_maintenance"),
    ],
)
def test_a_restart_that_cannot_be_is_refused(now, requested, planned, code):
    assert failure(Readings(planned=planned).want, item(now, **requested)).code == code


@pytest.mark.parametrize(
    "now, later_than, changes",
    [
        (UP, None, []),
        (DOWN, None, [("connection", "notResponding", "connected")]),
        (GOING, None, [("connection", "going down", "connected")]),
        (UP, BEFORE, []),
        (UP, THEN, [("boot_time", TEXT, f"later than {TEXT}")]),
        (replace(UP, boot_time=None), THEN, [("boot_time", None, f"later than {TEXT}")]),
    ],
)
def test_what_is_left_to_wait_for(now, later_than, changes):
    found = Readings().compare(now, replace(UP, later_than=later_than))
    assert [(change.path, change.before, change.after) for change in found] == changes


def test_a_task_that_vcenter_still_remembers_is_no_gap():
    assert Readings().gap(GOING, UP) == []
    assert [change.path for change in Readings().gap(DOWN, UP)] == ["connection"]


@pytest.mark.parametrize(
    "state, boot_time",
    [
        (UP, TEXT),
        (replace(UP, later_than=BEFORE), TEXT),
        (replace(UP, later_than=THEN), f"later than {TEXT}"),
        (replace(UP, boot_time=None), None),
        (replace(UP, boot_time=THEN.astimezone(timezone(timedelta(hours=2)))), TEXT),
    ],
)
def test_a_restart_as_the_user_sees_it(state, boot_time):
    assert Readings().project(state) == {
        "connection": "connected",
        "power": "poweredOn",
        "in_maintenance": True,
        "boot_time": boot_time,
    }


@pytest.mark.parametrize("mark, ours", [("aiready.vsphere.maintenance", True), ("aiready.vsphere.other", False)])
def test_what_is_read_of_a_host(mark, ours):
    values = {
        "runtime.connectionState": "connected",
        "runtime.powerState": "poweredOn",
        "runtime.bootTime": THEN,
        "runtime.inMaintenanceMode": True,
        "availableField": [vim.CustomFieldsManager.FieldDef(key=7, name=mark)],
        "customValue": [vim.CustomFieldsManager.StringValue(key=7, value="driver")],
    }
    row = Row(vim.HostSystem("host-1"), values, {})
    assert Readings().look(SimpleNamespace(row=row), {}) == replace(UP, ours=ours)
    assert Readings().look(SimpleNamespace(row=Row(row.ref, {}, {})), {}).in_maintenance is False


@pytest.mark.parametrize(
    "states, wanted, sleeps",
    [
        ((UP,), None, 0),
        ((UP,), BEFORE, 0),
        ((UP, UP, replace(UP, boot_time=AFTER)), THEN, 2),
        ((None, DOWN, UP), None, 2),
        ((GOING, UP), None, 1),
    ],
)
def test_a_host_is_back_when_it_has_booted_and_answers(states, wanted, sleeps):
    host = Readings(*states)
    host.change(item(DOWN, replace(UP, later_than=wanted), state="back"))
    assert len(host._vcenter.clock.sleeps) == sleeps


@pytest.mark.parametrize(
    "states, with_bmc, data",
    [
        ((DOWN,), False, {"connection": "notResponding", "power": "poweredOn"}),
        ((DOWN, None), True, {"connection": "notResponding", "power": "poweredOn"}),
        ((None,), True, {"connection": None, "power": None}),
    ],
)
def test_a_host_that_does_not_come_back_is_an_error_with_what_was_seen_last(states, with_bmc, data):
    host = Readings(*states, bmc=Switch() if with_bmc else None)
    error = failure(host.change, item(DOWN, replace(UP, later_than=THEN), state="back"))
    assert error.failure == documented("host_not_back", subject="Host esx-01", later_than=TEXT, **data)
    assert 55 <= host._vcenter.clock.time <= 90
    assert ("PoweringOn" in error.message) is with_bmc


@pytest.mark.parametrize(
    "now, power, switched",
    [
        (DOWN, "cold", 2),
        (replace(DOWN, ours=True), "warm", 2),
        (DOWN, "warm", 0),
    ],
    ids=["a cold restart", "out of service by this collection", "switched off by others"],
)
def test_only_a_host_that_this_collection_may_switch_on_is_switched_on(now, power, switched):
    host = Readings(DOWN, None, DOWN, GOING, UP, bmc=Switch())
    host.change(item(now, replace(UP, later_than=None), power=power))
    assert host._bmc.switched == switched


class Asked(Readings):
    """A host that answers requests for a restart with these outcomes."""

    def __init__(self, monkeypatch, outcomes, *states):
        super().__init__(*states)
        self.started, self.outcomes = [], list(outcomes)
        monkeypatch.setattr(boot.tasks, "run_tasks", self.run)

    def run(self, vcenter, jobs, timeout_s):
        assert (vcenter, timeout_s, len(jobs), jobs[0].label) == (self._vcenter, 60, 1, "Host esx-01")
        self.started.append(jobs[0].start())
        return [self.outcomes.pop(0)]


@pytest.mark.parametrize("power", ["warm", "cold"])
def test_a_host_in_maintenance_is_asked_once_and_waited_for(monkeypatch, power):
    host = Asked(monkeypatch, [Outcome()], UP, replace(UP, boot_time=AFTER))
    asked = item(power=power)
    host.change(asked)
    assert (host.started, asked.touched) == ([(power, False)], True)


@pytest.mark.parametrize("now, requested", [(DOWN, {}), (GOING, {}), (UP, {"state": "back"})])
def test_a_host_that_restarts_already_is_not_asked(monkeypatch, now, requested):
    host = Asked(monkeypatch, [], UP)
    asked = item(now, replace(UP, later_than=BEFORE), **requested)
    host.change(asked)
    assert (host.started, asked.touched) == ([], True)


@pytest.mark.parametrize(
    "outcomes, states, requests, code",
    [
        ([Outcome(error=LOST, uncertain=True)], [DOWN], 1, None),
        ([Outcome(error=LOST, uncertain=True)], [GOING], 1, None),
        ([Outcome(error=LOST, uncertain=True)], [None], 1, None),
        ([Outcome(error=REFUSED)], [replace(UP, boot_time=AFTER)], 1, None),
        ([Outcome(error=LOST, uncertain=True), Outcome()], [UP], 2, None),
        ([Outcome(error=REFUSED)], [UP], 1, "no_permission"),
        ([Outcome(error=LOST, uncertain=True)] * 3, [UP], 3, "fate_unknown"),
    ],
    ids=["gone", "going", "vCenter gone", "back already", "never begun", "refused", "lost each time"],
)
def test_a_request_without_an_answer_is_repeated_only_while_nothing_happens(
    monkeypatch, outcomes, states, requests, code
):
    host = Asked(monkeypatch, outcomes, *states)
    if code:
        assert failure(host._ask, item(), "warm").code == code
    else:
        host._ask(item(), "warm")
    assert len(host.started) == requests


@pytest.mark.parametrize("broken", [True, False])
def test_a_vcenter_that_does_not_answer_is_no_state(broken):
    host = Reboot({"host": "esx-01"}, print)

    def row():
        if broken:
            raise FateUnknown("vc.example", "RetrievePropertiesEx", "the connection broke")
        return Row(vim.HostSystem("host-1"), {"runtime.connectionState": "connected"}, {})

    host._row = row
    assert (host._look_again() is None) is broken
