"""Whole devices that a VM takes from its host: passthrough devices, virtual functions, device groups."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field

from pyVmomi import vim

from . import dvx, groups, pci
from .vm import VMIOP

DEVICE = vim.vm.device
STATIC = DEVICE.VirtualPCIPassthrough.DeviceBackingInfo
DYNAMIC = DEVICE.VirtualPCIPassthrough.DynamicBackingInfo
SRIOV = DEVICE.VirtualSriovEthernetCard
PVRDMA = DEVICE.VirtualVmxnet3Vrdma


@dataclass(frozen=True)
class Holder:
    """Holder of a PCI device of the host."""

    vm: object
    device_key: int


@dataclass
class Claims:
    """A choice that is not yet made: which PCI device of the host each virtual device gets."""

    vm: object
    host: object
    devices: dict[int, str] = field(default_factory=dict)  # key of the virtual device: PCI address
    vgpus: dict[int, object] = field(default_factory=dict)  # key of a vGPU in a device group: the GPU it has to be on

    def take(self):
        """Make the choice real, and show it in the VM's devices."""
        gpus = {gpu.pci_id: gpu for gpu in self.host.gpus}
        for key, address in self.devices.items():
            self.host.claimed[address] = Holder(self.vm, key)
            if address in gpus:
                gpus[address].held_by = self.vm
        self.vm.devices = [
            _assigned(self.host, one, self.devices[one.key]) if one.key in self.devices else one
            for one in self.vm.devices
        ]


def claim(world, vm, host):
    """Return the devices that a host would give a VM, or the reason why it cannot. Nothing is taken yet."""
    claims = Claims(vm, host)
    if not direct_devices(vm) and not vm.device_groups:
        return claims
    rows = {row.address: row for row in pci.devices(host)}
    grouped = groups.claim(vm, host, claims)
    for device in direct_devices(vm):
        if device.key not in grouped and isinstance(device.backing, STATIC):
            claims.devices[device.key] = _static(host, rows, claims, device)
    for position, device in enumerate(one for one in vm.devices if isinstance(one, SRIOV)):
        claims.devices[device.key] = _virtual_function(world, host, rows, claims, device, position)
    _dynamic(host, rows, claims, [one for one in direct_devices(vm) if one.key not in grouped])
    for device in direct_devices(vm):
        if isinstance(device.backing, dvx.BACKING):
            claims.devices[device.key] = _enhanced(host, claims, device)
    return claims


def release(vm):
    """Release all devices; return whether there were any."""
    host = vm.host
    held = [address for address, holder in host.claimed.items() if holder.vm is vm]
    for address in held:
        del host.claimed[address]
    for gpu in host.gpus:
        if gpu.held_by is vm:
            gpu.held_by = None
    if held:
        vm.devices = [unassigned(one) for one in vm.devices]
    return bool(held)


def direct_devices(vm):
    """The devices that only one host's hardware can serve: passed-through ones and virtual functions."""
    return [
        one for one in vm.devices if isinstance(one, SRIOV) or isinstance(one.backing, (STATIC, DYNAMIC, dvx.BACKING))
    ]


def bound(vm):
    """Return the devices whose state cannot be saved, so that a running VM stays with its host and its memory."""
    return [
        one
        for one in direct_devices(vm)
        if not (isinstance(one.backing, dvx.BACKING) and dvx.can_checkpoint(vm.host, one))
    ]


def needs_all_memory(vm):
    """Return whether the VM starts only with all of its memory reserved; for PVRDMA and DVX [unsure]."""
    kinds = (STATIC, DYNAMIC, VMIOP, dvx.BACKING)
    return any(isinstance(one, (SRIOV, PVRDMA)) or isinstance(one.backing, kinds) for one in vm.devices)


def free(host, address):
    """Return whether a device can be given to a VM now."""
    return address not in host.claimed


def allows(backing, row, label):
    """Return whether a dynamic backing matches a device of the host."""
    if backing.customLabel and backing.customLabel != label:
        return False
    return any(
        (one.vendorId & 0xFFFF, one.deviceId & 0xFFFF) == (row.vendor_id, row.device_id)
        for one in backing.allowedDevice or []
    )


def labelled(host, address):
    """The hardware label of a device."""
    state = host.passthru.get(address)
    return (state.label or "") if state is not None else ""


def refusal(reason):
    """The fault of a power-on that lacks a device."""
    return vim.fault.GenericVmConfigFault(msg=reason, reason=reason)


