"""Datacenters, clusters, hosts, datastores and resource pools by their identifiers (com.vmware.vcenter)."""

from __future__ import annotations

from pyVmomi import vim, vmodl

from ..model import inventory, joining, lifecycle, pools
from ..vcenter.methods import inventory as removal
from .api import Created, route
from .errors import RestError
from .fields import Struct, checked
from .refusals import Caller, find, refused

LEVELS = ("LOW", "NORMAL", "HIGH", "CUSTOM")
_SHARES = Struct("SharesInfo", ["level"], level=LEVELS, shares=int)
_ALLOCATION = Struct(
    "ResourcePool.ResourceAllocationCreateSpec",
    reservation=int,
    expandable_reservation=bool,
    limit=int,
    shares=_SHARES,
)
POOL = Struct("ResourcePool.CreateSpec", ["name", "parent"], name=str, parent=str, cpu_allocation=_ALLOCATION,
              memory_allocation=_ALLOCATION)  # fmt: skip
POOL_UPDATE = Struct("ResourcePool.UpdateSpec", name=str, cpu_allocation=_ALLOCATION, memory_allocation=_ALLOCATION)
DATACENTER = Struct("Datacenter.CreateSpec", ["name"], name=str, folder=str)
HOST = Struct(
    "Host.CreateSpec",
    ["hostname", "user_name", "password", "thumbprint_verification"],
    hostname=str,
    port=int,
    user_name=str,
    password=str,
    folder=str,
    thumbprint_verification=("NONE", "THUMBPRINT", "CERTIFICATE"),
    thumbprint=str,
    ssl_certificate=str,
    force_add=bool,
)


@route("GET", "/api/vcenter/datacenter/{datacenter}")
def datacenter(request, datacenter):
    """One datacenter with its folders."""
    found = find(request, datacenter, "Datacenter")
    folders = ("datastore_folder", "host_folder", "network_folder", "vm_folder")
    return {"name": found.name, **{name: getattr(found, name).moid for name in folders}}


@route("POST", "/api/vcenter/datacenter")
def create_datacenter(request):
    """A new datacenter."""
    spec, world = checked(request.body, DATACENTER), request.world
    if "folder" not in spec:
        raise RestError("INVALID_ARGUMENT", "The field folder is missing.")
    folder = find(request, spec["folder"], "Folder")
    Caller(request).require_privilege("Datacenter.Create", folder)
    with refused():
        inventory.refuse_new_name(folder, spec["name"])
        made = world.add(inventory.Datacenter(world, inventory.encoded(spec["name"]), None))
        try:
            return Created(inventory.put(world, folder, made).moid)
        except vmodl.MethodFault:
            for one in (*made.descendants(), made):
                world.remove(one)
            raise


@route("DELETE", "/api/vcenter/datacenter/{datacenter}")
def delete_datacenter(request, datacenter):
    """Delete a datacenter; one with content is in use."""
    found = find(request, datacenter, "Datacenter")
    Caller(request).require_privilege("Datacenter.Delete", found)
    if request.query.get("force", "false") not in ("true", "false"):
        raise RestError("INVALID_ARGUMENT", "The parameter force is true or false.")
    with refused():
        removal.destroyed(request.world, found)


@route("GET", "/api/vcenter/cluster/{cluster}")
def cluster(request, cluster):
    """One cluster with its root resource pool."""
    found = find(request, cluster, "ClusterComputeResource")
    return {"name": found.name, "resource_pool": found.pool.moid}


@route("GET", "/api/vcenter/datastore/{datastore}")
def datastore(request, datastore):
    """One datastore."""
    store = find(request, datastore, "Datastore")
    return {
        "name": store.name,
        "type": store.filesystem.upper(),
        "accessible": store.accessible,
        "free_space": store.free,
        "multiple_host_access": len(store.hosts) > 1,
        "thin_provisioning_supported": True,
    }


@route("POST", "/api/vcenter/host/{host}", action="connect")
def connect_host(request, host):
    """Connect a host again."""
    _set_connection(request, host, "connected")


@route("POST", "/api/vcenter/host/{host}", action="disconnect")
def disconnect_host(request, host):
    """Disconnect a host; its virtual machines run on."""
    _set_connection(request, host, "disconnected")


