"""Privileges for the parts of a request about a VM, as the descriptions of the methods list them.

ReconfigVM_Task, CreateVM_Task and RelocateVM_Task name the privilege of each part in prose; pyVmomi has only those of
whole methods. A value that stays the same is no change [unsure].
"""

from __future__ import annotations

from pyVmomi import vim

from ..model import backings

CONFIG = "VirtualMachine.Config."
DEVICE = vim.vm.device
RAW = (DEVICE.VirtualDisk.RawDiskMappingVer1BackingInfo, DEVICE.VirtualSCSIPassthrough)
# Field of a ConfigSpec: (attribute of the VM, privilege). Without an attribute, setting the field is a change.
FIELDS = {
    "name": ("name", "Rename"),
    "annotation": ("annotation", "Annotation"),
    "numCPUs": ("cpus", "CPUCount"),
    "numCoresPerSocket": ("cores_per_socket", "CPUCount"),
    "memoryMB": ("memory_mb", "Memory"),
    "cpuAllocation": (None, "Resource"),
    "memoryAllocation": (None, "Resource"),
    "cpuAffinity": (None, "Resource"),
    "memoryAffinity": (None, "Resource"),
    "memoryReservationLockedToMax": ("memory_locked", "Resource"),  # [unsure: Settings or Resource]
    "swapPlacement": (None, "SwapPlacement"),
    "guestId": ("guest_id", "Settings"),
    "uuid": ("uuid", "Settings"),
    "instanceUuid": ("instance_uuid", "Settings"),
    "firmware": ("firmware", "Settings"),
    "cpuHotAddEnabled": ("cpu_hot_add", "Settings"),
    "memoryHotAddEnabled": ("memory_hot_add", "Settings"),
    "version": ("hardware_version", "Settings"),  # [unsure: or UpgradeVirtualHardware]
    "bootOptions": (None, "Settings"),
    "flags": (None, "Settings"),
    "tools": (None, "Settings"),
    "powerOpInfo": (None, "Settings"),
    "latencySensitivity": (None, "Settings"),  # [unsure]
    "virtualNuma": (None, "Settings"),  # [unsure]
}


def require(call, needs):
    """Raise NoPermission for the first privilege that the user does not hold on its object."""
    for privilege, entity in needs:
        call.require_privilege(privilege, entity)


def reconfigure(call, vm, spec):
    """ReconfigVM_Task: each part that changes."""
    require(call, _changes(call.world, vm, spec, vm))


def create(call, folder, spec, pool):
    """CreateVM_Task: parts beyond VirtualMachine.Inventory.Create."""
    needs = [("Resource.AssignVMToPool", pool)]
    if spec.extraConfig:
        needs.append((CONFIG + "AdvancedConfig", folder))
    if spec.swapPlacement is not None:
        needs.append((CONFIG + "SwapPlacement", folder))
    for one in spec.deviceChange or []:
        if isinstance(one.device, DEVICE.VirtualDisk) or _is_raw(one.device) or _is_host_usb(one.device):
            needs += _device(call.world, None, one, folder)
        needs += _network(call.world, one)
    place = spec.files.vmPathName if spec.files is not None else ""
    needs += [("Datastore.AllocateSpace", store) for store in _stores(call.world, place)]
    require(call, needs)


def clone(call, source, folder, spec):
    """CloneVM_Task [unsure: from the documentation of vSphere for the task; the description was not read]."""
    kind = "Clone" if not source.template else "CloneTemplate" if spec.template else "DeployTemplate"
    needs = [(f"VirtualMachine.Provisioning.{kind}", source), ("VirtualMachine.Inventory.CreateFromExisting", folder)]
    location = spec.location
    if location.pool is not None:
        needs.append(("Resource.AssignVMToPool", call.resolve(location.pool)))
    stores = [call.resolve(location.datastore)] if location.datastore is not None else source.datastores.values()
    needs += [("Datastore.AllocateSpace", store) for store in stores]
    if spec.customization is not None:
        needs.append(("VirtualMachine.Provisioning.Customize", folder))
    for config in (spec.config, vim.vm.ConfigSpec(deviceChange=list(location.deviceChange or []))):
        if config is not None:
            needs += _changes(call.world, source, config, folder)
    require(call, needs)


def relocate(call, vm, pool, datastore, changes=()):
    """RelocateVM_Task and MigrateVM_Task: parts beyond the privilege of the method."""
    needs = [("Resource.HotMigrate" if vm.power == "poweredOn" else "Resource.ColdMigrate", vm)]
    if pool is not None and pool is not vm.pool:
        needs.append(("Resource.AssignVMToPool", pool))
    if datastore is not None and datastore.moid not in vm.datastores:
        needs.append(("Datastore.AllocateSpace", datastore))
    for one in changes:
        needs += _network(call.world, one)
    require(call, needs)


def _changes(world, vm, spec, entity):
    for field, (attribute, privilege) in FIELDS.items():
        value = getattr(spec, field)
        if value is not None and (attribute is None or value != getattr(vm, attribute)):
            yield CONFIG + privilege, entity
    keys = {key.casefold(): value for key, value in vm.extra.items()}
    if any(str(keys.get(one.key.casefold(), "")) != str(one.value or "") for one in spec.extraConfig or []):
        yield CONFIG + "AdvancedConfig", entity
    if spec.vmProfile:
        yield CONFIG + "Settings", entity  # [unsure]
    for one in spec.deviceChange or []:
        yield from _device(world, vm, one, entity)
        yield from _network(world, one)
    if spec.deviceGroups is not None:
        yield CONFIG + "AddRemoveDevice", entity  # [unsure: the description names devices]


def _device(world, vm, change, entity):
    device, operation = change.device, change.operation
    if _is_raw(device):
        yield CONFIG + "RawDevice", entity
    elif _is_host_usb(device):
        yield CONFIG + "HostUSBDevice", entity
    elif isinstance(device, DEVICE.VirtualDisk):
        yield from _disk(world, vm, change, entity)
    else:
        yield CONFIG + ("EditDevice" if operation == "edit" else "AddRemoveDevice"), entity


def _disk(world, vm, change, entity):
    disk = change.device
    if change.operation == "add":
        yield CONFIG + ("AddNewDisk" if change.fileOperation else "AddExistingDisk"), entity
        place = getattr(disk.backing, "fileName", None) or (vm.home if vm is not None else "")
        yield from (("Datastore.AllocateSpace", store) for store in _stores(world, place))
    elif change.operation == "remove":
        yield CONFIG + "RemoveDisk", entity
    else:
        old = next((one for one in vm.disks if one.key == disk.key), None)
        grows = old is not None and (disk.capacityInKB or 0) > (old.capacityInKB or 0)
        yield CONFIG + ("DiskExtend" if grows else "EditDevice"), entity


def _network(world, change):
    """The network of an adapter that the request connects [unsure: described for CreateVM and RelocateVM]."""
    if change.operation == "remove" or not isinstance(change.device, DEVICE.VirtualEthernetCard):
        return
    network = backings.network(world, change.device.backing)
    if network is not None:
        yield "Network.Assign", network


def _stores(world, path):
    name = backings.datastore_name(path)
    return [one for one in world.of_kind("Datastore") if one.name == name]


def _is_raw(device):
    return isinstance(device, RAW[1]) or isinstance(getattr(device, "backing", None), RAW[0])


def _is_host_usb(device):
    return isinstance(getattr(device, "backing", None), DEVICE.VirtualUSB.RemoteHostBackingInfo)
