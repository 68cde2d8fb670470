"""Storage policies (SPBM): their rules, the datastores that fit, and the VMs and disks that have them."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from pyVmomi import pbm, vim, vmodl

from . import accounts, kept

Constraints = pbm.profile.SubProfileCapabilityConstraints
TAG = "http://www.vmware.com/storage/tag"
DATA_SERVICE = "com.vmware.storageprofile.dataservice"
ENCRYPTION = "ad5a249d-cbc2-43af-9366-694d7664fa52"
# Capabilities that a policy may name beside tags. A provider of storage has those of the types of datastores.
OF_STORES = ("VSAN", "VVOL", "PMem")
NAMESPACES = (TAG, DATA_SERVICE, *OF_STORES, "spm")
STORAGE, REQUIREMENT = "STORAGE", "REQUIREMENT"
VSAN = {"hostFailuresToTolerate": 1, "stripeWidth": 1, "forceProvisioning": False}
VSAN_DEFAULT = {**VSAN, "proportionalCapacity": 0, "cacheReservation": 0}
MANAGEMENT = "VmcManagementProfile"
# The policies of each vCenter: id, name, description, type, namespace and values of the rules. Ids and texts: the
# answer of a real vCenter in vmware.vmware_rest (vcenter_storage_policies_info). Rules of the first four: govmomi,
# pbm/simulator/profiles.go, from vCenter 6.7. Rules of the others: [unsure].
DEFAULTS = (
    ("aa6d5a82-1c88-45da-85d3-3d74b91a5bad", "vSAN Default Storage Policy",
     "Storage policy used as default for vSAN datastores", "VsanDefaultProfile", "VSAN", VSAN_DEFAULT),
    ("f4e5bade-15a2-4805-bf8e-52318c4ce443", "VVol No Requirements Policy",
     "Allow the datastore to determine the best placement strategy for storage objects", "VVolDefaultProfile", "", {}),
    ("4d5f673c-536f-11e6-beb8-9e71128cae77", "VM Encryption Policy",
     "Sample storage policy for VMware's VM and virtual disk encryption", "", DATA_SERVICE, {ENCRYPTION: ENCRYPTION}),
    ("c268da1b-b343-49f7-a468-b1deeb7078e0", "Host-local PMem Default Storage Policy",
     "Storage policy used as default for Host-local PMem datastores", "PmemDefaultProfile", "PMem",
     {"PMemType": "LocalPMem"}),
    ("a9423670-7455-11e8-adc0-fa7ae01bbebc", "Management Storage Policy - Single Node",
     "Management Storage policy used for VMC single node cluster", MANAGEMENT, "VSAN", VSAN),
    ("bb7e6b13-2d99-46eb-96e4-3d85c91a5bde", "Management Storage Policy - Regular",
     "Management Storage policy used for VMC regular cluster", MANAGEMENT, "VSAN", VSAN),
    ("cd8f7c94-3e11-67fc-17f5-4e96d91a5beb", "Management Storage Policy - Large",
     "Management Storage policy used for VMC large cluster", MANAGEMENT, "VSAN", VSAN),
    ("f31f2442-8247-4517-87c2-8d69d7a6c696", "Management Storage Policy - Stretched",
     "Management Storage policy used for VMC stretched cluster", MANAGEMENT, "VSAN", VSAN),
    ("d109de24-c966-428f-8da2-d281e6671e35", "Management Storage Policy - Stretched Lite",
     "Management Storage policy used for smaller VMC Stretched Cluster configuration.", MANAGEMENT, "VSAN", VSAN),
    ("b6423670-8552-66e8-adc1-fa6ae01abeac", "Management Storage policy - Thin",
     "Management Storage policy used for VMC regular cluster which requires THIN provisioning",
     MANAGEMENT, "VSAN", VSAN),
    ("b1263970-8662-69e2-adc6-fa8ae01abecc", "Management Storage policy - Encryption",
     "Management Storage policy used for encrypting VM", MANAGEMENT, DATA_SERVICE, {ENCRYPTION: ENCRYPTION}),
)  # fmt: skip
USER = "Temporary user handle"  # of the default policies (govmomi, pbm/simulator/profiles.go)


@dataclass(frozen=True)
class Association:
    """The policy of a VM's home or disk, in the state in which it was applied."""

    policy: str
    generation: int


