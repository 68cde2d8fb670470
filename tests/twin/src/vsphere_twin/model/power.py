"""Power: requirements of a VM's start, resources of a running VM, and their release."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from pyVmomi import vim, vmodl

from . import admission, device_mode, devices, direct, drives, drs, graphics, guest, nics, resources, started_keys
from . import gpu as gpus
from . import host as hosts


def power_on(world, vm, wanted_host=None):
    """Start a VM on its host, or on a host that DRS may choose, or return the reason of the failure."""
    if vm.template:
        raise vmodl.fault.NotSupported(msg="The operation is not supported on the object.")
    if vm.power == "poweredOn":
        raise devices.wrong_power(vm)
    if vm.connection != "connected":
        raise vim.fault.InvalidState(msg="The operation is not allowed in the current state.")
    suspended = vm.power == "suspended"
    if suspended:
        place = admit(world, vm, vm.host)
    else:
        admission.check(vm)
        place = _find_host(world, vm, wanted_host)
    _settle(vm, place)
    vm.power = "poweredOn"
    vm.booted = datetime.datetime.now(datetime.timezone.utc)
    connect_nics(vm, True)
    drives.connect(world, vm, True)
    started_keys.write(vm)
    touch(world, vm)
    if suspended:
        guest.resume(world, vm)
    else:
        guest.boot(world, vm)


def power_off(world, vm):
    """Pull the plug."""
    if vm.power == "poweredOff":
        raise devices.wrong_power(vm)
    stop(world, vm)


def suspend(world, vm):
    """Freeze the VM; its vGPUs leave the GPU with it."""
    if vm.power != "poweredOn":
        raise devices.wrong_power(vm)
    if direct.bound(vm):
        raise vim.fault.GenericVmConfigFault(
            msg="The virtual machine cannot be suspended.", reason="A PCI passthrough device is present."
        )
    release(vm)
    vm.power, vm.tools_running = "suspended", False
    touch(world, vm)
    if world.guests is not None:
        world.guests.suspend(vm)
    vm.host.vm_went()


def reset(world, vm):
    """Restart without asking the guest."""
    if vm.power != "poweredOn":
        raise devices.wrong_power(vm)
    guest.reset(world, vm)


def shut_down_guest(world, vm):
    """Ask the guest to go; it takes its time and then the VM is off."""

    def went():
        if vm.power == "poweredOn" and vm.shutdown_pending:
            stop(world, vm)

    guest.shut_down(world, vm, went)


def reboot_guest(world, vm):
    """Ask the guest to restart."""
    guest.reboot(world, vm)


@dataclass
class Place:
    """A host that accepts a VM, and the resources for it."""

    host: object
    vgpus: list
    claims: direct.Claims


def admit(world, vm, host):
    """Return the resources that a host would give a VM, or the reason why it cannot run there."""
    hosts.require_usable(host)
    admission.require_version(vm, host)
    _check_virtualization(vm, host)
    drs.refuse_mandatory(vm, host)
    resources.admit(vm, host)
    nics.check_networks(vm, host)
    if host.modes.left_to_host:
        device_mode.select(host, vm, admission.vgpu_types(vm))
    claims = direct.claim(world, vm, host)
    bound = {**claims.vgpus, **vm.own_gpus}
    return Place(host, graphics.pick(host, vm, admission.vgpu_types(vm), bound), claims)


def _settle(vm, place):
    gpus.settle(place.vgpus, vm)
    place.claims.take()


def take_over(world, vm, place):
    """Take on a new host the resources that a running VM held on its old one."""
    release(vm)
    move(world, vm, place.host)
    _settle(vm, place)


def release(vm):
    """Release the VM's resources on its host."""
    gpus.release_all(vm.host.gpus, vm)
    direct.release(vm)


def move(world, vm, host):
    """Register the VM with another host."""
    before = vm.host
    if before.compute is not host.compute:
        drs.forget(vm)
        world.touch(before.compute)
    vm.host = host
    before.vms.pop(vm.moid, None)
    host.vms[vm.moid] = vm
    world.touch(vm, before, host)
    before.vm_went()


def touch(world, vm):
    """Invalidate host, pool and cluster of a VM that starts or stops."""
    world.touch(*(one for one in (vm, vm.host, vm.pool, vm.host.compute) if one is not None))


def connect_nics(vm, running):
    """Adapters are connected while the VM runs, if they are to be from the start."""
    for nic in vm.nics:
        nic.connectable.connected = running and bool(nic.connectable.startConnected)
        nic.connectable.status = "ok" if nic.connectable.connected else "untried"


def _find_host(world, vm, wanted_host):
    """The VM's own host, else where DRS would start it: first where no rule is broken at all."""
    candidates = [wanted_host or vm.host]
    if wanted_host is None and drs.behaviour(vm) in drs.PLACES:
        others = sorted(vm.host.compute.hosts.values(), key=lambda one: (len(one.running_vms()), one.number))
        candidates += [one for one in others if one is not vm.host and reaches(vm, one)]
        candidates.sort(key=lambda host: bool(drs.violated(vm, host)))
    refusals = {}
    for host in candidates:
        try:
            place = admit(world, vm, host)
        except vmodl.MethodFault as fault:
            refusals[host.moid] = fault
        else:
            if host is not vm.host:
                move(world, vm, host)
            return place
    # Of several refusals, report the one of the VM's own host first, which users expect.
    raise refusals.get(vm.host.moid) or next(iter(refusals.values()))


def _check_virtualization(vm, host):
    """A 64-bit guest needs the processor's virtualization, which the BIOS can hide [unsure: the words]."""
    if "64" in vm.guest_id and not host.bmc.functions()["virtualization"]:
        raise admission.refusal(
            "This host does not support virtualizing a 64-bit guest: Intel VT-x or AMD-V is disabled in the BIOS."
        )


def reaches(vm, host):
    """Return whether a host has the datastores and networks of a VM."""
    return all(moid in host.datastores for moid in vm.datastores) and all(moid in host.networks for moid in vm.networks)


def stop(world, vm):
    release(vm)
    vm.power, vm.tools_running, vm.shutdown_pending, vm.booted = "poweredOff", False, False, None
    connect_nics(vm, False)
    drives.connect(world, vm, False)
    touch(world, vm)
    if world.guests is not None:
        world.guests.power_off(vm)
    vm.host.vm_went()
