"""Storage policies as clients use them: the service /pbm with its own session header, tags, placement, and REST."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from ansible_collections.community.vmware.plugins.module_utils import vmware_spbm
from pyVmomi import SoapStubAdapter, pbm, vim, vmodl

from vsphere_twin.model.seed import SEEDS

from .any_client import ended, lab
from .drive import run
from .observe import client as another_client

DEVICE = vim.vm.device
TAG = "http://www.vmware.com/storage/tag"
VSAN = "aa6d5a82-1c88-45da-85d3-3d74b91a5bad"
ENCRYPTED = "4d5f673c-536f-11e6-beb8-9e71128cae77"
STORAGE = pbm.profile.ResourceType(resourceType="STORAGE")
POLICIES = "/api/vcenter/storage/policies"
READER = "reader@vsphere.local"


def seed():
    """The small data centre with a second datastore, and a user who reads policies."""
    found = yaml.safe_load((SEEDS / "small.yml").read_text(encoding="utf-8"))
    found["datacenters"][0]["datastores"].append({"name": "datastore-02", "capacity_gb": 2048})
    found["users"][READER] = "secret"
    found["roles"] = {"reader": ["StorageProfile.View"]}
    found["permissions"] = [{"user": READER, "role": "reader"}]
    return found


@pytest.fixture(scope="module")
def client():
    with lab(seed()) as started:
        made = {"name": "tier", "description": "", "cardinality": "SINGLE", "associable_types": ["Datastore"]}
        category = started.rest("POST", "/api/cis/tagging/category", made)[1]
        for store, name in (("datastore-01", "gold"), ("datastore-02", "silver")):
            spec = {"name": name, "description": "", "category_id": category}
            tag = started.rest("POST", "/api/cis/tagging/tag", spec)[1]
            target = {"object_id": {"type": "Datastore", "id": started.find(vim.Datastore, store)._moId}}
            assert started.rest("POST", f"/api/cis/tagging/tag-association/{tag}?action=attach", target)[0] == 204
        yield started


def connected(service, version="pbm.version.v8_0_3_0", header=True):
    """The service's content, as a client gets it that sends the key of its vim session in the header."""
    stub = service._stub
    key = {"vcSessionCookie": stub.cookie.split('"')[1]} if header else {}
    address = {"host": stub.host.partition(":")[0], "port": int(stub.host.rpartition(":")[2])}
    context = stub.schemeArgs["context"]
    beside = SoapStubAdapter(path="/pbm/sdk", version=version, sslContext=context, requestContext=key, **address)
    beside.cookie = stub.cookie
    return pbm.ServiceInstance("ServiceInstance", beside).PbmRetrieveServiceContent()


@pytest.fixture
def policies(client):
    """The service; what a test has created and left is deleted afterwards."""
    content = connected(client.service)
    manager = content.profileManager
    before = {one.uniqueId for one in manager.PbmQueryProfile(STORAGE)}
    yield content
    left = [one for one in manager.PbmQueryProfile(STORAGE) if one.uniqueId not in before]
    assert not left or not any(outcome.fault for outcome in manager.PbmDelete(left))


def rules(*tags, operator=None, category="tier", name="Tags"):
    prop = pbm.capability.PropertyInstance(
        id=f"com.vmware.storage.tag.{category}.property",
        operator=operator,
        value=pbm.capability.types.DiscreteSet(values=list(tags)),
    )
    capability = pbm.capability.CapabilityInstance(
        id=pbm.capability.CapabilityMetadata.UniqueId(namespace=TAG, id=category),
        constraint=[pbm.capability.ConstraintInstance(propertyInstance=[prop])],
    )
    return pbm.profile.SubProfileCapabilityConstraints.SubProfile(name=name, capability=[capability])


def constraints(*rule_sets):
    if not rule_sets:
        return pbm.profile.CapabilityConstraints()
    return pbm.profile.SubProfileCapabilityConstraints(subProfiles=list(rule_sets))


