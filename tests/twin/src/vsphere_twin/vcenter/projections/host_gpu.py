"""GPU properties of a host; every list follows from board, driver, graphics type and MIG mode."""

from __future__ import annotations

from pyVmomi import vim

from .shape import make

NVIDIA = 0x10DE
# Bandwidths of the estimates for vMotion, and megabits in a GiB.
STUN_MBPS, GIB_MEGABITS = (10_000, 25_000, 100_000), 8590


def types_offered(host):
    """config.sharedPassthruGpuTypes."""
    return [entry.name for entry in host.vgpu_types]


def capabilities(host):
    """config.sharedGpuCapabilities."""
    return [
        make(
            vim.host.SharedGpuCapabilities,
            vgpu=entry.name,
            diskSnapshotSupported=True,
            memorySnapshotSupported=True,
            suspendSupported=True,
            migrateSupported=True,
        )
        for entry in host.vgpu_types
    ]


def graphics_info(host):
    """config.graphicsInfo: the active type, and who uses each GPU."""
    return [
        make(
            vim.host.GraphicsInfo,
            deviceName=_device_name(gpu),
            vendorName="NVIDIA Corporation",
            pciId=gpu.pci_id,
            graphicsType=gpu.active_type,
            vgpuMode=_mode(gpu) if host.release.at_least(8, 0, 3) else None,
            memorySizeInKB=0 if gpu.active_type == "basic" else gpu.board.memory_gb * 1024 * 1024,
            vm=gpu.vms(),
        )
        for gpu in host.gpus
    ]


def graphics_config(host):
    """config.graphicsConfig: the configured state, which may be pending until a restart."""
    return make(
        vim.host.GraphicsConfig,
        hostDefaultGraphicsType=host.default_graphics_type,
        sharedPassthruAssignmentPolicy=host.assignment_policy,
        deviceType=[
            make(
                vim.host.GraphicsConfig.DeviceType,
                deviceId=gpu.pci_id,
                graphicsType=gpu.configured_type,
                vgpuMode=gpu.vgpu_mode if host.release.at_least(8, 0, 3) else None,
            )
            for gpu in host.gpus
        ],
    )


def profile_info(host):
    """QueryConfigTarget.vgpuProfileInfo (API 7.0.3 and later)."""
    boards = {gpu.board.prefix: gpu.board for gpu in host.gpus}
    return [
        make(
            vim.vm.VgpuProfileInfo,
            name=entry.name,
            profileName=entry.name,
            deviceVendorId=_device_vendor(boards[max(filter(entry.name.startswith, boards), key=len)]),
            fbSizeInGib=entry.fb_gb,
            profileSharing="mig" if entry.mig else "timeSliced",
            profileClass="compute" if entry.series == "c" else "quadro",
            stunTimeEstimates=_stuns(entry) if host.release.at_least(8, 0, 2) else None,
        )
        for entry in host.vgpu_types
    ]


def _stuns(entry):
    """Estimates of vMotion for a C or Q type: the time to copy its frame buffer."""
    if entry.series not in ("c", "q"):
        return None
    return [
        make(
            vim.vm.VMotionStunTimeInfo,
            name=entry.name,
            migrationBW=mbps,
            stunTime=-(-entry.fb_gb * GIB_MEGABITS // mbps),
        )
        for mbps in STUN_MBPS
    ]


def device_info(host):
    """QueryConfigTarget.vgpuDeviceInfo (API 7.0.3 and later): one entry per board that can carry vGPUs."""
    boards = {gpu.board.key: gpu.board for gpu in host.gpus if gpu.types(host.release)}
    return [
        make(
            vim.vm.VgpuDeviceInfo,
            name=board.title,
            deviceName=f"NVIDIA {board.title}",
            deviceVendorId=_device_vendor(board),
            maxFbSizeInGib=board.memory_gb,
            timeSlicedCapable=True,
            migCapable=board.migs,
            computeProfileCapable=True,
            quadroProfileCapable=not board.compute_only,
        )
        for board in boards.values()
    ]


def _device_name(gpu):
    return f"NVIDIA {gpu.board.title}"


def _device_vendor(board):
    return board.device_id << 16 | NVIDIA


def _mode(gpu):
    if gpu.active_type != "sharedDirect":
        return "none"
    return "multiInstanceGpu" if gpu.mig_enabled else gpu.vgpu_mode
