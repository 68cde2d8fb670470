"""Memory and processors of a host: capacity for VMs, and reservations of running ones."""

from __future__ import annotations

from pyVmomi import vim

HOST_OVERHEAD_MB = 16 * 1024  # reserved by ESXi for itself [unsure: order of magnitude]
HOST_OVERHEAD_MHZ = 2000  # the same [unsure]
# Overhead of a VM beside its memory [unsure: fitted to VMware's table of sample overheads]; the last is the figure that
# frankdenneman.nl (2023-05-30) measured for an MMIO window of 128 GB.
BASE_MB, PER_CPU_MB, PER_GB_MB, MMIO_MB = 25, 10, 1.5, 83
NO_MEMORY = "The host does not have sufficient memory resources to satisfy the reservation."
NO_CPU = "The host does not have sufficient CPU resources to satisfy the reservation."


def overhead_mb(vm):
    """Return the memory that ESXi reserves for a VM beside the memory of its guest."""
    mapped = MMIO_MB if (vm.setting("pciPassthru.use64bitMMIO") or "").casefold() == "true" else 0
    return int(BASE_MB + PER_CPU_MB * vm.cpus + PER_GB_MB * vm.memory_mb / 1024 + mapped)


def required_mb(vm):
    """The memory that a host must have for a VM that starts."""
    return vm.memory_reserved_mb + overhead_mb(vm)


def memory_capacity_mb(host):
    """The memory that a host has for VMs."""
    return host.hardware.memory_gb * 1024 - HOST_OVERHEAD_MB


def unreserved_mb(host, but=None):
    """Return the memory that no running VM has reserved."""
    return memory_capacity_mb(host) - sum(required_mb(vm) for vm in host.running_vms() if vm is not but)


def cpu_capacity_mhz(host):
    """The processor time that a host has for VMs."""
    return host.hardware.cores * host.hardware.mhz - HOST_OVERHEAD_MHZ


def unreserved_mhz(host, but=None):
    """Processor time that no running VM has reserved."""
    return cpu_capacity_mhz(host) - sum(
        vm.cpu_allocation.reservation or 0 for vm in host.running_vms() if vm is not but
    )


def admit(vm, host):
    """Refuse a VM whose reservations, or whose number of processors, the host does not have."""
    threads = 2 * host.hardware.cores
    if vm.cpus > threads:
        raise vim.fault.NotEnoughLogicalCpus(
            msg=f"The virtual machine has {vm.cpus} virtual CPUs, but the host '{host.name}' only supports {threads}.",
            numCpuDest=threads,
            numCpuVm=vm.cpus,
            host=vim.HostSystem(host.moid),
        )
    free_mb, need_mb = unreserved_mb(host, but=vm), required_mb(vm)
    if need_mb > free_mb:
        raise vim.fault.InsufficientMemoryResourcesFault(
            msg=NO_MEMORY,
            unreserved=max(0, free_mb) * 1024 * 1024,
            requested=need_mb * 1024 * 1024,
        )
    free_mhz, need_mhz = unreserved_mhz(host, but=vm), vm.cpu_allocation.reservation or 0
    if need_mhz > free_mhz:
        raise vim.fault.InsufficientCpuResourcesFault(
            msg=NO_CPU,
            unreserved=max(0, free_mhz),
            requested=need_mhz,
        )
