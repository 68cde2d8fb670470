"""The PCI devices of a host, and which of them are passed through or split."""

from __future__ import annotations

import ctypes

from pyVmomi import vim

from vsphere_twin.model import device_mode, direct, dvx, pci

from .. import types
from .shape import make


def pci_devices(host):
    """hardware.pciDevice: bridges, GPUs and ports, and the virtual functions beside them."""
    shown = [pci_device(row) for row in pci.devices(host)]
    if device_mode.known(host):
        rows = {row.address: row for row in device_mode.devices(host)}
        for device in shown:
            if device.id in rows:
                device.directPathInfo = _direct_path_info(host, rows[device.id])
    return shown


def pci_device(row):
    """HostPciDevice of a row of the tree."""
    _domain, bus, rest = row.address.split(":")
    slot, function = rest.split(".")
    return make(
        vim.host.PciDevice,
        id=row.address,
        classId=_signed(row.class_id, 16),
        bus=_signed(int(bus, 16), 8),
        slot=int(slot, 16),
        function=int(function),
        vendorId=_signed(row.vendor_id, 16),
        subVendorId=_signed(row.vendor_id, 16),
        vendorName=row.vendor_name,
        deviceId=_signed(row.device_id, 16),
        subDeviceId=_signed(row.subsystem_id, 16),
        parentBridge=row.parent or None,
        deviceName=row.device_name,
    )


def passthrough_info(host):
    """config.pciPassthruInfo: configured and in force."""
    ports = {nic.pci: nic for nic in host.ports}
    return [_info(host, row, ports.get(row.address)) for row in pci.devices(host)]


def bindings(host):
    """config.assignableHardwareBinding: the devices that running VMs have by dynamic DirectPath or DVX.

    The fields are those of pyVmomi 9.1.1.0: the address and the device of the VM from API 9.1.0.0 on. The form of the
    instance ID, and that static devices, virtual functions and vGPUs are left out, are [unsure].
    """
    if not host.release.at_least(7, 0, 0):
        return []
    shown = device_mode.known(host)
    return [
        make(
            vim.host.AssignableHardwareBinding,
            instanceId=f"instance-{address}",
            vm=types.reference(holder.vm),
            **({"pciId": address, "deviceKey": holder.device_key} if shown else {}),
        )
        for address, holder in sorted(host.claimed.items())
        if _assigned_at_start(holder)
    ]


def _assigned_at_start(holder):
    kinds = (direct.DYNAMIC, dvx.BACKING)
    return any(one.key == holder.device_key and isinstance(one.backing, kinds) for one in holder.vm.devices)


def node_devices(host, node):
    """The PCI addresses of a NUMA node."""
    return [row.address for row in pci.devices(host) if row.numa_node == node]


def _info(host, row, nic):
    shared = {
        "id": row.address,
        "dependentDevice": row.physical_function or row.address,
        "passthruEnabled": row.passthru_enabled,
        "passthruCapable": row.passthru_capable,
        "passthruActive": row.passthru_active,
    }
    if host.release.at_least(7, 0, 2) and row.address in host.passthru:
        shared["hardwareLabel"] = host.passthru[row.address].label
    if device_mode.known(host) and row.address in host.passthru and not row.is_vf:
        shared["directPathState"] = _direct_path_state(host, row)
    if nic is None:
        return make(vim.host.PciPassthruInfo, **shared)
    most = nic.most_vfs
    wanted = nic.vfs if nic.requested_vfs is None else nic.requested_vfs
    return make(
        vim.host.SriovInfo,
        **shared,
        sriovEnabled=wanted > 0,
        sriovCapable=most > 0,
        sriovActive=nic.vfs > 0,
        numVirtualFunctionRequested=wanted,
        numVirtualFunction=nic.vfs,
        maxVirtualFunctionSupported=most,
    )


def _direct_path_state(host, row):
    return make(
        vim.host.PciPassthruInfo.DirectPathState,
        mode=device_mode.shown(host, row),
        configurableModes=device_mode.configurable(host, row),
        usedMemory=device_mode.used_memory_mb(host, row),
    )


def _direct_path_info(host, row):
    gpu = next((one for one in host.gpus if one.pci_id == row.address), None)
    owned = row.module in ("", pci.OWNED_BY_VMS)
    return make(
        vim.host.PciDevice.DirectPathInfo,
        driverName=None if owned else row.module,
        driverVersion=host.driver.version or None if gpu is not None and not owned else None,
        availableMemory=None if gpu is None else gpu.board.memory_gb * 1024,
    )


def _signed(number, bits):
    """The API declares these fields as signed."""
    return (ctypes.c_int8 if bits == 8 else ctypes.c_int16)(number).value
