"""Folders, datacenters, compute resources, pools."""

from __future__ import annotations

from pyVmomi import vim

from twin.model.inventory import datacenter_of

from .. import types
from ..registry import prop
from .shape import make

GB = 1024**3


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
    if compute.kind == "ClusterComputeResource":
        return _cluster_config(compute)
    return make(vim.ComputeResource.ConfigInfo, vmSwapPlacement="vmDirectory")


@prop("ComputeResource", "lifecycleManaged")
def lifecycle_managed(compute, world):
    return False


@prop("ComputeResource", "summary")
def summary(compute, world):
    return _summary(compute, vim.ComputeResource.Summary)


@prop("ClusterComputeResource", "summary")
def cluster_summary(cluster, world):
    return _summary(
        cluster,
        vim.ClusterComputeResource.Summary,
        currentFailoverLevel=max(0, len(cluster.hosts) - 1) if cluster.ha else 0,
        numVmotions=0,
        targetBalance=200,
        currentBalance=0,
        usageSummary=None,
    )


@prop("ClusterComputeResource", "summaryEx")
def cluster_summary_ex(cluster, world):
    return cluster_summary(cluster, world)


@prop("ClusterComputeResource", "configuration")
def cluster_configuration(cluster, world):
    return make(
        vim.cluster.ConfigInfo,
        dasConfig=_das(cluster),
        drsConfig=_drs(cluster),
        rule=cluster.rules,
        drsVmConfig=_overrides(cluster),
    )


for _name in ("recommendation", "drsRecommendation", "migrationHistory", "actionHistory", "drsFault"):
    prop("ClusterComputeResource", _name)(lambda cluster, world: [])


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


def _summary(compute, cls, **more):
    all_hosts = list(compute.hosts.values())
    effective = [host for host in all_hosts if host.connection == "connected" and not host.maintenance]
    mhz = [host.hardware.cores * host.hardware.mhz for host in all_hosts]
    return make(
        cls,
        totalCpu=sum(mhz),
        totalMemory=sum(host.hardware.memory_gb for host in all_hosts) * GB,
        numCpuCores=sum(host.hardware.cores for host in all_hosts),
        numCpuThreads=2 * sum(host.hardware.cores for host in all_hosts),
        effectiveCpu=sum(host.hardware.cores * host.hardware.mhz for host in effective),
        effectiveMemory=sum(host.hardware.memory_gb for host in effective) * 1024,
        numHosts=len(all_hosts),
        numEffectiveHosts=len(effective),
        overallStatus=compute.status,
        **more,
    )


def _overrides(cluster):
    return list(cluster.vm_overrides.values())


def _das(cluster):
    return make(
        vim.cluster.DasConfigInfo,
        enabled=cluster.ha,
        vmMonitoring="vmMonitoringDisabled",
        hostMonitoring="enabled",
        failoverLevel=1,
        admissionControlEnabled=cluster.ha,
        admissionControlPolicy=make(vim.cluster.FailoverLevelAdmissionControlPolicy, failoverLevel=1),
        defaultVmSettings=make(
            vim.cluster.DasVmSettings,
            restartPriority="medium",
            isolationResponse="none",
            vmToolsMonitoringSettings=make(
                vim.cluster.VmToolsMonitoringSettings,
                enabled=False,
                failureInterval=30,
                minUpTime=120,
                maxFailures=3,
                maxFailureWindow=3600,
            ),
        ),
        hBDatastoreCandidatePolicy="allFeasibleDsWithUserPreference",
    )


def _drs(cluster):
    return make(
        vim.cluster.DrsConfigInfo,
        enabled=cluster.drs != "off",
        enableVmBehaviorOverrides=True,
        defaultVmBehavior=cluster.drs if cluster.drs != "off" else "manual",
        vmotionRate=3,
        option=[make(vim.option.OptionValue, key=key, value=value) for key, value in cluster.options.items()],
    )


def _cluster_config(cluster):
    return make(
        vim.cluster.ConfigInfoEx,
        vmSwapPlacement="vmDirectory",
        dasConfig=_das(cluster),
        drsConfig=_drs(cluster),
        rule=cluster.rules,
        drsVmConfig=_overrides(cluster),
        dpmConfigInfo=make(
            vim.cluster.DpmConfigInfo, enabled=False, defaultDpmBehavior="manual", hostPowerActionRate=3
        ),
        vsanConfigInfo=make(
            vim.vsan.cluster.ConfigInfo,
            enabled=False,
            defaultConfig=make(vim.vsan.cluster.ConfigInfo.HostDefaultInfo, autoClaimStorage=False),
        ),
        proactiveDrsConfig=make(vim.cluster.ProactiveDrsConfigInfo, enabled=False),
        infraUpdateHaConfig=make(vim.cluster.InfraUpdateHaConfigInfo, enabled=False),
        orchestration=make(
            vim.cluster.OrchestrationInfo,
            defaultVmReadiness=make(vim.cluster.VmReadiness, readyCondition="none", postReadyDelay=0),
        ),
    )


def _allocation(reservation):
    return make(
        vim.ResourceAllocationInfo,
        reservation=reservation,
        expandableReservation=True,
        limit=-1,
        shares=make(vim.SharesInfo, shares=4000, level="normal"),
    )


def _pool_config(entity):
    return make(
        vim.ResourceConfigSpec,
        entity=types.reference(entity),
        cpuAllocation=_allocation(0),
        memoryAllocation=_allocation(0),
    )


def _pool_runtime(pool):
    hosts_of = [host for host in pool.owner.hosts.values() if host.connection == "connected"]
    memory = sum(host.hardware.memory_gb for host in hosts_of) * GB
    cpu = sum(host.hardware.cores * host.hardware.mhz for host in hosts_of)
    reserved = sum(vm.memory_reserved_mb for vm in pool.vms.values() if vm.power == "poweredOn") * 1024 * 1024

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
        vim.ResourcePool.RuntimeInfo, memory=usage(memory, reserved), cpu=usage(cpu, 0), overallStatus=pool.status
    )
