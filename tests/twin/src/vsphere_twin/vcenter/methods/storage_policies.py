"""The storage policy service (/pbm): profiles, placement and compliance."""

from __future__ import annotations

import datetime

from pyVmomi import pbm, vmodl

from ...model import kept, storage_policies
from ...model.services import POLICY_SERVICES
from .. import types
from ..registry import method, prop

MANAGER, SOLVER, COMPLIANCE = "PbmProfileProfileManager", "PbmPlacementSolver", "PbmComplianceManager"
Hub = pbm.placement.PlacementHub
Kind = pbm.ServerObjectRef.ObjectType
Metadata = pbm.capability.CapabilityMetadata
Schema = pbm.capability.provider.CapabilityObjectSchema
CATEGORIES = pbm.profile.CapabilityBasedProfile.ProfileCategoryEnum.values
# The vendor of capabilities that follow from tags [unsure: its id and texts].
TAG_VENDOR = "com.vmware.storage.tag"
HOME_KINDS = (Kind.virtualMachine, Kind.virtualMachineAndDisks)


@method("PbmServiceInstance", "PbmRetrieveServiceContent")
def retrieve_content(call, this):
    """The managers; it needs no session (evoila/meho #3811)."""
    return _content(this, call.world)


@prop("PbmServiceInstance", "content")
def _content(_this, world):
    names = {kind: types.managed_type(kind)(moid) for moid, kind in POLICY_SERVICES.items()}
    return pbm.ServiceInstanceContent(
        aboutInfo=pbm.AboutInfo(name="PBM", version="2.0", instanceUuid=world.instance_uuid),
        sessionManager=names["PbmSessionManager"],
        capabilityMetadataManager=names["PbmCapabilityMetadataManager"],
        profileManager=names[MANAGER],
        complianceManager=names[COMPLIANCE],
        placementSolver=names[SOLVER],
        replicationManager=names["PbmReplicationManager"],
    )


@method(MANAGER, "PbmFetchResourceType")
def resource_types(_call, _this):
    return [pbm.profile.ResourceType(resourceType=storage_policies.STORAGE)]


@method(MANAGER, "PbmFetchVendorInfo")
def vendors(_call, _this, resourceType=None):
    _require_storage(resourceType)
    vendor = Schema.VendorNamespaceInfo(
        vendorInfo=Schema.VendorInfo(vendorUuid=TAG_VENDOR, info=_text(TAG_VENDOR, "Tags")),
        namespaceInfo=Schema.NamespaceInfo(version="1.0", namespace=storage_policies.TAG),
    )
    return [Schema.VendorResourceTypeInfo(resourceType=storage_policies.STORAGE, vendorNamespaceInfo=[vendor])]


@method(MANAGER, "PbmFetchCapabilityMetadata")
def capabilities(call, _this, resourceType=None, vendorUuid=None):
    """A capability for each category of tags that a datastore may have [unsure: the form]."""
    _require_storage(resourceType)
    if vendorUuid not in (None, TAG_VENDOR):
        return []  # of an unknown vendor: no results (API reference)
    tagging = call.world.tagging
    found = [
        _of_category(category, [tag for tag in tagging.tags.values() if tag.category is category])
        for category in tagging.categories.values()
        if category.takes("Datastore")
    ]
    per_category = pbm.capability.provider.CapabilityObjectMetadataPerCategory
    return [per_category(subCategory="tag", capabilityMetadata=found)] if found else []


@method(MANAGER, "PbmQueryProfile")
def query(call, _this, resourceType, profileCategory=None):
    """The ids of the policies; there are no profiles of resources, as no storage provider is registered."""
    _require_storage(resourceType)
    kept.require_one_of(profileCategory, CATEGORIES, "profileCategory")
    held = call.world.storage_policies.policies.values()
    return [one.profileId for one in held if profileCategory in (None, one.profileCategory)]


@method(MANAGER, "PbmRetrieveContent")
def retrieve(call, _this, profileIds=()):
    if not profileIds:
        raise vmodl.fault.InvalidRequest(msg="The required parameter profileIds of PbmRetrieveContent is missing.")
    return [call.world.storage_policies.get(one.uniqueId) for one in profileIds]


@method(MANAGER, "PbmCreate")
def create(call, _this, createSpec):
    return call.world.storage_policies.create(createSpec, call.session.user).profileId


@method(MANAGER, "PbmUpdate")
def update(call, _this, profileId, updateSpec):
    policies = call.world.storage_policies
    policies.update(policies.get(profileId.uniqueId), updateSpec, call.session.user)


