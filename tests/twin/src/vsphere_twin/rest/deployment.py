"""VMs from items of content libraries: templates and OVFs."""

from __future__ import annotations

from pyVmomi import vim, vmodl

from vsphere_twin.model import cloning, content, inventory

from . import guest_os
from .api import Created, route
from .errors import RestError
from .inventory import network_type
from .libraries import find_item, new_item_in

TEMPLATES = "/api/vcenter/vm-template/library-items"
TEMPLATE = f"{TEMPLATES}/{{item}}"
OVFS = "/api/vcenter/ovf/library-item"
OVF = f"{OVFS}/{{item}}"
# Faults of the inventory over REST [unsure: partly; the API names the kinds, not which fault is which].
KINDS = (
    (vim.fault.DuplicateName, "ALREADY_EXISTS"),
    (vim.fault.NoDiskSpace, "UNABLE_TO_ALLOCATE_RESOURCE"),
    (vim.fault.InsufficientResourcesFault, "UNABLE_TO_ALLOCATE_RESOURCE"),
    (vim.fault.InvalidDatastore, "INVALID_ARGUMENT"),
    (vim.fault.InvalidName, "INVALID_ARGUMENT"),
    (vmodl.fault.InvalidArgument, "INVALID_ARGUMENT"),
    (vmodl.fault.HostNotConnected, "RESOURCE_INACCESSIBLE"),
    (vim.fault.InvalidState, "NOT_ALLOWED_IN_CURRENT_STATE"),
)


@route("GET", TEMPLATE)
def template_of(request, item):
    """The template behind an item."""
    vm = template_in(request, item, "vm-template")
    home = next(iter(vm.datastores))
    return {
        "vm_template": vm.moid,
        "guest_OS": guest_os.rest_name(vm.guest_id),
        "cpu": {"count": vm.cpus, "cores_per_socket": vm.cores_per_socket},
        "memory": {"size_MiB": vm.memory_mb},
        "vm_home_storage": {"datastore": home},
        "disks": {
            str(disk.key): {
                "capacity": disk.capacityInBytes,
                "disk_storage": {"datastore": disk.backing.datastore._moId},
            }
            for disk in vm.disks
        },
        "nics": {
            str(nic.key): {
                "backing_type": network_type(request.world.get(moid)),
                "network": moid,
                "mac_type": "ASSIGNED",
            }
            for nic, moid in _adapters(vm)
        },
    }


def location_of(request, placement, source, beside=False):
    """(folder, RelocateSpec) of a placement. beside: one without a place is on the host of the source."""
    places = [placement.get(name) for name in ("resource_pool", "host", "cluster")]
    if beside and not any(places):
        places[1] = source.host.moid
    pool, host = place_of(request, *places)
    folder = (
        entity_of(request, placement.get("folder"), "Folder", "folder") or inventory.datacenter_of(source).vm_folder
    )
    location = vim.vm.RelocateSpec(pool=vim.ResourcePool(pool.moid))
    location.host = vim.HostSystem(host.moid) if host is not None else None
    return folder, location


@route("POST", TEMPLATE, action="deploy")
def deploy_template(request, item):
    """A VM from a template; the answer is its identifier."""
    source, body = template_in(request, item, "vm-template"), request.body
    folder, location = location_of(request, body.get("placement") or {}, source)
    store = _storage(request, body)
    location.datastore = vim.Datastore(store.moid) if store is not None else None
    spec = vim.vm.CloneSpec(location=location, template=False, powerOn=bool(body.get("powered_on")))
    spec.config = _hardware(body)
    wanted = (body.get("guest_customization") or {}).get("name")
    if wanted:
        spec.customization = tried(request.world.get("CustomizationSpecManager").specs.get, wanted).spec
    return tried(cloning.clone, request.world, source, folder, _name(body), spec).moid


@route("POST", TEMPLATES)
def create_template(request):
    """An item with a template that is a copy of a VM; the answer is the identifier of the item."""
    body = request.body
    source = entity_of(request, body.get("source_vm"), "VirtualMachine", "source_vm")
    if source is None:
        raise RestError("INVALID_ARGUMENT", "The field source_vm is missing.")
    library = new_item_in(request, body.get("library", ""), body.get("name"))
    folder, location = location_of(request, body.get("placement") or {}, source, beside=True)
    location.datastore = vim.Datastore(_storage(request, body, library.store).moid)
    spec = vim.vm.CloneSpec(location=location, template=True, powerOn=False)
    made = tried(cloning.clone, request.world, source, folder, body["name"], spec)
    item = content.put(request.world, library, body["name"], "vm-template", made, body.get("description") or "")
    return Created(item.id)


@route("POST", OVFS)
def create_ovf(request):
    """An item with an OVF of a VM."""
    body = request.body
    spec, source, target = (body.get(name) or {} for name in ("create_spec", "source", "target"))
    if source.get("type") != "VirtualMachine" or target.get("library_item_id"):
        raise RestError("INVALID_ARGUMENT", "The twin makes new items of VMs.")
    vm = entity_of(request, source.get("id"), "VirtualMachine", "source")
    if vm is None:
        raise RestError("INVALID_ARGUMENT", "The field source is missing.")
    library = new_item_in(request, target.get("library_id", ""), spec.get("name"))
    if vm.power != "poweredOff":
        return _failed("NOT_ALLOWED_IN_CURRENT_STATE", "The virtual machine must be powered off.")
    item = content.put(request.world, library, spec["name"], "ovf", vm, spec.get("description") or "")
    return {"succeeded": True, "ovf_library_item_id": item.id}


