"""The properties of a VM."""

from __future__ import annotations

import ipaddress

from pyVmomi import vim

from vsphere_twin.model import direct, resources
from vsphere_twin.model import guest as guests

from .. import types
from ..registry import prop
from . import vm_config, vm_files
from .shape import make

STATUS_WORDS = {
    "running": ("toolsOk", "guestToolsRunning", "running"),
    "stopped": ("toolsNotRunning", "guestToolsNotRunning", "notRunning"),
    "none": ("toolsNotInstalled", "guestToolsNotRunning", "notRunning"),
}
KIND = "VirtualMachine"


@prop(KIND, "config")
def config(vm, world):
    return None if vm.unfinished else vm_config.config(vm, world)


@prop(KIND, "config.hardware.device")
def hardware_device(vm, world):
    return None if vm.unfinished else list(vm.devices)


@prop(KIND, "config.extraConfig")
def extra_config(vm, world):
    return None if vm.unfinished else vm_config.extra(vm)


# Properties that many clients read for many VMs are given without the whole config or summary.
FAST = {
    "config.annotation": lambda vm: vm.annotation,
    "config.changeVersion": lambda vm: vm.change_version,
    "config.firmware": lambda vm: vm.firmware,
    "config.instanceUuid": lambda vm: vm.instance_uuid,
    "config.memoryReservationLockedToMax": lambda vm: vm.memory_locked,
    "config.name": lambda vm: vm.name,
    "config.template": lambda vm: vm.template,
    "config.uuid": lambda vm: vm.uuid,
    "config.version": lambda vm: vm.hardware_version,
    "config.hardware.memoryMB": lambda vm: vm.memory_mb,
    "config.hardware.numCPU": lambda vm: vm.cpus,
    "guest.toolsRunningStatus": lambda vm: STATUS_WORDS[_tools(vm)][1],
    "runtime.connectionState": lambda vm: vm.connection,
    "runtime.host": lambda vm: vm.host,
    "runtime.powerState": lambda vm: vm.power,
    "summary.config.name": lambda vm: vm.name,
    "summary.config.template": lambda vm: vm.template,
    "summary.config.instanceUuid": lambda vm: vm.instance_uuid,
    "summary.config.uuid": lambda vm: vm.uuid,
    "summary.runtime.powerState": lambda vm: vm.power,
}
for _path, _read in FAST.items():
    _config = _path.startswith("config.")
    prop(KIND, _path)(lambda vm, world, read=_read, own=_config: None if own and vm.unfinished else read(vm))


@prop(KIND, "runtime")
def runtime(vm, world):
    return make(
        vim.vm.RuntimeInfo,
        host=vm.host,
        connectionState=vm.connection,
        powerState=vm.power,
        faultToleranceState="notConfigured",
        toolsInstallerMounted=False,
        bootTime=vm.booted,
        suspendInterval=0,
        memoryOverhead=resources.overhead_mb(vm) * 1024 * 1024,
        maxCpuUsage=vm.cpus * vm.host.hardware.mhz,
        maxMemoryUsage=vm.memory_mb,
        numMksConnections=0,
        recordReplayState="inactive",
        cleanPowerOff=None if vm.power == "poweredOn" else True,
        onlineStandby=False,
        consolidationNeeded=False,
        vFlashCacheAllocation=0,
        paused=False,
        snapshotInBackground=False,
        quiescedForkParent=False,
        instantCloneFrozen=False,
        cryptoState=None,
    )


@prop(KIND, "guest")
def guest(vm, world):
    status, running, state = STATUS_WORDS[_tools(vm)]
    nics = [_guest_nic(vm, nic) for nic in vm.nics] if vm.tools_running else []
    nics += [_guest_port(vm, port) for port in guests.ports(vm)] if vm.tools_running else []
    return make(
        vim.vm.GuestInfo,
        toolsStatus=status,
        toolsVersionStatus="guestToolsUnmanaged" if vm.tools_installed else "guestToolsNotInstalled",
        toolsVersionStatus2="guestToolsUnmanaged" if vm.tools_installed else "guestToolsNotInstalled",
        toolsRunningStatus=running,
        toolsVersion="12352" if vm.tools_installed else "0",
        toolsInstallType="guestToolsTypeOpenVMTools" if vm.tools_installed else None,
        guestId=vm.guest_id if vm.tools_running else None,
        guestFamily="linuxGuest" if vm.tools_running else None,
        guestFullName=vm.guest_name if vm.tools_running else None,
        hostName=vm.host_name if vm.tools_running else None,
        ipAddress=vm.ip_address,
        net=nics,
        guestState=state,
        appHeartbeatStatus="appStatusGray",
        guestKernelCrashed=False,
        appState="none",
        guestOperationsReady=vm.tools_running,
        interactiveGuestOperationsReady=False,
        guestStateChangeSupported=vm.tools_running,
        hwVersion=vm.hardware_version,
    )


def _addresses(interface):
    if interface is None:
        return []
    return [
        make(
            vim.net.IpConfigInfo.IpAddress,
            ipAddress=str(interface.ip),
            prefixLength=interface.network.prefixlen,
            state="preferred",
        )
    ]


