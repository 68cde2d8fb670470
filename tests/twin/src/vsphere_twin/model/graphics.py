"""Graphics of a host: which type each GPU has, and when a configured type becomes the active one."""

from __future__ import annotations

from pyVmomi import vim, vmodl

from . import gpu as gpus

NO_GRAPHICS = "The amount of graphics resource available in the parent resource pool is insufficient for the operation."
TYPES = ("shared", "sharedDirect")
POLICIES = ("performance", "consolidation")


def settle(host):
    """Set the types after a boot or a restart of Xorg: without a driver every GPU has the basic type."""
    for gpu in host.gpus:
        gpu.driver = host.driver.family
        state = host.passthru[gpu.pci_id]
        gpu.passthrough = state.active or state.enhanced_active
        gpu.shareable = firmware_allows(host, gpu)
        if gpu.passthrough:
            gpu.active_type = "direct"
        elif host.driver.family == "none":
            gpu.active_type = "basic"
        else:
            gpu.active_type = gpu.configured_type


def adopt_default(host):
    """GPUs that a driver found for the first time take the host's default type [unsure]."""
    if host.driver.family == "none":
        return
    for gpu in host.gpus:
        if gpu.pci_id not in host.typed_gpus:
            gpu.configured_type = host.default_graphics_type
            host.typed_gpus.add(gpu.pci_id)


def firmware_allows(host, gpu):
    """Return whether the BIOS provides the requirements of vGPU; the driver loads in any case."""
    has = host.bmc.functions()
    if not has["iommu"]:
        return False
    if gpu.board.mmio_gb and not has["above_4g"]:
        return False
    # vGPU requires SR-IOV on Ampere and newer (NVIDIA AI Enterprise user guide 5.0, 1.2 and 2.7).
    return has["sriov"] or not gpu.board.mixed_size


def configure(world, host, config):
    """UpdateGraphicsConfig: save the request at once; it takes effect after a restart of Xorg or of the host."""
    if config.hostDefaultGraphicsType not in TYPES:
        raise vmodl.fault.InvalidArgument(invalidProperty="config.hostDefaultGraphicsType")
    if config.sharedPassthruAssignmentPolicy not in POLICIES:
        raise vmodl.fault.InvalidArgument(invalidProperty="config.sharedPassthruAssignmentPolicy")
    by_id = {gpu.pci_id: gpu for gpu in host.gpus}
    for entry in config.deviceType or []:
        if entry.deviceId not in by_id or entry.graphicsType not in TYPES:
            raise vmodl.fault.InvalidArgument(invalidProperty="config.deviceType")
        if host.driver.family == "none" and entry.graphicsType != by_id[entry.deviceId].configured_type:
            # A basic GPU has no driver that could share it [unsure: that the API refuses so].
            raise vmodl.fault.NotSupported(msg="The operation is not supported on the object.")
    host.default_graphics_type = config.hostDefaultGraphicsType
    host.assignment_policy = config.sharedPassthruAssignmentPolicy
    for entry in config.deviceType or []:
        gpu = by_id[entry.deviceId]
        gpu.configured_type = entry.graphicsType
        if entry.vgpuMode in ("sameSize", "mixedSize") and host.release.mixed_size:
            gpu.vgpu_mode = entry.vgpuMode
    world.touch(host, host.managers["graphicsManager"])


def restart_xorg(world, host):
    """The graphics types that are configured become the active ones, unless a VM holds a GPU."""
    if any(gpu.vms() for gpu in host.gpus):
        return
    settle(host)
    world.touch(host, host.managers["graphicsManager"])


def pick(host, vm, wanted, bound=None):
    """GPUs for the vGPUs of a VM, or the vendor's refusal; those of device groups are bound to one by their keys."""
    placements = gpus.place_all(host.gpus, wanted, host.assignment_policy, host.release, vm, bound or {})
    if placements is None:
        raise vim.fault.InsufficientGraphicsResourcesFault(msg=NO_GRAPHICS)
    return placements
