"""The PCI tree of a host: bridges, GPUs and network ports, and the virtual functions beside them."""

from __future__ import annotations

from dataclasses import dataclass, replace

MELLANOX, INTEL, NVIDIA = 0x15B3, 0x8086, 0x10DE
ETHERNET, DISPLAY_3D, BRIDGE, OTHER_BRIDGE = 0x0200, 0x0302, 0x0604, 0x0680
GPU_VFS = 16  # entries that an A100 adds to the list of PCI devices (NVIDIA AI Enterprise user guide 5.0, 4.2)
FIRST_GPU_VF, FIRST_PORT_VF = 4, 2
PORT_VF_NAME = "ConnectX Family mlx5Gen Virtual Function"
OWNED_BY_VMS = "pciPassthru"


@dataclass(frozen=True)
class Bridge:
    """A PCIe root port, or a port of a PCIe switch."""

    address: str
    parent: str
    numa_node: int
    name: str


@dataclass(frozen=True)
class Slot:
    """Slot of a card."""

    address: str  # of its first function
    parent: str
    root: str
    numa_node: int


@dataclass(frozen=True)
class PciDevice:
    """One row of the host's PCI devices."""

    address: str
    parent: str
    root: str
    numa_node: int
    vendor_id: int
    device_id: int
    class_id: int
    vendor_name: str
    device_name: str
    module: str = ""
    vmkernel_name: str = ""
    passthru_capable: bool = False
    passthru_enabled: bool = False
    passthru_active: bool = False
    is_vf: bool = False
    physical_function: str = ""
    subsystem_id: int = 0  # 0 for virtual functions of a GPU, unlike the GPU itself [unsure: of ports too]


def devices(host):
    """Bridges, GPUs, ports, and the virtual functions of both."""
    rows = [_bridge(host, one) for one in host.bridges] + [_nvswitch(one) for one in host.nvswitches]
    for position, gpu in enumerate(host.gpus):
        rows += _with_functions(_gpu(host, gpu, position), gpu_vfs(host, gpu), _gpu_function)
    for nic in host.ports:
        before = _vfs_before(host, nic)
        rows += _with_functions(_port(host, nic), nic.vfs, lambda row, number, skip=before: _split(row, number, skip))
    return rows


def gpu_vfs(host, gpu):
    """Virtual functions of a GPU: Ampere and newer, with the vGPU driver loaded and SR-IOV on in the BIOS."""
    ready = gpu.board.mixed_size and host.driver.family != "none" and gpu.active_type not in ("direct", "basic")
    return GPU_VFS if ready and host.bmc.functions()["sriov"] else 0


def function_of(address, number):
    """The address of another function, counted on through devices of eight functions each."""
    domain, bus, rest = address.split(":")
    slot, first = (int(part, 16) for part in rest.split("."))
    count = slot * 8 + first + number
    return f"{domain}:{int(bus, 16) + count // 256:02x}:{count % 256 // 8:02x}.{count % 8}"


def _bridge(host, one):
    return PciDevice(
        address=one.address,
        parent=one.parent,
        root=_root(host, one.address),
        numa_node=one.numa_node,
        vendor_id=INTEL,
        device_id=0x347A,
        class_id=BRIDGE,
        vendor_name="Intel Corporation",
        device_name=one.name,
    )


def _nvswitch(address):
    return PciDevice(
        address=address,
        parent="",
        root=address,
        numa_node=0,
        vendor_id=NVIDIA,
        device_id=0x22A3,
        class_id=OTHER_BRIDGE,
        vendor_name="NVIDIA Corporation",
        device_name="GH100 [H100 NVSwitch]",
    )


def _gpu(host, gpu, position):
    slot, state = host.slots[gpu.pci_id], host.passthru[gpu.pci_id]
    driver = "nvidia" if host.driver.family != "none" else ""
    return PciDevice(
        address=gpu.pci_id,
        parent=slot.parent,
        root=slot.root,
        numa_node=slot.numa_node,
        vendor_id=NVIDIA,
        device_id=gpu.board.device_id,
        class_id=DISPLAY_3D,
        vendor_name="NVIDIA Corporation",
        device_name=f"NVIDIA {gpu.board.title}",
        module=OWNED_BY_VMS if state.active else driver,
        vmkernel_name=f"vmgfx{position}",
        subsystem_id=gpu.board.subsystem_id,
        passthru_capable=True,
        passthru_enabled=state.enabled,
        passthru_active=state.active,
    )


def _port(host, nic):
    state = host.passthru[nic.pci]
    return PciDevice(
        address=nic.pci,
        parent=nic.parent,
        root=nic.root_port,
        numa_node=nic.numa_node,
        vendor_id=nic.vendor_id,
        device_id=nic.device_id,
        class_id=ETHERNET,
        vendor_name=nic.kind.vendor_name,
        device_name=nic.model,
        module=OWNED_BY_VMS if state.active else nic.driver,
        vmkernel_name="" if state.active else nic.device,
        passthru_capable=True,
        passthru_enabled=state.enabled,
        passthru_active=state.active,
    )


def _with_functions(row, count, split):
    return [row, *(split(row, number) for number in range(count))]


def _gpu_function(row, number):
    """It carries the ids and the name of the GPU itself, which is why it is so easily taken for one."""
    return replace(
        row,
        address=function_of(row.address, FIRST_GPU_VF + number),
        vmkernel_name=_function_name(row.address, number),
        passthru_capable=False,
        passthru_enabled=False,
        passthru_active=False,
        is_vf=True,
        physical_function=row.address,
        subsystem_id=0,
    )


def _split(row, number, before):
    mellanox = row.vendor_id == MELLANOX
    first = f"{row.address.rpartition('.')[0]}.0"
    return replace(
        row,
        address=function_of(first, FIRST_PORT_VF + before + number),
        device_id=row.device_id + 1 if mellanox else row.device_id,
        device_name=PORT_VF_NAME if mellanox else row.device_name,
        module=OWNED_BY_VMS,
        vmkernel_name=_function_name(row.address, number),
        passthru_capable=True,
        passthru_enabled=True,
        passthru_active=True,
        is_vf=True,
        physical_function=row.address,
    )


def _vfs_before(host, nic):
    """The functions of a card's second port begin after those of its first."""
    card = nic.pci.rpartition(".")[0]
    return sum(one.vfs for one in host.ports if one.pci.rpartition(".")[0] == card and one.pci < nic.pci)


def _function_name(address, number):
    _domain, bus, rest = address.split(":")
    return f"PF_0.{int(bus, 16)}.{int(rest.rpartition('.')[2])}_VF_{number}"


def _root(host, address):
    parents = {one.address: one.parent for one in host.bridges}
    while parents.get(address):
        address = parents[address]
    return address
