"""Modules of clusters and their VMs."""

from __future__ import annotations

from vsphere_twin.model import cluster_modules
from vsphere_twin.model.cluster_modules import Module

from .api import Created, route
from .errors import RestError

BASE = "/api/vcenter/cluster/modules"
MEMBERS = f"{BASE}/vm/{{module}}/members"


@route("GET", BASE)
def modules(request):
    """All modules with their clusters."""
    found = cluster_modules.known(request.world).values()
    return {"summaries": [{"module": one.id, "cluster": one.cluster.moid} for one in found]}


@route("POST", BASE)
def create(request):
    """A module of a cluster; the answer is its identifier. An unknown cluster is an invalid argument (GOV)."""
    name = request.body.get("cluster")
    cluster = request.world.get(name) if isinstance(name, str) else None
    if cluster is None or cluster.kind != "ClusterComputeResource":
        raise RestError("INVALID_ARGUMENT", f"The cluster '{name}' does not exist.")
    made = Module(request.world.new_uuid("cluster module"), cluster)
    request.world.cluster_modules[made.id] = made
    return Created(made.id)


@route("DELETE", f"{BASE}/{{module}}")
def delete(request, module):
    """Delete a module; its VMs stay."""
    del request.world.cluster_modules[_found(request, module).id]


@route("GET", MEMBERS)
def members(request, module):
    """The VMs of a module."""
    return {"vms": [vm.moid for vm in _found(request, module).members]}


@route("POST", MEMBERS, action="add")
def add(request, module):
    """Add VMs of the cluster; success is false unless each of them is new there [unsure: that the others are added]."""
    found, names = _found(request, module), _names(request)
    fitting = [vm for vm in map(request.world.get, names) if _fits(found, vm)]
    found.members += fitting
    return {"success": len(fitting) == len(names)}


@route("POST", MEMBERS, action="remove")
def remove(request, module):
    """Remove VMs; success is false unless each of them was a member."""
    found, names = _found(request, module), _names(request)
    left = [vm for vm in found.members if vm.moid not in names]
    removed = len(found.members) - len(left)
    found.members = left
    return {"success": removed == len(names)}


def _found(request, module):
    found = cluster_modules.known(request.world).get(module)
    if found is None:
        raise RestError("NOT_FOUND", f"The module '{module}' does not exist.")
    return found


def _names(request):
    names = request.body.get("vms")
    if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
        raise RestError("INVALID_ARGUMENT", "The field vms is no set of identifiers.")
    return list(dict.fromkeys(names))


def _fits(module, vm):
    return (
        vm is not None
        and vm.kind == "VirtualMachine"
        and vm.host.compute is module.cluster
        and vm not in module.members
    )
