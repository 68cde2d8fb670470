"""Power: what a VM needs to start, what it holds while it runs, and what it gives back."""

from __future__ import annotations

import datetime

from pyVmomi import vim, vmodl

from . import catalogue, devices, graphics, tasks
from . import gpu as gpus
from . import host as hosts

HOST_OVERHEAD_MB = 16 * 1024  # what ESXi keeps for itself [unsure: order of magnitude]
DEFAULT_MMIO_GB = 32  # the 64-bit window without a size (frankdenneman.nl 2023-05-30)
DRS_PLACES = ("partiallyAutomated", "fullyAutomated")


def power_on(world, vm, wanted_host=None):
    """Start a VM on its host, or where DRS may place it, or say why not."""
    if vm.template:
        raise vmodl.fault.NotSupported(msg="The operation is not supported on the object.")
    if vm.power == "poweredOn":
        raise devices.wrong_power(vm)
    if vm.connection != "connected":
        raise vim.fault.InvalidState(msg="The operation is not allowed in the current state.")
    if vm.power == "suspended":
        hosts.require_usable(vm.host)
        placements = graphics.pick(vm.host, vm, _vgpu_types(vm))
    else:
        check_config(vm)
        placements = _find_host(world, vm, wanted_host)
    gpus.settle(placements, vm)
    for gpu in _passthrough_gpus(vm, vm.host):
        gpu.held_by = vm
    vm.power = "poweredOn"
    vm.booted = datetime.datetime.now(datetime.timezone.utc)
    _connect_nics(vm, True)
    world.touch(vm, vm.host)
    _boot(world, vm)


def power_off(world, vm):
    """Pull the plug."""
    if vm.power == "poweredOff":
        raise devices.wrong_power(vm)
    _stopped(world, vm)


def lose_power(world, vm):
    """The host under the VM is gone."""
    _stopped(world, vm)


def suspend(world, vm):
    """Freeze the VM; its vGPUs leave the GPU with it."""
    if vm.power != "poweredOn":
        raise devices.wrong_power(vm)
    if vm.passthrough_devices:
        raise vim.fault.GenericVmConfigFault(
            msg="The virtual machine cannot be suspended.", reason="A PCI passthrough device is present."
        )
    _release(vm)
    vm.power, vm.tools_running = "suspended", False
    world.touch(vm, vm.host)
    vm.host.vm_went()


def reset(world, vm):
    """Restart without asking the guest."""
    if vm.power != "poweredOn":
        raise devices.wrong_power(vm)
    vm.tools_running = False
    world.touch(vm)
    _boot(world, vm)


def shut_down_guest(world, vm):
    """Ask the guest to go; it takes its time and then the VM is off."""
    _require_tools(vm)
    vm.shutdown_pending = True
    seconds = world.task_seconds.get("ShutdownGuest", tasks.SECONDS["ShutdownGuest"])
    world.timeline.after(seconds, lambda: _guest_went(world, vm))


def reboot_guest(world, vm):
    """Ask the guest to restart."""
    _require_tools(vm)
    vm.tools_running = False
    world.touch(vm)
    _boot(world, vm)


def check_config(vm):
    """What the VM's own configuration must have before a host is even looked at."""
    wanted = _vgpu_types(vm)
    if not wanted and not vm.passthrough_devices:
        return
    if not vm.fully_reserved:
        reason = (
            f"Invalid memory setting: memory reservation (sched.mem.min) should be equal to memsize({vm.memory_mb})."
        )
        raise vim.fault.GenericVmConfigFault(msg=reason, reason=reason)
    _check_mmio(vm)
    _check_vgpus(vm, wanted)


def _check_mmio(vm):
    boards = [catalogue.profile(name)[1] for _key, name in vm.vgpus]
    need_gb = sum(board.mmio_gb for board in boards if board is not None)
    if not need_gb:
        return
    enabled = (vm.setting("pciPassthru.use64bitMMIO") or "").casefold() == "true"
    size_gb = _whole(vm.setting("pciPassthru.64bitMMIOSizeGB"), DEFAULT_MMIO_GB) if enabled else 0
    if vm.firmware != "efi":
        size_gb = 0  # BIOS firmware has no window above 4 GB at all
    if size_gb < need_gb:
        reason = (
            f"The firmware could not allocate {(need_gb - size_gb) * 1024 * 1024} KB of PCI MMIO. "
            "Increase the size of PCI MMIO and try again."
        )
        raise vim.fault.GenericVmConfigFault(msg=reason, reason=reason)


def _check_vgpus(vm, wanted):
    release = vm.host.release
    boards = {catalogue.profile(name)[1] for _key, name in vm.vgpus}
    series = {entry.series for _key, entry in wanted}
    whole = [not entry.mig and entry.fb_gb == catalogue.profile(entry.name)[1].memory_gb for _key, entry in wanted]
    if len(wanted) > 1 and (len(boards) > 1 or len(series) > 1):
        raise _vgpu_fault("All vGPU devices of a virtual machine must be of one board and one series.")
    if len(wanted) > 1 and not all(whole) and not release.fractional_multi_vgpu:
        raise _vgpu_fault("Several vGPU devices must each have the whole frame buffer on this version of ESXi.")
    if len(wanted) > release.most_vgpus:
        raise _vgpu_fault(f"A virtual machine can have at most {release.most_vgpus} vGPU devices.")


def _vgpu_fault(reason):
    return vim.fault.GenericVmConfigFault(msg=reason, reason=reason)