def spec(name, *rule_sets):
    return pbm.profile.CapabilityBasedProfileCreateSpec(
        name=name, category="REQUIREMENT", resourceType=STORAGE, constraints=constraints(*rule_sets)
    )


def ref(vm, disk=None):
    return pbm.ServerObjectRef(
        objectType="virtualDiskId" if disk else "virtualMachine", key=f"{vm._moId}:{disk}" if disk else vm._moId
    )


def defined(profile):
    return [vim.vm.DefinedProfileSpec(profileId=getattr(profile, "uniqueId", profile))]


def created(client, name, home=(), disk=(), store="datastore-01"):
    """What comes of CreateVM with policies of the home and of a disk: a VM or a fault."""
    controller = DEVICE.ParaVirtualSCSIController(key=-1, busNumber=0, sharedBus="noSharing")
    backing = DEVICE.VirtualDisk.FlatVer2BackingInfo(fileName="", diskMode="persistent", thinProvisioned=True)
    drive = DEVICE.VirtualDisk(key=-2, controllerKey=-1, capacityInKB=1 << 20, backing=backing)
    add = DEVICE.VirtualDeviceSpec
    changes = [
        add(operation="add", device=controller),
        add(operation="add", fileOperation="create", device=drive, profile=list(disk)),
    ]
    made = vim.vm.ConfigSpec(
        name=name,
        numCPUs=1,
        memoryMB=512,
        files=vim.vm.FileInfo(vmPathName=f"[{store}]"),
        deviceChange=changes,
        vmProfile=list(home),
    )
    pool = client.find(vim.ClusterComputeResource, "gpu").resourcePool
    return ended(client.center.vmFolder.CreateVM_Task(made, pool))


@pytest.fixture
def gone(client):
    """VMs that a test has made are destroyed before its policies are deleted."""
    yield
    for one in client.center.vmFolder.childEntity:
        if isinstance(one, vim.VirtualMachine):
            assert ended(one.Destroy_Task()) is None


def fitting(content, profile):
    return sorted(one.hubId for one in content.placementSolver.PbmQueryMatchingHub(None, profile))


def stores(client, *names):
    return sorted(client.find(vim.Datastore, name)._moId for name in names)


@pytest.mark.parametrize("version", ["pbm.version.version2", "pbm.version.v8_0_3_0", "pbm.version.v9_1_0_0"])
def test_the_policies_of_each_vcenter_are_there(client, version):
    manager = connected(client.service, version).profileManager
    found = manager.PbmRetrieveContent(manager.PbmQueryProfile(STORAGE, "REQUIREMENT"))
    named = {one.name: one for one in found}
    assert len(named) == 11
    assert named["vSAN Default Storage Policy"].profileId.uniqueId == VSAN
    assert named["VM Encryption Policy"].systemCreatedProfileType is None
    assert named["Host-local PMem Default Storage Policy"].constraints.subProfiles[0].capability[0].id.id == "PMemType"
    assert not manager.PbmQueryProfile(STORAGE, "RESOURCE")


def test_the_service_knows_a_session_by_its_header(client):
    content = connected(client.service, header=False)
    assert content.aboutInfo.name == "PBM"
    with pytest.raises(vim.fault.NotAuthenticated):
        content.profileManager.PbmFetchResourceType()


def test_a_user_needs_the_privileges_of_storage_profiles(client):
    with another_client(client.twin, READER, "secret") as service:
        manager = connected(service).profileManager
        assert manager.PbmQueryProfile(STORAGE)
        with pytest.raises(vim.fault.NoPermission) as refused:
            manager.PbmCreate(spec("mine", rules("gold")))
    assert refused.value.privilegeId == "StorageProfile.Update"
    status, answer = client.rest("GET", "/api/vcenter/storage/policies?names=x")
    assert (status, answer["error_type"]) == (400, "INVALID_ARGUMENT")


