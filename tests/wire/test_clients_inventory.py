"""VMs over REST, first-class disks, operations in guests, private VLANs, and hosts that leave and come back."""

from __future__ import annotations

import pytest
from pyVmomi import vim, vmodl

from .any_client import ended, lab

DVS = vim.dvs.VmwareDistributedVirtualSwitch
VMS = "/api/vcenter/vm"


@pytest.fixture(scope="module")
def client():
    with lab() as started:
        yield started


def asked(client, verb, path, body=None, status=200):
    """The value of an answer with this status."""
    found = client.rest(verb, path, body)
    assert found[0] == status, found
    return found[1]


def test_one_vm_is_the_same_in_both_apis(client):
    vm = client.vm()
    shown = asked(client, "GET", f"{VMS}/{vm._moId}")
    assert (shown["identity"]["bios_uuid"], shown["memory"]["size_MiB"]) == (
        vm.config.uuid,
        vm.config.hardware.memoryMB,
    )
    disk = vm.config.hardware.device[-1]
    assert {str(one.key) for one in vm.config.hardware.device} >= {*shown["disks"], *shown["nics"], str(disk.key)}
    older = asked(client, "GET", f"/rest/vcenter/vm/{vm._moId}")["value"]
    assert older["disks"] == [{"key": key, "value": value} for key, value in shown["disks"].items()]
    assert asked(client, "GET", f"{VMS}/vm-0", status=404)["error_type"] == "NOT_FOUND"


def test_a_vm_is_created_changed_started_and_deleted(client):
    place = {
        "folder": client.center.vmFolder._moId,
        "host": client.host()._moId,
        "datastore": client.center.datastore[0]._moId,
    }
    spec = {"guest_OS": "UBUNTU_64", "name": "by-rest", "placement": place, "nics": [{"start_connected": True}]}
    vm = asked(client, "POST", VMS, spec, 201)
    made = client.vm("by-rest")
    assert (made._moId, made.config.guestId, made.network[0].name) == (vm, "ubuntu64Guest", "VM Network")
    assert asked(client, "POST", VMS, {**spec, "size": 1}, 400)["error_type"] == "INVALID_ARGUMENT"
    asked(client, "PATCH", f"{VMS}/{vm}/hardware/memory", {"size_MiB": 2048}, 204)
    assert made.config.hardware.memoryMB == 2048
    asked(client, "POST", f"{VMS}/{vm}/power?action=start", status=204)
    assert asked(client, "POST", f"/rest/vcenter/vm/{vm}/power/start", status=400)["value"]["messages"][0]["id"] == (
        "com.vmware.api.vcenter.vm.power.already_powered_on"
    )
    assert asked(client, "GET", f"{VMS}/{vm}/guest/identity", status=503)["error_type"] == "SERVICE_UNAVAILABLE"
    asked(client, "POST", f"{VMS}/{vm}/power?action=stop", status=204)
    asked(client, "DELETE", f"{VMS}/{vm}", status=204)
    asked(client, "GET", f"{VMS}/{vm}", status=404)


def disk_spec(store, name="fcd", megabytes=1024):
    backing = vim.vslm.CreateSpec.DiskFileBackingSpec(datastore=store, provisioningType="thin")
    return vim.vslm.CreateSpec(name=name, capacityInMB=megabytes, backingSpec=backing, keepAfterDeleteVm=True)


def test_a_first_class_disk_from_its_creation_to_its_deletion(client):
    manager, store, vm = client.content.vStorageObjectManager, client.center.datastore[0], client.vm()
    made = ended(manager.CreateDisk_Task(disk_spec(store)))
    key = made.config.id
    assert (made.config.name, made.config.capacityInMB, made.config.backing.provisioningType) == ("fcd", 1024, "thin")
    assert [one.id for one in manager.ListVStorageObject(store)] == [key.id]
    assert ended(manager.ExtendDisk_Task(key, store, 2048)) is None
    assert isinstance(ended(manager.ExtendDisk_Task(key, store, 1024)), vmodl.fault.InvalidArgument)
    for wrong in (99, 4000):  # none, and the adapter of a network
        assert isinstance(ended(vm.AttachDisk_Task(key, store, wrong)), vim.fault.InvalidController)
    assert isinstance(ended(vm.AttachDisk_Task(key, store, 300)), vim.fault.InvalidDeviceSpec)  # PS/2
    assert ended(vm.AttachDisk_Task(key, store)) is None
    assert isinstance(ended(vm.AttachDisk_Task(key, store)), vim.fault.InvalidState)
    (disk,) = [one for one in vm.config.hardware.device if getattr(one, "vDiskId", None)]
    assert (disk.vDiskId.id, disk.capacityInKB) == (key.id, 2 * 1024**2)
    assert manager.RetrieveVStorageObject(key, store).config.consumerId[0].id == vm.config.instanceUuid
    assert isinstance(ended(manager.DeleteVStorageObject_Task(key, store)), vim.fault.InvalidState)
    assert ended(vm.DetachDisk_Task(key)) is None
    assert isinstance(ended(vm.DetachDisk_Task(key)), vim.fault.NotFound)
    snapshot = ended(manager.VStorageObjectCreateSnapshot_Task(key, store, "before"))
    assert [one.description for one in manager.RetrieveSnapshotInfo(key, store).snapshots] == ["before"]
    assert isinstance(ended(manager.ExtendDisk_Task(key, store, 4096)), vim.fault.InvalidState)
    assert ended(manager.DeleteSnapshot_Task(key, store, snapshot)) is None
    assert isinstance(ended(manager.DeleteSnapshot_Task(key, store, snapshot)), vim.fault.NotFound)
    assert ended(manager.DeleteVStorageObject_Task(key, store)) is None
    with pytest.raises(vim.fault.NotFound):
        manager.RetrieveVStorageObject(key, store)
    assert isinstance(ended(manager.CreateDisk_Task(disk_spec(store, megabytes=0))), vmodl.fault.InvalidArgument)
    assert isinstance(ended(manager.CreateDisk_Task(disk_spec(store, name=""))), vim.fault.InvalidName)