def _static(host, rows, claims, device):
    backing = device.backing
    row = rows.get(backing.id)
    short = backing.id.partition(":")[2]
    # The sentence is the vendor's (posts on power-on failures after a change of slots).
    if row is None or not _same(backing, row) or (backing.systemId and backing.systemId != host.uuid):
        raise refusal(
            "The systemId does not match the current system or the deviceId, and the vendorId does not match "
            f"the device currently at {short}."
        )
    if not row.passthru_active:
        raise refusal(
            f"Failed to register the device pciPassthru0 for {short} due to unavailable hardware or software support."
        )
    if not free(host, row.address) or row.address in claims.devices.values():
        raise refusal(f"Device {short} is already in use.")
    return row.address


def _same(backing, row):
    return (backing.vendorId & 0xFFFF, _number(backing.deviceId)) == (row.vendor_id, row.device_id)


def _number(text):
    """A device id as clients write it: hexadecimal, with or without 0x."""
    try:
        return int(text or "", 16)
    except ValueError:
        return -1


def _dynamic(host, rows, claims, devices):
    """Find a device for each dynamic one, whatever order serves all of them."""
    taken = set(claims.devices.values())
    wanted = [one for one in devices if isinstance(one.backing, DYNAMIC)]
    offered = [row for row in rows.values() if row.passthru_active and free(host, row.address)]
    choices = {
        one.key: [row.address for row in offered if allows(one.backing, row, labelled(host, row.address))]
        for one in wanted
    }
    found = _match(sorted(wanted, key=lambda one: len(choices[one.key])), choices, taken)
    if found is None:
        short = next((one for one in wanted if not set(choices[one.key]) - taken), wanted[-1])
        raise refusal(f"Device '{short.deviceInfo.label}' is not available on the host.")
    claims.devices.update(found)


def _enhanced(host, claims, device):
    """Return a free device of the class [unsure: the words]."""
    found = dvx.free(host, device.backing.deviceClass, claims.devices.values())
    if not found:
        raise refusal(f"Device '{device.deviceInfo.label}' is not available on the host.")
    return found[0]


def _match(wanted, choices, taken):
    if not wanted:
        return {}
    first, *others = wanted
    for address in choices[first.key]:
        if address not in taken:
            rest = _match(others, choices, taken | {address})
            if rest is not None:
                return {first.key: address, **rest}
    return None


def _virtual_function(world, host, rows, claims, device, position):
    """Return a free function of the requested port, or of an uplink of the adapter's switch [unsure: which, by
    default]."""
    wanted = device.sriovBacking
    physical = wanted.physicalFunctionBacking.id if wanted and wanted.physicalFunctionBacking else None
    exactly = wanted.virtualFunctionBacking.id if wanted and wanted.virtualFunctionBacking else None
    if exactly in claims.devices.values():
        exactly = ""
    ports = [nic.pci for nic in host.nics if nic.pci == physical or (not physical and _serves(world, nic, device))]
    for row in rows.values():
        fits = row.is_vf and row.physical_function in ports and exactly in (None, row.address)
        if fits and free(host, row.address) and row.address not in claims.devices.values():
            return row.address
    # Broadcom KB 309346 prints this sentence.
    raise refusal(
        f"pciPassthru{position}: No SR-IOV virtual function (VF) is available for given physical function (PF) "
        f"({physical or ', '.join(ports)})."
    )


def _serves(world, nic, device):
    backing = device.backing
    if nic.switch is None:
        return False
    if isinstance(backing, DEVICE.VirtualEthernetCard.DistributedVirtualPortBackingInfo):
        return getattr(nic.switch, "uuid", None) == backing.port.switchUuid
    return not hasattr(nic.switch, "uuid")


def unassigned(device):
    """The device as it is while nothing of a host belongs to it."""
    if isinstance(device.backing, DYNAMIC) and device.backing.assignedId is not None:
        fresh = copy.deepcopy(device)
        fresh.backing.assignedId = None
        return fresh
    if isinstance(device, SRIOV) and device.sriovBacking is not None:
        fresh = copy.deepcopy(device)
        fresh.sriovBacking.virtualFunctionIndex = None
        if fresh.sriovBacking.physicalFunctionBacking is None and fresh.sriovBacking.virtualFunctionBacking is None:
            fresh.sriovBacking = None
        return fresh
    return device


def _assigned(host, device, address):
    """The device as clients see it while the VM runs."""
    if isinstance(device.backing, DYNAMIC):
        fresh = copy.deepcopy(device)
        fresh.backing.assignedId = address
        return fresh
    if isinstance(device, SRIOV):
        fresh = copy.deepcopy(device)
        fresh.sriovBacking = fresh.sriovBacking or SRIOV.SriovBackingInfo()
        fresh.sriovBacking.virtualFunctionIndex = _index(host, address)
        return fresh
    return device


def _index(host, address):
    (row,) = [one for one in pci.devices(host) if one.address == address]
    return [one.address for one in pci.devices(host) if one.physical_function == row.physical_function].index(address)