def test_a_user_needs_the_privilege_for_files(client):
    with another_client(client.twin, READER, "secret") as service:
        content, center = service.RetrieveContent(), vim.Datacenter(client.center._moId, service._stub)
        place = {"name": "[datastore-01] one", "datacenter": center}
        for call in (
            lambda: content.fileManager.MakeDirectory(**place),
            lambda: content.fileManager.DeleteDatastoreFile_Task(**place),
            lambda: content.virtualDiskManager.QueryVirtualDiskUuid(**place),
        ):
            with pytest.raises(vim.fault.NoPermission) as refused:
                call()
            assert refused.value.privilegeId == "Datastore.FileManagement"


def test_types_of_the_answer_are_named_with_their_service(client):
    """As govmomi reads them (vim25/types/registry.go)."""
    key = client.cookie.split('"')[1]
    body = (
        '<Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/"><Header><vcSessionCookie>{}</vcSessionCookie>'
        '</Header><Body><{} xmlns="urn:pbm"><_this type="PbmProfileProfileManager">ProfileManager</_this>'
        "<profileIds><uniqueId>{}</uniqueId></profileIds></{}></Body></Envelope>"
    )
    name = "PbmRetrieveContent"
    status, _headers, answer = client.ask(
        "POST", "/pbm", body.format(key, name, VSAN, name), {"SOAPAction": "urn:pbm/"}
    )
    assert (status, b'xsi:type="pbm:PbmCapabilityProfile"' in answer) == (200, True)
    assert b'<value xsi:type="xsd:int">1</value>' in answer
    status, _headers, answer = client.ask("POST", "/pbm", body.format(key, name, "none", name))
    assert (status, b'xsi:type="vim25:InvalidArgument"' in answer) == (500, True)
    status, _headers, answer = client.ask("POST", "/sdk", body.format(key, name, VSAN, name))
    assert (status, b"InvalidRequest" in answer) == (500, True)


@pytest.mark.parametrize(
    "rule_sets, fit",
    [
        ([rules("gold")], ["datastore-01"]),
        ([rules("gold", "silver")], ["datastore-01", "datastore-02"]),
        ([rules("gold", operator="NOT")], ["datastore-02"]),
        ([rules("gold", name="a"), rules("silver", name="b")], ["datastore-01", "datastore-02"]),
    ],
)
def test_tags_decide_which_datastores_fit(client, policies, rule_sets, fit):
    made = policies.profileManager.PbmCreate(spec("by tags", *rule_sets))
    assert fitting(policies, made) == stores(client, *fit)
    requirement = pbm.placement.CapabilityProfileRequirement(profileId=made)
    results = policies.placementSolver.PbmCheckRequirements(placementSubjectRequirement=[requirement])
    assert sorted(one.hub.hubId for one in results if not one.error) == stores(client, *fit)
    lacking = [one.error[0] for one in results if one.error]
    assert all(type(one) is pbm.fault.PropertyMismatchFault for one in lacking)
    answer = client.rest(
        "POST",
        f"{POLICIES}/{made.uniqueId}?action=check-compatibility",
        {"datastores": stores(client, "datastore-01", "datastore-02")},
    )
    assert sorted(one["datastore"] for one in answer[1]["compatible_datastores"]) == stores(client, *fit)


def test_vsan_policies_fit_no_vmfs_datastore_and_defaults_have_none(client, policies):
    assert not fitting(policies, pbm.profile.ProfileId(uniqueId=VSAN))
    hub = pbm.placement.PlacementHub(hubType="Datastore", hubId=stores(client, "datastore-01")[0])
    manager = policies.profileManager
    assert manager.PbmQueryDefaultRequirementProfile(hub) is None
    with pytest.raises(pbm.fault.LegacyHubsNotSupported):
        manager.PbmAssignDefaultRequirementProfile(pbm.profile.ProfileId(uniqueId=VSAN), [hub])
    hub.hubId = "datastore-9"
    with pytest.raises(pbm.fault.NonExistentHubs):
        manager.PbmQueryDefaultRequirementProfile(hub)


