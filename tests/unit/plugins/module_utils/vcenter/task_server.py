"""A fake vCenter whose tasks take time on a fake clock."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.tasks import Job
from pyVmomi import vim, vmodl

from unit.plugins.module_utils.vcenter.fakes import COLLECTOR, FakeClock, FakeInventory, FakeWire, opened


class TaskServer:
    """Tasks that take time on the fake clock, and the view and collector that watch them.

    plan[moid of the VM] is a list: how long its next tasks take, or (seconds, fault) for one that fails.
    """

    def __init__(self, to=None):
        self.clock = FakeClock()
        self.wire = FakeWire(to)
        self.vcenter, dummy = opened(self.wire, self.clock)
        self.inventory = FakeInventory(self.wire)
        self.plan: dict[str, list] = {}
        self.refuse: dict[str, list] = {}
        self.tasks: dict[str, dict] = {}
        self.started: list[str] = []
        self.busiest = 0
        self.view: list[str] | None = None
        self.collector = 0
        self.reported: dict[str, str] = {}
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
        self.reported = {}

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
        self.reported = {}
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
        self.reported.update(news)
        updates = [self._update(mo, moid, state) for moid, state in news.items()]
        return COLLECTOR.UpdateSet(
            version=str(len(self.reported)),
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
            if moid in self.tasks and self.reported.get(moid) != self.state(moid)
        }

    def _update(self, mo, moid, state):
        task = self.tasks[moid]
        changes = [COLLECTOR.Change(name="info.state", op="assign", val=vim.TaskInfo.State(state))]
        if state == "error":
            changes.append(COLLECTOR.Change(name="info.error", op="assign", val=task["fault"]))
        if state == "success":
            changes.append(COLLECTOR.Change(name="info.result", op="assign", val=f"done {task['vm']}"))
        return COLLECTOR.ObjectUpdate(kind="modify", obj=vim.Task(moid, mo._GetStub()), changeSet=changes)
