"""What happened, as clients of all kinds ask for it: events, tasks, and the collectors of both."""

from __future__ import annotations

import pytest
from pyVmomi import vim, vmodl

from .any_client import ended, lab


@pytest.fixture(scope="module")
def client():
    with lab() as started:
        yield started


def events_of(client, entity, *kinds, recursion="self"):
    by = vim.event.EventFilterSpec.ByEntity(entity=entity, recursion=recursion)
    return client.content.eventManager.QueryEvents(vim.event.EventFilterSpec(entity=by, eventTypeId=list(kinds)))


def test_what_happens_to_a_vm_leaves_events(client):
    vm = client.vm("train-02")
    first = len(events_of(client, vm))
    assert ended(vm.ReconfigVM_Task(vim.vm.ConfigSpec(annotation="x"))) is None
    assert ended(vm.PowerOnVM_Task()) is None
    assert ended(vm.PowerOffVM_Task()) is None
    found = events_of(client, vm)[first:]
    kinds = [type(event).__name__.rpartition(".")[2] for event in found]
    assert kinds == [
        "TaskEvent",
        "VmReconfiguredEvent",
        "TaskEvent",
        "VmPoweredOnEvent",
        "TaskEvent",
        "VmPoweredOffEvent",
    ]
    on = found[3]
    assert (on.vm.name, on.vm.vm, on.host.name) == ("train-02", vm, vm.runtime.host.name)
    assert (on.datacenter.name, on.computeResource.name) == ("lab", "gpu")
    assert on.userName == r"VSPHERE.LOCAL\Administrator"
    assert on.chainId == found[2].chainId == found[2].info.eventChainId
    assert [event.key for event in found] == sorted(event.key for event in found)
    assert client.content.eventManager.latestEvent.key == found[-1].key
    assert [type(one) for one in events_of(client, vm, "VmPoweredOnEvent")] == [vim.event.VmPoweredOnEvent]


def test_events_of_a_clone_and_of_a_move_name_their_source(client):
    vm = client.vm("train-02")
    place = vim.vm.RelocateSpec(pool=vm.resourcePool)
    spec = vim.vm.CloneSpec(location=place, powerOn=False, template=False)
    copy = ended(vm.CloneVM_Task(folder=vm.parent, name="copy", spec=spec))
    (cloned,) = events_of(client, copy, "VmClonedEvent")
    assert (cloned.vm.name, cloned.sourceVm.name, cloned.sourceVm.vm) == ("copy", "train-02", vm)
    before = copy.runtime.host
    other = next(one for one in before.parent.host if one != before)
    assert ended(copy.RelocateVM_Task(vim.vm.RelocateSpec(host=other))) is None
    (moved,) = events_of(client, copy, "VmRelocatedEvent")
    assert (moved.sourceHost.host, moved.host.host) == (before, other)
    assert ended(copy.Destroy_Task()) is None


def test_events_are_found_below_an_object_and_by_user(client):
    ended(client.vm().ReconfigVM_Task(vim.vm.ConfigSpec(annotation="")))
    assert not events_of(client, client.center)
    assert events_of(client, client.center, recursion="children")
    assert events_of(client, client.content.rootFolder, recursion="all")
    query = client.content.eventManager.QueryEvents
    mine = vim.event.EventFilterSpec.ByUsername(systemUser=False, userList=[r"VSPHERE.LOCAL\Administrator"])
    other = vim.event.EventFilterSpec.ByUsername(systemUser=False, userList=["nobody"])
    assert query(vim.event.EventFilterSpec(userName=mine))
    assert not query(vim.event.EventFilterSpec(userName=other))
    assert {type(one) for one in query(vim.event.EventFilterSpec(type=[vim.event.SessionEvent]))} == {
        vim.event.UserLoginSessionEvent
    }


def test_a_refused_start_is_an_event_with_its_reason(client):
    vm = client.vm()
    profile = vim.vm.device.VirtualPCIPassthrough.VmiopBackingInfo(vgpu="grid_a100-40c")
    change = vim.vm.device.VirtualDeviceSpec(
        operation="add", device=vim.vm.device.VirtualPCIPassthrough(key=-1, backing=profile)
    )
    assert ended(vm.ReconfigVM_Task(vim.vm.ConfigSpec(deviceChange=[change]))) is None
    fault = ended(vm.PowerOnVM_Task())
    event = events_of(client, vm, "VmFailedToPowerOnEvent")[-1]
    assert event.reason.msg == fault.msg
    (device,) = [one for one in vm.config.hardware.device if isinstance(one, vim.vm.device.VirtualPCIPassthrough)]
    off = vim.vm.device.VirtualDeviceSpec(operation="remove", device=device)
    assert ended(vm.ReconfigVM_Task(vim.vm.ConfigSpec(deviceChange=[off]))) is None


def test_a_collector_of_events_reads_both_ways(client):
    ended(client.vm().ReconfigVM_Task(vim.vm.ConfigSpec(annotation="")))
    collector = client.content.eventManager.CreateCollectorForEvents(vim.event.EventFilterSpec())
    newest = collector.latestPage[0].key
    back = [event.key for event in collector.ReadPreviousEvents(2)]
    assert back == [newest, newest - 1]
    collector.RewindCollector()
    assert [event.key for event in collector.ReadNextEvents(2)] == [1, 2]
    collector.SetCollectorPageSize(1)
    assert len(collector.latestPage) == 1
    with pytest.raises(vmodl.fault.InvalidArgument):
        collector.ReadNextEvents(5000)
    collector.DestroyCollector()
    with pytest.raises(vmodl.fault.ManagedObjectNotFound):
        collector.ReadNextEvents(1)


def test_a_new_collector_begins_with_the_oldest_entry(client):
    ended(client.vm().ReconfigVM_Task(vim.vm.ConfigSpec(annotation="")))
    events = client.content.eventManager.CreateCollectorForEvents(vim.event.EventFilterSpec())
    assert [event.key for event in events.ReadNextEvents(2)] == [1, 2]
    assert [event.key for event in events.ReadNextEvents(1)] == [3]
    tasks = client.content.taskManager.CreateCollectorForTasks(vim.TaskFilterSpec(state=["success"]))
    assert len(tasks.ReadNextTasks(1000)) >= 1
    assert not tasks.ReadNextTasks(1000)


def test_a_collector_of_tasks_finds_them_by_object_and_state(client):
    vm = client.vm()
    ended(vm.ReconfigVM_Task(vim.vm.ConfigSpec(annotation="")))
    by = vim.TaskFilterSpec.ByEntity(entity=vm, recursion="self")
    create = client.content.taskManager.CreateCollectorForTasks
    found = create(vim.TaskFilterSpec(entity=by, state=["success"])).latestPage
    assert {task.entity for task in found} == {vm}
    assert {task.state for task in found} == {"success"}
    collector = create(vim.TaskFilterSpec())
    assert collector.ReadNextTasks(1)[0].queueTime <= found[0].queueTime
    assert not create(vim.TaskFilterSpec(state=["queued"])).latestPage
