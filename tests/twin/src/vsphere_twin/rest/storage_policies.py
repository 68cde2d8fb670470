"""Storage policies: lists, compatible datastores, policies and compliance of VMs (SPEC, com.vmware.vcenter.storage)."""

from __future__ import annotations

import datetime

from pyVmomi import vim, vmodl

from ..model import reconfigure, storage_policies
from .api import route
from .errors import RestError
from .fields import Map, checked
from .stamps import stamp

BASE = "/api/vcenter/storage/policies"
OF_VM = "/api/vcenter/vm/{vm}/storage/policy"
STATES = {
    "compliant": "COMPLIANT",
    "nonCompliant": "NON_COMPLIANT",
    "unknown": "UNKNOWN_COMPLIANCE",
    "notApplicable": "NOT_APPLICABLE",
    "outOfDate": "OUT_OF_DATE",
}
SPECIFIED, DEFAULT = "USE_SPECIFIED_POLICY", "USE_DEFAULT_POLICY"


@route("GET", BASE)
def policies(request):
    """All policies, or those of the filter."""
    _require(request, "StorageProfile.View")
    unknown = sorted(set(request.query) - {"policies"})
    if unknown:
        raise RestError("INVALID_ARGUMENT", f"The list of policies has no filter {unknown[0]}.")
    wanted = request.query.lists.get("policies")
    held = request.world.storage_policies.policies.items()
    return [
        {"policy": key, "name": one.name, "description": one.description or ""}
        for key, one in held
        if wanted is None or key in wanted
    ]


@route("POST", f"{BASE}/{{policy}}", action="check-compatibility")
def check_compatibility(request, policy):
    """The datastores of the request that fit a policy."""
    _require(request, "StorageProfile.View")
    found, given = _policy(request, policy), request.body.get("datastores")
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise RestError("INVALID_ARGUMENT", "The field datastores is missing, or has the wrong type.")
    stores = [request.world.get(one) for one in given]
    if any(store is None or store.kind != "Datastore" for store in stores):
        raise RestError("NOT_FOUND", "A datastore of the request does not exist.")
    failing = request.world.storage_policies.failing
    fit = [store.moid for store in stores if not failing(found.constraints, store)]
    return {"compatible_datastores": [{"datastore": one} for one in fit]}


@route("GET", f"{BASE}/compliance/vm")
def compliance_of_vms(request):
    """The VMs with a home or a disk in one of the states of the filter."""
    _require(request, "StorageProfile.View")
    unknown, states = sorted(set(request.query) - {"status", "vms"}), request.query.lists.get("status", [])
    if unknown or not states or not set(states) <= set(STATES.values()):
        raise RestError("INVALID_ARGUMENT", "The filter of the list needs a status of the enumeration.")
    wanted, shown = request.query.lists.get("vms"), {}
    for vm in request.world.of_kind("VirtualMachine"):
        if wanted is not None and vm.moid not in wanted:
            continue
        found = {key: STATES[state] for key, state in _states(request.world, vm).items() if STATES[state] in states}
        if found:
            shown[vm.moid] = _of_parts(found)
    return shown


@route("GET", f"{BASE}/{{policy}}/vm")
def vms_of(request, policy):
    """The VMs whose home or disks have a policy."""
    _require(request, "StorageProfile.View")
    _policy(request, policy)
    shown: dict = {}
    for vm, key in request.world.storage_policies.users(policy):
        one = shown.setdefault(vm.moid, {"vm_home": False, "disks": []})
        if key is None:
            one["vm_home"] = True
        else:
            one["disks"].append(str(key))
    return shown


@route("GET", OF_VM)
def policy_of(request, vm):
    """The policies of a VM."""
    _require(request, "StorageProfile.View")
    found = storage_policies.associations(_vm(request, vm))
    return _of_parts({key: one.policy for key, one in found.items()})


@route("PATCH", OF_VM)
def update_policy_of(request, vm):
    """Other policies of a VM: all that the request names, or none."""
    found = _vm(request, vm)
    _require(request, "VirtualMachine.Config.Settings", found)
    disks, keys = request.body.get("disks"), {str(disk.key): disk.key for disk in found.disks}
    disks = {} if disks is None else checked(disks, Map(dict))
    if not set(disks) <= set(keys):
        raise RestError("NOT_FOUND", "A disk of the request does not exist.")
    wanted = {keys[key]: _spec(request, one) for key, one in disks.items()}
    if request.body.get("vm_home") is not None:
        wanted[None] = _spec(request, request.body["vm_home"])
    try:
        with reconfigure.all_or_nothing(request.world, found):
            for key, spec in wanted.items():
                storage_policies.associate(request.world, found, key, [spec], "policy")
    except vmodl.MethodFault as problem:
        raise RestError("INVALID_ARGUMENT", problem.msg) from problem


@route("POST", f"{OF_VM}/compliance", action="check")
@route("GET", f"{OF_VM}/compliance")
def compliance_of(request, vm):
    """The compliance of a VM's home and disks with their policies; a check computes it, and so does each reading."""
    _require(request, "StorageProfile.View")
    found = _vm(request, vm)
    held = storage_policies.associations(found)
    if not held:
        return None  # "missing or null" (SPEC) without any policy
    states = _states(request.world, found)
    now = stamp(datetime.datetime.now(datetime.timezone.utc))
    shown = {
        key: {"status": STATES[state], "check_time": now, "policy": held[key].policy, "failure_cause": []}
        for key, state in states.items()
    }
    return {"overall_compliance": STATES[storage_policies.overall(states.values())], **_of_parts(shown)}


def _states(world, vm):
    """The state of a VM's home and disks with a policy, by their keys."""
    return {key: world.storage_policies.status(vm, key)[0] for key in storage_policies.associations(vm)}


def _of_parts(values):
    """Values by keys of disks, with None for the home, in the form of the API."""
    shown = {"disks": {str(key): value for key, value in values.items() if key is not None}}
    return {"vm_home": values[None], **shown} if None in values else shown


def _spec(request, given):
    kind = given.get("type") if isinstance(given, dict) else None
    if kind == DEFAULT:
        return vim.vm.DefaultProfileSpec()
    if kind != SPECIFIED:
        raise RestError("INVALID_ARGUMENT", f"The type of a policy is {SPECIFIED} or {DEFAULT}.")
    return vim.vm.DefinedProfileSpec(profileId=_policy(request, given.get("policy")).profileId.uniqueId)


def _policy(request, name):
    found = request.world.storage_policies.policies.get(str(name))
    if found is None:
        raise RestError("NOT_FOUND", f"The storage policy {name} does not exist.")
    return found


def _vm(request, moid):
    found = request.world.get(moid)
    if found is None or found.kind != "VirtualMachine" or found.unfinished:
        raise RestError("NOT_FOUND", f"The virtual machine {moid} does not exist.")
    return found


def _require(request, privilege, entity=None):
    if not request.world.permissions.may(request.user, privilege, entity or request.world.root_folder):
        raise RestError("UNAUTHORIZED", f"Permission to perform this operation was denied: {privilege}.")