def _guest_port(vm, port):
    """An adapter of the guest that is no virtual device; VMware Tools report it without one [unsure: key -1]."""
    text = vm.port_addresses.get(port.mac.lower())
    shown = _addresses(ipaddress.ip_interface(text) if text else None)
    return make(
        vim.vm.GuestInfo.NicInfo,
        ipAddress=[one.ipAddress for one in shown],
        macAddress=port.mac,
        connected=True,
        deviceConfigId=-1,
        ipConfig=make(vim.net.IpConfigInfo, ipAddress=shown) if shown else None,
    )


def _guest_nic(vm, nic):
    shown = _addresses(guests.interface(vm, nic))
    return make(
        vim.vm.GuestInfo.NicInfo,
        network=_network_name(vm, nic),
        ipAddress=[one.ipAddress for one in shown],
        macAddress=nic.macAddress,
        connected=bool(nic.connectable.connected),
        deviceConfigId=nic.key,
        ipConfig=make(vim.net.IpConfigInfo, ipAddress=shown) if shown else None,
    )


@prop(KIND, "summary")
def summary(vm, world):
    status, running, _state = STATUS_WORDS[_tools(vm)]
    return make(
        vim.vm.Summary,
        vm=vm,
        runtime=runtime(vm, world),
        guest=make(
            vim.vm.Summary.GuestSummary,
            guestId=vm.guest_id,
            guestFullName=vm.guest_name,
            toolsStatus=status,
            toolsVersionStatus="guestToolsUnmanaged" if vm.tools_installed else "guestToolsNotInstalled",
            toolsVersionStatus2="guestToolsUnmanaged" if vm.tools_installed else "guestToolsNotInstalled",
            toolsRunningStatus=running,
            hostName=vm.host_name if vm.tools_running else None,
            ipAddress=vm.ip_address,
        ),
        config=vm_config.summary(vm),
        storage=make(
            vim.vm.Summary.StorageSummary,
            committed=vm.disk_bytes,
            uncommitted=vm.promised_bytes,
            unshared=vm.disk_bytes,
            timestamp=vm.modified,
        ),
        quickStats=make(
            vim.vm.Summary.QuickStats,
            guestHeartbeatStatus=_heartbeat(vm),
            uptimeSeconds=0 if vm.booted is None else 1,
            hostMemoryUsage=vm.memory_mb if vm.power == "poweredOn" else 0,
            overallCpuUsage=0,
        ),
        overallStatus=vm.status,
    )


@prop(KIND, "guestHeartbeatStatus")
def guest_heartbeat_status(vm, world):
    return _heartbeat(vm)


@prop(KIND, "capability")
def capability(vm, world):
    return make(
        vim.vm.Capability,
        snapshotOperationsSupported=True,
        multipleSnapshotsSupported=True,
        snapshotConfigSupported=True,
        poweredOffSnapshotsSupported=True,
        memorySnapshotsSupported=not direct.bound(vm),
        revertToSnapshotSupported=True,
        quiescedSnapshotsSupported=True,
        toolsSyncTimeSupported=True,
        bootOptionsSupported=True,
        secureBootSupported=vm.firmware == "efi",
        bootRetryOptionsSupported=True,
        featureRequirementSupported=True,
    )


@prop(KIND, "resourceConfig")
def resource_config(vm, world):
    return make(
        vim.ResourceConfigSpec,
        entity=types.reference(vm),
        changeVersion=vm.change_version,
        lastModified=vm.modified,
        cpuAllocation=vm.cpu_allocation,
        memoryAllocation=vm.memory_allocation,
    )


@prop(KIND, "resourcePool")
def resource_pool(vm, world):
    return vm.pool


@prop(KIND, "environmentBrowser")
def environment_browser(vm, world):
    return vm.browser


@prop(KIND, "datastore")
def datastore(vm, world):
    return list(vm.datastores.values())


@prop(KIND, "network")
def network(vm, world):
    return list(vm.networks.values())


@prop(KIND, "layout")
def layout(vm, world):
    return vm_files.layout(vm)


@prop(KIND, "layoutEx")
def layout_ex(vm, world):
    return vm_files.layout_ex(vm)


@prop(KIND, "storage")
def storage(vm, world):
    return vm_files.storage(vm)


@prop(KIND, "snapshot")
def snapshot(vm, world):
    return vm_files.snapshots(vm)


@prop(KIND, "rootSnapshot")
def root_snapshot(vm, world):
    return [one for one in vm.snapshots if one.parent is None]


def _tools(vm):
    if not vm.tools_installed:
        return "none"
    return "running" if vm.tools_running else "stopped"


def _heartbeat(vm):
    return "green" if vm.tools_running else "gray"


def _network_name(vm, nic):
    port = getattr(nic.backing, "port", None)
    moid = port.portgroupKey if port is not None else nic.backing.network._moId
    found = vm.networks.get(moid)
    return found.name if found is not None else None