def _vgpu_types(vm):
    """(device key, type) of all vGPUs; an unknown name finds no graphics resource anywhere."""
    found = []
    for key, name in vm.vgpus:
        entry, _board = catalogue.profile(name)
        if entry is None:
            raise vim.fault.InsufficientGraphicsResourcesFault(msg=graphics.NO_GRAPHICS)
        found.append((key, entry))
    return found


def _find_host(world, vm, wanted_host):
    """The VM's own host, else where DRS would start it."""
    candidates = [wanted_host or vm.host]
    cluster = vm.host.compute
    if wanted_host is None and getattr(cluster, "drs", "off") in DRS_PLACES:
        others = sorted(cluster.hosts.values(), key=lambda one: (len(one.running_vms()), one.number))
        candidates += [one for one in others if one is not vm.host and _reachable(vm, one)]
    refusal = None
    for host in candidates:
        try:
            placements = admit(vm, host)
        except vmodl.MethodFault as fault:
            refusal = refusal or fault
        else:
            if host is not vm.host:
                move(world, vm, host)
            return placements
    raise refusal


def admit(vm, host):
    """What a host would give a VM: GPUs, or the reason why it cannot run there."""
    hosts.require_usable(host)
    _check_virtualization(vm, host)
    reserved = sum(other.memory_reserved_mb for other in host.running_vms())
    unreserved = host.hardware.memory_gb * 1024 - HOST_OVERHEAD_MB - reserved
    if vm.memory_reserved_mb > unreserved:
        raise vim.fault.InsufficientMemoryResourcesFault(
            msg="The host does not have sufficient memory resources to satisfy the reservation.",
            unreserved=max(0, unreserved) * 1024 * 1024,
            requested=vm.memory_reserved_mb * 1024 * 1024,
        )
    _passthrough_gpus(vm, host)
    return graphics.pick(host, vm, _vgpu_types(vm))


def _check_virtualization(vm, host):
    """A 64-bit guest needs the processor's virtualization, which the BIOS can hide [unsure: the words]."""
    if "64" in vm.guest_id and not host.bmc.functions()["virtualization"]:
        reason = "This host does not support virtualizing a 64-bit guest: Intel VT-x or AMD-V is disabled in the BIOS."
        raise vim.fault.GenericVmConfigFault(msg=reason, reason=reason)


def move(world, vm, host):
    """Register the VM with another host."""
    before, vm.host = vm.host, host
    before.vms.pop(vm.moid, None)
    host.vms[vm.moid] = vm
    world.touch(vm, before, host)
    before.vm_went()


def _reachable(vm, host):
    return all(moid in host.datastores for moid in vm.datastores) and all(moid in host.networks for moid in vm.networks)


def _passthrough_gpus(vm, host):
    """A whole GPU for each passed-through device, or the refusal."""
    chosen = []
    for device in vm.passthrough_devices:
        free = [gpu for gpu in host.gpus if gpu.passthrough and gpu.held_by is None and gpu not in chosen]
        fitting = next((gpu for gpu in free if _allows(device.backing, gpu)), None)
        if fitting is None:
            reason = f"Device '{device.deviceInfo.label}' is not available on the host."
            raise vim.fault.GenericVmConfigFault(msg=reason, reason=reason)
        chosen.append(fitting)
    return chosen


def _allows(backing, gpu):
    if isinstance(backing, vim.vm.device.VirtualPCIPassthrough.DynamicBackingInfo):
        return any(one.deviceId == gpu.board.device_id for one in backing.allowedDevice or [])
    return getattr(backing, "id", None) == gpu.pci_id


def _boot(world, vm):
    """The guest comes up after a while, with tools running and addresses on its NICs."""
    if not vm.tools_installed:
        return
    seconds = world.task_seconds.get("boot", tasks.SECONDS["boot"])
    booted = vm.booted
    world.timeline.after(seconds, lambda: _guest_came(world, vm, booted))


def _guest_came(world, vm, booted):
    if vm.power == "poweredOn" and vm.booted == booted:
        vm.tools_running = True
        vm.addresses = {nic.key: _address(vm, position) for position, nic in enumerate(vm.nics)}
        world.touch(vm)


def _guest_went(world, vm):
    if vm.power == "poweredOn" and vm.shutdown_pending:
        _stopped(world, vm)


def _stopped(world, vm):
    _release(vm)
    vm.power, vm.tools_running, vm.shutdown_pending, vm.booted = "poweredOff", False, False, None
    _connect_nics(vm, False)
    world.touch(vm, vm.host)
    vm.host.vm_went()


def _release(vm):
    gpus.release_all(vm.host.gpus, vm)


def _connect_nics(vm, running):
    for nic in vm.nics:
        nic.connectable.connected = running and bool(nic.connectable.startConnected)
        nic.connectable.status = "ok" if nic.connectable.connected else "untried"


def _address(vm, position):
    number = int(vm.moid.rpartition("-")[2])
    return f"192.168.{(number // 250 + position * 16) % 256}.{number % 250 + 2}"


def _require_tools(vm):
    if vm.power != "poweredOn":
        raise devices.wrong_power(vm)
    if not vm.tools_running:
        raise vim.fault.ToolsUnavailable(
            msg="Cannot complete operation because VMware Tools is not running in this virtual machine."
        )


def _whole(text, default):
    try:
        return int(text)
    except (TypeError, ValueError):
        return default
