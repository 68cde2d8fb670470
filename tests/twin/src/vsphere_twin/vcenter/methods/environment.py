"""EnvironmentBrowser: the options of a VM here."""

from __future__ import annotations

import re

from pyVmomi import vim, vmodl

from vsphere_twin.model import devices

from ..projections import guest_options, hardware_options, host_gpu, host_targets
from ..projections.shape import make
from ..registry import method
from .tasking import resolved

KIND = "EnvironmentBrowser"
OLDEST_HARDWARE = 11


@method(KIND, "QueryConfigTarget")
def config_target(call, this, host=None):
    hosts = _hosts(call, this, host)
    release = hosts[0].release if hosts else call.world.release
    stores = {moid: one for each in hosts for moid, one in each.datastores.items()}
    networks = {moid: one for each in hosts for moid, one in each.networks.items()}
    switches = {moid: one for each in hosts for moid, one in each.switches.items()}
    since_703 = release.at_least(7, 0, 3)
    return make(
        vim.vm.ConfigTarget,
        numCpus=max((2 * one.hardware.cores for one in hosts), default=0),
        numCpuCores=max((one.hardware.cores for one in hosts), default=0),
        numNumaNodes=max((one.hardware.sockets for one in hosts), default=0),
        smcPresent=False,
        datastore=[_datastore(store) for store in stores.values()],
        network=[_network(one) for one in networks.values() if one.kind == "Network"],
        distributedVirtualPortgroup=[_portgroup(one) for one in networks.values() if one.kind != "Network"],
        maxMemMBOptimalPerf=max((one.hardware.memory_gb * 1024 for one in hosts), default=0),
        autoVmotion=False,
        distributedVirtualSwitch=[_switch(one) for one in switches.values()],
        pciPassthrough=[row for one in hosts for row in host_targets.passthrough(one)],
        sriov=[row for one in hosts for row in host_targets.sriov(one)],
        dynamicPassthrough=host_targets.dynamic(hosts),
        vendorDeviceGroupInfo=host_targets.device_groups(hosts) if release.at_least(8, 0, 0) else None,
        dvxClassInfo=host_targets.dvx_classes(hosts) if release.at_least(8, 0, 0) else None,
        sharedGpuPassthroughTypes=[
            make(vim.vm.PciSharedGpuPassthroughInfo, name=name, vgpu=name)
            for name in sorted({name for one in hosts for name in host_gpu.types_offered(one)})
        ],
        vgpuDeviceInfo=_distinct(hosts, host_gpu.device_info, "deviceName") if since_703 else None,
        vgpuProfileInfo=_distinct(hosts, host_gpu.profile_info, "profileName") if since_703 else None,
    )


@method(KIND, "QueryConfigOptionDescriptor")
def config_option_descriptor(call, this):
    hosts = _hosts(call, this, None)
    newest = min((one.release.newest_hardware for one in hosts), default=OLDEST_HARDWARE)
    return [
        make(
            vim.vm.ConfigOptionDescriptor,
            key=f"vmx-{number:02}",
            description=f"ESXi hardware version {number}",
            host=hosts,
            createSupported=True,
            defaultConfigOption=number == newest,
            runSupported=True,
            upgradeSupported=True,
        )
        for number in range(OLDEST_HARDWARE, newest + 1)
    ]


@method(KIND, "QueryConfigOption")
def config_option(call, this, key=None, host=None):
    return _option(call, this, key, host, ())


@method(KIND, "QueryConfigOptionEx")
def config_option_ex(call, this, spec=None):
    if spec is None:
        return _option(call, this, None, None, ())
    return _option(call, this, spec.key, spec.host, spec.guestId)


def _option(call, this, key, host, guests):
    hosts = _hosts(call, this, host)
    newest = min((one.release.newest_hardware for one in hosts), default=OLDEST_HARDWARE)
    release = hosts[0].release if hosts else call.world.release
    profiles = sorted({name for one in hosts for name in host_gpu.types_offered(one)})
    key = key or f"vmx-{newest}"
    if re.fullmatch(r"vmx-\d{2}", key) is None or int(key[4:]) > newest:
        # That the fault is this one is [unsure].
        raise vmodl.fault.InvalidArgument(msg="A specified parameter was not correct: key", invalidProperty="key")
    hardware = hardware_options.hardware_options(int(key[4:]), release, profiles)
    descriptors = guest_options.descriptors(max(hardware.numCPU), hardware.memoryMB.max)
    return make(
        vim.vm.ConfigOption,
        version=key,
        description="ESXi virtual machine",
        guestOSDescriptor=[one for one in descriptors if not guests or one.id in guests],
        supportedMonitorType=["release", "debug", "stats"],
        hardwareOptions=hardware,
        defaultDevice=[*devices.base_hardware()],  # those that each new VM has
    )


def _hosts(call, this, host):
    wanted = resolved(call, host)
    if wanted is not None:
        return [wanted]
    if this.owner.kind == "VirtualMachine":
        return [this.owner.host]
    return [one for one in this.owner.hosts.values() if one.connection == "connected"]


def _distinct(hosts, read, key):
    return list({getattr(row, key): row for one in hosts for row in read(one)}.values())


def _datastore(store):
    summary = make(
        vim.Datastore.Summary,
        datastore=store,
        name=store.name,
        url=store.url,
        capacity=store.capacity,
        freeSpace=store.free,
        accessible=store.accessible,
        type=store.filesystem,
        multipleHostAccess=len(store.hosts) > 1,
    )
    return make(
        vim.vm.DatastoreInfo,
        name=store.name,
        datastore=summary,
        capability=make(vim.Datastore.Capability),
        maxFileSize=70368744177664,
        mode="readWrite",
        vStorageSupport="vStorageSupported",
    )


def _network(network):
    return make(
        vim.vm.NetworkInfo,
        name=network.name,
        network=make(vim.Network.Summary, network=network, name=network.name, accessible=True, ipPoolName=""),
    )


def _portgroup(group):
    return make(
        vim.dvs.DistributedVirtualPortgroupInfo,
        switchName=group.switch.name,
        switchUuid=group.switch.uuid,
        portgroupName=group.name,
        portgroupKey=group.key,
        portgroupType="earlyBinding",
        uplinkPortgroup=group.uplink,
        portgroup=group,
    )


def _switch(switch):
    return make(
        vim.dvs.DistributedVirtualSwitchInfo,
        switchName=switch.name,
        switchUuid=switch.uuid,
        distributedVirtualSwitch=switch,
        networkReservationSupported=True,
    )
