"""VMs come and go: create, place, mark, destroy."""

from __future__ import annotations

from pyVmomi import vim, vmodl

from . import devices, drs, inventory, power, reconfigure
from .inventory import EnvironmentBrowser
from .vm import VirtualMachine


def create(world, folder, spec, pool, host=None):
    """CreateVM: a new VM from a config spec."""
    if not spec.name:
        raise vmodl.fault.InvalidArgument(
            msg="A specified parameter was not correct: configSpec.name", invalidProperty="configSpec.name"
        )
    inventory.refuse_duplicate(folder, spec.name)
    vm = VirtualMachine(world, spec.name)
    vm.host = choose_host(pool, host)
    vm.hardware_version = f"vmx-{vm.host.release.newest_hardware}"
    path = spec.files.vmPathName if spec.files is not None else None
    vm.home = _home(vm, path)
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


def destroy(world, vm):
    """Destroy: the VM and its files are gone."""
    if vm.power != "poweredOff":
        raise devices.wrong_power(vm)
    forget(world, vm)


def forget(world, vm):
    """Take a VM out of everything that lists it."""
    touched = [vm.parent]
    vm.parent.children.pop(vm.moid, None)
    for holder in (vm.host, vm.pool, *vm.networks.values(), *vm.datastores.values()):
        if holder is not None:
            holder.vms.pop(vm.moid, None)
            touched.append(holder)
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
    """The host that was asked for, or the emptiest one of the pool's compute resource that works."""
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


def _home(vm, path):
    if path and path.endswith(".vmx"):
        return path
    name = path.strip("[] ") if path else next(iter(sorted(one.name for one in vm.host.datastores.values())), "")
    if name not in {one.name for one in vm.host.datastores.values()}:
        raise vim.fault.InvalidDatastorePath(msg=f"Invalid datastore path '{path}'.", datastorePath=path or "")
    return f"[{name}] {vm.name}/{vm.name}.vmx"