@method(MANAGER, "PbmDelete")
def delete(call, _this, profileId=()):
    """One outcome for each id; an outcome has the fault where the policy stays."""
    outcomes = []
    for one in profileId:
        outcome = pbm.profile.ProfileOperationOutcome(profileId=one)
        try:
            call.world.storage_policies.delete(one.uniqueId)
        except vmodl.MethodFault as fault:
            outcome.fault = fault
        outcomes.append(outcome)
    return outcomes


@method(MANAGER, "PbmQueryAssociatedProfile")
def profiles_of(call, _this, entity):
    return _profiles(call.world, entity)


@method(MANAGER, "PbmQueryAssociatedProfiles")
def profiles_of_several(call, _this, entities=()):
    results = []
    for one in entities:
        result = pbm.profile.QueryProfileResult(object=one)
        try:
            result.profileId = _profiles(call.world, one)
        except vmodl.MethodFault as fault:
            result.fault = fault
        results.append(result)
    return results


@method(MANAGER, "PbmQueryAssociatedEntity")
def entities_of(call, _this, profile, entityType=None):
    call.world.storage_policies.get(profile.uniqueId)
    kept.require_one_of(entityType, Kind.values, "entityType")
    found = [_reference(call.world, vm, key) for vm, key in call.world.storage_policies.users(profile.uniqueId)]
    return [one for one in found if entityType in (None, one.objectType)]


@method(MANAGER, "PbmQueryAssociatedEntities")
def entities_of_several(call, _this, profiles=()):
    """Each VM and disk with one of the policies, or with any."""
    policies = call.world.storage_policies
    wanted = [policies.get(one.uniqueId) for one in profiles] or policies.policies.values()
    return [
        pbm.profile.QueryProfileResult(object=_reference(call.world, vm, key), profileId=[policy.profileId])
        for policy in wanted
        for vm, key in policies.users(policy.profileId.uniqueId)
    ]


@method(MANAGER, "PbmQueryDefaultRequirementProfile")
def default_profile(call, _this, hub):
    """None: VMFS and NFS datastores have no default policy."""
    _datastores(call.world, [hub])


@method(MANAGER, "PbmAssignDefaultRequirementProfile")
def assign_default(call, _this, profile, datastores=()):
    """Refused for VMFS and NFS (API reference), which are all datastores of the twin."""
    call.world.storage_policies.get(profile.uniqueId)
    _datastores(call.world, datastores)
    raise pbm.fault.LegacyHubsNotSupported(msg="A datastore is a VMFS or NFS datastore.", hubs=list(datastores))


@method(SOLVER, "PbmCheckCompatibility")
def compatibility(call, _this, profile, hubsToSearch=()):
    return _placed(call.world, hubsToSearch, [call.world.storage_policies.get(profile.uniqueId).constraints])


@method(SOLVER, "PbmQueryMatchingHub")
def matching(call, _this, profile, hubsToSearch=()):
    return [one.hub for one in compatibility(call, _this, profile, hubsToSearch) if not one.error]


@method(SOLVER, "PbmCheckRequirements")
def requirements(call, _this, hubsToSearch=(), placementSubjectRef=None, placementSubjectRequirement=()):
    """Datastores by all requirements; none, the same twice, and both kinds are invalid (API reference)."""
    place, rules, seen = "placementSubjectRequirement", [], []
    if placementSubjectRef is not None:
        _vm_and_keys(call.world, placementSubjectRef)
    for one in placementSubjectRequirement:
        if type(one) is pbm.placement.CapabilityProfileRequirement:
            seen.append(one.profileId.uniqueId)
            rules.append(call.world.storage_policies.get(one.profileId.uniqueId, f"{place}.profileId").constraints)
        elif type(one) is pbm.placement.CapabilityConstraintsRequirement:
            call.world.storage_policies.check_rules(one.constraints, f"{place}.constraints")
            rules.append(one.constraints)
        else:
            raise vmodl.fault.NotSupported(
                msg=f"The operation is not supported on the object: the twin has no {type(one)._wsdlName}."
            )
    if not rules or len(set(seen)) < len(seen) or 0 < len(seen) < len(rules):
        raise kept.wrong(place)
    return _placed(call.world, hubsToSearch, rules)


@method(COMPLIANCE, "PbmCheckCompliance")
@method(COMPLIANCE, "PbmFetchComplianceResult")
def compliance(call, _this, entities=(), profile=None):
    """One result for each home and disk with a policy; datastores and unknown objects are ignored (API reference)."""
    if all(one.objectType == Kind.datastore for one in entities):
        raise kept.wrong("entities")
    results = []
    for one in entities:
        try:
            vm, keys = _vm_and_keys(call.world, one)
        except vmodl.MethodFault:
            continue
        results += [_result(call.world, vm, key) for key in keys if key in storage_policies.associations(vm)]
    return results


