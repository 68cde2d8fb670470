"""The properties of an ESXi host."""

from __future__ import annotations

from pyVmomi import vim

from vsphere_twin.model import device_mode, evc, passthru
from vsphere_twin.model.tasks import utc_now

from .. import types
from ..registry import prop
from . import host_gpu, host_network, host_pci, host_settings
from .host_hardware import identifying
from .managed import custom_value
from .shape import make

KIND = "HostSystem"


def thumbprint(host):
    """The thumbprint of a host's certificate."""
    digits = host.uuid.replace("-", "").upper()
    return ":".join(digits[at : at + 2] for at in range(0, 32, 2))


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
            memorySize=hardware.memory_bytes,
            cpuModel=hardware.cpu_model,
            cpuMhz=hardware.mhz,
            numCpuPkgs=hardware.sockets,
            numCpuCores=hardware.cores,
            numCpuThreads=2 * hardware.cores,
            numNics=len(host.nics),
            numHBAs=1,
            otherIdentifyingInfo=identifying(host),
        ),
        runtime=runtime(host, world),
        tpmAttestation=make(vim.host.TpmAttestationInfo, time=host.boot_time, status="accepted"),
        config=make(
            vim.host.Summary.ConfigSummary,
            name=host.name,
            port=443,
            sslThumbprint=thumbprint(host),
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
            uptime=max(0, int((utc_now() - host.boot_time).total_seconds())),
        ),
        overallStatus=host.status,
        customValue=custom_value(host, world),
        rebootRequired=host.reboot_required or passthru.reboot_pending(host),
        managementServerIp="10.0.0.1",
        maxEVCModeKey=next(reversed(evc.supported(host)), None),
        currentEVCModeKey=host.compute.evc.mode if hasattr(host.compute, "evc") else None,
    )


@prop(KIND, "runtime")
def runtime(host, world):
    return make(
        vim.host.RuntimeInfo,
        connectionState=host.connection,
        powerState=power_state(host),
        standbyMode="in" if host.power == "standBy" else "none",
        inMaintenanceMode=host.maintenance,
        inQuarantineMode=False,
        bootTime=host.boot_time,
        networkRuntimeInfo=host_network.runtime_info(host),
        hostMaxVirtualDiskCapacity=68169720922112,
        cryptoState="incapable",
    )


def features(host):
    """Return the features of the processor that the BIOS enables."""
    intel = "Intel" in host.hardware.cpu_model
    offered = {
        "cpuid.AES": True,
        "cpuid.AVX512F": intel,
        "cpuid.VMX" if intel else "cpuid.SVM": host.bmc.functions()["virtualization"],
        "hv.capable": host.bmc.functions()["virtualization"],
    }
    return [
        make(vim.host.FeatureCapability, key=key, featureName=key, value=str(int(there)))
        for key, there in offered.items()
    ]


def power_state(host):
    """Return the power state: vCenter has it only from the host itself, or after it sent the host to standby."""
    if host.power == "standBy":
        return "standBy"
    return "unknown" if host.connection == "notResponding" else "poweredOn"


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


# Properties that many clients read for many hosts, without the whole config or summary.
FAST = {
    "runtime.connectionState": lambda host: host.connection,
    "runtime.inMaintenanceMode": lambda host: host.maintenance,
    "runtime.powerState": power_state,
    "runtime.bootTime": lambda host: host.boot_time,
    "summary.config.name": lambda host: host.name,
    "config.product": about,
    "config.lockdownMode": lambda host: host.lockdown,
    "config.network": host_network.network,
    "config.option": host_settings.options,
    "config.service": host_settings.services,
    "config.firewall": host_settings.firewall,
    "config.product.version": lambda host: host.release.version,
    "config.product.apiVersion": lambda host: host.release.api_version,
    "config.sharedPassthruGpuTypes": host_gpu.types_offered,
    "config.sharedGpuCapabilities": host_gpu.capabilities,
    "config.graphicsInfo": host_gpu.graphics_info,
    "config.graphicsConfig": host_gpu.graphics_config,
    "config.pciPassthruInfo": host_pci.passthrough_info,
    "config.assignableHardwareBinding": host_pci.bindings,
}
for _path, _read in FAST.items():
    prop(KIND, _path)(lambda host, world, read=_read: read(host))


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
        autoStart=host_settings.autostart(host),
        dateTimeInfo=host_settings.date_time(host),
        adminDisabled=False,
        authenticationManagerInfo=host_settings.authentication(),
        featureCapability=features(host),
        lockdownMode=host.lockdown,
        pciPassthruInfo=host_pci.passthrough_info(host),
        assignableHardwareBinding=host_pci.bindings(host),
        powerSystemInfo=host_settings.power_info(host),
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
        tpmVersion="2.0",
        txtEnabled=False,
        deviceRebindWithoutRebootSupported=True,
        directPathInfoSupported=True if device_mode.known(host) else None,
        standbySupported=True,
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
