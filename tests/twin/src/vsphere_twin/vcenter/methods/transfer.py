"""Imports and exports of VMs: specifications from OVF descriptors, leases, and descriptors of exports."""

from __future__ import annotations

import copy

from pyVmomi import vim, vmodl

from vsphere_twin.model import kept, leases, ovf, ovf_export, ovf_import
from vsphere_twin.model.host import wrong_state

from .. import vm_privileges
from ..projections.shape import make
from ..registry import method, prop
from .tasking import resolved

MANAGER, LEASE = "OvfManager", "HttpNfcLease"


@method("VirtualMachine", "ExportVm")
def export_vm(call, this):
    leases.require_off(this)
    return _held(call, leases.begin_export(call.world, this, call.session.new_moid(), call.session.user))


@method("VirtualMachineSnapshot", "ExportSnapshot")
def export_snapshot(call, this):
    made = leases.begin_export(
        call.world, this.vm, call.session.new_moid(), call.session.user, hardware=this.saved["devices"]
    )
    return _held(call, made)


@method("ResourcePool", "ImportVApp")
def import_vapp(call, this, spec, folder=None, host=None):
    if not isinstance(spec, vim.vm.VmImportSpec):
        raise vmodl.fault.NotSupported(msg="The operation is not supported on the object: the twin has no vApps.")
    if spec.configSpec is None:
        raise kept.wrong("spec.configSpec")
    where, on = resolved(call, folder), resolved(call, host)
    if where is None or where.kind != "Folder" or "VirtualMachine" not in where.child_types:
        raise kept.wrong("folder")
    if on is not None and on.moid not in this.owner.hosts:
        raise kept.wrong("host")
    vm_privileges.require(call, [("VirtualMachine.Inventory.Create", where)])
    vm_privileges.create(call, where, spec.configSpec, this)
    moid, user = call.session.new_moid(), call.session.user
    return _held(call, leases.begin_import(call.world, this, spec, where, on, moid, user))


@method(MANAGER, "CreateImportSpec")
def create_import_spec(call, this, ovfDescriptor, resourcePool, datastore, cisp):
    pool, store = call.resolve(resourcePool), call.resolve(datastore)
    for one in cisp.networkMapping or []:
        call.resolve(one.network)
    plan = ovf_import.Plan(call.world, pool, store, cisp, resolved(call, cisp.hostSystem)).read(ovfDescriptor)
    result = make(vim.OvfManager.CreateImportSpecResult, warning=plan.warnings, error=plan.errors)
    if not plan.errors:
        result.importSpec = make(vim.vm.VmImportSpec, configSpec=plan.config, resPoolEntity=pool)
        result.fileItem = plan.files
    return result


@method(MANAGER, "ParseDescriptor")
def parse_descriptor(call, this, ovfDescriptor, pdp):
    try:
        found = ovf.read(ovfDescriptor)
    except vim.fault.OvfFault as fault:
        return make(vim.OvfManager.ParseDescriptorResult, error=[fault])
    download, thick, thin = ovf_import.sizes(found)
    config = ovf_import.vapp_config(found, vim.OvfManager.CreateImportSpecParams(entityName=""))
    return make(
        vim.OvfManager.ParseDescriptorResult,
        eula=found.eulas,
        network=[vim.OvfManager.NetworkInfo(name=name, description=about) for name, about in found.networks.items()],
        property=[one.info for one in config.property],
        productInfo=next((one.info for one in config.product), None),
        annotation=found.annotation,
        approximateDownloadSize=download,
        approximateFlatDeploymentSize=thick,
        approximateSparseDeploymentSize=thin,
        defaultEntityName=found.name,
        virtualApp=False,
        deploymentOption=[
            vim.OvfManager.DeploymentOption(key=key, label=label, description=about)
            for key, (label, about, _default) in found.options.items()
        ],
        defaultDeploymentOption=found.default_option,
    )


