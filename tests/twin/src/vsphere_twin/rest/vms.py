"""Virtual machines over REST: create, clone, register, move, delete, and power (com.vmware.vcenter.VM, vm.Power)."""

from __future__ import annotations

from pyVmomi import vim, vmodl

from ..model import cloning, guest, power, provision, reconfigure, relocation
from ..model.inventory import reference
from ..vcenter import vm_privileges
from . import guest_os, vm_specs
from .api import Begun, Created, route
from .errors import RestError
from .fields import Map, Struct, checked
from .refusals import Caller, Refusal, already, find, maybe, refused
from .vm_shapes import DEVICE, DEVICES, info

VMS, VM = "/api/vcenter/vm", "/api/vcenter/vm/{vm}"
_PLACES = {
    "folder": "Folder",
    "resource_pool": "ResourcePool",
    "host": "HostSystem",
    "cluster": "ClusterComputeResource",
    "datastore": "Datastore",
}


def _placement(name, *fields):
    return Struct(name, **dict.fromkeys(fields or _PLACES, str))


_PORT = Struct("vm.hardware.Port.CreateSpec", backing=dict, start_connected=bool, allow_guest_control=bool)
CREATE = Struct(
    "VM.CreateSpec",
    ["guest_OS"],
    guest_OS=guest_os.NAMES,
    name=str,
    placement=_placement("VM.PlacementSpec"),
    hardware_version=vm_specs.VERSIONS,
    boot=vm_specs.BOOT,
    boot_devices=[vm_specs.NEW_BOOT_ENTRY],
    cpu=vm_specs.CPU,
    memory=vm_specs.MEMORY,
    disks=[vm_specs.DISK],
    nics=[vm_specs.NIC],
    cdroms=[vm_specs.CDROM],
    floppies=[_PORT],
    parallel_ports=[_PORT],
    serial_ports=[_PORT],
    sata_adapters=[vm_specs.ADAPTERS["adapter/sata"]],
    scsi_adapters=[vm_specs.ADAPTERS["adapter/scsi"]],
    nvme_adapters=[vm_specs.ADAPTERS["adapter/nvme"]],
    storage_policy=Struct("VM.StoragePolicySpec", ["policy"], policy=str),
)
CLONE = Struct(
    "VM.CloneSpec",
    ["source", "name"],
    source=str,
    name=str,
    placement=_placement("VM.ClonePlacementSpec"),
    disks_to_remove=[str],
    disks_to_update=Map(Struct("VM.DiskCloneSpec", datastore=str)),
    power_on=bool,
    guest_customization_spec=Struct("VM.GuestCustomizationSpec", name=str),
)
RELOCATE = Struct(
    "VM.RelocateSpec",
    placement=_placement("VM.RelocatePlacementSpec"),
    disks=Map(Struct("VM.DiskRelocateSpec", datastore=str)),
)
REGISTER = Struct(
    "VM.RegisterSpec",
    datastore=str,
    path=str,
    datastore_path=str,
    name=str,
    placement=_placement("VM.RegisterPlacementSpec", "folder", "resource_pool", "host", "cluster"),
)
SERVICE = "com.vmware.vcenter.VM"
INVENTORY, INTERACT = "VirtualMachine.Inventory", "VirtualMachine.Interact"


@route("GET", VM)
def vm_of(request, vm):
    """One virtual machine."""
    return info(find(request, vm, "VirtualMachine"))


@route("POST", VMS, action="clone", vmw_task="true")
def clone_task(request):
    """A copy of a virtual machine, as a task."""
    return _as_task(request, "clone$task", "", lambda: _cloned(request).moid)


@route("POST", VMS, action="clone")
def clone(request):
    """A copy of a virtual machine."""
    return Created(_cloned(request).moid)


@route("POST", VMS, action="register")
def register(request):
    """A virtual machine from its files on a datastore."""
    spec = checked(request.body, REGISTER)
    path = spec.get("datastore_path")
    if ("datastore" in spec) != ("path" in spec) or (path is None) != ("path" in spec):
        raise vm_specs.wrong("Specify either datastore_path, or both datastore and path.")
    if path is None:
        path = f"[{find(request, spec['datastore'], 'Datastore').name}] {spec['path'].lstrip('/')}"
    folder, pool, host = _place(request, spec.get("placement", {}))
    Caller(request).require_privilege(f"{INVENTORY}.Register", folder)
    with refused():
        return Created(provision.register(request.world, folder, path, spec.get("name"), False, pool, host).moid)


