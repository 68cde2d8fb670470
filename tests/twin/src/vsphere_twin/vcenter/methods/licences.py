"""LicenseManager and ExtensionManager: keys, their assets, and registered extensions."""

from __future__ import annotations

import re

from pyVmomi import vim, vmodl

from vsphere_twin.model.services import EVALUATION, Licence

from ..projections.shape import make
from ..registry import method, prop

# An example of community.vmware (vcenter_license) has small letters; that vCenter accepts and keeps them is [unsure].
KEY = re.compile(r"[0-9A-Za-z]{5}(-[0-9A-Za-z]{5}){4}")
# Predefined extensions of a vCenter [unsure: the list and the versions].
OWN_EXTENSIONS = (
    ("com.vmware.vim.eam", "vSphere ESX Agent Manager"),
    ("com.vmware.vim.ls", "License Services"),
    ("com.vmware.vim.sps", "VMware vCenter Storage Monitoring Service"),
    ("com.vmware.vim.stats.report", "Performance charts"),
    ("com.vmware.vcIntegrity", "VMware vSphere Lifecycle Manager"),
    ("hostdiag", "Host diagnostics"),
)


@prop("LicenseManager", "licenses")
def licences(manager, world):
    return [_info(world, one) for one in manager.keys.values()]


@prop("LicenseManager", "evaluation")
def evaluation(manager, world):
    left = make(vmodl.KeyAnyValue, key="expirationHours", value=1440)
    return make(vim.LicenseManager.EvaluationInfo, properties=[left])


@prop("LicenseManager", "licensedEdition")
def licensed_edition(manager, world):
    return "eval"


@prop("LicenseManager", "licenseAssignmentManager")
def license_assignment_manager(manager, world):
    return world.get("LicenseAssignmentManager")


@method("LicenseManager", "AddLicense")
def add_licence(call, this, licenseKey, labels=None):
    _require_key(licenseKey)
    made = this.keys.setdefault(licenseKey, Licence(licenseKey, "esx.enterprisePlus.cpuPackage", "VMware vSphere"))
    made.labels.update({one.key: one.value for one in labels or []})
    call.world.touch(this)
    return _info(call.world, made)


@method("LicenseManager", "DecodeLicense")
def decode_licence(call, this, licenseKey):
    _require_key(licenseKey)
    return _info(call.world, this.keys.get(licenseKey) or Licence(licenseKey, "", ""))


@method("LicenseManager", "RemoveLicense")
def remove_licence(call, this, licenseKey):
    if licenseKey not in this.keys or licenseKey == EVALUATION:
        raise vim.fault.NotFound(msg="The object or item referred to could not be found.")
    if licenseKey in this.assigned.values():
        raise vim.fault.ResourceInUse(msg=f"The resource '{licenseKey}' is in use.", name=licenseKey)
    del this.keys[licenseKey]
    call.world.touch(this)


@method("LicenseManager", "UpdateLicenseLabel")
def update_label(call, this, licenseKey, labelKey, labelValue):
    if licenseKey not in this.keys:
        raise vmodl.fault.InvalidArgument(
            msg="A specified parameter was not correct: licenseKey", invalidProperty="licenseKey"
        )
    this.keys[licenseKey].labels[labelKey] = labelValue
    call.world.touch(this)


@method("LicenseAssignmentManager", "QueryAssignedLicenses")
def assigned_licences(call, this, entityId=None):
    found = [(entity, name) for entity, name in _assets(call.world) if entityId in (None, entity)]
    if entityId is not None and not found:
        raise vim.fault.NotFound(msg="The object or item referred to could not be found.")
    keys = call.world.get("LicenseManager")
    return [
        make(
            vim.LicenseAssignmentManager.LicenseAssignment,
            entityId=entity,
            scope=call.world.instance_uuid,
            entityDisplayName=name,
            assignedLicense=_info(call.world, keys.keys[keys.assigned.get(entity, EVALUATION)]),
        )
        for entity, name in found
    ]


@method("LicenseAssignmentManager", "UpdateAssignedLicense")
def assign_licence(call, this, entity, licenseKey, entityDisplayName=None):
    manager = call.world.get("LicenseManager")
    if entity not in dict(_assets(call.world)) or licenseKey not in manager.keys:
        raise vim.fault.LicenseEntityNotFound(msg="The licence or the asset does not exist.", entityId=entity)
    manager.assigned[entity] = licenseKey
    call.world.touch(manager)
    return _info(call.world, manager.keys[licenseKey])


@method("LicenseAssignmentManager", "RemoveAssignedLicense")
def unassign_licence(call, this, entityId):
    if call.world.get("LicenseManager").assigned.pop(entityId, None) is None:
        raise vim.fault.LicenseEntityNotFound(msg="The asset has no licence of its own.", entityId=entityId)


@prop("ExtensionManager", "extensionList")
def extension_list(manager, world):
    return [*(_own(world, key, label) for key, label in OWN_EXTENSIONS), *manager.extensions.values()]


@method("ExtensionManager", "FindExtension")
def find_extension(call, this, extensionKey):
    return next((one for one in extension_list(this, call.world) if one.key == extensionKey), None)


@method("ExtensionManager", "RegisterExtension")
def register_extension(call, this, extension):
    if find_extension(call, this, extension.key) is not None:
        raise vmodl.fault.InvalidArgument(
            msg="A specified parameter was not correct: extension.key", invalidProperty="extension.key"
        )
    this.extensions[extension.key] = extension
    call.world.touch(this)


@method("ExtensionManager", "UpdateExtension")
def update_extension(call, this, extension):
    _require_extension(this, extension.key)
    this.extensions[extension.key] = extension
    call.world.touch(this)


@method("ExtensionManager", "UnregisterExtension")
def unregister_extension(call, this, extensionKey):
    _require_extension(this, extensionKey)
    del this.extensions[extensionKey]
    call.world.touch(this)


def _require_extension(manager, key):
    if key not in manager.extensions:
        raise vim.fault.NotFound(msg="The object or item referred to could not be found.")


def _own(world, key, label):
    return make(
        vim.Extension,
        key=key,
        description=make(vim.Description, label=label, summary=label),
        company="VMware, Inc.",
        version=world.release.version,
        subjectName="",
        shownInSolutionManager=False,
    )


def _require_key(key):
    if not KEY.fullmatch(key):
        raise vmodl.fault.InvalidArgument(
            msg="A specified parameter was not correct: licenseKey", invalidProperty="licenseKey"
        )


def _assets(world):
    """Return the licensable assets: the vCenter by its UUID, hosts by their ids."""
    yield world.instance_uuid, "vCenter Server"
    for host in world.of_kind("HostSystem"):
        yield host.moid, host.name


def _info(world, one):
    assets, manager = dict(_assets(world)), world.get("LicenseManager")
    used = sum(manager.assigned.get(asset, EVALUATION) == one.key for asset in assets)
    return make(
        vim.LicenseManager.LicenseInfo,
        licenseKey=one.key,
        editionKey=one.edition,
        name=one.name,
        total=0,
        used=used if one.key != EVALUATION else None,
        costUnit="cpuPackage" if one.key != EVALUATION else "",
        labels=[make(vim.KeyValue, key=key, value=value) for key, value in one.labels.items()],
    )
