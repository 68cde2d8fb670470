"""VMs come and go: create, place, mark, destroy."""

from __future__ import annotations

import re

from pyVmomi import vim, vmodl

from . import admission, backings, devices, disk_files, drs, files, inventory, power, reconfigure
from .inventory import EnvironmentBrowser
from .vm import VirtualMachine

# Versions of virtual hardware that a VM can be made with; the numbers between were never released.
MADE = (*range(3, 5), *range(7, 12), *range(13, 16), *range(17, 23))


def create(world, folder, spec, pool, host=None):
    """CreateVM: a new VM from a config spec."""
    if not spec.name:
        raise vmodl.fault.InvalidArgument(
            msg="A specified parameter was not correct: configSpec.name", invalidProperty="configSpec.name"
        )
    inventory.refuse_new_name(folder, spec.name)
    vm = VirtualMachine(world, inventory.encoded(spec.name))
    vm.host = choose_host(pool, host)
    vm.hardware_version = hardware_version(vm.host, spec.version)
    path = spec.files.vmPathName if spec.files is not None else None
    vm.home = _home(world, vm, path)
    vm.devices = list(devices.base_hardware())
    vm.tools_installed = False
    vm.guest_id = spec.guestId or "otherGuest"
    place(world, vm, folder, pool, vm.host)
    _apply_or_forget(world, vm, spec)
    return vm


def place(world, vm, folder, pool, host):
    """Put a new VM into the inventory."""
    world.add(vm)
    vm.browser = world.add(EnvironmentBrowser(world.new_moid("envbrowser"), vm))
    inventory.put(world, folder, vm)
    vm.pool, vm.host = pool, host
    if pool is not None:
        pool.vms[vm.moid] = vm
        world.touch(pool)
    host.vms[vm.moid] = vm
    world.touch(host)
    reconfigure.attach(world, vm)


def unregister(world, vm):
    """UnregisterVM: the VM goes out of the inventory, and its files stay."""
    disk_files.keep(world, vm)
    forget(world, vm)


def destroy(world, vm):
    """Destroy: the VM and its files are gone."""
    if vm.power != "poweredOff":
        raise devices.wrong_power(vm)
    kept = {one.path for one in world.get("VStorageObjectManager").disks.values() if one.keep}
    for disk in vm.disks:
        if getattr(disk.backing, "fileName", None) in kept:
            disk_files.leave(world, disk)
    forget(world, vm)


def forget(world, vm, user=""):
    """Take a VM out of everything that lists it."""
    if not vm.unfinished and vm.parent is not None:
        world.journal.post("VmRemovedEvent", vm, user)
    touched = [vm.parent]
    vm.parent.children.pop(vm.moid, None)
    for holder in (vm.host, vm.pool, *vm.networks.values(), *vm.datastores.values()):
        if holder is not None:
            holder.vms.pop(vm.moid, None)
            touched += [holder, *filter(None, [getattr(holder, "switch", None)])]
    drs.forget(vm)
    if world.guests is not None:
        world.guests.destroy(vm)
    if vm.host is not None and getattr(vm.host, "compute", None) is not None:
        touched.append(vm.host.compute)
    if vm.browser is not None:
        world.remove(vm.browser)
    world.remove(vm)
    world.touch(*touched)


def mark_as_template(world, vm):
    """A template has no pool and cannot be started."""
    if vm.power != "poweredOff":
        raise devices.wrong_power(vm)
    vm.template = True
    if vm.pool is not None:
        vm.pool.vms.pop(vm.moid, None)
        world.touch(vm.pool)
        vm.pool = None
    world.touch(vm)


def mark_as_vm(world, vm, pool, host=None):
    """Back from template to VM."""
    if not vm.template:
        raise vim.fault.InvalidState(msg="The operation is not allowed in the current state.")
    vm.template = False
    vm.pool = pool
    pool.vms[vm.moid] = vm
    target = choose_host(pool, host or vm.host)
    if target is not vm.host:
        power.move(world, vm, target)
    world.touch(vm, pool)


def choose_host(pool, wanted):
    """Return the requested host, or the emptiest working one of the pool's compute resource."""
    hosts = pool.owner.hosts
    if wanted is not None and wanted.moid in hosts:
        return wanted
    usable = [host for host in hosts.values() if host.connection == "connected" and not host.maintenance]
    if wanted is not None or not usable:
        raise vim.fault.InvalidState(msg="The operation is not allowed in the current state.")
    return min(usable, key=lambda host: (len(host.vms), host.number))


def _apply_or_forget(world, vm, spec):
    try:
        reconfigure.apply(world, vm, spec)
    except vmodl.MethodFault:
        forget(world, vm)
        raise


def hardware_version(host, wanted):
    """Return the hardware version for a host: its newest one unless an older one is requested."""
    if wanted is None:
        return f"vmx-{host.release.newest_hardware}"
    found = re.fullmatch(r"vmx-(\d{2})", wanted)
    if found is None or int(found[1]) not in MADE:
        raise vmodl.fault.InvalidArgument(
            msg="A specified parameter was not correct: configSpec.version", invalidProperty="configSpec.version"
        )
    if int(found[1]) > host.release.newest_hardware:
        raise admission.too_new(host)
    return wanted


def register(world, folder, path, name, as_template, pool=None, host=None):
    """RegisterVM: a VM whose files lie on a datastore is in the inventory again."""
    if disk_files.registered(world, path) is not None:
        raise vim.fault.AlreadyExists(msg="The specified key, name, or identifier already exists.", name=path)
    if as_template == (pool is not None) or as_template and host is None:
        raise vmodl.fault.InvalidArgument(msg="A specified parameter was not correct: pool", invalidProperty="pool")
    if name:
        inventory.refuse_new_name(folder, name)
    place_on = choose_host(pool, host) if pool is not None else host
    vm = disk_files.again(world, path, name) if _reaches(place_on, path) else None
    if vm is None:
        raise vim.fault.NotFound(msg="The object or item referred to could not be found.")
    vm.template = as_template
    place(world, vm, folder, pool, place_on)
    return vm


def _reaches(host, path):
    return backings.datastore_name(path) in {one.name for one in host.datastores.values()}


def _home(world, vm, path):
    stores = {one.name: one for one in vm.host.datastores.values()}
    if path and path.endswith(".vmx"):
        name = backings.datastore_name(path)
    else:
        name = path.strip("[] ") if path else next(iter(sorted(stores)), "")
    if name not in stores:
        raise vim.fault.InvalidDatastorePath(msg=f"Invalid datastore path '{path}'.", datastorePath=path or "")
    stores[name].refuse_new_files()
    if path and path.endswith(".vmx"):
        if disk_files.registered(world, path) is not None or path in stores[name].left_vms:
            raise files.already_exists(path)
        return path
    return disk_files.free_home(world, stores[name], vm.name)