@route("POST", VMS, action="instant-clone")
def instant_clone(request):
    """Instant clones need a running guest that is frozen, which no VM of the twin is."""
    raise RestError("UNSUPPORTED", "The virtual machine is not frozen for an instant clone.")


@route("POST", VMS)
def create(request):
    """A new virtual machine."""
    spec = checked(request.body, CREATE)
    given = spec.get("placement", {})
    folder, pool, host = _place(request, given)
    if "datastore" not in given:
        raise vm_specs.wrong("The field datastore of the placement is missing.")
    store, caller, world = find(request, given["datastore"], "Datastore"), Caller(request), request.world
    if any(spec.get(name) for name in ("floppies", "parallel_ports", "serial_ports")):
        raise RestError("UNSUPPORTED", "The host has no floppy, parallel or serial port for a virtual machine.")
    config = vim.vm.ConfigSpec(
        name=spec.get("name") or _free_name(folder),
        guestId=guest_os.IDS[spec["guest_OS"]],
        files=vim.vm.FileInfo(vmPathName=f"[{store.name}]"),
        version=spec["hardware_version"].lower().replace("_", "-") if "hardware_version" in spec else None,
    )
    vm_specs.sized(config, spec.get("cpu"), spec.get("memory"))
    vm_specs.booted(config, spec.get("boot", {}))
    if "storage_policy" in spec:
        _require_policy(request, spec["storage_policy"]["policy"])
        config.vmProfile = [vim.vm.DefinedProfileSpec(profileId=spec["storage_policy"]["policy"])]
    caller.require_privilege(f"{INVENTORY}.Create", folder)
    vm_privileges.create(caller, folder, config, pool)
    with refused():
        vm = provision.create(world, folder, config, pool, host)
    try:
        changes = _devices(request, vm, spec)
        vm_privileges.create(caller, folder, vim.vm.ConfigSpec(deviceChange=changes), pool)
        with refused():
            reconfigure.apply(world, vm, vim.vm.ConfigSpec(deviceChange=changes))
            _order(world, vm, spec.get("boot_devices"))
    except RestError:
        provision.forget(world, vm)
        raise
    return Created(vm.moid)


@route("DELETE", VM)
def delete(request, vm):
    """Delete a virtual machine with its files."""
    found = find(request, vm, "VirtualMachine")
    Caller(request).require_privilege(f"{INVENTORY}.Delete", found)
    require_idle(found)
    with refused():
        provision.destroy(request.world, found)


@route("POST", VM, action="unregister")
def unregister(request, vm):
    """Remove a virtual machine from the inventory; its files stay."""
    found = find(request, vm, "VirtualMachine")
    Caller(request).require_privilege(f"{INVENTORY}.Unregister", found)
    require_idle(found)
    with refused():
        if found.power != "poweredOff":
            raise reconfigure.devices.wrong_power(found)
        provision.unregister(request.world, found)


@route("POST", VM, action="relocate", vmw_task="true")
def relocate_task(request, vm):
    """Move a virtual machine, as a task."""
    return _as_task(request, "relocate$task", vm, lambda: relocate(request, vm))


@route("POST", VM, action="relocate")
def relocate(request, vm):
    """Move a virtual machine to another host, pool, folder or datastore."""
    found, spec = find(request, vm, "VirtualMachine"), checked(request.body, RELOCATE)
    location, pool, store = _location(request, spec.get("placement", {}))
    stores = {one["datastore"] for one in spec.get("disks", {}).values() if "datastore" in one}
    for key in spec.get("disks", {}):
        vm_specs.by_id(found, DEVICE.VirtualDisk, key)
    if stores - set(found.datastores) - ({store.moid} if store is not None else set()):
        raise RestError("UNSUPPORTED", "Disks of the virtual machine move only with its home.")
    require_idle(found)
    vm_privileges.relocate(Caller(request), found, pool, store)
    with refused():
        relocation.relocate(request.world, found, location)


