"""Values as clients in typed languages decode them: types on the wire, property paths, names and keys."""

from __future__ import annotations

import re

import pytest
from pyVmomi import vim, vmodl

from .any_client import lab


@pytest.fixture(scope="module")
def client():
    with lab() as started:
        yield started


@pytest.mark.parametrize(
    "kind, name, path, expected",
    [
        pytest.param(
            vim.TaskManager, None, "description", '<state xsi:type="ElementDescription"><label>', id="field of a base"
        ),
        pytest.param(
            vim.TaskManager,
            None,
            "description.state",
            '<returnval xsi:type="ArrayOfElementDescription"><ElementDescription xsi:type="ElementDescription">',
            id="items of an array of a base",
        ),
        pytest.param(
            vim.VirtualMachine, "train-01", "config", '<extraConfig xsi:type="OptionValue">', id="a base deep inside"
        ),
        pytest.param(
            vim.VirtualMachine, "train-01", "config", '<deviceInfo xsi:type="Description">', id="an inner base"
        ),
        pytest.param(
            vim.VirtualMachine, "train-01", "runtime.host", 'xsi:type="ManagedObjectReference"', id="reference"
        ),
        pytest.param(vim.VirtualMachine, "train-01", "config", "<hardware><numCPU>", id="no base, no type"),
    ],
)
def test_a_type_that_others_extend_is_named_on_the_wire(client, kind, name, path, expected):
    entity = client.content.taskManager if name is None else client.find(kind, name)
    assert expected in client.fetch(entity, path)


@pytest.mark.parametrize(
    "kind, name, path, expected",
    [
        (vim.ClusterComputeResource, "gpu", "configurationEx.drsConfig.enabled", True),
        (vim.ClusterComputeResource, "gpu", "configurationEx.rule", []),
        (vim.ClusterComputeResource, "gpu", "configurationEx.group", []),
        (vim.ClusterComputeResource, "gpu", "summary.numVmotions", 0),
        (vim.DistributedVirtualSwitch, "dvs-train", "config.maxMtu", 9000),
        (vim.dvs.DistributedVirtualPortgroup, "pg-train", "config.defaultPortConfig.vlan.vlanId", 111),
        (vim.Datastore, "datastore-01", "info.vmfs.type", "VMFS"),
        (vim.Datastore, "datastore-01", "info.vmfs.majorVersion", 6),
    ],
)
def test_a_path_goes_on_into_the_type_that_the_value_has(client, kind, name, path, expected):
    found = client.read(client.find(kind, name), path)
    assert found.get(path, []) == expected
    # Numbers keep the type that the API declares for them: an int is not sent as a long.
    assert 'xsi:type="xsd:long"' not in client.fetch(client.find(kind, name), path)


@pytest.mark.parametrize("path", ["configurationEx.nothing", "configurationEx.drsConfig.nothing", "summary.vmfs"])
def test_a_path_that_no_type_has_is_refused(client, path):
    with pytest.raises(vmodl.query.InvalidProperty) as refused:
        client.read(client.find(vim.ClusterComputeResource, "gpu"), path)
    assert refused.value.name == path


def test_a_path_of_another_type_than_the_value_has_is_missing(client):
    """The uplinks' port group is a trunk: its VLAN has no pvlanId."""
    group = client.find(vim.dvs.DistributedVirtualPortgroup, "dvs-train-DVUplinks-101")
    path = "config.defaultPortConfig.vlan.pvlanId"
    spec = vmodl.query.PropertyCollector.FilterSpec(
        objectSet=[vmodl.query.PropertyCollector.ObjectSpec(obj=group)],
        propSet=[vmodl.query.PropertyCollector.PropertySpec(type=type(group), pathSet=[path])],
    )
    (found,) = client.content.propertyCollector.RetrieveProperties([spec])
    assert [(one.path, type(one.fault)) for one in found.missingSet] == [(path, vmodl.query.InvalidProperty)]


def test_a_principal_has_the_form_that_vcenter_writes(client):
    session = client.content.sessionManager.currentSession
    assert (session.userName, session.fullName) == (r"VSPHERE.LOCAL\Administrator", "Administrator vsphere.local")
    (permission,) = client.content.authorizationManager.RetrieveAllPermissions()
    assert permission.principal == session.userName
    task = client.vm().ReconfigVM_Task(vim.vm.ConfigSpec())
    assert task.info.reason.userName == session.userName
    assert client.content.sessionManager.SessionIsActive(session.key, session.userName)


@pytest.mark.parametrize(
    "user", ["ADMINISTRATOR@VSPHERE.LOCAL", r"vsphere.local\administrator", r"VSPHERE.LOCAL\Administrator"]
)
def test_a_login_takes_each_form_of_a_name(client, user):
    text = (
        '<Login xmlns="urn:vim25"><_this type="SessionManager">SessionManager</_this>'
        f"<userName>{user}</userName><password>{client.twin.password}</password></Login>"
    )
    body = f'<Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/"><Body>{text}</Body></Envelope>'
    status, _headers, answer = client.ask("POST", "/sdk", body.encode())
    assert status == 200
    assert rb"<userName>VSPHERE.LOCAL\Administrator</userName>" in answer


@pytest.mark.parametrize(
    "entity, form",
    [
        (lambda c: c.center.vmFolder, r"group-v\d+"),
        (lambda c: c.center.hostFolder, r"group-h\d+"),
        (lambda c: c.center.datastoreFolder, r"group-s\d+"),
        (lambda c: c.center.networkFolder, r"group-n\d+"),
        (lambda c: c.center, r"datacenter-\d+"),
        (lambda c: c.find(vim.ClusterComputeResource, "gpu"), r"domain-c\d+"),
        (lambda c: c.find(vim.ClusterComputeResource, "gpu").resourcePool, r"resgroup-\d+"),
        (lambda c: c.host(), r"host-\d+"),
        (lambda c: c.vm(), r"vm-\d+"),
        (lambda c: c.find(vim.Network, "VM Network"), r"network-\d+"),
        (lambda c: c.find(vim.DistributedVirtualSwitch, "dvs-rdma"), r"dvs-\d+"),
    ],
)
def test_ids_have_the_form_of_vcenter(client, entity, form):
    assert re.fullmatch(form, entity(client)._moId)


def test_the_uplinks_of_a_switch_have_its_number_in_their_name(client):
    switch = client.find(vim.DistributedVirtualSwitch, "dvs-rdma")
    (uplinks,) = switch.config.uplinkPortgroup
    assert uplinks.name == f"dvs-rdma-DVUplinks-{switch._moId.partition('-')[2]}"


def test_a_selected_port_is_named_by_its_service(client):
    configs = {one.nicType: one for one in client.host().configManager.virtualNicManager.info.netConfig}
    assert configs["management"].selectedVnic == ["management.key-vim.host.VirtualNic-vmk0"]
    assert configs["management"].candidateVnic[0].key == "management.key-vim.host.VirtualNic-vmk0"
    assert [nic.key for nic in client.host().config.network.vnic][0] == "key-vim.host.VirtualNic-vmk0"


def test_a_gpu_has_a_subsystem_and_its_functions_have_none(client):
    gpus = [one for one in client.host().hardware.pciDevice if one.vendorId == 0x10DE]
    assert [one.subDeviceId != 0 for one in gpus] == [True] + [False] * (len(gpus) - 1)
    assert len(gpus) > 1