class StoragePolicies:
    """All policies of a vCenter, by id; the VMs hold their associations."""

    def __init__(self, world):
        self._world = world
        self.policies = {}
        for unique_id, name, text, kind, namespace, values in DEFAULTS:
            rules = pbm.profile.CapabilityConstraints()
            if values:
                rules = Constraints(subProfiles=[_default_rules(namespace, values)])
            self._keep(unique_id, name, text, rules, USER).systemCreatedProfileType = kind or None

    def get(self, unique_id, place="profileId"):
        """A policy; InvalidArgument where there is none (govmomi, pbm/simulator: RetrieveContent)."""
        if unique_id not in self.policies:
            raise kept.wrong(place)
        return self.policies[unique_id]

    def create(self, spec, user):
        """A new policy of the category REQUIREMENT; other categories are refused [unsure: data service policies]."""
        if spec.resourceType.resourceType != STORAGE:
            raise kept.wrong("createSpec.resourceType")
        if spec.category not in (None, REQUIREMENT):
            raise kept.wrong("createSpec.category")
        self._check_name(spec.name, "createSpec.name")
        self.check_rules(spec.constraints, "createSpec.constraints")
        unique_id = self._world.new_uuid("storage policy")
        return self._keep(unique_id, spec.name, spec.description, spec.constraints, accounts.principal(user))

    def update(self, policy, spec, user):
        """Change what the specification has; other rules make the VMs with the policy out of date."""
        if spec.name is not None and spec.name != policy.name:
            self._check_name(spec.name, "updateSpec.name")
        if spec.constraints is not None:
            self.check_rules(spec.constraints, "updateSpec.constraints")
            policy.constraints, policy.generationId = spec.constraints, policy.generationId + 1
        policy.name = spec.name if spec.name is not None else policy.name
        policy.description = spec.description if spec.description is not None else policy.description
        policy.lastUpdatedTime, policy.lastUpdatedBy = _now(), accounts.principal(user)

    def delete(self, unique_id):
        """Delete a policy without associations (reference of PbmDelete); those of vCenter stay [unsure]."""
        policy = self.get(unique_id)
        if policy.systemCreatedProfileType:
            raise kept.wrong("profileId")
        if any(True for _vm, _key in self.users(unique_id)):
            raise pbm.fault.ResourceInUse(
                msg=f"The resource '{policy.name}' is in use.", type=pbm.profile.Profile, name=policy.name
            )
        del self.policies[unique_id]

    def users(self, unique_id):
        """(VM, key) of all homes (key None) and disks with a policy."""
        for vm in self._world.of_kind("VirtualMachine"):
            for key, association in associations(vm).items():
                if association.policy == unique_id:
                    yield vm, key

    def failing(self, rules, store):
        """The capabilities of a policy that a datastore lacks: none if it has those of one of the rule sets."""
        found = [
            [one for one in rule_set.capability if not self._has(store, one)]
            for rule_set in getattr(rules, "subProfiles", None) or []
        ]
        return min(found, key=len, default=[])

    def status(self, vm, key):
        """(Compliance status of a home or a disk, capabilities that its datastore lacks)."""
        policy, store = self.policies[vm.policies[key].policy], store_of(self._world, vm, key)
        if store is None:
            return "unknown", []
        failing = self.failing(policy.constraints, store)
        if vm.policies[key].generation != policy.generationId:
            return "outOfDate", failing
        if not getattr(policy.constraints, "subProfiles", None):
            return "notApplicable", []
        return ("nonCompliant" if failing else "compliant"), failing

    def _has(self, store, capability):
        if capability.id.namespace == TAG:
            tags = self._world.tagging.of("Datastore", store.moid)
            names = {tag.name for tag in tags if tag.category.name == capability.id.id}
            properties = [one for rule in capability.constraint for one in rule.propertyInstance]
            return all(bool(names & set(values_of(one))) != (one.operator == "NOT") for one in properties)
        if capability.id.namespace in OF_STORES:
            return store.filesystem.upper() == capability.id.namespace.upper()
        return True  # services of the hosts, which do not depend on a datastore

    def _check_name(self, name, place):
        if not name:
            raise kept.wrong(place)
        if any(one.name == name for one in self.policies.values()):
            raise pbm.fault.DuplicateName(msg=f"The name '{name}' already exists.", name=name)

    def check_rules(self, rules, place):
        """Refuse rules for capabilities that nobody has described [unsure: how much of this vCenter refuses]."""
        capabilities = [one for rule_set in getattr(rules, "subProfiles", None) or [] for one in rule_set.capability]
        if not capabilities:
            raise kept.wrong(place)
        for capability in capabilities:
            properties = [one for rule in capability.constraint for one in rule.propertyInstance]
            empty = any(not rule.propertyInstance for rule in capability.constraint)
            if capability.id.namespace not in NAMESPACES or not properties or empty:
                raise kept.wrong(f"{place}.capability")
            for one in properties:
                if capability.id.namespace != TAG:
                    known = one.operator is None
                else:
                    tags = {tag.name for tag in self._tags(capability.id.id)}
                    values = values_of(one)
                    known = one.id == tag_property(capability.id.id) and values and set(values) <= tags
                    known = known and one.operator in (None, "NOT")
                if not known:
                    raise kept.wrong(f"{place}.capability.constraint.propertyInstance")

    def _tags(self, category):
        return [tag for tag in self._world.tagging.tags.values() if tag.category.name == category]

    def _keep(self, unique_id, name, text, rules, user):
        now = _now()
        self.policies[unique_id] = pbm.profile.CapabilityBasedProfile(
            profileId=pbm.profile.ProfileId(uniqueId=unique_id),
            name=name,
            description=text,
            creationTime=now,
            createdBy=user,
            lastUpdatedTime=now,
            lastUpdatedBy=user,
            profileCategory=REQUIREMENT,
            resourceType=pbm.profile.ResourceType(resourceType=STORAGE),
            constraints=rules,
            generationId=0,
            isDefault=False,
        )
        return self.policies[unique_id]