def _result(world, vm, key):
    status, failing = world.storage_policies.status(vm, key)
    return pbm.compliance.ComplianceResult(
        checkTime=datetime.datetime.now(datetime.timezone.utc),
        entity=_reference(world, vm, key),
        profile=pbm.profile.ProfileId(uniqueId=vm.policies[key].policy),
        complianceTaskStatus="success",
        complianceStatus=status,
        mismatch=status == "outOfDate",
        violatedPolicies=[pbm.compliance.PolicyStatus(expectedValue=one) for one in failing],
    )


def _placed(world, hubs, rules):
    """The result of each datastore, with a fault for each capability that it lacks."""
    stores = _datastores(world, hubs) if hubs else world.of_kind("Datastore")
    return [_placement(world, store, rules) for store in stores]


def _placement(world, store, rules):
    hub = Hub(hubType=store.kind, hubId=store.moid)
    failing = [one for constraints in rules for one in world.storage_policies.failing(constraints, store)]
    errors = [
        pbm.fault.PropertyMismatchFault(  # [unsure: which of the mismatch faults]
            msg=f"Datastore does not satisfy required property {one.id.id}.",
            hub=hub,
            capabilityInstanceId=one.id,
            requirementPropertyInstance=one.constraint[0].propertyInstance[0],
        )
        for one in failing
    ]
    return pbm.placement.CompatibilityResult(hub=hub, error=errors)


def _datastores(world, hubs):
    """The datastores of hubs; the twin has no storage pods."""
    found = [world.get(hub.hubId) if hub.hubType == "Datastore" else None for hub in hubs]
    lost = [hub for hub, store in zip(hubs, found, strict=True) if store is None or store.kind != "Datastore"]
    if lost:
        raise pbm.fault.NonExistentHubs(msg="A hub does not exist.", hubs=lost)
    return found


def _profiles(world, entity):
    if entity.objectType == Kind.datastore:
        _datastores(world, [Hub(hubType="Datastore", hubId=entity.key)])
        return []
    vm, keys = _vm_and_keys(world, entity)
    found = storage_policies.associations(vm)
    unique = dict.fromkeys(found[key].policy for key in keys if key in found)
    return [pbm.profile.ProfileId(uniqueId=one) for one in unique]


def _vm_and_keys(world, entity):
    """The VM of a reference, and the keys of what it names: None for the home, and keys of disks."""
    moid, _colon, key = entity.key.partition(":")
    vm = world.get(moid)
    if vm is not None and vm.kind == "VirtualMachine":
        disks = [disk.key for disk in vm.disks]
        if entity.objectType in HOME_KINDS and not key:
            return vm, [None, *(disks if entity.objectType == Kind.virtualMachineAndDisks else [])]
        if entity.objectType == Kind.virtualDiskId and key in map(str, disks):
            return vm, [int(key)]
    raise pbm.fault.NotFound(msg=f"The object {entity.objectType}:{entity.key} was not found.")  # [unsure: the fault]


def _reference(world, vm, key):
    home = key is None
    return pbm.ServerObjectRef(
        objectType=Kind.virtualMachine if home else Kind.virtualDiskId,
        key=vm.moid if home else f"{vm.moid}:{key}",
        serverUuid=world.instance_uuid,
    )


def _of_category(category, tags):
    values = [
        pbm.capability.types.DescriptiveValue(description=_text(tag.name, tag.description), value=tag.name)
        for tag in tags
    ]
    return Metadata(
        id=Metadata.UniqueId(namespace=storage_policies.TAG, id=category.name),
        summary=_text(category.name, category.description),
        mandatory=False,
        propertyMetadata=[
            pbm.capability.PropertyMetadata(
                id=storage_policies.tag_property(category.name),
                summary=_text(category.name, category.description),
                mandatory=False,
                type=pbm.capability.GenericTypeInfo(typeName="XSD_STRING", genericTypeName="VMW_SET"),
                allowedValue=pbm.capability.types.DiscreteSet(values=values),
            )
        ],
    )


def _text(label, summary):
    return pbm.ExtendedElementDescription(label=label, summary=summary, key=label, messageCatalogKeyPrefix="")


def _require_storage(resource):
    if resource is not None and resource.resourceType != storage_policies.STORAGE:
        raise kept.wrong("resourceType")
