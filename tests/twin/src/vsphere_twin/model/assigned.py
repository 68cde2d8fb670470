"""PCI devices of a VM: required fields of a passthrough request, and the maximum of devices."""

from __future__ import annotations

from pyVmomi import vim

from . import dvx
from .direct import DYNAMIC, STATIC

DYNAMIC_HARDWARE = 17  # Dynamic DirectPath I/O (frankdenneman.nl)
MANY_HARDWARE = 20  # vSphere 8.0: 32 devices instead of 16


def most(hardware):
    """Return how many passthrough devices virtual hardware of this version accepts."""
    return 32 if hardware >= MANY_HARDWARE else 16


def check(vm, index, device):
    """Refuse a passed-through device that its VM cannot have."""
    hardware = vm.hardware_number
    if len(vm.passthrough_devices) >= most(hardware) and isinstance(device.backing, (STATIC, DYNAMIC, dvx.BACKING)):
        raise vim.fault.TooManyDevices(
            msg="The number of virtual devices exceeds the maximum for a given controller.",
            property=f"virtualDeviceSpec[{index}].device",
        )
    if isinstance(device.backing, dvx.BACKING):
        _require_hardware(vm, index, dvx.HARDWARE)
        if not device.backing.deviceClass:  # [unsure: that vSphere refuses it here]
            raise _invalid(index)
    if isinstance(device.backing, DYNAMIC):
        _require_hardware(vm, index, DYNAMIC_HARDWARE)
        if not device.backing.allowedDevice:  # nothing could ever fit [unsure: that vSphere refuses it here]
            raise _invalid(index)
    if isinstance(device.backing, STATIC):
        taken = [one.backing.id for one in vm.passthrough_devices if isinstance(one.backing, STATIC)]
        if not device.backing.id or device.backing.id in taken:  # the second half [unsure]
            raise _invalid(index)


def _require_hardware(vm, index, least):
    if vm.hardware_number < least:
        raise vim.fault.DeviceUnsupportedForVmVersion(
            msg=f"Device '{index}' is not supported for the hardware version of the virtual machine.",
            property="virtualDeviceSpec.device",
            deviceIndex=index,
            currentVersion=vm.hardware_version,
            expectedVersion=f"vmx-{least}",
        )


def _invalid(index):
    return vim.fault.InvalidDeviceSpec(
        msg=f"Invalid configuration for device '{index}'.",
        property="virtualDeviceSpec.device.backing",
        deviceIndex=index,
    )