def tag_property(category):
    """The id of the property by which a rule names tags of a category."""
    return f"com.vmware.storage.tag.{category}.property"


def values_of(prop):
    """The values of a property: one, or those of a set."""
    return list(prop.value.values) if isinstance(prop.value, pbm.capability.types.DiscreteSet) else [prop.value]


def overall(states):
    """The compliance of a VM by the states of its home and disks: the worst one [unsure: their order]."""
    order = ("nonCompliant", "outOfDate", "unknown", "compliant")
    return next((state for state in order if state in states), "notApplicable")


def associations(vm):
    """The associations of a VM by keys of disks, with None for its home; a snapshot may have brought other disks."""
    keys = {None, *(disk.key for disk in vm.disks)}
    return {key: one for key, one in vm.policies.items() if key in keys}


def store_of(world, vm, key):
    """The datastore of a VM's home (key None) or of a disk, or None."""
    if key is None:
        return next((one for one in vm.host.datastores.values() if vm.home.startswith(f"[{one.name}]")), None)
    store = next((getattr(disk.backing, "datastore", None) for disk in vm.disks if disk.key == key), None)
    return world.get(store._moId) if store is not None else None


def associate(world, vm, key, specs, place):
    """Give a VM's home (key None) or a disk the policy of a request; a request without one changes nothing.

    vCenter keeps a policy that the datastore does not fit, and reports it as not compliant [unsure].
    """
    if not specs:
        return
    policy = requested(world, specs, place)
    if key is not None and all(one.key != key for one in vm.disks):
        raise kept.wrong(place)
    if policy is None:
        vm.policies.pop(key, None)
        return
    vm.policies[key] = Association(policy.profileId.uniqueId, policy.generationId)


def requested(world, specs, place):
    """The policy of a request, or None: VMFS and NFS have no default one (PbmLegacyHubsNotSupported)."""
    if not specs:
        return None
    (spec, *more) = specs
    if more:
        raise kept.wrong(place)
    if not isinstance(spec, vim.vm.DefinedProfileSpec):
        return None
    kept.refuse_unserved(spec, ("profileId",))
    policy = world.storage_policies.get(spec.profileId, f"{place}.profileId")  # [unsure: the fault]
    rule_sets = getattr(policy.constraints, "subProfiles", None) or []
    if any(one.id.namespace == DATA_SERVICE for rule_set in rule_sets for one in rule_set.capability):
        raise vmodl.fault.NotSupported(  # [the twin's limit]
            msg=f"The operation is not supported on the object: the twin has no data services of {policy.name}."
        )
    return policy


def of_location(world, vm, location):
    """The policies of a RelocateSpec, of a move or a copy."""
    associate(world, vm, None, location.profile, "spec.location.profile")
    for locator in location.disk or []:
        associate(world, vm, locator.diskId, locator.profile, "spec.location.disk.profile")


def _default_rules(namespace, values):
    capabilities = [
        pbm.capability.CapabilityInstance(
            id=pbm.capability.CapabilityMetadata.UniqueId(namespace=namespace, id=name),
            constraint=[
                pbm.capability.ConstraintInstance(
                    propertyInstance=[pbm.capability.PropertyInstance(id=name, value=value)]
                )
            ],
        )
        for name, value in values.items()
    ]
    name = "sp-1" if namespace == DATA_SERVICE else f"{namespace} sub-profile"
    return Constraints.SubProfile(name=name, capability=capabilities)


def _now():
    return datetime.datetime.now(datetime.timezone.utc)
