"""What a host says about its GPUs; every list follows from board, driver, graphics type and MIG mode."""

from __future__ import annotations

import ctypes

from pyVmomi import vim

from .shape import make

NVIDIA = 0x10DE
DISPLAY_3D = 0x0302
ETHERNET = 0x0200


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
    """config.graphicsConfig: what is configured, which may wait for a restart."""
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
        )
        for entry in host.vgpu_types
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


def passthrough_info(host):
    """config.pciPassthruInfo for GPUs and network ports."""
    rows = [
        make(
            vim.host.PciPassthruInfo,
            id=gpu.pci_id,
            dependentDevice=gpu.pci_id,
            passthruEnabled=gpu.passthrough,
            passthruCapable=True,
            passthruActive=gpu.active_type == "direct",
        )
        for gpu in host.gpus
    ]
    return rows + [
        make(
            vim.host.SriovInfo,
            id=nic.pci,
            dependentDevice=nic.pci,
            passthruEnabled=False,
            passthruCapable=True,
            passthruActive=False,
            sriovEnabled=False,
            sriovCapable=True,
            sriovActive=False,
            numVirtualFunctionRequested=0,
            numVirtualFunction=0,
            maxVirtualFunctionSupported=16,
        )
        for nic in host.nics
    ]


def pci_devices(host):
    """hardware.pciDevice for GPUs and network ports."""
    rows = [
        _pci(gpu.pci_id, DISPLAY_3D, NVIDIA, gpu.board.device_id, "NVIDIA Corporation", _device_name(gpu))
        for gpu in host.gpus
    ]
    return rows + [
        _pci(nic.pci, ETHERNET, nic.vendor_id, nic.device_id, "Mellanox Technologies", nic.model) for nic in host.nics
    ]


def passthrough_targets(host):
    """QueryConfigTarget.pciPassthrough: the devices that are active for passthrough."""
    return [
        make(
            vim.vm.PciPassthroughInfo,
            name=gpu.pci_id,
            pciDevice=_pci(
                gpu.pci_id, DISPLAY_3D, NVIDIA, gpu.board.device_id, "NVIDIA Corporation", _device_name(gpu)
            ),
            systemId=host.uuid,
        )
        for gpu in host.gpus
        if gpu.passthrough
    ]


def _pci(pci_id, class_id, vendor, device, vendor_name, name):
    _domain, bus, rest = pci_id.split(":")
    slot, function = rest.split(".")
    return make(
        vim.host.PciDevice,
        id=pci_id,
        classId=class_id,
        bus=_signed(int(bus, 16), 8),
        slot=int(slot, 16),
        function=int(function),
        vendorId=_signed(vendor, 16),
        subVendorId=_signed(vendor, 16),
        vendorName=vendor_name,
        deviceId=_signed(device, 16),
        subDeviceId=0,
        deviceName=name,
    )


def _signed(number, bits):
    """The API declares these fields as signed."""
    return (ctypes.c_int8 if bits == 8 else ctypes.c_int16)(number).value


def _device_name(gpu):
    return f"NVIDIA {gpu.board.title}"


def _device_vendor(board):
    return board.device_id << 16 | NVIDIA


def _mode(gpu):
    if gpu.active_type != "sharedDirect":
        return "none"
    return "multiInstanceGpu" if gpu.mig_enabled else gpu.vgpu_mode