@method(MANAGER, "ValidateHost")
def validate_host(call, this, ovfDescriptor, host, vhp):
    on = call.resolve(host)
    params = vim.OvfManager.CreateImportSpecParams(
        entityName="", deploymentOption=vhp.deploymentOption, importOption=vhp.importOption
    )
    store = next(iter(on.datastores.values()), None)
    if store is None:
        raise vim.fault.InvalidState(msg="The host has no datastore.")  # the fault is [unsure]
    plan = ovf_import.Plan(call.world, on.compute.pool, store, params, on).read(ovfDescriptor)
    result = make(
        vim.OvfManager.ValidateHostResult,
        error=plan.errors,
        warning=plan.warnings,
        supportedDiskProvisioning=[one for one in ovf_import.PROVISIONING if one],
    )
    if not plan.errors:
        sizes = ovf_import.sizes(ovf.read(ovfDescriptor))
        result.downloadSize, result.flatDeploymentSize, result.sparseDeploymentSize = sizes
    return result


@method(MANAGER, "CreateDescriptor")
def create_descriptor(call, this, obj, cdp):
    vm = call.resolve(obj)
    if vm.kind != "VirtualMachine":
        raise vmodl.fault.NotSupported(msg="The operation is not supported on the object.")
    if cdp.snapshot is not None:
        vm, saved = copy.copy(vm), call.resolve(cdp.snapshot).saved
        vars(vm).update(saved)
    files = [(one.deviceId, one.path, one.size) for one in cdp.ovfFiles or []]
    text = ovf_export.descriptor(call.world, vm, cdp.name, files, cdp.description)
    return make(
        vim.OvfManager.CreateDescriptorResult, ovfDescriptor=text, includeImageFiles=bool(cdp.includeImageFiles)
    )


@method(LEASE, "HttpNfcLeaseProgress")
def progress(call, this, percent):
    _require_ready(this)
    if not 0 <= percent <= 100:
        raise kept.wrong("percent")
    this.report(percent)


@method(LEASE, "HttpNfcLeaseComplete")
def complete(call, this):
    _require_ready(this)
    this.complete()


@method(LEASE, "HttpNfcLeaseAbort")
def abort(call, this, fault=None):
    if this.state not in ("initializing", "ready"):
        raise wrong_state()
    this.fail(fault or leases.cancelled())


@method(LEASE, "HttpNfcLeaseGetManifest")
def manifest(call, this):
    _require_ready(this)
    return [
        make(
            vim.HttpNfcLease.ManifestEntry,
            key=file.key,
            sha1=file.sha1,
            checksum=file.sha256,
            checksumType="sha256",
            size=file.size,
            disk=file.disk,
            capacity=file.device.capacityInBytes if file.disk else None,
        )
        for file in leases.written_files(this)
    ]


@prop(LEASE, "state")
def state(lease, world):
    return lease.state


@prop(LEASE, "initializeProgress")
def initialize_progress(lease, world):
    return 0 if lease.state == "initializing" else 100


@prop(LEASE, "transferProgress")
def transfer_progress(lease, world):
    return lease.percent


@prop(LEASE, "mode")
def mode(lease, world):
    return "pushOrGet"


@prop(LEASE, "capabilities")
def capabilities(lease, world):
    return make(vim.HttpNfcLease.Capabilities, pullModeSupported=False, corsSupported=False)


@prop(LEASE, "error")
def error(lease, world):
    return lease.fault


@prop(LEASE, "info")
def info(lease, world):
    if lease.state != "ready":
        return None
    disks = [file.device for file in lease.files.values() if file.disk]
    return make(
        vim.HttpNfcLease.Info,
        lease=vim.HttpNfcLease(lease.moid),
        entity=lease.vm,
        totalDiskCapacityInKB=sum(disk.capacityInKB or 0 for disk in disks),
        leaseTimeout=leases.LEASE_S,
        deviceUrl=[
            make(
                vim.HttpNfcLease.DeviceUrl,
                key=file.key,
                importKey=file.import_key if lease.importing else "",
                url=f"https://{lease.address}/nfc/{lease.secret}/{name}",
                sslThumbprint="",
                disk=file.disk,
                targetId=name,
                fileSize=None if lease.importing else len(lease.content(name)),
            )
            for name, file in lease.files.items()
        ],
    )


def _held(call, lease):
    """The lease in its session; its files have the address by which the client reached the twin.

    vCenter names a host. A port behind * is lost in clients that put only a name there (community.vmware).
    """
    lease.address = getattr(call.client, "headers", {}).get("Host") or "*"
    return call.session.add(lease)


def _require_ready(lease):
    if lease.state == "error" and isinstance(lease.fault, vim.fault.Timedout):
        raise lease.fault
    if lease.state != "ready":
        raise wrong_state()
