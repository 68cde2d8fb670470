"""VMs come and go: create, clone, move, mark, destroy."""

from __future__ import annotations

import copy

from pyVmomi import vim, vmodl

from . import backings, devices, gpu, inventory, power, reconfigure
from .inventory import EnvironmentBrowser
from .vm import VirtualMachine

# What a clone has of its source; identities, files and addresses are its own.
COPIED = (
    "annotation",
    "boot_options",
    "cores_per_socket",
    "cpu_allocation",
    "cpu_hot_add",
    "cpus",
    "extra",
    "firmware",
    "flags",
    "guest_id",
    "hardware_version",
    "latency_sensitivity",
    "memory_allocation",
    "memory_hot_add",
    "memory_locked",
    "memory_mb",
    "tools_installed",
)


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


def clone(world, source, folder, name, spec):
    """CloneVM: a copy with identities of its own, and what the spec changes."""
    inventory.refuse_duplicate(folder, name)
    location = spec.location
    pool = world.get(location.pool._moId) if location.pool is not None else source.pool
    if pool is None:
        raise vmodl.fault.InvalidArgument(
            msg="A specified parameter was not correct: spec.location.pool", invalidProperty="spec.location.pool"
        )
    wanted = world.get(location.host._moId) if location.host is not None else None
    if wanted is None and source.host is not None and source.host.moid in pool.owner.hosts:
        wanted = source.host
    vm = VirtualMachine(world, name)
    for attribute in COPIED:
        setattr(vm, attribute, copy.copy(getattr(source, attribute)))
    vm.host_name = name
    store = world.get(location.datastore._moId) if location.datastore is not None else None
    store_name = store.name if store is not None else source.home[1 : source.home.index("]")]
    vm.home = f"[{store_name}] {name}/{name}.vmx"
    vm.devices = [_copied(world, vm, device) for device in source.devices]
    place(world, vm, folder, pool, choose_host(pool, wanted))
    change = vim.vm.ConfigSpec(deviceChange=list(location.deviceChange or []))
    _apply_or_forget(world, vm, change)
    if spec.config is not None:
        _apply_or_forget(world, vm, spec.config)
    vm.template = bool(spec.template)
    if vm.template:
        vm.pool.vms.pop(vm.moid, None)
        vm.pool = None
    world.touch(vm)
    if spec.powerOn:
        power.power_on(world, vm)
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
    if vm.browser is not None:
        world.remove(vm.browser)
    world.remove(vm)
    world.touch(*touched)


def relocate(world, vm, spec):
    """RelocateVM: another host, pool, folder or datastore; a VM with a passed-through device stays while it runs."""
    host = world.get(spec.host._moId) if spec.host is not None else None
    if host is not None and host is not vm.host and vm.power == "poweredOn":
        _hot_migrate(world, vm, host)
    if spec.pool is not None:
        pool = world.get(spec.pool._moId)
        if vm.pool is not None:
            vm.pool.vms.pop(vm.moid, None)
            world.touch(vm.pool)
        pool.vms[vm.moid] = vm
        vm.pool = pool
        host = host or (None if vm.host.moid in pool.owner.hosts else choose_host(pool, None))
        world.touch(pool)
    if host is not None and host is not vm.host:
        power.move(world, vm, host)
    if spec.folder is not None:
        inventory.put(world, world.get(spec.folder._moId), vm)
    if spec.datastore is not None:
        _to_datastore(world, vm, world.get(spec.datastore._moId))
    world.touch(vm)


def _hot_migrate(world, vm, host):
    """A running VM takes its vGPUs along if vCenter allows it and the target has room; whole devices never move."""
    allowed = world.get("VpxSettings").values.get("vgpu.hotmigrate.enabled")
    if vm.passthrough_devices or vm.vgpus and str(allowed).lower() != "true":
        raise vim.fault.MigrationFeatureNotSupported(
            msg="Migration was temporarily disabled due to another migration activity. "
            "vGPU hot migration is not enabled.",
            atSourceHost=True,
            failedHostName=vm.host.name,
            failedHost=inventory.reference(vm.host),
        )
    placements = power.admit(vm, host)
    gpu.release_all(vm.host.gpus, vm)
    gpu.settle(placements, vm)


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


def _copied(world, vm, device):
    """A device of the copy: new files, a new MAC address."""
    if not isinstance(device, (vim.vm.device.VirtualEthernetCard, vim.vm.device.VirtualDisk)):
        return device
    fresh = copy.deepcopy(device)
    if isinstance(fresh, vim.vm.device.VirtualEthernetCard):
        fresh.macAddress = None
    if isinstance(fresh, vim.vm.device.VirtualDisk) and fresh.backing.fileName:
        old = fresh.backing.fileName.rpartition("/")[2]
        suffix = old[old.rindex("_") :] if "_" in old and old[old.rindex("_") + 1 : -5].isdigit() else ".vmdk"
        fresh.backing.fileName = f"{vm.home[: vm.home.rindex('/')]}/{vm.name}{suffix}"
        fresh.backing.uuid = None
    backings.fill(world, vm, fresh, None)
    return fresh


def _to_datastore(world, vm, store):
    before = {**vm.networks, **vm.datastores}
    vm.home = f"[{store.name}]{vm.home[vm.home.index(']') + 1 :]}"
    vm.devices = [_stored_on(store, device) for device in vm.devices]
    reconfigure.attach(world, vm, before)


def _stored_on(store, device):
    if not isinstance(device, vim.vm.device.VirtualDisk):
        return device
    moved = copy.deepcopy(device)
    moved.backing.fileName = f"[{store.name}]{device.backing.fileName.partition(']')[2]}"
    moved.backing.datastore = vim.Datastore(store.moid)
    return moved
