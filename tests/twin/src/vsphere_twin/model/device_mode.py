"""Modes of the devices that VMs can use (vSphere 9.1): what each is for, and what a change of the mode needs.

The names, the rejections and the impacts are those of the API's description (Python stubs of vCenter 9.1.1.0). Which
change has which impact, and which device has which modes, is not described [unsure].
"""

from __future__ import annotations

from . import direct, graphics, passthru, pci
from . import gpu as gpus
from .host import touch

NONE, HOST, DIRECT, ENHANCED = "none", "host", "directPath", "enhancedDirectPath"
SAME, MIXED, SYSTEM = "vGpuSameSize", "vGpuMixedSize", "systemSelect"
SIZES = {SAME: "sameSize", MIXED: "mixedSize"}
# The names of the REST API.
NAMES = {
    "NONE": NONE,
    "HOST": HOST,
    "DIRECTPATH": DIRECT,
    "ENHANCED_DIRECTPATH": ENHANCED,
    "VGPU_SAME_SIZE": SAME,
    "VGPU_MIXED_SIZE": MIXED,
    "SYSTEM_SELECT": SYSTEM,
}
NO_IMPACT, MAINTENANCE, REBOOT = "NONE", "HOST_MAINTENANCE_MODE_REQUIRED", "HOST_REBOOT_REQUIRED"


class Refused(Exception):
    """The request is not possible; kind is the error of the REST API."""

    def __init__(self, kind, text):
        self.kind = kind
        self.text = text
        super().__init__(text)


def known(host):
    """Return whether the release has modes: vSphere 9.1."""
    return host.release.at_least(9, 1, 0)


def devices(host):
    """The devices that have a mode: GPUs and ports, and no function of one."""
    return [row for row in pci.devices(host) if row.address in host.passthru and not row.is_vf]


def current(host, row):
    """The mode that is in force."""
    gpu = _gpu(host, row.address)
    if row.passthru_active:
        return DIRECT
    if host.passthru[row.address].enhanced_active:
        return ENHANCED
    if gpu is None:
        return HOST
    if gpu.active_type == "basic":
        return NONE
    if gpu.active_type != "sharedDirect":
        return HOST
    # A GPU in MIG mode has no mode of its own here; that it reads as same size is [unsure].
    return MIXED if gpu.vgpu_mode == "mixedSize" and not gpu.mig_enabled else SAME


def shown(host, row):
    """The mode as SOAP shows it; that it shows systemSelect there, unlike REST, is [unsure]."""
    return SYSTEM if row.address in host.modes.left_to_host else current(host, row)


def configurable(host, row):
    """The modes that the device can be configured to [unsure: which a device lists]."""
    gpu = _gpu(host, row.address)
    enhanced = [ENHANCED] if host.passthru[row.address].dvx is not None else []
    if gpu is None:
        return [HOST, DIRECT, *enhanced]
    if host.driver.family == "none":
        return [NONE, DIRECT, *enhanced]
    sizes = [SAME, MIXED] if gpu.board.mixed_size and host.release.mixed_size else [SAME]
    return [HOST, DIRECT, *enhanced, *(sizes if graphics.firmware_allows(host, gpu) else ()), SYSTEM]


def used_memory_mb(host, row):
    """Memory of running VMs on the device, or None for a device without such a count."""
    gpu = _gpu(host, row.address)
    return None if gpu is None else 1024 * (gpu.board.memory_gb if gpu.held_by is not None else gpu.load())


def configure(world, host, address, mode):
    """Set the mode of one device; return the impact. A VM that uses the device forbids it [unsure: the kind]."""
    row = next((one for one in devices(host) if one.address == address), None)
    if row is None:
        raise Refused("NOT_FOUND", f"The device {address} could not be found on the host.")
    if mode is None:
        return NO_IMPACT
    if mode not in configurable(host, row):
        raise Refused("INVALID_ARGUMENT", f"The device {address} cannot be configured to the mode {_name(mode)}.")
    if passthru.users(host, address):
        raise Refused("ERROR", f"The device {address} is in use by virtual machines.")
    if mode == SYSTEM:
        host.modes.left_to_host.add(address)
        impact = NO_IMPACT
    else:
        host.modes.left_to_host.discard(address)
        impact = _configure(host, row, mode)
    touch(world, host)
    return impact


def at_maintenance(host):
    """Apply what waited for maintenance mode."""
    for address in host.modes.until_maintenance:
        gpu = _gpu(host, address)
        if gpu is not None and gpu.active_type in graphics.TYPES:
            gpu.active_type = gpu.configured_type
    host.modes.until_maintenance.clear()


def at_boot(host):
    """A boot applies everything."""
    host.modes.until_maintenance.clear()


def select(host, vm, profiles):
    """Pick the mode of free GPUs that were left to the host, for a VM that starts there [unsure: how it picks]."""
    whole = any(isinstance(one.backing, direct.DYNAMIC) for one in direct.direct_devices(vm))
    for gpu in host.gpus:
        if gpu.pci_id not in host.modes.left_to_host or gpu.vms() or host.driver.family == "none":
            continue
        if whole and not profiles:
            _bind(host, gpu.pci_id, True)
        elif profiles:
            _bind(host, gpu.pci_id, False)
            gpu.configured_type = gpu.active_type = "sharedDirect"
            if gpus.place_all(host.gpus, profiles, host.assignment_policy, host.release, vm) is None:
                gpu.vgpu_mode = "mixedSize" if gpu.vgpu_mode == "sameSize" and gpu.board.mixed_size else "sameSize"


def _configure(host, row, mode):
    state, gpu = host.passthru[row.address], _gpu(host, row.address)
    state.enabled, state.enhanced = mode == DIRECT, mode == ENHANCED
    if gpu is not None and mode not in (DIRECT, ENHANCED) and host.driver.family != "none":
        gpu.configured_type = "shared" if mode == HOST else "sharedDirect"
        gpu.vgpu_mode = SIZES.get(mode, gpu.vgpu_mode)
        host.typed_gpus.add(gpu.pci_id)
    if state.enabled != state.active or state.enhanced != state.enhanced_active:
        host.reboot_required = True
        return REBOOT
    if gpu is None or gpu.active_type not in graphics.TYPES or gpu.active_type == gpu.configured_type:
        host.modes.until_maintenance.discard(row.address)
        return NO_IMPACT
    host.modes.until_maintenance.add(row.address)
    if not host.maintenance:
        return MAINTENANCE
    at_maintenance(host)
    return NO_IMPACT


def _bind(host, address, passthrough):
    state = host.passthru[address]
    if state.active != passthrough:
        state.enabled = state.active = passthrough
        graphics.settle(host)


def _gpu(host, address):
    return next((one for one in host.gpus if one.pci_id == address), None)


def _name(mode):
    return next(name for name, one in NAMES.items() if one == mode)
