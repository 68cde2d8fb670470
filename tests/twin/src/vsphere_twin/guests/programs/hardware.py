"""The PCI devices that a guest has: GPUs, whole or virtual, and functions that carry RDMA."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from pyVmomi import vim

from vsphere_twin.model import adapters, catalogue, direct, nvlink, pci, slots
from vsphere_twin.model import gpu as gpus

VMWARE, MELLANOX = 0x15AD, 0x15B3
VMXNET3, PVRDMA = 0x07B0, 0x0820
GPU_BUS = 2


@dataclass(frozen=True)
class GuestGpu:
    """A GPU as the guest's driver finds it."""

    index: int
    address: str
    name: str
    uuid: str
    memory_gb: int
    board: object
    host: object
    physical: object  # the model's GPU under it
    profile: object = None  # None: the whole GPU is in passthrough mode

    @property
    def bus_id(self):
        """00000000:02:00.0."""
        domain, _colon, rest = self.address.partition(":")
        return f"{int(domain, 16):08X}:{rest.upper()}"

    @property
    def mig(self):
        return self.profile is not None and self.profile.mig


@dataclass(frozen=True)
class RdmaFunction:
    """A function on the guest's PCI bus that can carry RDMA, and the address of its network interface."""

    key: int
    address: str
    vendor_id: int
    device_id: int
    module: str
    mac: str
    speed_mbps: int
    link_up: bool
    mtu: int  # the largest MTU on the path to the host's port
    versions: tuple  # of RoCE
    firmware: str = ""

    @property
    def pvrdma(self):
        return self.module == "vmw_pvrdma"


def gpus_of(vm):
    """The GPUs of a running VM, virtual ones first."""
    found = []
    for key, name in vm.vgpus:
        physical = _physical(vm, key)
        if physical is None:
            continue
        entry, board = catalogue.profile(name)
        found.append(
            GuestGpu(
                index=len(found),
                address=f"0000:{GPU_BUS:02x}:{len(found):02x}.0",
                name=display_name(board, entry),
                uuid=f"GPU-{uuid.uuid5(uuid.UUID(vm.uuid), f'vgpu {key}')}",
                memory_gb=entry.fb_gb,
                board=board,
                host=vm.host,
                physical=physical,
                profile=entry,
            )
        )
    for physical in vm.host.gpus:
        if physical.held_by is vm:
            found.append(
                GuestGpu(
                    index=len(found),
                    address=f"0000:{GPU_BUS:02x}:{len(found):02x}.0",
                    name=physical.board.product,
                    uuid=gpus.uuid_of(vm.host, physical),
                    memory_gb=physical.board.memory_gb,
                    board=physical.board,
                    host=vm.host,
                    physical=physical,
                )
            )
    return found


def nvlinks(card, other):
    """Return the number of NVLinks between two GPUs of a VM: whole ones, or time-sliced vGPUs of the C series that
    have the whole frame buffer (vGPU user guide).
    """
    for one in (card, other):
        entry = one.profile
        if entry is not None and (entry.mig or entry.series != "c" or entry.fb_gb != one.board.memory_gb):
            return 0
    return nvlink.between(card.host, card.physical, other.physical)


def display_name(board, entry):
    """Return 'GRID A100-10C' for grid_a100-10c: the vendor's own spelling of a name that vSphere lists in lower
    case.
    """
    title = board.prefix.replace("_", " ").upper()
    rest = entry.name.removeprefix(board.prefix).upper()
    return f"{title}{rest}"


def nic_address(vm, position, function=0):
    """The PCI address of a VM's network adapter, by its place among them (seen on ESXi: 0b:00.0, 13:00.0, ...)."""
    return f"0000:{slots.bus_of(slots.of(vm)[position]):02x}:00.{function}"


def rdma_of(world, vm):
    """Everything in a running VM that could become an RDMA device."""
    found = []
    for position, nic in enumerate(vm.nics):
        if isinstance(nic, direct.PVRDMA):
            found.append(_pvrdma(world, vm, nic, position))
        elif isinstance(nic, direct.SRIOV):
            port = _port_of(vm, nic)
            if port is not None:
                address = nic_address(vm, position)
                found.append(_mellanox(nic.key, address, nic.macAddress, port, port.device_id + 1))
    # Whole ports have the slots behind the adapters, as the names of their interfaces say. Further ones have no name.
    free = range(len(vm.nics), len(slots.of(vm)))
    for position, port in zip(free, sorted(ports_of(vm), key=lambda one: one.pci), strict=False):
        key = vm.host.claimed[port.pci].device_key
        found.append(_mellanox(key, nic_address(vm, position), port.mac, port, port.device_id))
    return [one for one in found if one is not None]


def ports_of(vm):
    """The host's ports that the VM has in whole."""
    return [one for one in vm.host.ports if getattr(vm.host.claimed.get(one.pci), "vm", None) is vm]


def efi(vm):
    """Return whether the VM boots by EFI."""
    return vm.firmware == "efi"


def secure_boot(vm):
    """Return whether the firmware accepts only signed code."""
    return efi(vm) and bool(getattr(vm.boot_options, "efiSecureBootEnabled", False))


def host_driver(vm):
    """The version of the host's vGPU manager."""
    return vm.host.driver.version


def _physical(vm, key):
    for physical in vm.host.gpus:
        if any(one.vm is vm and one.device_key == key for one in physical.residents):
            return physical
    return None


def _pvrdma(world, vm, nic, position):
    switch = world.get(nic.backing.port.portgroupKey).switch
    uplinks = switch.uplinks_of(vm.host)
    protocol = nic.deviceProtocol or "rocev2"
    return RdmaFunction(
        key=nic.key,
        address=nic_address(vm, position, 1),
        vendor_id=VMWARE,
        device_id=PVRDMA,
        module="vmw_pvrdma",
        mac=nic.macAddress,
        speed_mbps=uplinks[0].speed_mbps if uplinks else 10_000,
        link_up=bool(nic.connectable.connected),
        mtu=switch.mtu,
        versions=("RoCE v2",) if protocol == "rocev2" else ("IB/RoCE v1",),
    )


def _port_of(vm, nic):
    """The host's port whose virtual function an adapter has."""
    address = next(
        (one for one, holder in vm.host.claimed.items() if holder.vm is vm and holder.device_key == nic.key), None
    )
    row = next((one for one in pci.devices(vm.host) if one.address == address), None)
    return next((one for one in vm.host.ports if row is not None and one.pci == row.physical_function), None)


def _mellanox(key, address, mac, port, device_id):
    if port.vendor_id != adapters.MELLANOX:
        return None
    return RdmaFunction(
        key=key,
        address=address,
        vendor_id=MELLANOX,
        device_id=device_id,
        module="mlx5_ib",
        mac=mac,
        speed_mbps=port.speed_mbps,
        link_up=port.link_up,
        mtu=9978,  # the MTU of the card itself; the path behind it is not the card's property
        versions=("IB/RoCE v1", "RoCE v2"),
        firmware=port.firmware.version,
    )


def kinds_of_nics(vm):
    """(position, PCI address, device id) of the network adapters that are VMware's own."""
    sriov = vim.vm.device.VirtualSriovEthernetCard
    return [(at, nic_address(vm, at), VMXNET3) for at, nic in enumerate(vm.nics) if not isinstance(nic, sriov)]