@route("POST", "/api/vcenter/host")
def create_host(request):
    """Add a host on its own."""
    spec = checked(request.body, HOST)
    if spec["thumbprint_verification"] == "THUMBPRINT" and "thumbprint" not in spec:
        raise RestError("INVALID_ARGUMENT", "The thumbprint verification THUMBPRINT needs the field thumbprint.")
    if "folder" not in spec:
        raise RestError("INVALID_ARGUMENT", "The field folder is missing.")
    folder = find(request, spec["folder"], "Folder")
    Caller(request).require_privilege("Host.Inventory.AddStandaloneHost", folder)
    wanted = vim.host.ConnectSpec(hostName=spec["hostname"], userName=spec["user_name"], password=spec["password"])
    with refused():
        compute = joining.add_standalone(request.world, folder, wanted, True)
    return Created(next(iter(compute.hosts)))


@route("DELETE", "/api/vcenter/host/{host}")
def delete_host(request, host):
    """Remove a host; one of a cluster has to be in maintenance mode."""
    found = find(request, host, "HostSystem")
    Caller(request).require_privilege("Host.Inventory.RemoveHostFromCluster", found)
    if not found.maintenance and found.connection == "connected":
        raise RestError("RESOURCE_IN_USE", f"The host {found.name} is not in maintenance mode.")
    with refused():
        joining.remove(request.world, found)


@route("GET", "/api/vcenter/resource-pool/{resource_pool}")
def pool(request, resource_pool):
    """One resource pool with its children and allocations."""
    found = find(request, resource_pool, "ResourcePool")
    shown = {"name": found.name, "resource_pools": list(found.pools)}
    for name in pools.ALLOCATIONS:
        one = found.allocations.get(name) or pools.allocation(name)
        shown[name.replace("Allocation", "_allocation")] = {
            "reservation": one.reservation,
            "expandable_reservation": bool(one.expandableReservation),
            "limit": one.limit,
            "shares": _shares(one.shares),
        }
    return shown


@route("POST", "/api/vcenter/resource-pool")
def create_pool(request):
    """A new resource pool."""
    spec = checked(request.body, POOL)
    above = find(request, spec["parent"], "ResourcePool")
    Caller(request).require_privilege("Resource.CreatePool", above)
    with refused():
        return Created(pools.create(request.world, above, spec["name"], _allocations(spec)).moid)


@route("PATCH", "/api/vcenter/resource-pool/{resource_pool}")
def update_pool(request, resource_pool):
    """Change name and allocations of a resource pool."""
    found, spec = find(request, resource_pool, "ResourcePool"), checked(request.body, POOL_UPDATE)
    Caller(request).require_privilege("Resource.EditPool", found)
    _require_child(found)
    with refused():
        pools.update(request.world, found, spec.get("name"), _allocations(spec))


@route("DELETE", "/api/vcenter/resource-pool/{resource_pool}")
def delete_pool(request, resource_pool):
    """Remove a resource pool; its content moves to the pool above."""
    found = find(request, resource_pool, "ResourcePool")
    Caller(request).require_privilege("Resource.DeletePool", found)
    _require_child(found)
    with refused():
        removal.destroyed(request.world, found)


def _require_child(found):
    if found.parent.kind != "ResourcePool":
        raise RestError("INVALID_ARGUMENT", f"The resource pool {found.name} is the root of its compute resource.")


def _shares(shares):
    level = str(shares.level).upper()
    return {"level": level, "shares": shares.shares} if level == "CUSTOM" else {"level": level}


def _allocations(spec):
    found = vim.ResourceConfigSpec(
        cpuAllocation=vim.ResourceAllocationInfo(), memoryAllocation=vim.ResourceAllocationInfo()
    )
    for name in pools.ALLOCATIONS:
        given, one = spec.get(name.replace("Allocation", "_allocation"), {}), getattr(found, name)
        one.reservation, one.limit = given.get("reservation"), given.get("limit")
        one.expandableReservation = given.get("expandable_reservation")
        if "shares" in given:
            level, number = given["shares"]["level"], given["shares"].get("shares")
            if (level == "CUSTOM") != (number is not None):
                raise RestError("INVALID_ARGUMENT", "The field shares is for the level CUSTOM, and needed there.")
            one.shares = vim.SharesInfo(level=level.lower(), shares=number or 0)
    return found


def _set_connection(request, moid, state):
    found = find(request, moid, "HostSystem")
    Caller(request).require_privilege("Host.Config.Connection", found)
    if found.connection == state:
        raise RestError("ALREADY_IN_DESIRED_STATE", f"The host {found.name} is already {state}.")
    with refused():
        lifecycle.set_connection(request.world, found, state)
