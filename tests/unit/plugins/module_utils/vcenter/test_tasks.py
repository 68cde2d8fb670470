# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from collections import Counter
from http.client import HTTPException, RemoteDisconnected

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.tasks import run_tasks
from pyVmomi import vim, vmodl

from unit.plugins.module_utils.vcenter.fakes import target
from unit.plugins.module_utils.vcenter.task_server import TaskServer

SENT, NOT_SENT = True, False


@pytest.fixture
def server():
    return TaskServer()


def test_the_results_come_in_the_order_of_the_jobs(server):
    server.plan = {"vm-0": [9.0], "vm-1": [1.0], "vm-2": [4.0]}
    outcomes = run_tasks(server.vcenter, server.jobs(3))
    assert [outcome.result for outcome in outcomes] == ["done vm-0", "done vm-1", "done vm-2"]
    assert [outcome.error for outcome in outcomes] == [None] * 3


def test_a_short_task_is_answered_after_the_first_short_pause(server):
    server.plan = {"vm-0": [0.05]}
    run_tasks(server.vcenter, server.jobs(1))
    assert server.clock.sleeps == [0.1]


def test_a_hundred_tasks_cost_few_requests_beyond_their_starts(server):
    run_tasks(server.vcenter, server.jobs(100), limit=32)
    assert server.wire.requests["ReconfigVM_Task"] == 100
    assert server.wire.requests.total() <= 125


def test_a_hundred_tasks_of_different_length_cost_few_requests_too(server):
    server.plan = {f"vm-{number}": [0.5 + number % 7] for number in range(100)}
    run_tasks(server.vcenter, server.jobs(100), limit=32)
    assert server.wire.requests.total() <= 160


def test_one_collector_one_view_and_one_filter_serve_all_and_are_removed(server):
    run_tasks(server.vcenter, server.jobs(100), limit=32)
    made = ("CreatePropertyCollector", "CreateListView", "CreateFilter", "DestroyPropertyCollector", "DestroyView")
    assert {name: server.wire.requests[name] for name in made} == dict.fromkeys(made, 1)


def test_never_more_tasks_run_than_the_limit(server):
    run_tasks(server.vcenter, server.jobs(50), limit=7)
    assert server.busiest == 7


def test_one_failing_task_does_not_hide_the_others(server):
    server.plan["vm-1"] = [(1.0, vim.fault.InvalidPowerState(existingState="poweredOn", msg="Not now."))]
    outcomes = run_tasks(server.vcenter, server.jobs(3))
    assert [outcome.error is None for outcome in outcomes] == [True, False, True]
    assert outcomes[1].error.code == "invalid_power_state"
    assert outcomes[1].error.message.startswith("VM node-1: the vCenter task did not succeed.")
    assert "Not now" in outcomes[1].error.message
    assert not outcomes[1].uncertain


def test_a_start_that_is_refused_is_the_outcome_of_that_job_alone(server):
    server.refuse["vm-0"] = [vim.fault.NoPermission(privilegeId="VirtualMachine.Config.Memory")]
    outcomes = run_tasks(server.vcenter, server.jobs(2))
    assert outcomes[0].error.code == "no_permission"
    assert "VirtualMachine.Config.Memory" in outcomes[0].error.message
    assert outcomes[1].error is None


@pytest.mark.parametrize("where", ["start", "task"])
def test_a_busy_object_is_tried_again_until_it_is_free(server, where):
    if where == "start":
        server.refuse["vm-0"] = [vim.fault.TaskInProgress(), vim.fault.TaskInProgress()]
    else:
        server.plan["vm-0"] = [(0.5, vim.fault.TaskInProgress()), 1.0]
    outcomes = run_tasks(server.vcenter, server.jobs(2))
    assert [outcome.error for outcome in outcomes] == [None, None]


def test_an_object_that_stays_busy_is_given_up(server):
    server.refuse["vm-0"] = [vim.fault.TaskInProgress() for dummy in range(100)]
    (outcome,) = run_tasks(server.vcenter, server.jobs(1))
    assert outcome.error.code == "task_in_progress"
    assert len(server.refuse["vm-0"]) > 80


def test_a_change_by_somebody_else_is_reported_and_not_overwritten(server):
    server.plan["vm-0"] = [(1.0, vim.fault.ConcurrentAccess())]
    (outcome,) = run_tasks(server.vcenter, server.jobs(1))
    assert outcome.error.code == "concurrent"
    assert not outcome.uncertain
    assert server.started == ["vm-0"]


