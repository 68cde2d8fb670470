"""Requests that clients of all kinds make beside those of the collection: placement, exports, networks, roles."""

from __future__ import annotations

import hashlib
import urllib.parse

import pytest
from pyVmomi import vim, vmodl

from .any_client import ended, lab

PLACEMENT = vim.cluster.PlacementSpec
SWITCH = vim.host.VirtualSwitch.Specification
GROUP = vim.host.PortGroup.Specification


@pytest.fixture(scope="module")
def client():
    with lab() as started:
        yield started


@pytest.fixture
def cluster(client):
    return client.find(vim.ClusterComputeResource, "gpu")


@pytest.mark.parametrize(
    "wanted",
    [
        lambda c: PLACEMENT(placementType="create", configSpec=vim.vm.ConfigSpec(name="new")),
        lambda c: PLACEMENT(placementType="relocate", vm=c.vm(), relocateSpec=vim.vm.RelocateSpec()),
        lambda c: PLACEMENT(
            placementType="clone", vm=c.vm(), cloneSpec=vim.vm.CloneSpec(location=vim.vm.RelocateSpec())
        ),
        lambda c: PLACEMENT(placementType="reconfigure", vm=c.vm(), configSpec=vim.vm.ConfigSpec(numCPUs=2)),
    ],
)
def test_a_cluster_recommends_a_place(client, cluster, wanted):
    (found,) = cluster.PlaceVm(wanted(client)).recommendations
    (action,) = found.action
    assert action.targetHost in cluster.host
    assert action.relocateSpec.host == action.targetHost
    assert action.relocateSpec.datastore.name == "datastore-01"
    assert action.relocateSpec.pool == cluster.resourcePool


def test_a_place_is_among_the_hosts_that_are_asked_for(client, cluster):
    host = client.host("esx-02.lab.example")
    spec = PLACEMENT(placementType="create", configSpec=vim.vm.ConfigSpec(name="new"), hosts=[host])
    assert cluster.PlaceVm(spec).recommendations[0].action[0].targetHost == host


@pytest.mark.parametrize(
    "spec, field",
    [
        (PLACEMENT(placementType="magic"), "placementType"),
        (PLACEMENT(placementType="relocate"), "vm"),
        (PLACEMENT(placementType="create"), "configSpec"),
    ],
)
def test_a_placement_that_lacks_something_is_refused(cluster, spec, field):
    with pytest.raises(vmodl.fault.InvalidArgument) as refused:
        cluster.PlaceVm(spec)
    assert refused.value.invalidProperty == f"placementSpec.{field}"


def test_a_vm_is_exported_under_a_lease(client):
    vm = client.vm()
    lease = vm.ExportVm()
    assert lease.state == "ready"
    (disk,) = lease.info.deviceUrl
    path = urllib.parse.urlsplit(disk.url).path
    status, _headers, data = client.ask("GET", path)
    assert (status, data[:4]) == (200, b"KDMV")
    (entry,) = lease.HttpNfcLeaseGetManifest()
    assert (entry.sha1, entry.size) == (hashlib.sha1(data).hexdigest(), len(data))
    lease.HttpNfcLeaseProgress(50)
    assert lease.transferProgress == 50
    files = [vim.OvfManager.OvfFile(deviceId=disk.key, path="a.vmdk", size=entry.size)]
    made = client.content.ovfManager.CreateDescriptor(
        vm, vim.OvfManager.CreateDescriptorParams(name="a", ovfFiles=files)
    )
    assert 'ovf:href="a.vmdk"' in made.ovfDescriptor
    lease.HttpNfcLeaseComplete()
    assert client.ask("GET", path)[0] == 404
    with pytest.raises(vim.fault.InvalidState):
        lease.HttpNfcLeaseProgress(60)


def test_a_running_vm_is_not_exported(client):
    vm = client.vm("train-02")
    assert ended(vm.PowerOnVM_Task()) is None
    with pytest.raises(vim.fault.InvalidPowerState):
        vm.ExportVm()
    assert ended(vm.PowerOffVM_Task()) is None


