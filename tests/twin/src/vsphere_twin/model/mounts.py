"""NFS datastores of hosts, maintenance mode of datastores, and datastore clusters."""

from __future__ import annotations

import copy
from dataclasses import dataclass

from pyVmomi import vim, vmodl
from pyVmomi.VmomiSupport import DataObject

from . import fabric, inventory, kept
from .host import touch, wrong_state

NFS_GB = 1024  # of each NFS volume; the twin has no NFS servers and accepts each of them
KINDS = ("NFS", "NFS41")
MODES = ("readOnly", "readWrite")
SERVED = ("remoteHost", "remotePath", "localPath", "accessMode", "type", "remoteHostNames")
BEHAVIOURS = ("manual", "automated")
SPACE_MODES = vim.storageDrs.SpaceLoadBalanceConfig.SpaceThresholdMode.values
POD_SPEC = "spec.podConfigSpec"
# Allowed values (vSphere API reference, StorageDrsPodConfigInfo and the types of its fields).
POD_RANGES = (
    ("loadBalanceInterval", "", range(60, 43201)),  # minutes
    ("spaceThresholdMode", "spaceLoadBalanceConfig", SPACE_MODES),
    ("spaceUtilizationThreshold", "spaceLoadBalanceConfig", range(50, 101)),
    ("minSpaceUtilizationDifference", "spaceLoadBalanceConfig", range(1, 51)),
    ("reservablePercentThreshold", "ioLoadBalanceConfig", range(30, 101)),
    ("reservableThresholdMode", "ioLoadBalanceConfig", BEHAVIOURS),
    ("ioLatencyThreshold", "ioLoadBalanceConfig", range(5, 101)),
    ("ioLoadImbalanceThreshold", "ioLoadBalanceConfig", range(1, 101)),
)


@dataclass(frozen=True)
class Remote:
    """The server and the folder of an NFS volume."""

    servers: tuple
    path: str
    kind: str


def mount(world, host, spec):
    """CreateNasDatastore: the volume as a datastore of a host; hosts with one volume and name share the datastore."""
    kept.refuse_unserved(spec, SERVED)
    kind = spec.type or KINDS[0]
    kept.require_one_of(kind, KINDS, "spec.type")
    kept.require_one_of(spec.accessMode, MODES, "spec.accessMode")
    servers = tuple(spec.remoteHostNames or ()) if kind == "NFS41" else (spec.remoteHost,)
    if not all(servers) or not servers:
        raise kept.wrong("spec.remoteHost")
    if not spec.remotePath:
        raise kept.wrong("spec.remotePath")
    inventory.refuse_name(spec.localPath)
    remote = Remote(servers, spec.remotePath, kind)
    if any(store.remote == remote for store in host.datastores.values()):
        raise vim.fault.AlreadyExists(
            msg=f"The specified key, name, or identifier '{spec.localPath}' already exists.", name=spec.localPath
        )
    folder = inventory.datacenter_of(host.compute).datastore_folder
    store = next((one for one in world.of_kind("Datastore") if one.remote == remote), None)
    if store is None or store.name != spec.localPath:
        _refuse_taken(world, folder, spec.localPath)
        store = fabric.Datastore(world, inventory.encoded(spec.localPath), None, NFS_GB, NFS_GB, kind)
        store.remote = remote
        inventory.put(world, folder, world.add(store))
    store.read_only_on[host.moid] = spec.accessMode == "readOnly"
    store.hosts[host.moid] = host
    host.datastores[store.moid] = store
    touch(world, host)
    world.touch(store)
    return store


def unmount(world, host, store):
    """RemoveDatastore of an NFS volume: from one host; the datastore goes with its last host."""
    if store.moid not in host.datastores:
        raise vim.fault.NotFound(msg="The object or item referred to could not be found.")
    if any(vm.host is host for vm in store.vms.values()):
        raise inventory.in_use(store)
    if store.remote is None:
        what = "the twin removes no VMFS volumes"
        raise vmodl.fault.NotSupported(msg=f"The operation is not supported on the object: {what}.")
    del host.datastores[store.moid], store.hosts[host.moid], store.read_only_on[host.moid]
    if not store.hosts:
        store.parent.children.pop(store.moid, None)
        world.remove(store)
        world.touch(store.parent, inventory.datacenter_of(store.parent))
    else:
        world.touch(store)
    touch(world, host)


def expand_options(host, store):
    """The free space behind a VMFS datastore by which it can grow: a device of the twin has none."""
    if store.moid not in host.datastores:
        raise vim.fault.NotFound(msg="The object or item referred to could not be found.")
    if store.remote is not None:  # [unsure: the fault]
        raise vmodl.fault.InvalidArgument(
            msg="A specified parameter was not correct: datastore", invalidProperty="datastore"
        )
    return []


def _refuse_taken(world, folder, name):
    center = inventory.datacenter_of(folder)
    for store in world.of_kind("Datastore"):
        if store.name == inventory.encoded(name) and inventory.datacenter_of(store) is center:
            words = f"The name '{name}' already exists."
            raise vim.fault.DuplicateName(msg=words, name=name, object=inventory.reference(store))


def check_enter(store):
    """Maintenance mode needs a datastore that is in use and not in it; the twin does not wait for VMs to leave."""
    if store.maintenance != "normal":
        raise wrong_state()
    if store.vms:
        what = "the twin does not move VMs off a datastore"
        raise vmodl.fault.NotSupported(msg=f"The operation is not supported on the object: {what}.")


def leave_maintenance(world, store):
    """Work of DatastoreExitMaintenanceMode_Task."""
    if store.maintenance == "normal":
        raise wrong_state()
    store.maintenance = "normal"
    world.touch(store)


def create_pod(world, folder, name):
    """CreateStoragePod: an empty datastore cluster in a folder of datastores."""
    if "StoragePod" not in folder.child_types:
        raise vmodl.fault.NotSupported(msg="The operation is not supported on the object.")
    inventory.refuse_new_name(folder, name)
    return inventory.put(world, folder, world.add(inventory.Pod(world, inventory.encoded(name))))


def configure_pod(world, pod, spec, modify):
    """ConfigureStorageDrsForPod: settings of Storage DRS; unset ones stay, or return to their defaults."""
    kept.refuse_unserved(spec, ("podConfigSpec",))
    wanted = spec.podConfigSpec
    settings = copy.deepcopy(pod.settings if modify else inventory.POD_DEFAULTS)
    if wanted is not None:
        kept.refuse_unserved(wanted, tuple(inventory.POD_DEFAULTS))
        kept.require_one_of(wanted.defaultVmBehavior, BEHAVIOURS, f"{POD_SPEC}.defaultVmBehavior")
        for name, path, allowed in POD_RANGES:
            value = getattr(getattr(wanted, path, None), name, None) if path else getattr(wanted, name)
            if value is not None and value not in allowed:
                raise kept.wrong(".".join(filter(None, (POD_SPEC, path, name))))
        for name in settings:
            settings[name] = _changed(settings[name], getattr(wanted, name))
    pod.settings = settings
    world.touch(pod)


def _changed(before, given):
    """Return a setting after a request: its fields that the request sets, and advanced options by their key."""
    if not isinstance(before, list):
        return kept.overlay(before, given) if isinstance(given, DataObject) else before if given is None else given
    options = {one.key: one for one in before}
    for change in given or []:
        if change.operation == "remove":
            options.pop(change.removeKey, None)
        elif change.option is None or change.operation == "add" and change.option.key in options:
            raise kept.wrong(f"{POD_SPEC}.option")
        else:
            options[change.option.key] = change.option
    return list(options.values())