def test_a_connection_cut_at_the_start_is_uncertain_and_never_sent_again(server):
    server.wire.trouble["ReconfigVM_Task"] = [(RemoteDisconnected("closed"), SENT)]
    outcomes = run_tasks(server.vcenter, server.jobs(2))
    assert [outcome.uncertain for outcome in outcomes] == [True, False]
    assert outcomes[0].error.code == "fate_unknown"
    assert outcomes[0].error.message == (
        "VM node-0: the vCenter task did not succeed. ReconfigVM_Task was sent, but not answered: The connection broke "
        "(closed). Check the object before you repeat the request: vCenter may have executed it."
    )
    assert server.wire.requests["ReconfigVM_Task"] == 2


def test_a_change_that_the_server_is_too_busy_for_is_uncertain(server):
    server.wire.trouble["ReconfigVM_Task"] = [(HTTPException("503 Service Unavailable"), SENT)]
    (outcome,) = run_tasks(server.vcenter, server.jobs(1))
    assert outcome.uncertain
    assert "503 Service Unavailable" in outcome.error.message
    assert server.wire.requests["ReconfigVM_Task"] == 1


def test_a_busy_server_gets_a_guarded_request_again(server):
    server.wire.trouble["ReconfigVM_Task"] = [(HTTPException("503 Service Unavailable"), SENT)] * 2
    (outcome,) = run_tasks(server.vcenter, server.jobs(1, guarded=True))
    assert outcome.error is None
    assert server.started == ["vm-0"]


def test_a_guarded_request_that_was_taken_at_first_is_uncertain(server):
    server.wire.trouble["ReconfigVM_Task"] = [(HTTPException("503 Service Unavailable"), SENT)]
    server.refuse["vm-0"] = [vim.fault.ConcurrentAccess()]
    (outcome,) = run_tasks(server.vcenter, server.jobs(1, guarded=True))
    assert outcome.error.code == "concurrent"
    assert outcome.uncertain


def test_a_task_that_takes_too_long_is_left_running_with_its_last_state(server):
    server.plan["vm-0"] = [10_000.0]
    outcomes = run_tasks(server.vcenter, server.jobs(2), timeout_s=30)
    assert outcomes[1].error is None
    assert outcomes[0].uncertain
    assert outcomes[0].error.message == (
        "VM node-0: the vCenter task did not succeed. The task task-1 did not end within 30 seconds; last seen: "
        "running, 40 percent. Wait for the task in vCenter, where it still runs, or raise `task_timeout_s`. "
        "Nothing was cancelled."
    )


def test_the_end_of_the_patience_is_noticed_when_it_comes_and_not_at_the_end_of_a_long_poll(server):
    server.plan["vm-0"] = [10_000.0]
    (outcome,) = run_tasks(server.vcenter, server.jobs(1), timeout_s=12)
    assert outcome.error.code == "task_timeout"
    assert 12 <= server.clock.now() < 15


def test_updates_that_come_in_parts_are_taken_at_once(server):
    server.plan = {f"vm-{number}": [3.0] for number in range(5)}
    real = server.wire.handlers["WaitForUpdatesEx"]
    held = []

    def in_parts(mo, version, options):
        answer = None if held else real(mo, version, options)
        if answer is not None:
            held.extend(answer.filterSet[0].objectSet)
        if not held:
            return None
        part = vmodl.query.PropertyCollector.FilterUpdate(
            filter=vmodl.query.PropertyCollector.Filter("filter-1"), objectSet=[held.pop(0)]
        )
        return vmodl.query.PropertyCollector.UpdateSet(version=str(len(held)), filterSet=[part], truncated=bool(held))

    server.wire.handlers["WaitForUpdatesEx"] = in_parts
    outcomes = run_tasks(server.vcenter, server.jobs(5))
    assert [outcome.error for outcome in outcomes] == [None] * 5
    assert server.clock.now() < 5


