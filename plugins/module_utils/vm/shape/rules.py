# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Reasons why a VM cannot have the requested shape. Pure: a state goes in, problems come out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterator, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import catalogue, mmio
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci import costs
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.rules import Problem, refusal
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape import keys, numa_rules, plan
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape.state import gb
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import is_on

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.boards import Board
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape.keys import Found
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape.params import ShapeRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape.state import Direct, Host, Shape

# Boards whose vGPUs are not in NVIDIA's list for GPUDirect RDMA (UGI6).
_NO_GPUDIRECT = ("t4", "v100")


def refuse_impossible(
    label: str, now: Shape, wanted: Shape, requested: ShapeRequest, newest: int | None = None
) -> None:
    """Raise one OperatorError with every reason why the VM cannot have this shape.

    newest: the newest hardware version that its host knows, None where it was not asked.
    """
    found = problems(now, wanted, requested, newest)
    if found:
        raise refusal(label, f"cannot be configured with {reported(requested)}", found)


def problems(now: Shape, wanted: Shape, requested: ShapeRequest, newest: int | None = None) -> list[Problem]:
    """Return all problems of the shape."""
    found: list[Problem | None] = [rule(now, wanted, requested) for rule in _RULES]
    found += [_hardware(wanted, now, newest)]
    found += numa_rules.problems(wanted, requested)
    found += _missing_devices(wanted, requested)
    return [problem for problem in found if problem is not None]


def reported(requested: ShapeRequest) -> str:
    """The request in one line, without the options that leave a setting unchanged."""
    names = (
        "cpus",
        "cores_per_socket",
        "memory_gb",
        "memory_reservation_mb",
        "hardware_version",
        "firmware",
        "numa_nodes",
        "latency_sensitivity",
        "gpudirect",
        "mmio_size_gb",
        "gpus",
        "direct_nics",
        "advanced",
    )
    values = {name: getattr(requested, name) for name in names}
    parts = [f"{name}={value}" for name, value in values.items() if value not in (None, "ignore", [], {})]
    return ", ".join(parts) or f"memory_reservation={requested.memory_reservation}, mmio={requested.mmio}"


def _firmware(now: Shape, wanted: Shape, requested: ShapeRequest) -> Problem | None:
    window = requested.mmio == "auto" and plan.needed_mmio_gb(now, requested) > 0
    if now.vm.firmware != "bios" or not (requested.firmware == "efi" or window):
        return None
    # Never changed here: a guest that was installed under BIOS does not start under EFI (FD 2023-05-30).
    return Problem(
        "firmware_bios",
        "Its firmware is BIOS, which cannot map the memory windows of large GPUs.",
        "Create the VM from a template that was installed with EFI firmware. The firmware of an installed guest cannot "
        "be changed.",
    )


def _sockets(now: Shape, wanted: Shape, requested: ShapeRequest) -> Problem | None:
    cores = wanted.cores_per_socket
    if not cores or wanted.cpus % cores == 0:
        return None
    kept = "cpus" if requested.cores_per_socket is not None else "cores_per_socket"
    number = wanted.cpus if kept == "cpus" else cores
    return Problem(
        "sockets_uneven",
        f"{wanted.cpus} vCPUs cannot be put into sockets of {cores}; the {kept} of the VM are {number}.",
        f"Set cores_per_socket to a divisor of {wanted.cpus}.",
    )


def _too_many_cpus(now: Shape, wanted: Shape, requested: ShapeRequest) -> Problem | None:
    host = wanted.host
    if host is None or not host.threads or wanted.cpus <= host.threads:
        return None
    return Problem(
        "host_cpus",
        f"Host {host.name} has {host.threads} logical processors, and the VM would have {wanted.cpus} vCPUs.",
        "Lower cpus, or move the VM to a larger host.",
    )


def _too_much_memory(now: Shape, wanted: Shape, requested: ShapeRequest) -> Problem | None:
    host = wanted.host
    if host is None or not host.memory_mb or wanted.memory_mb < host.memory_mb or not wanted.memory_locked:
        return None
    return Problem(
        "host_memory",
        f"Host {host.name} has {gb(host.memory_mb)} GB of memory in all, and the VM would have "
        f"{gb(wanted.memory_mb)} GB, all of it reserved.",
        "Lower memory_gb, or move the VM to a larger host.",
    )