def test_a_capability_is_described_for_each_category_of_datastores(policies):
    (category,) = policies.profileManager.PbmFetchCapabilityMetadata(resourceType=STORAGE)
    (described,) = category.capabilityMetadata
    assert (described.id.namespace, described.id.id) == (TAG, "tier")
    assert [one.value for one in described.propertyMetadata[0].allowedValue.values] == ["gold", "silver"]


@pytest.mark.parametrize(
    "wrong, fault",
    [
        (spec("", rules("gold")), vmodl.fault.InvalidArgument),
        (spec("VM Encryption Policy", rules("gold")), pbm.fault.DuplicateName),
        (spec("new"), vmodl.fault.InvalidArgument),
        (spec("new", rules("bronze")), vmodl.fault.InvalidArgument),
        (spec("new", rules("gold", category="none")), vmodl.fault.InvalidArgument),
        (spec("new", rules("gold", operator="OR")), vmodl.fault.InvalidArgument),
    ],
)
def test_a_policy_that_cannot_be_is_not_created(policies, wrong, fault):
    with pytest.raises(fault):
        policies.profileManager.PbmCreate(wrong)


def test_datastores_are_not_searched_by_rules_with_unknown_values(policies):
    given = rules("gold")
    given.capability[0].constraint[0].propertyInstance[0].value = pbm.capability.types.Range(min=1, max=2)
    requirement = pbm.placement.CapabilityConstraintsRequirement(constraints=constraints(given))
    with pytest.raises(vmodl.fault.InvalidArgument):
        policies.placementSolver.PbmCheckRequirements(placementSubjectRequirement=[requirement])


def test_a_new_disk_has_no_policy_of_one_that_a_revert_removed(client, policies, gone):
    manager = policies.profileManager
    silver = manager.PbmCreate(spec("silver", rules("silver")))
    vm = created(client, "made")
    assert isinstance(ended(vm.CreateSnapshot_Task("s", memory=False, quiesce=False)), vim.vm.Snapshot)

    def add(**more):
        backing = DEVICE.VirtualDisk.FlatVer2BackingInfo(fileName="[datastore-01]", diskMode="persistent")
        disk = DEVICE.VirtualDisk(key=-1, controllerKey=1000, unitNumber=5, backing=backing, capacityInKB=1024)
        change = DEVICE.VirtualDeviceSpec(operation="add", fileOperation="create", device=disk, **more)
        assert ended(vm.ReconfigVM_Task(vim.vm.ConfigSpec(deviceChange=[change]))) is None

    add(profile=defined(silver))
    assert manager.PbmQueryAssociatedEntity(silver)
    assert ended(vm.RevertToCurrentSnapshot_Task()) is None
    add()
    assert not manager.PbmQueryAssociatedEntity(silver)


def test_a_policy_that_is_used_stays(client, policies, gone):
    manager = policies.profileManager
    made = manager.PbmCreate(spec("used", rules("gold")))
    vm = created(client, "made", home=defined(made))
    (outcome,) = manager.PbmDelete([made])
    assert type(outcome.fault) is pbm.fault.ResourceInUse
    (outcome,) = manager.PbmDelete([pbm.profile.ProfileId(uniqueId="none")])
    assert type(outcome.fault) is vmodl.fault.InvalidArgument
    change = vim.vm.ConfigSpec(vmProfile=[vim.vm.EmptyProfileSpec()])
    assert ended(vm.ReconfigVM_Task(change)) is None
    assert not manager.PbmQueryAssociatedProfile(ref(vm))
    (outcome,) = manager.PbmDelete([made])
    assert outcome.fault is None


