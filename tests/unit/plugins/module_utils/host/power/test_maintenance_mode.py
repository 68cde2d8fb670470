# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""A host that is taken out of service and put back: what is read, desired and requested."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, documented
from ansible_collections.aiready.vsphere.plugins.module_utils.host.power import evacuation, journal, maintenance
from ansible_collections.aiready.vsphere.plugins.module_utils.host.power.evacuation import Cluster, Running
from ansible_collections.aiready.vsphere.plugins.module_utils.host.power.maintenance import (
    Maintenance,
    MaintenanceRequest,
    Service,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.tasks import Outcome
from pyVmomi import vim

from unit.plugins.module_utils.vcenter.fakes import FakeInventory, opened

HOST = vim.HostSystem("host-1")
PLAIN, VGPU = Running("web-01"), Running("train-01", vgpus=("grid_a100-40c",))
READY = Cluster("gpu", automatic=True, drs_option=evacuation.DRS_VALUE, hot_migrate=True)
UNSET = replace(READY, drs_option="")
REQUEST = MaintenanceRequest(
    state="entered", owner="ours", reason="driver", evacuation="refuse", evacuate_powered_off=False, timeout_s=60
)
PASSTHROUGH = vim.vm.device.VirtualPCIPassthrough
REFUSED = OperatorError("Host esx-01", "it was to be entered", "No.", "Look", "no_permission", privilege="x")
LOST = OperatorError("Host esx-01", "it was to be entered", "No answer", "Look", "fate_unknown")
LATE = OperatorError("Host esx-01", "it was to be entered", "It takes long", "Wait", "task_timeout")


def noun():
    made = Maintenance({}, print)
    made._found = SimpleNamespace(name="esx-01")
    return made


def item(now, **requested):
    made = Item("esx-01", replace(REQUEST, **requested), {})
    made.now = now
    return made


@pytest.mark.parametrize(
    "now, requested, wanted",
    [
        (Service(True, "driver"), {"state": "left"}, Service(False)),
        (Service(True), {"state": "left"}, Service(True)),
        (Service(True), {"state": "left", "owner": "any"}, Service(False)),
        (Service(True), {}, Service(True)),
        (Service(True, "other"), {}, Service(True, "driver")),
        (Service(False), {}, Service(True, "driver")),
        (Service(False, running=(PLAIN,), cluster=UNSET), {"evacuation": "drs"}, Service(True, "driver", (), UNSET)),
        (
            Service(False, running=(VGPU,), cluster=UNSET),
            {"evacuation": "drs_vgpu"},
            Service(True, "driver", (), READY),
        ),
    ],
)
def test_the_requested_mode_of_a_host(now, requested, wanted):
    assert noun().want(item(now, **requested)) == wanted


def test_a_host_with_running_vms_is_not_taken_out_of_service():
    with pytest.raises(OperatorError) as refused:
        noun().want(item(Service(False, running=(PLAIN,), cluster=READY)))
    assert refused.value.code == "running_vms"


@pytest.mark.parametrize(
    "now, wanted, changes, gap",
    [
        (Service(False), Service(True, "x"), ["in_maintenance", "reason"], ["in_maintenance", "reason"]),
        (Service(True, "x"), Service(True, "y"), ["reason"], ["reason"]),
        (Service(True, "x", (), UNSET), Service(True, "x", (), READY), [f"gpu.{evacuation.DRS_OPTION}"], []),
        (Service(True, "x", (), READY), Service(True, "x", (), READY), [], []),
        (Service(True, "x", (), None), Service(True, "x", (), READY), [], []),
    ],
)
def test_what_has_to_change(now, wanted, changes, gap):
    assert [change.path for change in noun().compare(now, wanted)] == changes
    assert [change.path for change in noun().gap(now, wanted)] == gap


@pytest.mark.parametrize(
    "state, owner",
    [(Service(True, "x"), "collection"), (Service(True), "others"), (Service(False, "x"), "nobody")],
)
def test_whose_maintenance_it_is(state, owner):
    shown = noun().project(replace(state, running=(PLAIN, VGPU)))
    assert shown == {
        "in_maintenance": state.in_maintenance,
        "owner": owner,
        "reason": state.reason,
        "running_vms": ["train-01", "web-01"],
    }


def device(backing):
    return PASSTHROUGH(key=13000, backing=backing)


@pytest.mark.parametrize(
    "devices, found",
    [
        (None, Running("vm")),
        ([device(PASSTHROUGH.VmiopBackingInfo(vgpu="grid_a100-40c"))], Running("vm", ("grid_a100-40c",))),
        ([device(PASSTHROUGH.DynamicBackingInfo(assignedId="7"))], Running("vm", (), ("PCI 7",))),
        ([device(PASSTHROUGH.DynamicBackingInfo())], Running("vm", (), ("PCI device",))),
        (
            [
                vim.vm.device.VirtualVmxnet3(key=1, deviceInfo=vim.Description(label="eth0", summary="")),
                vim.vm.device.VirtualSriovEthernetCard(key=2, deviceInfo=vim.Description(label="eth1", summary="")),
            ],
            Running("vm", (), ("eth1",)),
        ),
    ],
)
def test_what_keeps_a_vm_on_its_host(devices, found):
    row = Row(vim.VirtualMachine("vm-1"), {"name": "vm", "config.hardware.device": devices}, {})
    assert maintenance._running(row) == found


@pytest.mark.parametrize(
    "key, value, number, unified",
    [
        ("pciPassthru0.cfg.enable_uvm", "1", 0, True),
        ("pciPassthru0.cfg.enable_uvm", "TRUE", 0, True),
        ("pciPassthru0.cfg.enable_uvm", "0", 0, False),
        ("pciPassthru1.cfg.enable_uvm", "1", 0, False),
        ("pciPassthru1.cfg.enable_uvm", "1", 1, True),
        ("pciPassthru0.cfg.enable_uvm", "1", 1, True),
    ],
)
def test_unified_memory_is_read_for_each_vgpu(key, value, number, unified):
    shared = PASSTHROUGH(key=13000 + number, backing=PASSTHROUGH.VmiopBackingInfo(vgpu="grid_a100-40c"))
    row = Row(
        vim.VirtualMachine("vm-1"),
        {
            "name": "vm",
            "config.hardware.device": [shared],
            "config.extraConfig": [vim.option.OptionValue(key=key, value=value)],
        },
        {},
    )
    assert maintenance._running(row).unified_memory is unified


@pytest.mark.parametrize(
    "enabled, behaviour, option, found",
    [
        (True, "fullyAutomated", "-1", Cluster("gpu", True, "-1")),
        (True, "manual", None, Cluster("gpu")),
        (False, "fullyAutomated", None, Cluster("gpu")),
    ],
)
def test_whether_a_cluster_moves_vms_by_itself(enabled, behaviour, option, found):
    options = [vim.option.OptionValue(key=evacuation.DRS_OPTION, value=option)] if option else []
    drs = vim.cluster.DrsConfigInfo(enabled=enabled, defaultVmBehavior=behaviour, option=options)
    row = Row(
        vim.ClusterComputeResource("domain-c1"),
        {"name": "gpu", "configurationEx": vim.cluster.ConfigInfoEx(drsConfig=drs)},
        {},
    )
    assert maintenance._cluster(row, False) == found
    assert maintenance._cluster(row, True) == replace(found, hot_migrate=True)
    assert maintenance._cluster(Row(row.ref, {}, {}), False) == Cluster("domain-c1")


class World:
    """A host in a cluster with a VM that runs and one that is off."""

    def __init__(self, inside=False, hot="TRUE"):
        self.vcenter, self.wire = opened()
        inventory = FakeInventory(self.wire)
        vms = [
            inventory.add(vim.VirtualMachine, "vm-1", name="web-01", **{"runtime.powerState": "poweredOn"}),
            inventory.add(vim.VirtualMachine, "vm-2", name="web-02", **{"runtime.powerState": "poweredOff"}),
        ]
        self.vm = inventory.objects["vm-1"][1]
        cluster = inventory.add(vim.ClusterComputeResource, "domain-c1", name="gpu")
        self.host = {"runtime.inMaintenanceMode": inside, "vm": vms, "parent": cluster}
        inventory.add(vim.HostSystem, "host-1", **self.host)
        self.vcenter.content.setting = vim.option.OptionManager("settings", self.vcenter.stub)
        self.hot = hot
        self.wire.handlers["QueryOptions"] = self.options

    def options(self, mo, name):
        if self.hot is None:
            raise vim.fault.InvalidName(name=name)
        return vim.option.OptionValue.Array([vim.option.OptionValue(key=name, value=self.hot)])

    def look(self, state="entered", planned=None):
        noun = Maintenance({}, print, planned)
        noun._vcenter = self.vcenter
        ref = vim.HostSystem("host-1", self.vcenter.stub)
        found = SimpleNamespace(name="esx-01", ref=ref, row=Row(ref, self.host, {}))
        return noun.look(found, replace(REQUEST, state=state))


def test_the_running_vms_of_a_host_that_enters():
    assert World().look() == Service(False, running=(PLAIN,), cluster=Cluster("gpu"))
    assert World().look(planned={"powered_off": ["vm-1"]}) == Service(False)
    assert World().look(state="left") == Service(False)
    assert World(inside=True).look() == Service(True)


@pytest.mark.parametrize("hot, can", [("TRUE", True), ("true", True), ("false", False), (None, False)])
def test_whether_vms_with_vgpus_can_move(hot, can):
    world = World(hot=hot)
    backing = PASSTHROUGH.VmiopBackingInfo(vgpu="grid_a100-40c")
    world.vm["config.hardware.device"] = vim.vm.device.VirtualDevice.Array([device(backing)])
    found = world.look()
    assert (found.running[0].vgpus, found.cluster.hot_migrate) == (("grid_a100-40c",), can)


class Host(Maintenance):
    """A host of which each request and note is kept; its mode is read from a list."""

    def __init__(self, monkeypatch, outcomes=(), readings=(), running=()):
        super().__init__({}, print)
        self.seen, self.outcomes, self.readings, self.running = [], list(outcomes), list(readings), running
        self._found = SimpleNamespace(
            name="esx-01",
            ref=SimpleNamespace(
                EnterMaintenanceMode_Task=lambda **asked: ("enter", asked),
                ExitMaintenanceMode_Task=lambda **asked: ("exit", asked),
            ),
            cluster="gpu",
            cluster_ref=SimpleNamespace(ReconfigureComputeResource_Task=lambda spec, modify: ("drs", spec, modify)),
        )
        monkeypatch.setattr(maintenance.tasks, "run_tasks", self.run)
        monkeypatch.setattr(maintenance.marks, "write", self.note)

    def run(self, vcenter, jobs, timeout_s=None):
        (job,) = jobs
        self.seen.append((*job.start(), timeout_s))
        return [self.outcomes.pop(0) if self.outcomes else Outcome()]

    def note(self, vcenter, ref, name, value):
        assert (ref, name) == (self._found.ref, maintenance.MARK)
        self.seen.append(("note", value))

    def _again(self):
        inside = self.readings.pop(0) if len(self.readings) > 1 else self.readings[0]
        return Row(HOST, {"runtime.inMaintenanceMode": inside}, {})

    def _neighbours(self, found):
        return self.running, None


ENTER = ("enter", {"timeout": 60, "evacuatePoweredOffVms": False}, 90)
LEAVE = ("exit", {"timeout": 60}, 90)


@pytest.mark.parametrize(
    "now, wanted, readings, seen",
    [
        (Service(False), Service(True, "driver"), [True], [("note", "driver"), ENTER]),
        (Service(False, "driver"), Service(True, "driver"), [True], [ENTER]),
        (Service(True, "driver"), Service(False), [False], [LEAVE, ("note", "")]),
        (Service(True), Service(False), [False], [LEAVE]),
        (Service(True, "other"), Service(True, "driver"), [True], [("note", "driver")]),
        (Service(False, "other"), Service(False), [False], [("note", "")]),
    ],
)
def test_the_note_is_written_first_and_removed_last(monkeypatch, now, wanted, readings, seen):
    host = Host(monkeypatch, readings=readings)
    asked = item(now)
    asked.wanted = wanted
    host.change(asked)
    assert (host.seen, asked.touched) == (seen, True)


def test_powered_off_vms_leave_too_where_that_is_requested(monkeypatch):
    host = Host(monkeypatch)
    host._run(replace(REQUEST, evacuate_powered_off=True), True, None)
    assert host.seen == [("enter", {"timeout": 60, "evacuatePoweredOffVms": True}, 90)]


def test_a_task_of_an_earlier_run_is_gone_on_with(monkeypatch):
    host = Host(monkeypatch, readings=[True])
    entry = journal.Entry(journal.ENTER, ("of an earlier run",), "running", None)
    host._settle(item(Service(False, tasks=(entry,))), True)
    assert host.seen == [("of an earlier run", 90)]


@pytest.mark.parametrize("failed", [False, True])
def test_the_option_of_the_cluster_is_set_before_anything_else(monkeypatch, failed):
    host = Host(monkeypatch, [Outcome(error=REFUSED)] if failed else [], [True])
    asked = item(Service(False, cluster=UNSET))
    asked.wanted = Service(True, "driver", cluster=READY)
    if failed:
        with pytest.raises(OperatorError) as refused:
            host.change(asked)
        assert refused.value is REFUSED
    else:
        host.change(asked)
    (verb, spec, modify, _limit), *others = host.seen
    (option,) = spec.drsConfig.option
    assert (verb, modify, option.key, option.value) == ("drs", True, evacuation.DRS_OPTION, evacuation.DRS_VALUE)
    assert others == ([] if failed else [("note", "driver"), ENTER])


@pytest.mark.parametrize(
    "inside, outcomes, requests, failure, note",
    [
        (True, [Outcome(error=REFUSED)], 1, {"code": "no_permission", "privilege": "x", "vms": ["web-01"]}, True),
        (True, [Outcome(error=LATE, uncertain=True)], 1, {"code": "task_timeout"}, False),
        (True, [Outcome(error=LOST, uncertain=True)] * 3, 3, {"code": "fate_unknown", "vms": ["web-01"]}, True),
        (True, [], 3, {"code": "not_proved"}, False),
        (False, [Outcome(error=REFUSED)], 1, {"code": "no_permission", "privilege": "x"}, False),
    ],
    ids=["refused", "late", "lost each time", "without effect", "not left"],
)
def test_a_mode_that_is_not_reached(monkeypatch, inside, outcomes, requests, failure, note):
    host = Host(monkeypatch, outcomes, [not inside], running=(PLAIN,))
    with pytest.raises(OperatorError) as failed:
        host._settle(item(Service(not inside)), inside)
    assert failed.value.failure == documented(subject="Host esx-01", **failure)
    assert host.seen == [ENTER if inside else LEAVE] * requests + [("note", "")] * note
