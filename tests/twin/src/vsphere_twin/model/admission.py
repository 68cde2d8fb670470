"""Requirements on a VM's own configuration before the search for a host."""

from __future__ import annotations

import functools

from pyVmomi import vim

from . import catalogue, direct, dvx, graphics
from .pci import NVIDIA

DEFAULT_MMIO_GB = 32  # the 64-bit window without a size (frankdenneman.nl 2023-05-30)
NIC_MMIO_GB = 1 / 16  # the registers of a passed-through port or of a virtual function [unsure: order of magnitude]
KB_PER_GB = 1024 * 1024
FIRST_RESERVED = 0x40  # of 00:50:56


def check(vm):
    """Raise the vendor's refusal for a configuration that cannot start."""
    _check_latency(vm)
    _check_addresses(vm)
    wanted = vgpu_types(vm)
    if not direct.needs_all_memory(vm):
        return
    if not vm.fully_reserved:
        raise refusal(
            f"Invalid memory setting: memory reservation (sched.mem.min) should be equal to memsize({vm.memory_mb})."
        )
    _check_mmio(vm)
    _check_vgpus(vm, wanted)


def refusal(reason):
    """The fault for a VM whose configuration does not let it start."""
    return vim.fault.GenericVmConfigFault(msg=reason, reason=reason)


def vgpu_types(vm):
    """(device key, type) of all vGPUs; an unknown name finds no graphics resource anywhere."""
    found = []
    for key, name in vm.vgpus:
        entry, _board = catalogue.profile(name)
        if entry is None:
            raise vim.fault.InsufficientGraphicsResourcesFault(msg=graphics.NO_GRAPHICS)
        found.append((key, entry))
    return found


def require_version(vm, host):
    """A host runs virtual hardware up to its own release's."""
    if vm.hardware_number > host.release.newest_hardware:
        raise too_new(host)


def too_new(host):
    """The fault for virtual hardware that a host does not know."""
    return vim.fault.VirtualHardwareVersionNotSupported(
        msg=f"The virtual machine version is not compatible with the version of the host '{host.name}'.",
        hostName=host.name,
        host=vim.HostSystem(host.moid),
    )


def _check_addresses(vm):
    """Fixed MAC addresses keep out of the ranges that VMware gives to generated ones (vSphere Troubleshooting)."""
    for position, nic in enumerate(vm.nics):
        unchecked = (vm.setting(f"ethernet{position}.checkMACAddress") or "").casefold() == "false"
        mac = nic.macAddress.casefold()
        reserved = mac.startswith("00:0c:29:") or (mac.startswith("00:50:56:") and int(mac[9:11], 16) >= FIRST_RESERVED)
        if reserved and nic.addressType == "manual" and not unchecked:
            # The sentence is the vendor's (community.vmware issue 1159).
            raise refusal(
                f"{nic.macAddress} is not a valid static Ethernet address. It conflicts with VMware reserved MACs for "
                "other usage."
            )


def _check_latency(vm):
    """Check that high latency sensitivity has whole cores and all memory [unsure: the words]."""
    if str(vm.latency_sensitivity) != "high":
        return
    if not vm.fully_reserved:
        raise refusal(
            "Invalid memory setting: memory reservation (sched.mem.min) should be equal to "
            f"memsize({vm.memory_mb}) for a latency-sensitive VM."
        )
    need_mhz = vm.cpus * vm.host.hardware.mhz
    if (vm.cpu_allocation.reservation or 0) < need_mhz:
        raise refusal(
            f"Invalid CPU reservation for the latency-sensitive VM, (sched.cpu.min) should be at least {need_mhz} MHz."
        )


def _check_mmio(vm):
    need_gb = _needed_mmio_gb(vm)
    if not need_gb:
        return
    enabled = (vm.setting("pciPassthru.use64bitMMIO") or "").casefold() == "true"
    size_gb = _whole(vm.setting("pciPassthru.64bitMMIOSizeGB"), DEFAULT_MMIO_GB) if enabled else 0
    if vm.firmware != "efi":
        size_gb = 0  # BIOS firmware has no window above 4 GB at all
    if size_gb < need_gb:
        raise refusal(
            f"The firmware could not allocate {int((need_gb - size_gb) * KB_PER_GB)} KB of PCI MMIO. "
            "Increase the size of PCI MMIO and try again."
        )


def _needed_mmio_gb(vm):
    """The window for all devices of the VM; without a GPU that needs one, everything fits below 4 GB."""
    boards = [catalogue.profile(name)[1] for _key, name in vm.vgpus]
    boards += [_board_of(vm, device) for device in vm.passthrough_devices]
    gpus_gb = sum(board.mmio_gb for board in boards if board is not None)
    nics = sum(isinstance(one, direct.SRIOV) for one in vm.nics) + sum(
        _board_of(vm, device) is None for device in vm.passthrough_devices
    )
    return gpus_gb + nics * NIC_MMIO_GB if gpus_gb else 0


def _board_of(vm, device):
    """The GPU board that a passed-through device is or may be, or None for a network port."""
    backing = device.backing
    if isinstance(backing, vim.vm.device.VirtualPCIPassthrough.DynamicBackingInfo):
        ids = [one.deviceId for one in backing.allowedDevice or [] if one.vendorId & 0xFFFF == NVIDIA]
        boards = [_boards().get(one & 0xFFFF) for one in ids]
        return max((one for one in boards if one is not None), key=lambda one: one.mmio_gb, default=None)
    if isinstance(backing, dvx.BACKING):
        found = dvx.addresses(vm.host, backing.deviceClass)
        boards = [gpu.board for gpu in vm.host.gpus if gpu.pci_id in found]
        return max(boards, key=lambda one: one.mmio_gb, default=None)
    address = getattr(backing, "id", None)
    return next((gpu.board for gpu in vm.host.gpus if gpu.pci_id == address), None)


@functools.cache
def _boards():
    return {one.device_id: one for one in map(catalogue.board, catalogue.board_keys())}


def _check_vgpus(vm, wanted):
    release = vm.host.release
    boards = {catalogue.profile(name)[1] for _key, name in vm.vgpus}
    series = {entry.series for _key, entry in wanted}
    whole = [not entry.mig and entry.fb_gb == catalogue.profile(entry.name)[1].memory_gb for _key, entry in wanted]
    if len(wanted) > 1 and (len(boards) > 1 or len(series) > 1):
        raise refusal("All vGPU devices of a virtual machine must be of one board and one series.")
    if len(wanted) > 1 and not all(whole) and not release.fractional_multi_vgpu:
        raise refusal("Several vGPU devices must each have the whole frame buffer on this version of ESXi.")
    if len(wanted) > release.most_vgpus:
        raise refusal(f"A virtual machine can have at most {release.most_vgpus} vGPU devices.")


def _whole(text, default):
    try:
        return int(text)
    except (TypeError, ValueError):
        return default