@route("GET", f"{VM}/power")
def power_of(request, vm):
    """The power state."""
    found = find(request, vm, "VirtualMachine")
    state = info(found)["power_state"]
    return {"state": state, "clean_power_off": True} if state == "POWERED_OFF" else {"state": state}


def _powered(action, privilege, work, word, state):
    """Register one operation on the power of a virtual machine."""

    @route("POST", f"{VM}/power", action=action)
    def change(request, vm):
        found = find(request, vm, "VirtualMachine")
        Caller(request).require_privilege(f"{INTERACT}.{privilege}", found)
        require_idle(found)
        try:
            work(request.world, found)
        except vim.fault.InvalidPowerState as fault:
            raise (already(word, fault) if found.power == state else Refusal(fault)) from fault
        except vmodl.MethodFault as fault:
            raise Refusal(fault) from fault


for _row in (
    ("start", "PowerOn", power.power_on, "powered on", "poweredOn"),
    ("stop", "PowerOff", power.power_off, "powered off", "poweredOff"),
    ("suspend", "Suspend", power.suspend, "suspended", "suspended"),
    ("reset", "Reset", power.reset, "", ""),
):
    _powered(*_row)


@route("GET", f"{VM}/guest/power")
def guest_power_of(request, vm):
    """The state of the guest."""
    found = find(request, vm, "VirtualMachine")
    running = found.power == "poweredOn" and found.tools_running
    state = "RUNNING" if running else "NOT_RUNNING" if found.power != "poweredOn" else "UNAVAILABLE"
    if running and found.shutdown_pending:
        state = "SHUTTING_DOWN"
    return {"state": state, "operations_ready": running}


def _asked(action, privilege, work):
    """Register one request to the guest."""

    @route("POST", f"{VM}/guest/power", action=action)
    def change(request, vm):
        found = find(request, vm, "VirtualMachine")
        Caller(request).require_privilege(f"{INTERACT}.{privilege}", found)
        require_idle(found)
        if found.power == "poweredOff" and action == "shutdown":
            raise already("powered off", reconfigure.devices.wrong_power(found))
        with refused():
            guest.require_tools(found)
            work(request.world, found)


def _stand_by(_world, _vm):
    raise RestError("UNSUPPORTED", "The guest operating system does not support standby.")


_asked("shutdown", "PowerOff", power.shut_down_guest)
_asked("reboot", "Reset", power.reboot_guest)
_asked("standby", "Suspend", _stand_by)


def require_idle(vm):
    """RESOURCE_BUSY while another operation has the virtual machine for itself."""
    if vm.busy_with is not None:
        raise RestError("RESOURCE_BUSY", "Another task is already in progress.", code="vmsg.TaskInProgress.summary")


def _cloned(request):
    spec, world = checked(request.body, CLONE), request.world
    source = find(request, spec["source"], "VirtualMachine")
    given = spec.get("placement", {})
    location, _pool, _store = _location(request, given)
    location.pool = location.pool or (vim.ResourcePool(source.pool.moid) if source.pool is not None else None)
    if location.pool is None:
        raise vm_specs.wrong("A template needs the field resource_pool, host or cluster of the placement.")
    folder = maybe(request, given, "folder", "Folder") or source.parent
    location.folder = None
    wanted = {one["datastore"] for one in spec.get("disks_to_update", {}).values() if "datastore" in one}
    if wanted - ({location.datastore._moId} if location.datastore is not None else set(source.datastores)):
        raise RestError("UNSUPPORTED", "Disks of the virtual machine are copied only with its home.")
    removed = [vm_specs.by_id(source, DEVICE.VirtualDisk, key) for key in spec.get("disks_to_remove", [])]
    for key in spec.get("disks_to_update", {}):
        vm_specs.by_id(source, DEVICE.VirtualDisk, key)
    location.deviceChange = [DEVICE.VirtualDeviceSpec(operation="remove", device=one) for one in removed]
    config = vim.vm.CloneSpec(location=location, template=False, powerOn=spec.get("power_on", False))
    custom = spec.get("guest_customization_spec", {}).get("name")
    with refused():
        if custom is not None:
            config.customization = world.get("CustomizationSpecManager").specs.get(custom).spec
        vm_privileges.clone(Caller(request), source, folder, config)
        return cloning.clone(world, source, folder, spec["name"], config)


