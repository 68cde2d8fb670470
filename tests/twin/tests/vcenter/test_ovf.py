"""Imports and exports of OVFs over SOAP and HTTPS, as Go clients and pyVmomi do them."""

from __future__ import annotations

import hashlib
import time
import urllib.parse

import pytest
from pyVmomi import vim, vmodl

from twin_labs.any_client import connected, ovf_text
from vsphere_twin.model import leases, vmdk

GIB = 2**30
Manager = vim.OvfManager


@pytest.fixture(scope="module")
def client():
    with connected() as started:
        yield started


def spec_of(client, text, name, **params):
    cluster = client.find(vim.ClusterComputeResource, "gpu")
    store = client.find(vim.Datastore, "datastore-01")
    wanted = Manager.CreateImportSpecParams(
        entityName=name, locale="", deploymentOption=params.pop("deploymentOption", ""), **params
    )
    return client.content.ovfManager.CreateImportSpec(text, cluster.resourcePool, store, wanted)


def started(client, spec):
    cluster, center = client.find(vim.ClusterComputeResource, "gpu"), client.content.rootFolder.childEntity[0]
    lease = cluster.resourcePool.ImportVApp(spec, center.vmFolder)
    while lease.state == "initializing":
        time.sleep(0.01)
    return lease


def imported(client, text, name, **params):
    result = spec_of(client, text, name, **params)
    assert not result.error, result.error
    return result, started(client, result.importSpec)


def path(url):
    return urllib.parse.urlsplit(url.url).path


def fault_of(client, text, **params):
    result = spec_of(client, text, "wrong", **params)
    assert result.importSpec is None
    assert not result.fileItem
    return result.error[0]


