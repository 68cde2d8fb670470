"""The properties of an ESXi host."""

from __future__ import annotations

from pyVmomi import vim

from .. import types
from ..registry import prop
from . import host_gpu, host_network, host_settings
from .shape import EPOCH, make

GB = 1024**3
KIND = "HostSystem"


@prop(KIND, "summary")
def summary(host, world):
    hardware = host.hardware
    return make(
        vim.host.Summary,
        host=host,
        hardware=make(
            vim.host.Summary.HardwareSummary,
            vendor=hardware.vendor,
            model=hardware.model,
            uuid=host.uuid,
            memorySize=hardware.memory_gb * GB,
            cpuModel=hardware.cpu_model,
            cpuMhz=hardware.mhz,
            numCpuPkgs=hardware.sockets,
            numCpuCores=hardware.cores,
            numCpuThreads=2 * hardware.cores,
            numNics=len(host.nics),
            numHBAs=1,
            otherIdentifyingInfo=_identifying(host),
        ),
        runtime=runtime(host, world),
        config=make(
            vim.host.Summary.ConfigSummary,
            name=host.name,
            port=443,
            sslThumbprint=":".join(host.uuid.replace("-", "").upper()[at : at + 2] for at in range(0, 32, 2)),
            product=about(host),
            vmotionEnabled=True,
            faultToleranceEnabled=False,
        ),
        quickStats=make(
            vim.host.Summary.QuickStats,
            overallCpuUsage=0,
            overallMemoryUsage=sum(vm.memory_reserved_mb for vm in host.running_vms()) + 4096,
            distributedCpuFairness=0,
            distributedMemoryFairness=0,
            uptime=86400,
        ),
        overallStatus=host.status,
        rebootRequired=host.reboot_required,
        managementServerIp="10.0.0.1",
    )


@prop(KIND, "runtime")
def runtime(host, world):
    return make(
        vim.host.RuntimeInfo,
        connectionState=host.connection,
        powerState=host.power,
        standbyMode="none",
        inMaintenanceMode=host.maintenance,
        inQuarantineMode=False,
        bootTime=EPOCH,
        hostMaxVirtualDiskCapacity=68169720922112,
        cryptoState="incapable",
    )


def about(host):
    """The product of a host, as in config.product."""
    release = host.release
    return make(
        vim.AboutInfo,
        name="VMware ESXi",
        fullName=f"VMware ESXi {release.version} build-{release.build}",
        vendor="VMware, Inc.",
        version=release.version,
        build=release.build,
        localeVersion="INTL",
        localeBuild="000",
        osType="vmnix-x86",
        productLineId="embeddedEsx",
        apiType="HostAgent",
        apiVersion=release.api_version,
        licenseProductName="VMware ESX Server",
        licenseProductVersion=f"{release.numbers[0]}.0",
    )


# What many clients read for many hosts, without the whole config or summary.
FAST = {
    "runtime.connectionState": lambda host: host.connection,
    "runtime.inMaintenanceMode": lambda host: host.maintenance,
    "runtime.powerState": lambda host: host.power,
    "summary.config.name": lambda host: host.name,
    "config.product": about,
    "config.product.version": lambda host: host.release.version,
    "config.product.apiVersion": lambda host: host.release.api_version,
    "config.sharedPassthruGpuTypes": host_gpu.types_offered,
    "config.sharedGpuCapabilities": host_gpu.capabilities,
    "config.graphicsInfo": host_gpu.graphics_info,
    "config.graphicsConfig": host_gpu.graphics_config,
    "config.pciPassthruInfo": host_gpu.passthrough_info,
    "hardware.pciDevice": host_gpu.pci_devices,
}
for _path, _read in FAST.items():
    prop(KIND, _path)(lambda host, world, read=_read: read(host))


