# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from collections import Counter
from http.client import HTTPException, RemoteDisconnected

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.tasks import Job, run_tasks
from pyVmomi import vim, vmodl

from unit.plugins.module_utils.vcenter.fakes import COLLECTOR, FakeClock, FakeInventory, FakeWire, opened

SENT, NOT_SENT = True, False


class TaskServer:
    """Tasks that take time on the fake clock, and the view and collector that watch them.

    plan[moid of the VM] is a list: how long its next tasks take, or (seconds, fault) for one that fails.
    """

    def __init__(self):
        self.clock = FakeClock()
        self.wire = FakeWire()
        self.vcenter, _ = opened(self.wire, self.clock)
        self.inventory = FakeInventory(self.wire)
        self.plan: dict[str, list] = {}
        self.refuse: dict[str, list] = {}
        self.tasks: dict[str, dict] = {}
        self.started: list[str] = []
        self.busiest = 0
        self.view: list[str] | None = None
        self.collector = 0
        self.told: dict[str, str] = {}
        self.wire.handlers.update(
            ReconfigVM_Task=self._start,
            CreatePropertyCollector=self._new_collector,
            CreateListView=self._new_view,
            CreateFilter=lambda mo, spec, partialUpdates: vmodl.query.PropertyCollector.Filter("filter-1"),
            ModifyListView=self._modify,
            WaitForUpdatesEx=self._wait,
            DestroyPropertyCollector=lambda mo: None,
            DestroyView=lambda mo: None,
        )

    def forget_session(self):
        """The session ends, and with it everything that was made in it."""
        self.wire.end_session()
        self.view = None
        self.collector += 1
        self.told = {}

    def jobs(self, count, **changes):
        vms = [self.vcenter.managed("VirtualMachine", f"vm-{number}") for number in range(count)]
        spec = vim.vm.ConfigSpec()
        return [
            Job(f"VM node-{number}", lambda vm=vm: vm.ReconfigVM_Task(spec=spec), **changes)
            for number, vm in enumerate(vms)
        ]

    def state(self, moid):
        task = self.tasks[moid]
        if self.clock.now() < task["ends"]:
            return "running"
        return "error" if task["fault"] else "success"

    def _start(self, mo, spec):
        vm = mo._GetMoId()
        if self.refuse.get(vm):
            raise self.refuse[vm].pop(0)
        self.started.append(vm)
        planned = self.plan.get(vm, [2.0])
        planned = planned.pop(0) if len(planned) > 1 else planned[0]
        seconds, fault = planned if isinstance(planned, tuple) else (planned, None)
        moid = f"task-{len(self.tasks) + 1}"
        self.tasks[moid] = {"ends": self.clock.now() + seconds, "fault": fault, "vm": vm}
        running = [entry for entry in self.tasks if self.state(entry) == "running"]
        self.busiest = max(self.busiest, len(running))
        info = vim.TaskInfo(
            key=moid, state="running", progress=40, cancelled=False, cancelable=True, descriptionId="reconfigure"
        )
        self.inventory.add(vim.Task, moid, info=info)
        return vim.Task(moid, mo._GetStub())

    def _new_collector(self, mo):
        self.collector += 1
        self.told = {}
        return COLLECTOR(f"session-{self.collector}", mo._GetStub())

    def _new_view(self, mo, obj):
        self.view = [ref._GetMoId() for ref in obj]
        return vim.view.ListView("view-1", mo._GetStub())

    def _modify(self, mo, add, remove):
        if self.view is None:
            raise vmodl.fault.ManagedObjectNotFound(obj=mo)
        self.view = [moid for moid in self.view if moid not in {ref._GetMoId() for ref in remove}]
        unknown = [ref for ref in add if ref._GetMoId() not in self.tasks]
        self.view += [ref._GetMoId() for ref in add if ref._GetMoId() in self.tasks]
        return unknown

    def _wait(self, mo, version, options):
        if mo._GetMoId() != f"session-{self.collector}":
            raise vmodl.fault.ManagedObjectNotFound(obj=mo)
        if not self._news():
            ends = [task["ends"] for task in self.tasks.values() if task["ends"] > self.clock.now()]
            self.clock.time = min([self.clock.now() + options.maxWaitSeconds, *ends])
        news = self._news()
        if not news:
            return None
        self.told.update(news)
        updates = [self._update(mo, moid, state) for moid, state in news.items()]
        return COLLECTOR.UpdateSet(
            version=str(len(self.told)),
            filterSet=[
                COLLECTOR.FilterUpdate(
                    filter=vmodl.query.PropertyCollector.Filter("filter-1", mo._GetStub()), objectSet=updates
                )
            ],
        )

    def _news(self):
        return {
            moid: self.state(moid)
            for moid in self.view
            if moid in self.tasks and self.told.get(moid) != self.state(moid)
        }

    def _update(self, mo, moid, state):
        task = self.tasks[moid]
        changes = [COLLECTOR.Change(name="info.state", op="assign", val=vim.TaskInfo.State(state))]
        if state == "error":
            changes.append(COLLECTOR.Change(name="info.error", op="assign", val=task["fault"]))
        if state == "success":
            changes.append(COLLECTOR.Change(name="info.result", op="assign", val=f"done {task['vm']}"))
        return COLLECTOR.ObjectUpdate(kind="modify", obj=vim.Task(moid, mo._GetStub()), changeSet=changes)


@pytest.fixture
def server():
    return TaskServer()


def test_the_results_come_in_the_order_of_the_jobs(server):
    server.plan = {"vm-0": [9.0], "vm-1": [1.0], "vm-2": [4.0]}
    outcomes = run_tasks(server.vcenter, server.jobs(3))
    assert [outcome.result for outcome in outcomes] == ["done vm-0", "done vm-1", "done vm-2"]
    assert [outcome.error for outcome in outcomes] == [None] * 3


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
    assert outcomes[1].error.message.startswith("VM node-1: a task should have succeeded.")
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
    server.refuse["vm-0"] = [vim.fault.TaskInProgress() for _ in range(100)]
    (outcome,) = run_tasks(server.vcenter, server.jobs(1))
    assert outcome.error.code == "task_in_progress"
    assert len(server.refuse["vm-0"]) > 80


def test_a_change_by_somebody_else_is_reported_and_not_overwritten(server):
    server.plan["vm-0"] = [(1.0, vim.fault.ConcurrentAccess())]
    (outcome,) = run_tasks(server.vcenter, server.jobs(1))
    assert outcome.error.code == "concurrent"
    assert server.started == ["vm-0"]


def test_a_connection_cut_at_the_start_is_uncertain_and_never_sent_again(server):
    server.wire.trouble["ReconfigVM_Task"] = [(RemoteDisconnected("closed"), SENT)]
    outcomes = run_tasks(server.vcenter, server.jobs(2))
    assert [outcome.uncertain for outcome in outcomes] == [True, False]
    assert outcomes[0].error.code == "fate_unknown"
    assert server.wire.requests["ReconfigVM_Task"] == 2


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
        "VM node-0: a task should have succeeded. The task task-1 did not end within 30 seconds; last seen: "
        "running, 40 percent. Nothing was cancelled: it still runs in vCenter. Wait for it there, or raise "
        "`task_timeout_s`."
    )


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


def test_progress_is_told_as_jobs_end(server):
    told = []
    run_tasks(
        server.vcenter, server.jobs(3), on_progress=lambda done, total, label, outcome: told.append((done, total))
    )
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_no_jobs_cost_no_request(server):
    assert run_tasks(server.vcenter, []) == []
    assert not server.wire.requests
