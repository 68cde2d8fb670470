"""The configuration of a VM, in full and in its summary."""

from __future__ import annotations

from pyVmomi import vim

from vsphere_twin.model import kept, resources

from .shape import make


def config(vm, world):
    """VirtualMachineConfigInfo."""
    directory = vm.home[: vm.home.rindex("/")] if "/" in vm.home else vm.home
    shown = make(
        vim.vm.ConfigInfo,
        changeVersion=vm.change_version,
        modified=vm.modified,
        name=vm.name,
        guestFullName=vm.guest_name,
        version=vm.hardware_version,
        uuid=vm.uuid,
        createDate=vm.created,
        instanceUuid=vm.instance_uuid,
        npivTemporaryDisabled=True,
        template=vm.template,
        guestId=vm.guest_id,
        alternateGuestName="",
        annotation=vm.annotation,
        files=make(
            vim.vm.FileInfo,
            vmPathName=vm.home,
            snapshotDirectory=f"{directory}/",
            suspendDirectory=f"{directory}/",
            logDirectory=f"{directory}/",
        ),
        tools=make(
            vim.vm.ToolsConfigInfo,
            toolsVersion=12352 if vm.tools_installed else 0,
            afterPowerOn=True,
            afterResume=True,
            beforeGuestStandby=True,
            beforeGuestShutdown=True,
            toolsUpgradePolicy="manual",
            syncTimeWithHost=False,
            syncTimeWithHostAllowed=True,
            lastInstallInfo=make(vim.vm.ToolsConfigInfo.ToolsLastInstallInfo, counter=0),
        ),
        flags=kept.overlay(_flags(), vm.flags),
        defaultPowerOps=make(
            vim.vm.DefaultPowerOpInfo,
            powerOffType="soft",
            suspendType="hard",
            resetType="soft",
            defaultPowerOffType="soft",
            defaultSuspendType="hard",
            defaultResetType="soft",
            standbyAction="checkpoint",
        ),
        rebootPowerOff=False,
        hardware=hardware(vm),
        cpuAllocation=vm.cpu_allocation,
        memoryAllocation=vm.memory_allocation,
        latencySensitivity=make(vim.LatencySensitivity, level=vm.latency_sensitivity),
        memoryHotAddEnabled=vm.memory_hot_add,
        cpuHotAddEnabled=vm.cpu_hot_add,
        cpuHotRemoveEnabled=False,
        extraConfig=extra(vm),
        datastoreUrl=[
            make(vim.vm.ConfigInfo.DatastoreUrlPair, name=store.name, url=f"/vmfs/volumes/{store.uuid}")
            for store in vm.datastores.values()
        ],
        swapPlacement="inherit",
        bootOptions=kept.overlay(_boot_options(vm), vm.boot_options),
        vAssertsEnabled=False,
        changeTrackingEnabled=False,
        firmware=vm.firmware,
        maxMksConnections=-1,
        guestAutoLockEnabled=True,
        memoryReservationLockedToMax=vm.memory_locked,
        initialOverhead=make(
            vim.vm.ConfigInfo.OverheadInfo,
            initialMemoryReservation=resources.overhead_mb(vm) * 1024 * 1024,
            initialSwapReservation=0,
        ),
        nestedHVEnabled=False,
        vPMCEnabled=False,
        scheduledHardwareUpgradeInfo=make(
            vim.vm.ScheduledHardwareUpgradeInfo, upgradePolicy="never", scheduledHardwareUpgradeStatus="none"
        ),
        vFlashCacheReservation=0,
        messageBusTunnelEnabled=False,
        guestIntegrityInfo=make(vim.vm.GuestIntegrityInfo, enabled=False),
        migrateEncryption="opportunistic",
        ftEncryptionMode="ftEncryptionOpportunistic",
        sevEnabled=False,
        pmemFailoverEnabled=False,
        vmxStatsCollectionEnabled=True,
        vmOpNotificationToAppEnabled=False,
        vmOpNotificationTimeout=-1,
        fixedPassthruHotPlugEnabled=False,
        deviceGroups=_device_groups(vm),
        numaInfo=make(
            vim.vm.VirtualNumaInfo,
            coresPerNumaNode=vm.cores_per_numa_node or cores_per_node(vm),
            autoCoresPerNumaNode=vm.cores_per_numa_node is None,
            vnumaOnCpuHotaddExposed=False,
        ),
    )
    return kept.show(shown, vm.kept, kept.SHOWN_OF_VMS)


def cores_per_node(vm):
    """Return the choice of vSphere: as few nodes as the sockets of the host allow."""
    return min(vm.cpus, vm.host.hardware.cores_per_socket)


def _device_groups(vm):
    """The vendor device groups, where the VM has some."""
    if not vm.device_groups:
        return None
    kind = vim.vm.VirtualDeviceGroups.VendorDeviceGroup
    groups = [make(kind, groupInstanceKey=key, deviceGroupName=name) for key, name in vm.device_groups.items()]
    return make(vim.vm.VirtualDeviceGroups, deviceGroup=groups)


def hardware(vm):
    """VirtualHardware."""
    return make(
        vim.vm.VirtualHardware,
        numCPU=vm.cpus,
        numCoresPerSocket=vm.cores_per_socket,
        autoCoresPerSocket=vm.cores_per_socket == 0,
        memoryMB=vm.memory_mb,
        virtualICH7MPresent=False,
        virtualSMCPresent=False,
        device=list(vm.devices),
        motherboardLayout="i440bxHostBridge",
        simultaneousThreads=1,
    )


def summary(vm):
    """VirtualMachineConfigSummary."""
    return make(
        vim.vm.Summary.ConfigSummary,
        name=vm.name,
        template=vm.template,
        vmPathName=vm.home,
        memorySizeMB=vm.memory_mb,
        cpuReservation=vm.cpu_allocation.reservation or 0,
        memoryReservation=vm.memory_reserved_mb,
        numCpu=vm.cpus,
        numEthernetCards=len(vm.nics),
        numVirtualDisks=len(vm.disks),
        uuid=vm.uuid,
        instanceUuid=vm.instance_uuid,
        guestId=vm.guest_id,
        guestFullName=vm.guest_name,
        annotation=vm.annotation,
        installBootRequired=False,
        tpmPresent=any(isinstance(one, vim.vm.device.VirtualTPM) for one in vm.devices),
        numVmiopBackings=len(vm.vgpus),
        hwVersion=vm.hardware_version,
    )


def extra(vm):
    """The extraConfig list, in the order in which the keys were first set."""
    return [make(vim.option.OptionValue, key=key, value=value) for key, value in vm.extra.items()]


def _flags():
    return make(
        vim.vm.FlagInfo,
        disableAcceleration=False,
        enableLogging=True,
        useToe=False,
        runWithDebugInfo=False,
        monitorType="release",
        htSharing="any",
        snapshotDisabled=False,
        snapshotLocked=False,
        diskUuidEnabled=True,
        virtualMmuUsage="automatic",
        virtualExecUsage="hvAuto",
        snapshotPowerOffBehavior="powerOff",
        recordReplayEnabled=False,
        faultToleranceType="unset",
        cbrcCacheEnabled=False,
        vvtdEnabled=False,
        vbsEnabled=False,
    )


def _boot_options(vm):
    return make(
        vim.vm.BootOptions,
        bootDelay=0,
        enterBIOSSetup=False,
        efiSecureBootEnabled=False,
        bootRetryEnabled=False,
        bootRetryDelay=10000,
        networkBootProtocol="ipv4",
    )