@prop(KIND, "hardware")
def hardware(host, world):
    machine = host.hardware
    per_socket = machine.cores_per_socket
    return make(
        vim.host.HardwareInfo,
        systemInfo=make(
            vim.host.SystemInfo,
            vendor=machine.vendor,
            model=machine.model,
            uuid=host.uuid,
            serialNumber=machine.serial,
            otherIdentifyingInfo=_identifying(host),
        ),
        cpuInfo=make(
            vim.host.CpuInfo,
            numCpuPackages=machine.sockets,
            numCpuCores=machine.cores,
            numCpuThreads=2 * machine.cores,
            hz=machine.mhz * 1_000_000,
        ),
        cpuPkg=[
            make(
                vim.host.CpuPackage,
                index=socket,
                vendor="intel" if "Intel" in machine.cpu_model else "amd",
                hz=machine.mhz * 1_000_000,
                busHz=100_000_000,
                description=machine.cpu_model,
                threadId=list(range(2 * socket * per_socket, 2 * (socket + 1) * per_socket)),
            )
            for socket in range(machine.sockets)
        ],
        memorySize=machine.memory_gb * GB,
        numaInfo=make(
            vim.host.NumaInfo,
            type="NUMA",
            numNodes=machine.sockets,
            numaNode=[
                make(
                    vim.host.NumaNode,
                    typeId=node,
                    cpuID=list(range(node * per_socket, (node + 1) * per_socket)),
                    memorySize=machine.memory_gb * GB // machine.sockets,
                    memoryRangeBegin=node * machine.memory_gb * GB // machine.sockets,
                    memoryRangeLength=machine.memory_gb * GB // machine.sockets,
                    pciId=[gpu.pci_id for gpu in host.gpus if gpu.numa_node == node],
                )
                for node in range(machine.sockets)
            ],
        ),
        smcPresent=False,
        pciDevice=host_gpu.pci_devices(host),
        biosInfo=make(
            vim.host.BIOSInfo, biosVersion="1.12.1", releaseDate=EPOCH, vendor=machine.vendor, firmwareType="UEFI"
        ),
    )


@prop(KIND, "config")
def config(host, world):
    return make(
        vim.host.ConfigInfo,
        host=host,
        product=about(host),
        hyperThread=make(vim.host.CpuSchedulerSystem.HyperThreadScheduleInfo, available=True, active=True, config=True),
        storageDevice=host_settings.storage_device(host),
        fileSystemVolume=host_settings.file_systems(host),
        network=host_network.network(host),
        vmotion=make(vim.host.VMotionInfo),
        virtualNicManagerInfo=make(vim.host.VirtualNicManagerInfo, netConfig=host_network.nic_services(host)),
        service=host_settings.services(host),
        firewall=host_settings.firewall(host),
        option=host_settings.options(host),
        dateTimeInfo=host_settings.date_time(host),
        adminDisabled=False,
        lockdownMode="lockdownDisabled",
        pciPassthruInfo=host_gpu.passthrough_info(host),
        powerSystemInfo=host_settings.power_info(),
        powerSystemCapability=host_settings.power_capability(),
        graphicsInfo=host_gpu.graphics_info(host),
        graphicsConfig=host_gpu.graphics_config(host),
        sharedPassthruGpuTypes=host_gpu.types_offered(host),
        sharedGpuCapabilities=host_gpu.capabilities(host),
    )


@prop(KIND, "configManager")
def config_manager(host, world):
    return make(vim.host.ConfigManager, **{name: types.reference(manager) for name, manager in host.managers.items()})


@prop(KIND, "capability")
def capability(host, world):
    return make(
        vim.host.Capability,
        rebootSupported=True,
        shutdownSupported=True,
        vmotionSupported=True,
        maintenanceModeSupported=True,
        nicTeamingSupported=True,
        vlanTaggingSupported=True,
        nfsSupported=True,
        iscsiSupported=True,
        sanSupported=True,
        highGuestMemSupported=True,
        storageVMotionSupported=True,
        tpmSupported=True,
        maxSupportedVcpus=768,
        maxRunningVMs=1024,
    )


@prop(KIND, "vm")
def vms(host, world):
    return list(host.vms.values())


@prop(KIND, "datastore")
def datastore(host, world):
    return list(host.datastores.values())


@prop(KIND, "network")
def network(host, world):
    return list(host.networks.values())


@prop(KIND, "datastoreBrowser")
def datastore_browser(host, world):
    return host.browser


def _identifying(host):
    return [
        make(
            vim.host.SystemIdentificationInfo,
            identifierValue=host.hardware.serial,
            identifierType=make(
                vim.ElementDescription,
                label="Service tag",
                summary="Service tag of the system",
                key="ServiceTag",
            ),
        )
    ]
