"""Clones: a copy of a VM or template with its own identities, and with the changes of the request."""

from __future__ import annotations

import copy

from pyVmomi import vim, vmodl

from . import (
    backings,
    customization,
    direct,
    disk_files,
    inventory,
    power,
    provision,
    reconfigure,
    storage_policies,
    tasks,
)
from . import host as hosts
from .vm import VirtualMachine, written

# Properties that a clone copies from its source; identities, files and addresses are its own.
COPIED = (
    "annotation",
    "boot_options",
    "cores_per_numa_node",
    "cores_per_socket",
    "cpu_allocation",
    "cpu_hot_add",
    "cpus",
    "device_groups",
    "extra",
    "firmware",
    "flags",
    "guest_id",
    "hardware_version",
    "host_name",
    "installed_firmware",
    "instance_id",
    "kept",
    "latency_sensitivity",
    "memory_allocation",
    "memory_hot_add",
    "memory_locked",
    "memory_mb",
    "tools_installed",
)
NEW_CHILD = "createNewChildDiskBacking"


def clone(world, source, folder, name, spec):
    """A copy at once: all of it, or nothing."""
    work = Copy(world, source, folder, name, spec)
    work.begin()
    return work.finish()


def start(world, source, folder, name, spec, user=""):
    """CloneVM: a task, and the VM that it makes."""
    work = Copy(world, source, folder, name, spec)
    task = tasks.start(world, "CloneVM_Task", source, work.finish, user=user, exclusive=False)
    task.on_failure = work.undo
    work.begin(task)
    return task


class Copy:
    """A clone that takes a while: its VM is in the inventory from the start, without a configuration yet."""

    needs_snapshot = True  # where its disks are written on top of those of its source

    def __init__(self, world, source, folder, name, spec):
        self._world, self._source, self._folder, self._name, self._spec = world, source, folder, name, spec
        self._vm = self._fault = None

    def begin(self, task=None):
        """Reserve name, host and space; problems are reported at the end, as tasks do."""
        try:
            self._vm = self._started(task)
        except vmodl.MethodFault as fault:
            self._fault = fault

    def finish(self):
        """Finish the VM as requested."""
        if self._fault is not None:
            raise self._fault
        world, vm, spec = self._world, self._vm, self._spec
        vm.unfinished, vm.busy_with = False, None
        try:
            reconfigure.apply(world, vm, vim.vm.ConfigSpec(deviceChange=list(spec.location.deviceChange or [])))
            storage_policies.of_location(world, vm, spec.location)
            if spec.config is not None:
                reconfigure.apply(world, vm, _of_copy(self._source, vm, spec.config))
            if spec.customization is not None:
                customization.accept(vm, spec.customization)
            if spec.template:
                provision.mark_as_template(world, vm)
            elif spec.powerOn:
                power.power_on(world, vm)
        except vmodl.MethodFault:
            self.undo()
            raise
        world.touch(vm)
        return vm

    def undo(self):
        """Remove all remains of a failed clone."""
        if self._vm is not None:
            provision.forget(self._world, self._vm)
            self._vm = None

    def _started(self, task):
        world, source, location = self._world, self._source, self._spec.location
        inventory.refuse_new_name(self._folder, self._name)
        pool = _pool(world, source, location)
        host = host_for(world, source, pool, location)
        vm = VirtualMachine(world, inventory.encoded(self._name))
        for attribute in COPIED:
            setattr(vm, attribute, copy.copy(getattr(source, attribute)))
        vm.host, vm.unfinished, vm.busy_with = host, True, task
        disks = _Disks(world, source, host, self._spec, self.needs_snapshot)
        vm.home = disk_files.free_home(world, disks.home, vm.name)
        vm.devices = [_copied(world, vm, device, disks) for device in source.devices]
        disks.require_room(vm)
        provision.place(world, vm, self._folder, pool, host)
        if world.guests is not None:
            world.guests.clone(source, vm)
        return vm


def _of_copy(source, vm, config):
    """The ConfigSpec with the copies of disks that it names by the files of the source, as clients of CloneVM do.

    Packer's vsphere-clone and community.vmware's vmware_guest send the disk as the template has it, with a new size.
    """
    files = {disk.backing.fileName for disk in source.disks if isinstance(disk.backing, backings.FLAT)}
    own = {disk.key: disk.backing for disk in vm.disks}
    config = copy.deepcopy(config)
    for change in config.deviceChange or []:
        device = change.device
        if change.operation == "edit" and getattr(getattr(device, "backing", None), "fileName", None) in files:
            device.backing = copy.deepcopy(own.get(device.key, device.backing))
    return config


def _pool(world, source, location):
    pool = world.get(location.pool._moId) if location.pool is not None else source.pool
    if pool is None:
        raise vmodl.fault.InvalidArgument(
            msg="A specified parameter was not correct: spec.location.pool", invalidProperty="spec.location.pool"
        )
    return pool


