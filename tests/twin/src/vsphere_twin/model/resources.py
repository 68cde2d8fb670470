"""Memory and processors of a host: capacity for VMs, and reservations of running ones."""

from __future__ import annotations

from pyVmomi import vim

# Reserved by ESXi's own processes, which a start on a host cannot use. Public recordings of govc have 12 GB of 512 GB
# on ESXi 8.0.1, and 20 to 46 GB with vSAN on 6.7 and 7.0.1 [unsure: hosts without vSAN].
HOST_OVERHEAD_MB = 16 * 1024
# A cluster counts less: its effective memory and processors in the same recordings, within 25 % [unsure: hosts without
# vSAN, and those with more than 512 GB].
POOL_BASE_MB, POOL_SHARE = 8 * 1024, 0.10
CPU_BASE, CPU_SHARE = 1.0, 0.07  # cores, and cores for each core
# Overhead of a VM beside its memory. These meet the four shapes of a public recording of vCenter 8.0.1: 67 MB with
# 1 vCPU and 2 GB, 99 with 4 and 8, 193 with 4 and 24, 225 with 8 and 28 [unsure: beyond them]. The last is the figure
# that frankdenneman.nl (2023-05-30) measured for an MMIO window of 128 GB.
BASE_MB, PER_CPU_MB, FIRST_GB, PER_FIRST_GB_MB, PER_GB_MB, MMIO_MB = 56.33, 2.125, 8, 4.2708, 5.875, 83
NO_MEMORY = "The host does not have sufficient memory resources to satisfy the reservation."
NO_CPU = "The host does not have sufficient CPU resources to satisfy the reservation."


def overhead_mb(vm):
    """Return the memory that ESXi reserves for a VM beside the memory of its guest."""
    mapped = (vm.setting("pciPassthru.use64bitMMIO") or "").casefold() == "true"
    return overhead_of(vm.cpus, vm.memory_mb, mapped)


def overhead_of(cpus, memory_mb, mapped=False):
    """Return the overhead of a VM of this shape, in MB."""
    memory_gb = memory_mb / 1024
    first = min(memory_gb, FIRST_GB)
    shape = BASE_MB + PER_CPU_MB * cpus + PER_FIRST_GB_MB * first + PER_GB_MB * (memory_gb - first)
    return round(shape) + (MMIO_MB if mapped else 0)


def required_mb(vm):
    """The memory that a host must have for a VM that starts."""
    return vm.memory_reserved_mb + overhead_mb(vm)


def memory_capacity_mb(host):
    """The memory that a host has for VMs."""
    return host.hardware.memory_gb * 1024 - HOST_OVERHEAD_MB


def effective_memory_mb(host):
    """The memory of a host that its cluster and the root resource pool count."""
    return effective_of(host.hardware.memory_gb * 1024)


def effective_of(memory_mb):
    """The same from the memory of the host."""
    return max(0, memory_mb - int(POOL_BASE_MB + POOL_SHARE * memory_mb))


def unreserved_mb(host, but=None):
    """Return the memory that no running VM has reserved."""
    return memory_capacity_mb(host) - sum(required_mb(vm) for vm in host.running_vms() if vm is not but)


def cpu_capacity_mhz(host):
    """The processor time that a host has for VMs."""
    return int((host.hardware.cores * (1 - CPU_SHARE) - CPU_BASE) * host.hardware.mhz)


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
