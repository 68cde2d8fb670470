# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import datetime

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.host.power import journal
from ansible_collections.aiready.vsphere.plugins.module_utils.host.power.boot import Boot, Reboot
from ansible_collections.aiready.vsphere.plugins.modules import esxi_reboot as module

from unit.plugins.modules import described

HOST = {**described.LOGIN, "host": "esx-01.example.com"}
BOOTED = datetime.datetime(2026, 3, 1, 8, 15, 30, tzinfo=datetime.timezone.utc)
UP = Boot("connected", "poweredOn", BOOTED, in_maintenance=True)


class Noun(Reboot):
    label = "Host esx-01.example.com"


def planned(there, **requested):
    checked = described.checked({**HOST, **requested}, module.ARGUMENTS)
    return described.plan(Noun(checked, None), checked, there)


def test_the_passwords_alone_are_secret():
    secret = [name for name, option in module.ARGUMENTS.items() if option.get("no_log")]
    assert secret == ["password", "session_id", "rest_session_id", "bmc_password"]


def test_a_result_is_the_documented_one():
    described.assert_as_documented(module, planned(UP))


def test_waiting_for_a_host_that_is_back_changes_nothing():
    assert planned(UP, state="back")["changes"] == []
    assert planned(UP, state="back", booted_after="2026-03-01T08:00:00.000000Z")["changes"] == []


def test_host_that_has_not_booted_since_is_waited_for():
    (change,) = planned(UP, state="back", booted_after="2026-03-01T09:00:00.000000Z")["changes"]
    assert change["after"] == "later than 2026-03-01T09:00:00.000000Z"


@pytest.mark.parametrize(
    "kind, began, state, down",
    [
        pytest.param(
            journal.REBOOT, BOOTED + datetime.timedelta(seconds=5), "success", True, id="taken since the boot"
        ),
        pytest.param(journal.SHUTDOWN, BOOTED + datetime.timedelta(seconds=5), "running", True, id="shutting down"),
        pytest.param(journal.REBOOT, BOOTED - datetime.timedelta(seconds=5), "success", False, id="that of this boot"),
        pytest.param(journal.REBOOT, BOOTED + datetime.timedelta(seconds=5), "error", False, id="refused"),
        pytest.param(journal.ENTER, BOOTED + datetime.timedelta(seconds=5), "success", False, id="something else"),
    ],
)
def test_host_that_was_reported_to_go_down_is_not_back_although_it_still_answers(kind, began, state, down):
    entry = journal.Entry(kind, None, state, began)
    there = Boot("connected", "poweredOn", BOOTED, in_maintenance=True, tasks=(entry,))
    assert there.back is not down


@pytest.mark.parametrize("planned_for", [None, {}, {"in_maintenance": False}, {"in_maintenance": True}])
def test_host_in_service_is_restarted_in_a_plan_that_takes_it_out_of_service(planned_for):
    checked = described.checked(HOST, module.ARGUMENTS)
    there = Boot("connected", "poweredOn", BOOTED, in_maintenance=False)
    reported = described.plan(Noun(checked, None, planned=planned_for), checked, there)
    allowed = bool((planned_for or {}).get("in_maintenance"))
    assert [change["path"] for change in reported["changes"]] == ["boot_time"] * allowed
    assert reported["failed"] is not allowed