def host_for(world, source, pool, location):
    """Return the requested host, else the source's own in that pool, else the emptiest."""
    wanted = world.get(location.host._moId) if location.host is not None else None
    if wanted is not None and wanted.moid not in pool.owner.hosts:
        raise vmodl.fault.InvalidArgument(
            msg="A specified parameter was not correct: spec.location.host", invalidProperty="spec.location.host"
        )
    if wanted is None and source.host is not None and source.host.moid in pool.owner.hosts and _works(source.host):
        wanted = source.host
    host = provision.choose_host(pool, wanted)
    hosts.require_usable(host)
    return host


def _works(host):
    return host.reachable and not host.maintenance


class _Disks:
    """Datastores of a clone's disks, and their formats."""

    def __init__(self, world, source, host, spec, needs_snapshot):
        location = spec.location
        self.world, self.host = world, host
        self.locators = {one.diskId: one for one in location.disk or []}
        self.transform = location.transform
        self.linked = location.diskMoveType == NEW_CHILD
        if self.linked and needs_snapshot and spec.snapshot is None and source.current_snapshot is None:
            raise vmodl.fault.InvalidArgument(
                msg="A specified parameter was not correct: spec.snapshot", invalidProperty="spec.snapshot"
            )
        unknown = set(self.locators) - {disk.key for disk in source.disks}
        if unknown:
            raise vmodl.fault.InvalidArgument(
                msg="A specified parameter was not correct: spec.location.disk", invalidProperty="spec.location.disk"
            )
        home = location.datastore
        self.home = self._seen(world.get(home._moId) if home is not None else _home_of(source))
        self.moved = home is not None

    def store(self, disk):
        """The datastore of a disk: its own where the request names one, else that of the whole VM."""
        locator = self.locators.get(disk.key)
        if locator is not None and locator.datastore is not None:
            return self._seen(self.world.get(locator.datastore._moId))
        if self.moved:
            return self.home
        return self._seen(self.world.get(disk.backing.datastore._moId))

    def thin(self, disk):
        """Return whether the copy is thin: by its locator, the whole request, or its source."""
        locator = self.locators.get(disk.key)
        backing = getattr(locator, "diskBackingInfo", None)
        if backing is not None and getattr(backing, "thinProvisioned", None) is not None:
            return bool(backing.thinProvisioned)
        if self.transform is not None:
            return str(self.transform) == "sparse"
        return bool(disk.backing.thinProvisioned)

    def require_room(self, vm):
        """Require space for all disks before any copy."""
        needs = {}
        for disk in vm.disks:
            moid = disk.backing.datastore._moId
            needs[moid] = needs.get(moid, 0) + (0 if self.linked else written(disk))
        for moid, need in needs.items():
            self.world.get(moid).require_room(need)

    def _seen(self, store):
        if store is None or self.host.moid not in store.hosts:
            name = store.name if store is not None else ""
            raise vim.fault.InvalidDatastore(
                msg=f"The datastore '{name}' is not accessible from the host '{self.host.name}'.",
                datastore=inventory.reference(store) if store is not None else None,
                name=name,
            )
        return store


def _home_of(source):
    name = backings.datastore_name(source.home)
    return next((one for one in source.datastores.values() if one.name == name), None)


def _copied(world, vm, device, disks):
    """A device of the copy: new files, a new MAC address and port, and nothing of the host."""
    device = direct.unassigned(device)
    if isinstance(device, vim.vm.device.VirtualEthernetCard):
        fresh = copy.deepcopy(device)
        fresh.macAddress, fresh.addressType = None, None
        port = getattr(fresh.backing, "port", None)
        if port is not None:
            port.portKey, port.connectionCookie = None, None
    elif isinstance(device, vim.vm.device.VirtualDisk) and isinstance(device.backing, backings.FLAT):
        fresh = copy.deepcopy(device)
        fresh.backing.thinProvisioned = disks.thin(device)
        fresh.backing.fileName = _file(vm, device, disks.store(device))
        fresh.backing.uuid = None
        # A linked clone writes on top of the disk of its source; a full copy has no other disk below it.
        fresh.backing.parent = copy.deepcopy(device.backing) if disks.linked else None
    else:
        return device
    backings.fill(world, vm, fresh, None)
    return fresh


def _file(vm, disk, store):
    """The file of a copied disk: named after its VM, with the number that the source's file has."""
    old = disk.backing.fileName.rpartition("/")[2]
    numbered = "_" in old and old[old.rindex("_") + 1 : -len(".vmdk")].isdigit()
    folder = vm.home.rpartition("/")[0].partition("] ")[2]
    return f"[{store.name}] {folder}/{vm.name}{old[old.rindex('_') :] if numbered else '.vmdk'}"