def test_a_task_that_leaves_while_it_is_watched_is_uncertain(server):
    server.plan["vm-0"] = [10_000.0]
    real = server.wire.handlers["WaitForUpdatesEx"]

    def leave(mo, version, options):
        answer = real(mo, version, options)
        for update in answer.filterSet[0].objectSet if answer else ():
            if update.obj._GetMoId() == "task-1":
                update.kind, update.changeSet = "leave", []
        return answer

    server.wire.handlers["WaitForUpdatesEx"] = leave
    outcomes = run_tasks(server.vcenter, server.jobs(2))
    assert [outcome.error and outcome.error.code for outcome in outcomes] == ["task_gone", None]
    assert outcomes[0].uncertain
    assert server.clock.now() < 60


def test_a_session_lost_while_waiting_costs_a_new_login_and_no_second_start(server):
    server.plan = {"vm-0": [30.0], "vm-1": [40.0]}
    real = server.wire.handlers["WaitForUpdatesEx"]
    polls = Counter()

    def lose(mo, version, options):
        polls["all"] += 1
        if polls["all"] == 2:
            server.forget_session()
            raise vim.fault.NotAuthenticated()
        return real(mo, version, options)

    server.wire.handlers["WaitForUpdatesEx"] = lose
    outcomes = run_tasks(server.vcenter, server.jobs(2))
    assert [outcome.result for outcome in outcomes] == ["done vm-0", "done vm-1"]
    assert server.started == ["vm-0", "vm-1"]
    assert server.wire.requests["Login"] == 1


def test_tasks_that_ended_while_the_session_was_lost_are_not_waited_for_again(server):
    server.plan = {"vm-0": [30.0]}
    real = server.wire.handlers["WaitForUpdatesEx"]
    polls = Counter()

    def lose(mo, version, options):
        polls["all"] += 1
        if polls["all"] == 2:
            server.clock.sleep(60)
            info = server.inventory.objects["task-1"][1]["info"]
            info.state, info.result = "success", "done vm-0"
            server.forget_session()
            raise vim.fault.NotAuthenticated()
        return real(mo, version, options)

    server.wire.handlers["WaitForUpdatesEx"] = lose
    outcomes = run_tasks(server.vcenter, server.jobs(1))
    assert [outcome.result for outcome in outcomes] == ["done vm-0"]
    # The first poll, the one that lost the session, and its repetition, which finds that the collector is gone.
    assert polls["all"] == 3


def test_a_task_that_vcenter_has_forgotten_is_uncertain(server):
    real = server.wire.handlers["CreateListView"]

    def forget(mo, obj):
        server.tasks.pop("task-1")
        server.inventory.objects.pop("task-1")
        server.wire.handlers["CreateListView"] = real
        raise vmodl.fault.ManagedObjectNotFound(obj=obj[0])

    server.wire.handlers["CreateListView"] = forget
    outcomes = run_tasks(server.vcenter, server.jobs(2))
    assert (outcomes[0].error.code, outcomes[0].uncertain) == ("task_gone", True)
    assert outcomes[1].error is None


def test_a_vcenter_that_goes_away_leaves_an_answer_for_every_job(server):
    server.wire.trouble["WaitForUpdatesEx"] = [(ConnectionRefusedError(111, "refused"), NOT_SENT)]
    outcomes = run_tasks(server.vcenter, server.jobs(5), limit=2)
    assert [outcome.uncertain for outcome in outcomes] == [True, True, False, False, False]
    assert {outcome.error.code for outcome in outcomes} == {"vcenter_refused"}
    assert "It was not started" in outcomes[4].error.message


def test_progress_is_reported_as_jobs_end(server):
    reported = []
    run_tasks(
        server.vcenter, server.jobs(3), on_progress=lambda done, total, label, outcome: reported.append((done, total))
    )
    assert reported == [(1, 3), (2, 3), (3, 3)]


def test_no_jobs_cost_no_request(server):
    assert run_tasks(server.vcenter, []) == []
    assert not server.wire.requests


@pytest.mark.parametrize("timeout_s, longest_s", [(60, 10), (8, 4), (1, 0)])
def test_no_poll_is_held_back_for_longer_than_a_request_may_take(timeout_s, longest_s):
    server = TaskServer(target(timeout_s=timeout_s))
    waits = []
    real = server.wire.handlers["WaitForUpdatesEx"]

    def note(mo, version, options):
        waits.append(options.maxWaitSeconds)
        return real(mo, version, options)

    server.wire.handlers["WaitForUpdatesEx"] = note
    server.plan["vm-0"] = [20.0]
    run_tasks(server.vcenter, server.jobs(1))
    assert max(waits) == longest_s