def test_vms_and_disks_have_policies_and_comply_by_their_datastore(client, policies, gone):
    manager, compliance = policies.profileManager, policies.complianceManager
    gold, silver = (manager.PbmCreate(spec(name, rules(name))) for name in ("gold", "silver"))
    vm = created(client, "made", home=defined(gold), disk=defined(silver))
    (key,) = [one.key for one in vm.config.hardware.device if isinstance(one, DEVICE.VirtualDisk)]
    assert [one.uniqueId for one in manager.PbmQueryAssociatedProfile(ref(vm))] == [gold.uniqueId]
    (found,) = manager.PbmQueryAssociatedEntity(silver)
    assert (found.objectType, found.key) == ("virtualDiskId", f"{vm._moId}:{key}")
    assert not manager.PbmQueryAssociatedEntity(silver, "virtualMachine")
    states = {
        one.entity.key: (one.complianceStatus, len(one.violatedPolicies))
        for one in compliance.PbmCheckCompliance([ref(vm), ref(vm, key)])
    }
    assert states == {vm._moId: ("compliant", 0), f"{vm._moId}:{key}": ("nonCompliant", 1)}
    status, shown = client.rest("GET", f"{POLICIES}/compliance/vm?status=NON_COMPLIANT")
    assert (status, shown) == (200, {vm._moId: {"disks": {str(key): "NON_COMPLIANT"}}})
    # Other rules are in force for a VM when they are applied again.
    change = pbm.profile.CapabilityBasedProfileUpdateSpec(constraints=constraints(rules("gold", "silver")))
    manager.PbmUpdate(silver, change)
    (result,) = compliance.PbmFetchComplianceResult([ref(vm, key)])
    assert (result.complianceStatus, result.mismatch) == ("outOfDate", True)
    again = DEVICE.VirtualDeviceSpec(operation="edit", device=DEVICE.VirtualDisk(key=key), profile=defined(silver))
    assert ended(vm.ReconfigVM_Task(vim.vm.ConfigSpec(deviceChange=[again]))) is None
    (result,) = compliance.PbmFetchComplianceResult([ref(vm, key)])
    assert result.complianceStatus == "compliant"
    status, shown = client.rest("GET", f"/api/vcenter/vm/{vm._moId}/storage/policy/compliance")
    assert (status, shown["overall_compliance"], shown["disks"][str(key)]["status"]) == (200, "COMPLIANT", "COMPLIANT")
    assert client.rest("GET", f"{POLICIES}/compliance/vm?status=NON_COMPLIANT") == (200, {})


def test_a_copy_has_the_policies_of_the_request(client, policies, gone):
    manager = policies.profileManager
    made = manager.PbmCreate(spec("of the copy", rules("silver")))
    source = created(client, "source", home=defined(VSAN))
    place = vim.vm.RelocateSpec(datastore=client.find(vim.Datastore, "datastore-02"), profile=defined(made))
    copy = ended(source.CloneVM_Task(client.center.vmFolder, "copy", vim.vm.CloneSpec(location=place)))
    assert [one.uniqueId for one in manager.PbmQueryAssociatedProfile(ref(copy))] == [made.uniqueId]
    place.profile = []
    copy = ended(source.CloneVM_Task(client.center.vmFolder, "bare", vim.vm.CloneSpec(location=place)))
    assert not manager.PbmQueryAssociatedProfile(ref(copy))
    assert policies.complianceManager.PbmFetchComplianceResult([ref(copy)]) == []


def test_a_policy_that_no_one_can_have_is_refused_and_nothing_changes(client, policies):
    vm = client.vm()
    for profile, fault in (("none", vmodl.fault.InvalidArgument), (ENCRYPTED, vmodl.fault.NotSupported)):
        assert isinstance(created(client, "made", home=defined(profile)), fault)
        assert isinstance(created(client, "made", disk=defined(profile)), fault)
        change = vim.vm.ConfigSpec(annotation="changed", vmProfile=defined(profile))
        assert isinstance(ended(vm.ReconfigVM_Task(change)), fault)
        place = vim.vm.RelocateSpec(profile=defined(profile))
        assert isinstance(ended(vm.RelocateVM_Task(place)), fault)
    assert vm.config.annotation != "changed"
    assert not policies.profileManager.PbmQueryAssociatedProfile(ref(vm))
    with pytest.raises(pbm.fault.NotFound):
        policies.profileManager.PbmQueryAssociatedProfile(pbm.ServerObjectRef(objectType="virtualMachine", key="vm-9"))