def _place(request, given):
    """(folder, pool, host) of a placement with a folder."""
    folder = maybe(request, given, "folder", "Folder")
    pool, host = _pool(request, given)
    if folder is None:
        raise vm_specs.wrong("The field folder of the placement is missing.")
    if pool is None:
        raise vm_specs.wrong("The placement has neither a resource_pool nor a host nor a cluster.")
    return folder, pool, host


def _pool(request, given):
    pool, host = maybe(request, given, "resource_pool", "ResourcePool"), maybe(request, given, "host", "HostSystem")
    cluster = maybe(request, given, "cluster", "ClusterComputeResource")
    owners = [one for one in (cluster, host and host.compute, pool and pool.owner) if one is not None]
    if any(one is not owners[0] for one in owners):
        raise vm_specs.wrong("The resource_pool, the host and the cluster of the placement do not belong together.")
    return pool or (owners[0].pool if owners else None), host


def _location(request, given):
    """A RelocateSpec with the objects of a placement."""
    pool, host = _pool(request, given)
    found = {
        "pool": pool,
        "host": host,
        "folder": maybe(request, given, "folder", "Folder"),
        "datastore": maybe(request, given, "datastore", "Datastore"),
    }
    spec = vim.vm.RelocateSpec(**{name: reference(one) for name, one in found.items() if one is not None})
    return spec, pool, found["datastore"]


def _devices(request, vm, spec):
    """The device changes of a new virtual machine; each new device has a key of its own below zero."""
    changes = []
    for name in ("sata", "scsi", "nvme"):
        for given in spec.get(f"{name}_adapters", []):
            vm_specs.adapter(f"adapter/{name}", given, changes, key=-1 - len(changes))
    for given in spec.get("disks", [{"new_vmdk": {}}]):
        vm_specs.disk(request, vm, given, changes, key=-1 - len(changes))
    for given in spec.get("cdroms", []):
        vm_specs.cdrom(vm, given, changes, key=-1 - len(changes))
    for given in spec.get("nics", []):
        vm_specs.nic(request, given, changes, key=-1 - len(changes), default=default_network(vm))
    return changes


def default_network(vm):
    """The backing that vCenter chooses for a network adapter: a network of the host, or None."""
    found = next((one for one in vm.host.networks.values() if one.kind == "Network"), None)
    if found is None:
        return None
    kind = DEVICE.VirtualEthernetCard.NetworkBackingInfo
    return kind(deviceName=found.name, network=vim.Network(found.moid), useAutoDetect=False)


def _order(world, vm, entries):
    if not entries:
        return
    full = []
    for one in entries:
        name = {"DISK": "disk", "ETHERNET": "ethernet"}.get(one["type"])
        held = [str(each.key) for each in vm.devices if name and isinstance(each, DEVICES[name][0])]
        full.append({**one, **({"disks": held} if name == "disk" else {"nic": (held or ["0"])[0]} if name else {})})
    options = vim.vm.BootOptions(bootOrder=vm_specs.boot_order(vm, full))
    reconfigure.apply(world, vm, vim.vm.ConfigSpec(bootOptions=options))


def _require_policy(request, policy):
    if policy not in request.world.storage_policies.policies:
        raise RestError("NOT_FOUND", f"The storage policy {policy} does not exist.")


def _free_name(folder):
    taken = {one.name for one in folder.children.values()}
    names = ("New Virtual Machine", *(f"New Virtual Machine ({number})" for number in range(1, 10_000)))
    return next(name for name in names if name not in taken)


def _as_task(request, operation, target, work):
    """Work that the client follows as a task."""
    made = request.world.operations.begin(request.world, SERVICE, operation, request.user, target)
    try:
        made.succeed(work())
    except RestError as problem:
        made.fail(problem.body)
    return Begun(made.id)