def _below_reservation(now: Shape, wanted: Shape, requested: ShapeRequest) -> Problem | None:
    reserved = wanted.vm.memory_reserved_mb or 0
    if wanted.memory_locked or reserved <= wanted.memory_mb:
        return None
    return Problem(
        "memory_reservation",
        f"{gb(reserved)} GB of its memory are reserved, more than the {gb(wanted.memory_mb)} GB it would have.",
        "Use memory_reservation=all, or lower the reservation first.",
    )


def _latency_memory(now: Shape, wanted: Shape, requested: ShapeRequest) -> Problem | None:
    if wanted.latency == "high" and not wanted.fully_reserved:
        return Problem(
            "latency_memory",
            "High latency sensitivity needs all memory of the VM reserved, but memory_reservation=ignore keeps "
            f"{gb(wanted.vm.memory_reserved_mb or 0)} of {gb(wanted.memory_mb)} GB.",
            "Use memory_reservation=all.",
        )
    return None


def _latency_cpus(now: Shape, wanted: Shape, requested: ShapeRequest) -> Problem | None:
    host = wanted.host
    if wanted.latency == "high" and host is not None and host.cores and wanted.cpus > host.cores:
        return Problem(
            "latency_cpus",
            f"High latency sensitivity reserves one core per vCPU. The VM would have {wanted.cpus} vCPUs, and "
            f"host {host.name} has {host.cores} cores.",
            "Lower cpus, or set latency_sensitivity=normal.",
        )
    return None


def _latency_reservation(now: Shape, wanted: Shape, requested: ShapeRequest) -> Problem | None:
    full = plan.full_cpu_mhz(wanted.host, wanted.cpus)
    if wanted.latency != "high" or wanted.cpu_reserved_mhz >= full:
        return None
    return Problem(
        "latency_cpu_reservation",
        "High latency sensitivity needs a full CPU reservation, which is "
        f"{full} MHz on host {cast('Host', wanted.host).name}; "
        f"the VM would have {wanted.cpu_reserved_mhz} MHz.",
        f"Use cpu_reservation=auto without cpu_reservation_mhz, or set cpu_reservation_mhz to {full} or more.",
    )


def _huge_pages(now: Shape, wanted: Shape, requested: ShapeRequest) -> Problem | None:
    if not is_on(wanted.vmx.get(keys.HUGE_PAGES)) or wanted.fully_reserved:
        return None
    return Problem(
        "huge_pages_memory",
        f"A VM with {keys.HUGE_PAGES} starts only with all memory reserved.",
        "Use memory_reservation=all, or set the key to null.",
    )


def _gpudirect_path(now: Shape, wanted: Shape, requested: ShapeRequest) -> Problem | None:
    if requested.gpudirect != "enabled":
        return None
    kinds = {one.kind for one in now.direct}
    if "pvrdma" in kinds:
        return Problem(
            "gpudirect_pvrdma",
            f"The VM has a PVRDMA adapter. {costs.gpudirect_sentence('pvrdma')}",
            "Use gpudirect=disabled, or remove the PVRDMA adapter (pvrdma_nic with state=absent) and give it one by "
            f"SR-IOV or passthrough. {costs.cost_sentence('sriov')}",
        )
    if "sriov" in kinds or requested.direct_nics or any(_may_be_nic(one) for one in now.direct):
        return None
    return Problem(
        "gpudirect_without_nic",
        "The VM has no SR-IOV or passthrough network adapter, and direct_nics announces none.",
        "Add one with sriov_nic or passthrough_device, or set direct_nics if later tasks add them.",
    )


def _gpudirect_board(now: Shape, wanted: Shape, requested: ShapeRequest) -> Problem | None:
    if requested.gpudirect != "enabled":
        return None
    boards = {board.key: board for board in _boards(now, requested) if board.key.startswith(_NO_GPUDIRECT)}
    if not boards:
        return None
    titles = " and ".join(sorted(board.title for board in boards.values()))
    return Problem(
        "gpudirect_board",
        f"gpudirect is enabled, but NVIDIA does not support GPUDirect RDMA on {titles}.",
        "Use gpudirect=disabled, or choose a GPU of the Ampere generation or newer.",
    )


def _unknown_gpu(now: Shape, wanted: Shape, requested: ShapeRequest) -> Problem | None:
    if requested.mmio != "auto" or requested.mmio_size_gb is not None:
        return None
    unknown = {
        gpu for gpu in requested.gpus or [] if ":" in gpu and mmio.passthrough_mmio_gb(*plan.pci_ids(gpu)) is None
    }
    unknown |= {
        f"{vendor:04x}:{device:04x}"
        for one in now.direct
        for vendor, device in one.ids
        if vendor == catalogue.NVIDIA and mmio.passthrough_mmio_gb(vendor, device) is None
    }
    if not unknown:
        return None
    return Problem(
        "mmio_unknown_gpu",
        f"The collection has no memory mapped I/O size for {', '.join(sorted(unknown))}.",
        "Set mmio_size_gb to twice the memory of all GPUs of the VM, rounded up to a power of two.",
    )