def test_an_operation_in_a_guest_needs_power_tools_and_a_login(client):
    guests, vm = client.content.guestOperationsManager, client.vm()
    login = vim.vm.guest.NamePasswordAuthentication(username="root", password="x", interactiveSession=False)
    program = vim.vm.guest.ProcessManager.ProgramSpec(programPath="/bin/true", arguments="")
    with pytest.raises(vim.fault.InvalidPowerState):
        guests.processManager.StartProgramInGuest(vm, login, program)
    ended(vm.PowerOnVM_Task())
    seen = set()
    while "InvalidGuestLogin" not in seen:
        with pytest.raises((vim.fault.GuestOperationsUnavailable, vim.fault.InvalidGuestLogin)) as caught:
            guests.fileManager.ListFilesInGuest(vm, login, "/tmp")
        seen.add(type(caught.value)._wsdlName)
    with pytest.raises(vim.fault.InvalidGuestLogin):
        guests.authManager.ValidateCredentialsInGuest(vm, login)
    ended(vm.PowerOffVM_Task())


def private(primary, secondary, kind, operation="add"):
    entry = DVS.PvlanMapEntry(primaryVlanId=primary, secondaryVlanId=secondary, pvlanType=kind)
    return DVS.PvlanConfigSpec(operation=operation, pvlanEntry=entry)


def mapped(switch, *rows):
    return ended(switch.ReconfigureDvs_Task(DVS.ConfigSpec(pvlanConfigSpec=list(rows))))


def test_a_private_vlan_needs_its_map(client):
    switch = client.find(vim.DistributedVirtualSwitch, "dvs-train")
    setting = DVS.VmwarePortConfigPolicy(vlan=DVS.PvlanSpec(inherited=False, pvlanId=301))
    spec = vim.dvs.DistributedVirtualPortgroup.ConfigSpec(name="pg-private", numPorts=8, defaultPortConfig=setting)
    assert isinstance(ended(switch.CreateDVPortgroup_Task(spec)), vmodl.fault.InvalidArgument)
    for rows in (
        [private(300, 301, "isolated")],
        [private(300, 300, "isolated")],
        [private(300, 300, "promiscuous"), private(300, 301, "isolated"), private(300, 302, "isolated")],
        [private(300, 300, "promiscuous"), private(300, 300, "promiscuous")],
        [private(5000, 5000, "promiscuous")],
        [private(300, 301, "isolated", "remove")],
    ):
        assert isinstance(mapped(switch, *rows), vmodl.fault.InvalidArgument)
    assert mapped(switch, private(300, 300, "promiscuous"), private(300, 301, "isolated")) is None
    assert [(one.secondaryVlanId, one.pvlanType) for one in switch.config.pvlanConfig] == [
        (300, "promiscuous"),
        (301, "isolated"),
    ]
    group = ended(switch.CreateDVPortgroup_Task(spec))
    assert group.config.defaultPortConfig.vlan.pvlanId == 301
    assert isinstance(mapped(switch, private(300, 301, "isolated", "remove")), vim.fault.ResourceInUse)
    assert ended(group.Destroy_Task()) is None
    removed = [private(300, 301, "isolated", "remove"), private(300, 300, "promiscuous", "remove")]
    assert mapped(switch, *removed) is None


def test_a_host_leaves_and_comes_back(client):
    cluster, host = client.find(vim.ClusterComputeResource, "gpu"), client.host("esx-02.lab.example")
    spec = vim.host.ConnectSpec(hostName=host.name, userName="root", password="x", force=True)
    assert isinstance(ended(cluster.AddHost_Task(spec, True)), vim.fault.DuplicateName)
    assert isinstance(ended(host.ReconnectHost_Task()), vim.fault.InvalidState)
    assert isinstance(ended(host.Destroy_Task()), vim.fault.InvalidState)
    assert ended(host.DisconnectHost_Task()) is None
    assert ended(host.Destroy_Task()) is None
    assert [one.name for one in cluster.host] == ["esx-01.lab.example"]
    unknown = vim.host.ConnectSpec(hostName="esx-99.lab.example", userName="root", password="x", force=True)
    assert isinstance(ended(cluster.AddHost_Task(unknown, True)), vim.fault.NoHost)
    nobody = vim.host.ConnectSpec(hostName=spec.hostName, force=True)
    assert isinstance(ended(cluster.AddHost_Task(nobody, True)), vim.fault.InvalidLogin)
    alone = ended(client.center.hostFolder.AddStandaloneHost_Task(spec, None, True))
    assert (alone.name, alone.host[0].runtime.connectionState) == (spec.hostName, "connected")
    assert isinstance(ended(cluster.AddHost_Task(spec, True)), vim.fault.AlreadyConnected)
    allocation = vim.ResourceAllocationInfo(reservation=0, limit=-1, shares=vim.SharesInfo(level="normal", shares=0))
    pool = vim.ResourceConfigSpec(cpuAllocation=allocation, memoryAllocation=allocation)
    pool.scaleDescendantsShares = "disabled"  # only clusters have scalable shares
    with pytest.raises(vmodl.fault.NotSupported):
        alone.resourcePool.CreateResourcePool("scaled", pool)
    assert ended(alone.host[0].DisconnectHost_Task()) is None
    assert ended(alone.host[0].Destroy_Task()) is None
    assert ended(cluster.AddHost_Task(spec, True)).name == spec.hostName
    assert len(cluster.host) == 2
