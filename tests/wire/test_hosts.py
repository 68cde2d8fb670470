"""A host's way down and up as a client of vCenter sees it, with a plain pyVmomi client."""

from __future__ import annotations

import pytest
from pyVim.task import WaitForTask
from pyVmomi import vim, vmodl

from .observe import client
from .test_third_party_hosts import host_object, until

HOST = "esx-01.lab.example"


@pytest.fixture
def running(twin):
    return twin(seed="factory")


def test_a_restart_is_refused_without_maintenance_mode_unless_forced(running):
    with client(running) as service:
        host = host_object(service, HOST)
        with pytest.raises(vim.fault.InvalidState):
            host.RebootHost_Task(force=False)
        WaitForTask(host.RebootHost_Task(force=True))
        until(running, HOST, lambda found: found.boots == 1)


def test_a_host_that_is_down_answers_nothing_and_shows_what_was_known_last(running):
    running.control.hang_boot(host=HOST)
    with client(running) as service:
        host = host_object(service, HOST)
        WaitForTask(host.RebootHost_Task(force=True))
        until(running, HOST, lambda found: found.booting)
        assert (host.runtime.connectionState, host.runtime.powerState) == ("notResponding", "unknown")
        assert host.config.product.version == "8.0.3"
        for ask in (
            host.configManager.kernelModuleSystem.QueryModules,
            lambda: host.configManager.advancedOption.QueryOptions("Net.PVRDMAVmknic"),
            lambda: host.EnterMaintenanceMode_Task(timeout=0),
        ):
            with pytest.raises(vmodl.fault.HostCommunication):
                ask()


def test_maintenance_is_waited_for_and_can_be_cancelled(running):
    with client(running) as service:
        host = host_object(service, HOST)
        machine = next(vm for vm in host.vm)
        with running.world.lock:  # a BIOS as it comes from the factory would not let it start
            running.world.get(machine._moId).guest_id = "otherGuest"
        WaitForTask(machine.PowerOnVM_Task())
        task = host.EnterMaintenanceMode_Task(timeout=0)
        until(running, HOST, lambda found: found.entering_maintenance is not None)
        assert task.info.descriptionId == "HostSystem.enterMaintenanceMode"
        assert [one._moId for one in host.recentTask] == [task._moId]
        task.CancelTask()
        assert isinstance(task.info.error, vmodl.fault.RequestCanceled)
        task = host.EnterMaintenanceMode_Task(timeout=0)
        WaitForTask(machine.PowerOffVM_Task())
        WaitForTask(task)
        assert host.runtime.inMaintenanceMode


def test_a_host_sleeps_and_wakes(running):
    with client(running) as service:
        host = host_object(service, HOST)
        WaitForTask(host.PowerDownHostToStandBy_Task(timeoutSec=0))
        until(running, HOST, lambda found: found.power == "standBy")
        assert (host.runtime.powerState, host.runtime.standbyMode) == ("standBy", "in")
        WaitForTask(host.PowerUpHostFromStandBy_Task(timeoutSec=30))
        assert (host.runtime.powerState, host.runtime.connectionState) == ("poweredOn", "connected")


def test_a_mark_on_a_host_can_be_set_read_and_taken_away(running):
    with client(running) as service:
        fields, host = service.content.customFieldsManager, host_object(service, HOST)
        field = fields.AddCustomFieldDef(name="owner", moType=vim.HostSystem)
        with pytest.raises(vim.fault.DuplicateName):
            fields.AddCustomFieldDef(name="owner", moType=vim.HostSystem)
        fields.SetField(entity=host, key=field.key, value="us")
        assert [(one.key, one.value) for one in host.customValue] == [(field.key, "us")]
        assert [one.name for one in host.availableField] == ["owner"]
        fields.SetField(entity=host, key=field.key, value="")
        assert list(host.customValue) == []
        with pytest.raises(vim.fault.NotFound):
            fields.SetField(entity=host, key=999, value="us")


def test_topology_can_be_read_from_the_parents_of_the_pci_devices(running):
    with client(running) as service:
        hardware = host_object(service, HOST).hardware
        parents = {row.id: row.parentBridge for row in hardware.pciDevice}

        def root(address):
            while parents.get(address):
                address = parents[address]
            return address

        assert root("0000:39:00.0") == root("0000:3a:00.1") == "0000:36:02.0"
        nodes = {address: node.typeId for node in hardware.numaInfo.numaNode for address in node.pciId}
        assert nodes["0000:39:00.0"] == nodes["0000:3a:00.0"] == 0