def test_an_ovf_is_imported_with_its_disk(client):
    text = ovf_text().replace(">net<", ">VM Network<").replace('name="net"', 'name="VM Network"')
    result, lease = imported(client, text, "one")
    (item,) = result.fileItem
    assert (item.deviceId, item.path, item.cimType, item.create) == (
        "/one/ParaVirtualSCSIController0:0",
        "disk.vmdk",
        17,
        False,
    )
    (url,) = lease.info.deviceUrl
    vm = lease.info.entity
    assert (url.importKey, url.disk, url.targetId) == (item.deviceId, True, "disk-0.vmdk")
    assert url.key == f"/{vm._moId}/ParaVirtualSCSIController0:0"
    assert url.url.startswith(f"https://localhost:{client.twin.port}/nfc/")
    assert (lease.info.totalDiskCapacityInKB, lease.info.leaseTimeout) == (2 * GIB // 1024, 300)
    assert lease.HttpNfcLeaseGetManifest() == []
    data = vmdk.empty(2 * GIB)
    assert client.ask("POST", path(url), data)[0] == 200
    lease.HttpNfcLeaseProgress(40)
    (task,) = [one for one in client.content.taskManager.recentTask if one.info.descriptionId.endswith("LRO")]
    assert (task.info.state, task.info.progress, task.info.descriptionId) == (
        "running",
        40,
        "ResourcePool.ImportVAppLRO",
    )
    (entry,) = lease.HttpNfcLeaseGetManifest()
    assert (entry.key, entry.sha1, entry.size) == (url.key, hashlib.sha1(data).hexdigest(), len(data))
    assert (entry.checksumType, entry.checksum) == ("sha256", hashlib.sha256(data).hexdigest())
    client.fails(vm.PowerOnVM_Task, vim.fault.TaskInProgress)
    lease.HttpNfcLeaseComplete()
    assert (lease.state, task.info.state, task.info.result) == ("done", "success", vm)
    assert (vm.config.hardware.numCPU, vm.config.hardware.memoryMB, vm.config.guestId) == (2, 2048, "ubuntu64Guest")
    assert (vm.config.version, vm.config.firmware, vm.config.annotation) == ("vmx-19", "efi", "A note")
    (disk,) = [one for one in vm.config.hardware.device if isinstance(one, vim.vm.device.VirtualDisk)]
    assert (disk.capacityInBytes, disk.backing.thinProvisioned) == (2 * GIB, False)
    assert [one.name for one in vm.network] == ["VM Network"]
    client.done(vm.PowerOnVM_Task())
    client.done(vm.PowerOffVM_Task())
    client.done(vm.Destroy_Task())


def test_networks_are_mapped_and_disks_thin_as_requested(client):
    group = client.find(vim.dvs.DistributedVirtualPortgroup, "pg-train")
    mapping = [Manager.NetworkMapping(name="net", network=group)]
    _result, lease = imported(client, ovf_text(), "mapped", networkMapping=mapping, diskProvisioning="thin")
    vm = lease.info.entity
    lease.HttpNfcLeaseComplete()
    assert [one.name for one in vm.network] == ["pg-train"]
    (disk,) = [one for one in vm.config.hardware.device if isinstance(one, vim.vm.device.VirtualDisk)]
    assert disk.backing.thinProvisioned
    client.done(vm.Destroy_Task())


def test_properties_products_and_licences_are_kept_and_exported(client):
    values = [vim.KeyValue(key="net.hostname", value="node-7")]
    _result, lease = imported(client, ovf_text(), "appliance", propertyMapping=values)
    vm = lease.info.entity
    lease.HttpNfcLeaseComplete()
    config = vm.config.vAppConfig
    (one,) = config.property
    assert (one.id, one.classId, one.value, one.defaultValue) == ("hostname", "net", "node-7", "localhost")
    assert (config.product[0].name, config.eula[0]) == ("Appliance", "Agree.")
    made = client.content.ovfManager.CreateDescriptor(vm, Manager.CreateDescriptorParams(name="again"))
    again = client.content.ovfManager.ParseDescriptor(
        made.ovfDescriptor, Manager.ParseDescriptorParams(locale="", deploymentOption="")
    )
    assert (again.property[0].defaultValue, again.eula, again.defaultEntityName) == ("node-7", ["Agree."], "again")
    assert [one.name for one in again.network] == [one.name for one in vm.network]
    client.done(vm.Destroy_Task())


def test_a_deployment_option_chooses_the_items(client):
    _result, lease = imported(client, ovf_text(), "large", deploymentOption="large")
    vm = lease.info.entity
    lease.HttpNfcLeaseComplete()
    assert vm.config.hardware.numCPU == 8
    client.done(vm.Destroy_Task())
    assert fault_of(client, ovf_text(), deploymentOption="huge").invalidProperty == "cisp.deploymentOption"


def test_a_host_reports_whether_it_can_have_the_vm(client):
    host = client.find(vim.HostSystem, "esx-01.lab.example")
    params = Manager.ValidateHostParams(locale="", deploymentOption="")
    found = client.content.ovfManager.ValidateHost(ovf_text(size=700), host, params)
    assert (found.error, found.downloadSize, found.flatDeploymentSize) == ([], 700, 2 * GIB)
    assert "thin" in found.supportedDiskProvisioning
    newer = client.content.ovfManager.ValidateHost(ovf_text().replace("vmx-19", "vmx-99"), host, params)
    assert isinstance(newer.error[0], vim.fault.OvfNoSupportedHardwareFamily)


def test_an_image_is_stored_on_the_datastore(client):
    result, lease = imported(client, ovf_text(image="tools.iso"), "with-image")
    disk, image = result.fileItem
    assert (image.cimType, image.create, image.path) == (15, True, "tools.iso")
    (url,) = [one for one in lease.info.deviceUrl if not one.disk]
    assert url.importKey == image.deviceId
    assert client.ask("PUT", path(url), b"x" * 2048, {"Overwrite": "t"})[0] == 201
    vm = lease.info.entity
    lease.HttpNfcLeaseComplete()
    (drive,) = [one for one in vm.config.hardware.device if isinstance(one, vim.vm.device.VirtualCdrom)]
    assert drive.backing.fileName == "[datastore-01] with-image/_deviceImage0.iso"
    query = "dcPath=lab&dsName=datastore-01"
    answer = client.ask("GET", f"/folder/with-image/_deviceImage0.iso?{query}", headers={"Cookie": client.cookie})
    assert answer == (200, b"x" * 2048)
    client.done(vm.Destroy_Task())


@pytest.mark.parametrize(
    "data, status",
    [
        (vmdk.empty(2 * GIB)[:-512], 500),
        (vmdk.empty(2 * GIB)[:-3], 500),
        (vmdk.empty(3 * GIB), 500),
        (b"no disk" * 1000, 500),
        (b"", 500),
    ],
)
def test_a_host_rejects_an_upload_that_is_no_whole_disk(client, data, status):
    _result, lease = imported(client, ovf_text(), "cut")
    (url,) = lease.info.deviceUrl
    assert client.ask("POST", path(url), data)[0] == status
    assert client.ask("POST", path(url).rpartition("/")[0] + "/../../x", data)[0] == 404
    assert lease.HttpNfcLeaseGetManifest() == []
    lease.HttpNfcLeaseAbort()
    assert client.ask("POST", path(url), data)[0] == 404


def test_an_upload_that_is_cut_leaves_nothing_and_an_abort_no_vm(client):
    _result, lease = imported(client, ovf_text(), "aborted")
    (url,) = lease.info.deviceUrl
    data = vmdk.empty(2 * GIB)
    assert client.ask("POST", path(url), data[:600], {"Content-Length": str(len(data))}) is None
    assert lease.HttpNfcLeaseGetManifest() == []
    lease.HttpNfcLeaseAbort(vim.fault.FileFault(file="disk.vmdk"))
    assert (lease.state, type(lease.error), lease.info) == ("error", vim.fault.FileFault, None)
    assert not client.all(vim.VirtualMachine, "aborted")
    task = client.content.taskManager.recentTask[-1]
    assert (task.info.state, type(task.info.error)) == ("error", vim.fault.FileFault)
    with pytest.raises(vim.fault.InvalidState):
        lease.HttpNfcLeaseComplete()


def test_a_lease_ends_without_reports_of_progress(client, monkeypatch):
    monkeypatch.setattr(leases, "LEASE_S", 0.05)
    _result, lease = imported(client, ovf_text(), "late")
    while lease.state == "ready":
        time.sleep(0.02)
    assert isinstance(lease.error, vim.fault.Timedout)
    with pytest.raises(vim.fault.Timedout):
        lease.HttpNfcLeaseProgress(50)
    assert not client.all(vim.VirtualMachine, "late")


def test_a_lease_ends_with_a_defect_of_the_twin(client, monkeypatch):
    monkeypatch.setattr(leases, "_with_image", lambda _vm, _device: 1 / 0)
    lease = started(client, spec_of(client, ovf_text(), "defect").importSpec)
    assert (lease.state, type(lease.error)) == ("error", vmodl.fault.SystemError)
    assert client.all(vim.VirtualMachine, "defect") == []


def test_a_cancelled_import_leaves_no_vm(client):
    _result, lease = imported(client, ovf_text(), "cancelled")
    task = client.content.taskManager.recentTask[-1]
    task.CancelTask()
    assert (task.info.state, lease.state) == ("error", "error")
    assert not client.all(vim.VirtualMachine, "cancelled")


def test_what_vcenter_finds_wrong_while_it_makes_the_vm_is_the_error_of_the_lease(client):
    lease = started(client, spec_of(client, ovf_text(), "train-01").importSpec)
    assert lease.state == "ready"  # another folder has that name
    other = started(client, spec_of(client, ovf_text(), "train-01").importSpec)
    assert isinstance(other.error, vim.fault.DuplicateName)
    lease.HttpNfcLeaseAbort()
    lease = started(client, spec_of(client, ovf_text(capacity="63", units="byte * 2^40"), "huge").importSpec)
    assert isinstance(lease.error, vim.fault.FileTooLarge)
    lease = started(client, spec_of(client, ovf_text(capacity="40", units="byte * 2^40"), "large").importSpec)
    assert isinstance(lease.error, vim.fault.NoDiskSpace)
    lease = started(client, spec_of(client, ovf_text(), "n" * 81).importSpec)
    assert isinstance(lease.error, vim.fault.InvalidName)
    client.twin.control.fail_tasks(method="ImportVApp", message="The host is busy.")
    assert "busy" in started(client, spec_of(client, ovf_text(), "planned").importSpec).error.msg
    with pytest.raises(vmodl.fault.InvalidArgument):
        client.find(vim.ClusterComputeResource, "gpu").resourcePool.ImportVApp(
            spec_of(client, ovf_text(), "nowhere").importSpec
        )


FAULT = vim.fault


@pytest.mark.parametrize(
    "change, fault",
    [
        (lambda text: text[:400], FAULT.OvfXmlFormat),
        (lambda text: "", FAULT.OvfXmlFormat),
        (lambda text: "<Envelope/>", FAULT.OvfUnsupportedPackage),
        (lambda text: '<!DOCTYPE a [<!ENTITY b "c">]>' + text.partition("?>")[2], FAULT.OvfXmlFormat),
        (lambda text: "<a>" * 5_000, FAULT.OvfXmlFormat),
        (lambda text: text.replace("VirtualSystem ", "VirtualSystemCollection ", 1), FAULT.OvfXmlFormat),
        (lambda text: text.replace("disk.vmdk", "../../etc/passwd"), FAULT.OvfInvalidValueFormatMalformed),
        (lambda text: text.replace("disk.vmdk", "%2e%2e/x.vmdk"), FAULT.OvfInvalidValueFormatMalformed),
        (lambda text: text.replace("disk.vmdk", "/etc/passwd"), FAULT.OvfInvalidValueFormatMalformed),
        (lambda text: text.replace('ovf:size="0"', 'ovf:compression="gzip"'), FAULT.OvfUnsupportedAttribute),
        (lambda text: text.replace("ovf:fileRef", "ovf:parentRef"), FAULT.OvfUnsupportedAttribute),
        (lambda text: text.replace('"file1"', '"file2"', 1), FAULT.OvfInvalidValueReference),
        (lambda text: text.replace("/disk/vmdisk1", "/disk/none"), FAULT.OvfInvalidValueReference),
        (lambda text: text.replace("Parent>3<", "Parent>77<"), FAULT.OvfInvalidValueReference),
        (lambda text: text.replace(' ovf:capacity="2"', ""), FAULT.OvfMissingAttribute),
        (lambda text: text.replace(' ovf:capacity="2"', ' ovf:capacity="-2"'), FAULT.OvfInvalidValueFormatMalformed),
        (lambda text: text.replace('capacity="2"', f'capacity="{"9" * 19}"'), FAULT.OvfInvalidValueFormatMalformed),
        (lambda text: text.replace("byte * 2^30", "byte * 9^99"), FAULT.OvfInvalidValueFormatMalformed),
        (lambda text: text.replace("byte * 2^30", "parsec"), FAULT.OvfInvalidValueFormatMalformed),
        (lambda text: text.replace("vmx-19", "vmx-99"), FAULT.OvfNoSupportedHardwareFamily),
        (lambda text: text.replace("vmx-19", f"vmx-{'9' * 5000}"), FAULT.OvfNoSupportedHardwareFamily),
        (lambda text: text.replace("VmxNet3", "Token"), FAULT.OvfUnsupportedSubType),
        (lambda text: text.replace("ResourceType>10<", "ResourceType>99<"), FAULT.OvfUnsupportedType),
        (lambda text: text.replace(">net</rasd:Conn", ">x</rasd:Conn"), FAULT.OvfInvalidValueReference),
        (lambda text: text.replace(">2048<", f">{'9' * 15}<"), FAULT.OvfInvalidValueFormatMalformed),
    ],
)
def test_a_wrong_descriptor_is_an_error_of_the_specification(client, change, fault):
    text = change(ovf_text())
    assert text != ovf_text()
    assert isinstance(fault_of(client, text), fault)


def test_provisioning_of_hosted_products_is_not_supported(client):
    wrong = fault_of(client, ovf_text(), diskProvisioning="twoGbMaxExtentSparse")
    assert (type(wrong), wrong.diskProvisioning) == (FAULT.OvfUnsupportedDiskProvisioning, "twoGbMaxExtentSparse")


def test_a_vm_and_its_snapshot_are_exported_and_imported_again(client):
    vm = client.find(vim.VirtualMachine, "train-02")
    client.done(vm.CreateSnapshot_Task("before", None, False, False))
    lease = vm.rootSnapshot[0].ExportSnapshot()
    (url,) = lease.info.deviceUrl
    status, data = client.ask("GET", path(url))
    assert (status, len(data)) == (200, url.fileSize)
    assert not vmdk.problem(data[:512], data[-512:], len(data), 10**15)
    assert client.ask("POST", path(url), data)[0] == 404
    lease.HttpNfcLeaseComplete()
    client.done(vm.ReconfigVM_Task(vim.vm.ConfigSpec(memoryMB=4096)))
    params = Manager.CreateDescriptorParams(name="before", snapshot=vm.rootSnapshot[0])
    assert ">65536<" in client.content.ovfManager.CreateDescriptor(vm, params).ovfDescriptor
    client.done(vm.RevertToCurrentSnapshot_Task())
    client.done(vm.RemoveAllSnapshots_Task())
    files = [Manager.OvfFile(deviceId=url.key, path="train-02-disk-0.vmdk", size=len(data))]
    params = Manager.CreateDescriptorParams(name="train-02", ovfFiles=files)
    text = client.content.ovfManager.CreateDescriptor(vm, params).ovfDescriptor
    result, lease = imported(client, text, "round-trip")
    (item,) = result.fileItem
    assert (item.path, item.size) == ("train-02-disk-0.vmdk", len(data))
    made = lease.info.entity
    assert client.ask("POST", path(lease.info.deviceUrl[0]), data)[0] == 200
    lease.HttpNfcLeaseComplete()
    shape = [(type(one), getattr(one, "capacityInKB", None)) for one in made.config.hardware.device]
    assert shape == [(type(one), getattr(one, "capacityInKB", None)) for one in vm.config.hardware.device]
    assert (made.config.firmware, [one.name for one in made.network]) == ("efi", ["pg-train"])
    client.done(made.Destroy_Task())
