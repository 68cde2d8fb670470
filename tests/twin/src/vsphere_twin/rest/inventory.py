"""Lists of inventory objects by filters (vSphere Automation API, com.vmware.vcenter)."""

from __future__ import annotations

from vsphere_twin.model.inventory import datacenter_of

from .api import route
from .errors import RestError

POWER = {"poweredOn": "POWERED_ON", "poweredOff": "POWERED_OFF", "suspended": "SUSPENDED"}
CONNECTION = {"connected": "CONNECTED", "disconnected": "DISCONNECTED", "notResponding": "NOT_RESPONDING"}
FOLDERS = (
    ("Datacenter", "DATACENTER"),
    ("VirtualMachine", "VIRTUAL_MACHINE"),
    ("ComputeResource", "HOST"),
    ("Datastore", "DATASTORE"),
    ("Network", "NETWORK"),
)
# Filters whose values are those of an enumeration of the API, or of a boolean.
ENUMERATED = {
    "connection_states": tuple(CONNECTION.values()),
    "power_states": tuple(POWER.values()),
    "standalone": ("true", "false"),
    "type": tuple(name for _kind, name in FOLDERS),
    "types": (
        *("VMFS", "NFS", "NFS41", "CIFS", "VSAN", "VFFS", "VVOL", "PMEM"),
        *("STANDARD_PORTGROUP", "DISTRIBUTED_PORTGROUP", "OPAQUE_NETWORK"),
    ),
}


def _moid(entity):
    return entity.moid if entity is not None else None


def _parent(entity):
    return _moid(entity.parent)


def _center(entity):
    return _moid(datacenter_of(entity))


def _folder_type(folder):
    return next((name for kind, name in FOLDERS if kind in folder.child_types), "DATACENTER")


def network_type(network):
    """The type of a network as the API writes it."""
    return "STANDARD_PORTGROUP" if network.kind == "Network" else "DISTRIBUTED_PORTGROUP"


def _compute(host):
    return host.compute if host is not None else None


# By the last part of the path: kinds of objects, the fields of a summary, and the filters beside ids and names.
LISTS = {
    "datacenter": (("Datacenter",), {}, {"folders": _parent}),
    "folder": (
        ("Folder",),
        {"type": _folder_type},
        {"type": _folder_type, "parent_folders": _parent, "datacenters": _center},
    ),
    "host": (
        ("HostSystem",),
        {
            "connection_state": lambda host: CONNECTION.get(host.connection, "NOT_RESPONDING"),
            "power_state": lambda host: "POWERED_ON" if host.connection == "connected" else None,
        },
        {
            "folders": lambda host: _moid(host.compute.parent),
            "datacenters": lambda host: _center(host.compute),
            "clusters": lambda host: _moid(host.compute),
            "standalone": lambda host: host.compute.kind != "ClusterComputeResource",
            "connection_states": lambda host: CONNECTION.get(host.connection, "NOT_RESPONDING"),
        },
    ),
    "cluster": (
        ("ClusterComputeResource",),
        {"drs_enabled": lambda one: one.drs != "off", "ha_enabled": lambda one: bool(one.ha)},
        {"folders": _parent, "datacenters": _center},
    ),
    "datastore": (
        ("Datastore",),
        {
            "type": lambda store: store.filesystem.upper(),
            "free_space": lambda store: store.free,
            "capacity": lambda store: store.capacity,
        },
        {"types": lambda store: store.filesystem.upper(), "folders": _parent, "datacenters": _center},
    ),
    "network": (
        ("Network", "DistributedVirtualPortgroup"),
        {"type": network_type},
        {"types": network_type, "folders": _parent, "datacenters": _center},
    ),
    "resource-pool": (
        ("ResourcePool",),
        {},
        {
            "parent_resource_pools": _parent,
            "hosts": lambda pool: list(pool.owner.hosts),
            "clusters": lambda pool: _moid(pool.owner),
            "datacenters": lambda pool: _center(pool.owner),
        },
    ),
    "vm": (
        ("VirtualMachine",),
        {
            "power_state": lambda vm: POWER[vm.power],
            "cpu_count": lambda vm: vm.cpus,
            "memory_size_MiB": lambda vm: vm.memory_mb,
        },
        {
            "folders": _parent,
            "datacenters": _center,
            "hosts": lambda vm: _moid(vm.host),
            "clusters": lambda vm: _moid(_compute(vm.host)),
            "resource_pools": lambda vm: _moid(vm.pool),
            "power_states": lambda vm: POWER[vm.power],
        },
    ),
}


def _register(path, kinds, fields, filters):
    own = path.replace("-", "_")
    known = {f"{own}s": _moid, "names": lambda entity: entity.name, **filters}

    @route("GET", f"/api/vcenter/{path}")
    def listed(request):
        unknown = sorted(set(request.query) - set(known))
        if unknown:
            raise RestError("INVALID_ARGUMENT", f"The list of {path} has no filter {unknown[0]}.")
        for name, values in request.query.lists.items():
            wrong = sorted(set(values) - set(ENUMERATED.get(name, values)))
            if wrong:
                raise RestError("INVALID_ARGUMENT", f"The filter {name} has no value {wrong[0]}.")
        found = []
        for entity in (one for kind in kinds for one in request.world.of_kind(kind)):
            # A template is no VM here; content libraries have their own API for them.
            if getattr(entity, "template", False) or getattr(entity, "unfinished", False):
                continue
            if all(_fits(known[name](entity), values) for name, values in request.query.lists.items()):
                summary = {own: entity.moid, "name": entity.name}
                summary.update((name, read(entity)) for name, read in fields.items())
                found.append({name: value for name, value in summary.items() if value is not None})
        return found


def _fits(value, values):
    if isinstance(value, bool):
        value = str(value).lower()
    return any(one in values for one in (value if isinstance(value, list) else [value]))


for _path, _how in LISTS.items():
    _register(_path, *_how)