def _small_window(now: Shape, wanted: Shape, requested: ShapeRequest) -> Problem | None:
    size = requested.mmio_size_gb
    # The size for network ports is an estimate, so the user may choose a size just for the GPUs.
    needed = plan.needed_mmio_gb(now, requested, with_ports=False)
    if size is None or size >= needed:
        return None
    return Problem(
        "mmio_too_small",
        f"Its GPUs need a window of {needed} GB together, and mmio_size_gb is {size}.",
        f"Set mmio_size_gb to {needed} or more, or leave it out.",
    )


def _no_window(now: Shape, wanted: Shape, requested: ShapeRequest) -> Problem | None:
    needed = plan.needed_mmio_gb(now, requested, with_ports=False)
    if requested.mmio != "none" or not needed:
        return None
    return Problem(
        "mmio_too_small",
        f"Its GPUs need a window of {needed} GB together, and mmio is none.",
        "Remove the GPUs, or use mmio=auto.",
    )


def _devices_memory(now: Shape, wanted: Shape, requested: ShapeRequest) -> Problem | None:
    if requested.memory_reservation_mb is None or wanted.fully_reserved or not wanted.direct:
        return None
    names = ", ".join(sorted({one.name for one in wanted.direct}))
    return Problem(
        "memory_reservation",
        f"A VM with {names} starts only with all memory reserved.",
        "Remove these devices, or use memory_reservation=all without memory_reservation_mb.",
    )


def _hardware(wanted: Shape, now: Shape, newest: int | None) -> Problem | None:
    if newest is None or wanted.hardware_version <= max(newest, now.hardware_version):
        return None
    where = f"Host {wanted.host.name}" if wanted.host is not None else "Its host"
    return Problem(
        "hardware_version",
        f"{where} supports virtual hardware up to version {newest}; the VM has version {now.hardware_version}.",
        f"Set hardware_version to {newest} or less, or update ESXi.",
    )


def _missing_devices(wanted: Shape, requested: ShapeRequest) -> Iterator[Problem]:
    announced = len(requested.gpus or []) + (requested.direct_nics or 0)
    pci = [one.key for one in wanted.direct if one.kind in ("vgpu", "pci")]
    devices = {key - 13000 for key in pci if key >= 0}
    # A device that comes with the same reconfiguration has no key yet and gets the lowest free number.
    for _new in range(sum(key < 0 for key in pci)):
        devices.add(min(set(range(len(devices) + 1)) - devices))
    devices |= set(range(announced))
    for name, value in (requested.advanced or {}).items():
        key, number = cast("Found", keys.find(name))
        if number is None or value is None:
            continue
        there = devices if key.name.startswith("pciPassthru") else set(wanted.adapters)
        if number in there:
            continue
        kind = "PCI passthrough device or vGPU" if there is devices else "network adapter"
        numbers = ", ".join(str(one) for one in sorted(there)) or "none"
        yield Problem(
            "advanced_without_device",
            f"advanced has {name}, and the VM has no {kind} with the number {number}; there are: {numbers}.",
            "Correct the number, or add the device first.",
        )


def _may_be_nic(one: Direct) -> bool:
    return one.kind == "pci" and any(vendor != catalogue.NVIDIA for vendor, device in one.ids)


def _boards(now: Shape, requested: ShapeRequest) -> list[Board]:
    names = [*now.vgpus, *(gpu for gpu in requested.gpus or [] if ":" not in gpu)]
    ids = [pair for one in now.direct for pair in one.ids]
    ids += [plan.pci_ids(gpu) for gpu in requested.gpus or [] if ":" in gpu]
    boards = [catalogue.board_of(name) for name in names] + [catalogue.board_of_pci(*pair) for pair in ids]
    return [board for board in boards if board is not None]


_RULES = (
    _firmware,
    _sockets,
    _too_many_cpus,
    _too_much_memory,
    _below_reservation,
    _latency_memory,
    _latency_cpus,
    _latency_reservation,
    _huge_pages,
    _gpudirect_path,
    _gpudirect_board,
    _unknown_gpu,
    _small_window,
    _no_window,
    _devices_memory,
)