def test_standard_switches_and_port_groups_come_and_go(client):
    host = client.host()
    system, bridge = host.configManager.networkSystem, vim.host.VirtualSwitch.BondBridge(nicDevice=["vmnic1"])
    with pytest.raises(vim.fault.ResourceInUse):
        system.AddVirtualSwitch("vSwitch1", SWITCH(numPorts=8, bridge=bridge))
    assert [one.name for one in system.networkInfo.vswitch] == ["vSwitch0"]
    system.AddVirtualSwitch("vSwitch1", SWITCH(numPorts=8, mtu=9000))
    with pytest.raises(vim.fault.AlreadyExists):
        system.AddVirtualSwitch("vSwitch1")
    group = GROUP(name="storage", vlanId=42, vswitchName="vSwitch1", policy=vim.host.NetworkPolicy())
    system.AddPortGroup(group)
    network = client.find(vim.Network, "storage")
    assert network.host == [host]
    shown = {one.spec.name: one for one in system.networkInfo.portgroup}
    assert (shown["storage"].spec.vlanId, shown["storage"].spec.vswitchName) == (42, "vSwitch1")
    with pytest.raises(vim.fault.AlreadyExists):
        system.AddPortGroup(group)
    group.vlanId = 43
    system.UpdatePortGroup("storage", group)
    assert {one.spec.name: one.spec.vlanId for one in system.networkInfo.portgroup}["storage"] == 43
    device = system.AddVirtualNic("storage", vim.host.VirtualNic.Specification(ip=vim.host.IpConfig(dhcp=True)))
    for attempt in (lambda: system.RemovePortGroup("storage"), lambda: system.RemoveVirtualSwitch("vSwitch1")):
        with pytest.raises(vim.fault.ResourceInUse):
            attempt()
    system.RemoveVirtualNic(device)
    system.RemovePortGroup("storage")
    with pytest.raises(vmodl.fault.ManagedObjectNotFound):
        network.name  # noqa: B018 - reading it is the request
    system.AddPortGroup(group)
    system.RemoveVirtualSwitch("vSwitch1")
    assert [one.name for one in system.networkInfo.vswitch] == ["vSwitch0"]
    assert "storage" not in [one.name for one in host.network]


@pytest.mark.parametrize(
    "values, fault",
    [
        ({"vlanId": 5000}, vmodl.fault.InvalidArgument),
        ({"vswitchName": "none"}, vim.fault.NotFound),
        ({"name": "Management Network"}, vim.fault.AlreadyExists),
        ({"name": ""}, vmodl.fault.InvalidArgument),
    ],
)
def test_a_port_group_that_makes_no_sense_is_refused(client, values, fault):
    spec = GROUP(**{"name": "x", "vlanId": 0, "vswitchName": "vSwitch0", "policy": vim.host.NetworkPolicy(), **values})
    with pytest.raises(fault):
        client.host().configManager.networkSystem.AddPortGroup(spec)


def test_a_network_of_two_hosts_is_one(client):
    group = GROUP(name="both", vlanId=7, vswitchName="vSwitch0", policy=vim.host.NetworkPolicy())
    systems = [host.configManager.networkSystem for host in (client.host(), client.host("esx-02.lab.example"))]
    for system in systems:
        system.AddPortGroup(group)
    assert len(client.find(vim.Network, "both").host) == 2
    for system in systems:
        system.RemovePortGroup("both")
    assert "both" not in [one.name for one in client.center.networkFolder.childEntity]


