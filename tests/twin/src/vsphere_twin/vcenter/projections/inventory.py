"""Folders, datacenters, compute resources, pools."""

from __future__ import annotations

from pyVmomi import vim

from vsphere_twin.model import kept, resources
from vsphere_twin.model import pools as model_pools
from vsphere_twin.model.inventory import datacenter_of

from .. import types
from ..registry import prop
from .shape import make

MB, GB = 1024**2, 1024**3


@prop("Folder", "childEntity")
def child_entity(folder, world):
    return list(folder.children.values())


@prop("Folder", "childType")
def child_type(folder, world):
    return list(folder.child_types)


@prop("Datacenter", "vmFolder")
def vm_folder(center, world):
    return center.vm_folder


@prop("Datacenter", "hostFolder")
def host_folder(center, world):
    return center.host_folder


@prop("Datacenter", "datastoreFolder")
def datastore_folder(center, world):
    return center.datastore_folder


@prop("Datacenter", "networkFolder")
def network_folder(center, world):
    return center.network_folder


@prop("Datacenter", "datastore")
def center_datastore(center, world):
    return [one for one in world.of_kind("Datastore") if datacenter_of(one) is center]


@prop("Datacenter", "network")
def center_network(center, world):
    networks = world.of_kind("Network") + world.of_kind("DistributedVirtualPortgroup")
    return [one for one in networks if datacenter_of(one) is center]


@prop("Datacenter", "configuration")
def center_configuration(center, world):
    return make(vim.Datacenter.ConfigInfo)


@prop("ComputeResource", "resourcePool")
def root_pool(compute, world):
    return compute.pool


@prop("ComputeResource", "host")
def hosts(compute, world):
    return list(compute.hosts.values())


@prop("ComputeResource", "datastore")
def compute_datastore(compute, world):
    return list({moid: one for host in compute.hosts.values() for moid, one in host.datastores.items()}.values())


@prop("ComputeResource", "network")
def compute_network(compute, world):
    return list({moid: one for host in compute.hosts.values() for moid, one in host.networks.items()}.values())


@prop("ComputeResource", "environmentBrowser")
def environment_browser(compute, world):
    return compute.browser


@prop("ComputeResource", "configurationEx")
def configuration_ex(compute, world):
    return make(vim.ComputeResource.ConfigInfo, vmSwapPlacement="vmDirectory")


@prop("ComputeResource", "lifecycleManaged")
def lifecycle_managed(compute, world):
    return False


@prop("ComputeResource", "summary")
def summary(compute, world):
    return compute_summary(compute, vim.ComputeResource.Summary)


@prop("EnvironmentBrowser", "datastoreBrowser")
def datastore_browser(browser, world):
    owner = browser.owner
    hosts = [owner.host] if owner.kind == "VirtualMachine" else list(owner.hosts.values())
    return hosts[0].browser if hosts else None


@prop("ResourcePool", "owner")
def owner(pool, world):
    return pool.owner


@prop("ResourcePool", "resourcePool")
def pools(pool, world):
    return list(pool.pools.values())


@prop("ResourcePool", "vm")
def pool_vms(pool, world):
    return list(pool.vms.values())


@prop("ResourcePool", "config")
def pool_config(pool, world):
    return _pool_config(pool)


@prop("ResourcePool", "runtime")
def pool_runtime(pool, world):
    return _pool_runtime(pool)


@prop("ResourcePool", "childConfiguration")
def child_configuration(pool, world):
    return [_pool_config(one) for one in [*pool.pools.values(), *pool.vms.values()]]


@prop("ResourcePool", "summary")
def pool_summary(pool, world):
    return make(vim.ResourcePool.Summary, name=pool.name, config=_pool_config(pool), runtime=_pool_runtime(pool))


def compute_summary(compute, cls, **more):
    """Return the summary of a compute resource of any kind."""
    all_hosts = list(compute.hosts.values())
    effective = [host for host in all_hosts if host.connection == "connected" and not host.maintenance]
    mhz = [host.hardware.cores * host.hardware.mhz for host in all_hosts]
    return make(
        cls,
        totalCpu=sum(mhz),
        totalMemory=sum(host.hardware.memory_gb for host in all_hosts) * GB,
        numCpuCores=sum(host.hardware.cores for host in all_hosts),
        numCpuThreads=2 * sum(host.hardware.cores for host in all_hosts),
        effectiveCpu=sum(map(resources.cpu_capacity_mhz, effective)),
        effectiveMemory=sum(map(resources.effective_memory_mb, effective)),
        numHosts=len(all_hosts),
        numEffectiveHosts=len(effective),
        overallStatus=compute.status,
        **more,
    )


def _pool_config(entity):
    shown = make(
        vim.ResourceConfigSpec,
        entity=types.reference(entity),
        cpuAllocation=model_pools.allocation("cpuAllocation"),
        memoryAllocation=model_pools.allocation("memoryAllocation"),
    )
    if entity.kind == "VirtualMachine":
        return kept.show(shown, {"cpuAllocation": entity.cpu_allocation, "memoryAllocation": entity.memory_allocation})
    return kept.show(shown, entity.allocations)


def _pool_runtime(pool):
    usable = [host for host in pool.owner.hosts.values() if host.connection == "connected"]
    running = [vm for vm in pool.vms.values() if vm.power == "poweredOn"]
    memory = sum(resources.effective_memory_mb(host) for host in usable) * MB
    cpu = sum(resources.cpu_capacity_mhz(host) for host in usable)
    reserved = sum(resources.required_mb(vm) for vm in running) * MB
    reserved_mhz = sum(vm.cpu_allocation.reservation or 0 for vm in running)

    def usage(maximum, used):
        return make(
            vim.ResourcePool.ResourceUsage,
            reservationUsed=used,
            reservationUsedForVm=used,
            unreservedForPool=maximum - used,
            unreservedForVm=maximum - used,
            overallUsage=used,
            maxUsage=maximum,
        )

    return make(
        vim.ResourcePool.RuntimeInfo,
        memory=usage(memory, reserved),
        cpu=usage(cpu, reserved_mhz),
        overallStatus=pool.status,
    )