@route("POST", OVF, action="filter")
def summary_of(request, item):
    """Return the content of an OVF, for a target."""
    found = _item(request, item, "ovf")
    _target(request)
    return {
        "name": found.name,
        "annotation": found.description,
        "networks": content.network_names(found),
        "storage_groups": [],
        "EULAs": [one for one in [content.licence(found)] if one],
        "additional_params": [],
    }


@route("POST", OVF, action="deploy")
def deploy_ovf(request, item):
    """Deploy a VM from an OVF; later failures are part of the answer."""
    found = _item(request, item, "ovf")
    spec = request.body.get("deployment_spec") or {}
    pool, host, folder = _target(request)
    if content.licence(found) and not spec.get("accept_all_EULA"):
        return _failed("INVALID_ARGUMENT", "The End User License Agreements must be accepted.")  # [unsure: the kind]
    store = entity_of(request, spec.get("default_datastore_id"), "Datastore", "default_datastore_id")
    try:
        made = content.deploy_ovf(
            request.world,
            found,
            folder,
            pool,
            host,
            spec.get("name") or found.name,
            store=store,
            provisioning=spec.get("storage_provisioning"),
            networks=_mapping(spec.get("network_mappings")),
            annotation=spec.get("annotation"),
        )
    except vmodl.MethodFault as fault:
        return _failed(_kind(fault), fault.msg)
    return {"succeeded": True, "resource_id": {"type": "VirtualMachine", "id": made.moid}}


def _storage(request, body, store=None):
    """The datastore of the home of a VM, else of its disks, else a given one."""
    for storage in (body.get("disk_storage"), body.get("vm_home_storage")):
        store = entity_of(request, (storage or {}).get("datastore"), "Datastore", "datastore") or store
    return store


def _mapping(value):
    """A map; the API of before has lists of keys and values."""
    return {one.get("key"): one.get("value") for one in value} if isinstance(value, list) else value


def _failed(kind, text):
    """An error of the category SERVER has the field error, and no message of its own."""
    error = {"category": "SERVER", "error": RestError(kind, text).body}
    return {"succeeded": False, "error": {"errors": [error], "warnings": [], "information": []}}


def _hardware(body):
    change = body.get("hardware_customization") or {}
    cpu, memory = change.get("cpu_update") or {}, change.get("memory_update") or {}
    return vim.vm.ConfigSpec(
        annotation=body.get("description"),
        numCPUs=cpu.get("num_cpus"),
        numCoresPerSocket=cpu.get("num_cores_per_socket"),
        memoryMB=memory.get("memory"),
    )


def _target(request):
    target = request.body.get("target") or {}
    if not target.get("resource_pool_id"):
        raise RestError("INVALID_ARGUMENT", "The field resource_pool_id of target is missing.")
    pool, host = place_of(request, target["resource_pool_id"], target.get("host_id"), None)
    center = inventory.datacenter_of(pool.owner)
    return pool, host, entity_of(request, target.get("folder_id"), "Folder", "folder_id") or center.vm_folder


def place_of(request, pool, host, cluster):
    """Return the pool and the host of a placement; each can imply the other."""
    pool = entity_of(request, pool, "ResourcePool", "resource_pool")
    host = entity_of(request, host, "HostSystem", "host")
    owner = entity_of(request, cluster, "ClusterComputeResource", "cluster") or (host.compute if host else None)
    if pool is None and owner is None:
        raise RestError("INVALID_ARGUMENT", "The placement names neither a resource pool nor a host nor a cluster.")
    return pool or owner.pool, host


def entity_of(request, moid, kind, place):
    """The object of an identifier, or None without one; NOT_FOUND for an unknown one."""
    if not moid:
        return None
    found = request.world.get(moid)
    if found is None or found.kind != kind:
        raise RestError("NOT_FOUND", f"The {place} '{moid}' was not found.")
    return found


def _item(request, name, kind):
    _library, found = find_item(request, name)
    if kind == found.kind == "ovf" and found.source is None and not found.content:
        raise RestError("NOT_ALLOWED_IN_CURRENT_STATE", f"The item {found.name} has no files.")
    if found.kind != kind:
        raise RestError("INVALID_ARGUMENT", f"The item {found.name} is of type {found.kind}, not {kind}.")
    return found


def template_in(request, name, kind):
    """The template in an item."""
    found = _item(request, name, kind)
    if request.world.get(found.source.moid) is not found.source:
        raise RestError("NOT_FOUND", f"The virtual machine template of the item {found.name} was not found.")
    return found.source


def _adapters(vm):
    for nic in vm.nics:
        port = getattr(nic.backing, "port", None)
        yield nic, port.portgroupKey if port is not None else nic.backing.network._moId


def _name(body):
    if not body.get("name"):
        raise RestError("INVALID_ARGUMENT", "The field name is missing.")
    return body["name"]


def tried(work, *arguments):
    """The result of work in the inventory; its faults are errors of REST."""
    try:
        return work(*arguments)
    except vim.fault.NotFound as fault:
        raise RestError("NOT_FOUND", fault.msg) from fault
    except vmodl.MethodFault as fault:
        raise RestError(_kind(fault), fault.msg) from fault


def _kind(fault):
    return next((name for cls, name in KINDS if isinstance(fault, cls)), "ERROR")