def test_roles_are_made_changed_and_removed(client):
    manager = client.content.authorizationManager
    number = manager.AddAuthorizationRole("starter", ["VirtualMachine.Interact.PowerOn"])
    with pytest.raises(vim.fault.AlreadyExists):
        manager.AddAuthorizationRole("starter")
    with pytest.raises(vmodl.fault.InvalidArgument):
        manager.AddAuthorizationRole("other", ["No.Such.Privilege"])
    manager.UpdateAuthorizationRole(number, "stopper", ["VirtualMachine.Interact.PowerOff"])
    (role,) = [one for one in manager.roleList if one.roleId == number]
    assert role.name == "stopper"
    assert "VirtualMachine.Interact.PowerOff" in role.privilege
    manager.RemoveAuthorizationRole(number, True)
    with pytest.raises(vim.fault.NotFound):
        manager.RemoveAuthorizationRole(number, True)
    with pytest.raises(vmodl.fault.InvalidArgument):
        manager.RemoveAuthorizationRole(-1, False)


def test_a_folder_is_never_moved_into_itself(client):
    above = client.center.vmFolder.CreateFolder("above")
    below = above.CreateFolder("below")
    for target in (above, below):
        assert isinstance(ended(target.MoveIntoFolder_Task([above])), vim.fault.InvalidFolder)
    assert (above.parent, below.parent) == (client.center.vmFolder, above)
    assert ended(above.Destroy_Task()) is None


def test_a_datacenter_is_destroyed_only_without_content(client):
    assert isinstance(ended(client.center.Destroy_Task()), vim.fault.ResourceInUse)
    assert client.host().parent.parent == client.center.hostFolder
    made = client.content.rootFolder.CreateDatacenter("100% new")
    folder = made.vmFolder
    assert made.name == "100%25 new"
    with pytest.raises(vim.fault.DuplicateName):
        client.content.rootFolder.CreateDatacenter("100% new")
    assert ended(made.Destroy_Task()) is None
    with pytest.raises(vmodl.fault.ManagedObjectNotFound):
        folder.CreateFolder("none")


def test_the_roles_of_vcenter_are_all_there_and_two_cannot_be_granted(client):
    manager = client.content.authorizationManager
    roles = {one.name: one.roleId for one in manager.roleList if one.system}
    assert roles == {"NoAccess": -5, "Anonymous": -4, "View": -3, "ReadOnly": -2, "Admin": -1}
    wanted = vim.AuthorizationManager.Permission(principal=r"VSPHERE.LOCAL\Administrator", group=False, propagate=True)
    for name in ("Anonymous", "View"):
        wanted.roleId = roles[name]
        with pytest.raises(vmodl.fault.InvalidArgument, match="roleId"):
            manager.SetEntityPermissions(client.center.vmFolder, [wanted])


def test_permissions_are_set_and_removed(client):
    manager, folder = client.content.authorizationManager, client.center.vmFolder
    administrator = r"VSPHERE.LOCAL\Administrator"
    number = manager.AddAuthorizationRole("starter", ["Authorization.ModifyPermissions"])
    wanted = vim.AuthorizationManager.Permission(principal=administrator, group=False, roleId=number, propagate=True)
    manager.SetEntityPermissions(folder, [wanted])
    (shown,) = manager.RetrieveEntityPermissions(folder, False)
    assert (shown.principal, shown.roleId, shown.propagate) == (administrator, number, True)
    assert [one.entity for one in manager.RetrieveRolePermissions(number)] == [folder]
    with pytest.raises(vim.fault.NoPermission):
        folder.CreateFolder("none")
    with pytest.raises(vim.fault.RemoveFailed):
        manager.RemoveAuthorizationRole(number, True)
    manager.RemoveEntityPermission(folder, administrator, False)
    with pytest.raises(vim.fault.NotFound):
        manager.RemoveEntityPermission(folder, administrator, False)
    wanted.principal = "nobody"
    with pytest.raises(vim.fault.UserNotFound):
        manager.SetEntityPermissions(folder, [wanted])
    manager.RemoveAuthorizationRole(number, True)


def test_the_last_administrator_stays(client):
    manager, root = client.content.authorizationManager, client.content.rootFolder
    with pytest.raises(vim.fault.AuthMinimumAdminPermission):
        manager.RemoveEntityPermission(root, r"VSPHERE.LOCAL\Administrator", False)
