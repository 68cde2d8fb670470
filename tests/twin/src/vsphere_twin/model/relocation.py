"""Migration to another host, pool, folder or datastore: limits of running VMs, and of all VMs."""

from __future__ import annotations

import copy

from pyVmomi import vim, vmodl

from . import admission, direct, inventory, power, provision, reconfigure, storage_policies
from . import host as hosts

NOT_ENABLED = "Migration was temporarily disabled due to another migration activity. vGPU hot migration is not enabled."


def relocate(world, vm, spec):
    """RelocateVM: all checks come before any move."""
    pool = world.get(spec.pool._moId) if spec.pool is not None else None
    host = _target(world, vm, spec, pool)
    store = world.get(spec.datastore._moId) if spec.datastore is not None else None
    if store is not None and host.moid not in store.hosts:
        raise vim.fault.InvalidDatastore(
            msg=f"The datastore '{store.name}' is not accessible from the host '{host.name}'.",
            datastore=inventory.reference(store),
            name=store.name,
        )
    if store is not None and store.moid not in vm.datastores:
        store.require_room(vm.disk_bytes)
    place = None
    with reconfigure.all_or_nothing(world, vm):
        if spec.deviceChange:
            reconfigure.apply(world, vm, vim.vm.ConfigSpec(deviceChange=list(spec.deviceChange)))
        storage_policies.of_location(world, vm, spec)
        if host is not vm.host:
            hosts.require_usable(host)
            admission.require_version(vm, host)
            _require_storage(vm, host, store)
            place = _hot(world, vm, host) if vm.power == "poweredOn" else _cold(vm, host)
    if place is not None:
        power.take_over(world, vm, place)
    elif host is not vm.host:
        power.move(world, vm, host)
    if vm.pool is not None:
        _to_pool(world, vm, pool or vm.pool)
    if spec.folder is not None:
        inventory.put(world, world.get(spec.folder._moId), vm)
    if store is not None:
        _to_datastore(world, vm, store)
    world.touch(vm)


def _target(world, vm, spec, pool):
    if spec.host is not None:
        host = world.get(spec.host._moId)
        if pool is not None and host.moid not in pool.owner.hosts:
            raise vmodl.fault.InvalidArgument(
                msg="A specified parameter was not correct: spec.pool", invalidProperty="spec.pool"
            )
        if host.compute is not vm.host.compute and pool is None and not vm.template:
            # Another cluster needs one of its pools (RelocateSpec API reference, pool).
            raise vmodl.fault.InvalidArgument(
                msg="A specified parameter was not correct: spec.pool", invalidProperty="spec.pool"
            )
        return host
    if pool is None or vm.host.moid in pool.owner.hosts:
        return vm.host
    return provision.choose_host(pool, None)


def _to_pool(world, vm, pool):
    if pool is vm.pool:
        return
    vm.pool.vms.pop(vm.moid, None)
    world.touch(vm.pool)
    pool.vms[vm.moid] = vm
    vm.pool = pool
    world.touch(pool)


def _require_storage(vm, host, store):
    for one in vm.datastores.values():
        if store is None and host.moid not in one.hosts:
            raise vim.fault.CannotAccessFile(
                msg=f"Unable to access the virtual machine configuration: Unable to access file {vm.home}.",
                file=vm.home,
            )


def _hot(world, vm, host):
    """vMotion: direct devices stay where they are, unless their class saves their state.

    A vGPU goes along where vCenter allows it and a like GPU is free.
    """
    for device in direct.bound(vm):
        label = device.deviceInfo.label
        raise vim.fault.DeviceNotSupported(
            msg=f"Virtual device '{label}' is a PCI passthrough device or a virtual function, "
            "which a running virtual machine cannot take to another host.",
            device=label,
            reason="PCI passthrough",
        )
    if vm.vgpus:
        _require_vgpu_migration(world, vm, host)
    return power.admit(world, vm, host)


def _require_vgpu_migration(world, vm, host):
    allowed = world.get("VpxSettings").values.get("vgpu.hotmigrate.enabled")
    if str(allowed).lower() != "true":
        raise _not_migratable(vm, NOT_ENABLED)
    for number in range(len(vm.vgpus)):
        if vm.setting(f"pciPassthru{number}.cfg.enable_uvm") in ("1", "TRUE", "true"):
            raise _not_migratable(vm, "vGPU migration is not supported while unified memory is enabled.")
    used = [gpu for gpu in vm.host.gpus if vm in gpu.vms()]
    for gpu in used:
        like = [one for one in host.gpus if one.board.key == gpu.board.key]
        if like and all(one.mig_enabled != gpu.mig_enabled for one in like):
            raise _not_migratable(vm, "The MIG configuration of the GPUs of the two hosts is not the same.")


def _not_migratable(vm, words):
    return vim.fault.MigrationFeatureNotSupported(
        msg=words, atSourceHost=True, failedHostName=vm.host.name, failedHost=inventory.reference(vm.host)
    )


def _cold(vm, host):
    """A VM that is off moves, unless it is bound to a slot that the other host does not pass through."""
    for device in vm.passthrough_devices:
        address = getattr(device.backing, "id", None)
        if address and not (address in host.passthru and host.passthru[address].active):
            label = device.deviceInfo.label
            raise vim.fault.CannotAccessVmDevice(
                msg=f"Device '{label}' uses backing '{address}', which is not accessible.",
                device=label,
                backing=address,
                connected=False,
            )


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