def test_rest_sets_and_shows_the_policies_of_a_vm(client, policies, gone):
    vm = created(client, "made")
    (key,) = [one.key for one in vm.config.hardware.device if isinstance(one, DEVICE.VirtualDisk)]
    path = f"/api/vcenter/vm/{vm._moId}/storage/policy"
    specified = {"type": "USE_SPECIFIED_POLICY", "policy": VSAN}
    assert client.rest("GET", path) == (200, {"disks": {}})
    assert client.rest("PATCH", path, {"vm_home": specified, "disks": {str(key): specified}})[0] == 204
    assert client.rest("GET", path) == (200, {"vm_home": VSAN, "disks": {str(key): VSAN}})
    assert client.rest("GET", f"{POLICIES}/{VSAN}/vm")[1] == {vm._moId: {"vm_home": True, "disks": [str(key)]}}
    assert client.rest("PATCH", path, {"vm_home": {"type": "USE_DEFAULT_POLICY"}})[0] == 204
    assert client.rest("GET", path) == (200, {"disks": {str(key): VSAN}})
    wrong = {"vm_home": {"type": "USE_SPECIFIED_POLICY", "policy": "none"}}
    assert client.rest("PATCH", path, wrong)[1]["error_type"] == "NOT_FOUND"
    assert client.rest("PATCH", path, {"disks": {"9999": specified}})[1]["error_type"] == "NOT_FOUND"
    assert client.rest("GET", f"{POLICIES}/compliance/vm")[1]["error_type"] == "INVALID_ARGUMENT"


def test_modules_of_community_vmware_list_and_apply_a_policy(client, policies, gone, monkeypatch):
    # They have no option for the port of the service. vmware_vm_storage_policy needs a library that PyPI does not have.
    monkeypatch.setattr(vmware_spbm, "SoapStubAdapter", functools.partial(SoapStubAdapter, port=client.twin.port))
    monkeypatch.setenv("SSL_CERT_FILE", str(client.twin.ca_file))
    access = {"username": client.twin.username, "password": client.twin.password}
    options = {"hostname": client.twin.host, "port": client.twin.port, **access}
    policies.profileManager.PbmCreate(spec("module", rules("gold")))
    listed = run("community.vmware.vmware_vm_storage_policy_info", options)
    assert {one["name"] for one in listed["spbm_profiles"]} >= {"module", "VM Encryption Policy"}
    created(client, "made")
    target = {**options, "name": "made", "vm_home": "module", "disk": [{"unit_number": 0, "policy": "module"}]}
    first, second = (run("community.vmware.vmware_guest_storage_policy", target) for _turn in range(2))
    assert (first["failed"], first["changed"], second["changed"]) == (False, True, False), first
    unknown = run("community.vmware.vmware_guest_storage_policy", {**target, "vm_home": "none"})
    assert unknown["failed"]
    assert "Unable to find storage policy" in unknown["msg"]


def test_a_module_of_vmware_rest_lists_the_policies(client, tmp_path):
    environment = {
        **os.environ,
        "ANSIBLE_HOME": str(tmp_path),
        "ANSIBLE_LOCALHOST_WARNING": "False",
        "VMWARE_HOST": f"{client.twin.host}:{client.twin.port}",
        "VMWARE_USER": client.twin.username,
        "VMWARE_PASSWORD": client.twin.password,
        "VMWARE_VALIDATE_CERTS": "no",
    }
    program = Path(sys.executable).with_name("ansible")
    module = ["-m", "vmware.vmware_rest.vcenter_storage_policies_info", "--tree", tmp_path / "said"]
    done = subprocess.run([program, "localhost", *module], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    answer = json.loads((tmp_path / "said" / "localhost").read_text(encoding="utf-8"))
    assert {one["name"] for one in answer["value"]} >= {"vSAN Default Storage Policy", "VM Encryption Policy"}
