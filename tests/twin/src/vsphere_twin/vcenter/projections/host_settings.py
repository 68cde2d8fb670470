"""Services and settings of a host: services, firewall, clock, options, storage, power."""

from __future__ import annotations

from pyVmomi import vim

from .fabric import mount, vmfs
from .shape import make

# Rules of the firewall's rulesets, as ESXi has them: directions, protocol, ports. GOV simulator/esx.
PORTS = {
    "sshServer": ((("inbound",), "tcp", 22, None),),
    "ntpClient": ((("outbound",), "udp", 123, None),),
    "vpxHeartbeats": ((("outbound",), "udp", 902, None),),
    "vMotion": ((("inbound", "outbound"), "tcp", 8000, None),),
    "pvrdma": ((("inbound", "outbound"), "tcp", 28250, 28761),),
}
# A captured ruleset whose rules the twin does not know: the API needs one.
UNKNOWN = ((("inbound",), "tcp", 0, None),)
POLICIES = ((1, "static", "High Performance"), (2, "dynamic", "Balanced"), (3, "low", "Low power"))


def options(host):
    """The advanced settings as option values."""
    return [make(vim.option.OptionValue, key=key, value=value) for key, value in sorted(host.options.items())]


def services(host):
    """The daemons of a host."""
    return make(
        vim.host.ServiceInfo,
        service=[
            make(
                vim.host.Service,
                key=one.key,
                label=one.label,
                required=one.key in ("vpxa", "DCUI"),
                uninstallable=False,
                running=one.running,
                ruleset=one.ruleset,
                policy=one.policy,
                sourcePackage=make(
                    vim.host.Service.SourcePackage, sourcePackageName="esx-base", description="This VIB contains ESXi"
                ),
            )
            for one in host.services
        ],
    )


def firewall(host):
    """The firewall's rulesets."""
    return make(
        vim.host.FirewallInfo,
        defaultPolicy=make(vim.host.FirewallInfo.DefaultPolicy, incomingBlocked=True, outgoingBlocked=True),
        ruleset=[
            make(
                vim.host.Ruleset,
                key=key,
                label=key,
                required=False,
                enabled=enabled,
                allowedHosts=host.allowed_hosts.get(key) or make(vim.host.Ruleset.IpList, allIp=True),
                rule=[
                    make(vim.host.Ruleset.Rule, port=port, endPort=end, direction=way, portType="dst", protocol=kind)
                    for ways, kind, port, end in PORTS.get(key, UNKNOWN)
                    for way in ways
                ],
            )
            for key, enabled in sorted(host.rulesets.items())
        ],
    )


def date_time(host):
    """Clock and NTP."""
    return make(
        vim.host.DateTimeInfo,
        timeZone=make(vim.host.DateTimeSystem.TimeZone, key="UTC", name="UTC", description="UTC", gmtOffset=0),
        systemClockProtocol="ntp",
        ntpConfig=make(
            vim.host.NtpConfig,
            server=host.ntp_servers,
            configFile=[f"server {server}" for server in host.ntp_servers],
        ),
        enabled=True,
    )


def storage_device(host):
    """Return one local NVMe adapter, and the disks below the datastores."""
    return make(
        vim.host.StorageDeviceInfo,
        hostBusAdapter=[
            make(
                vim.host.BlockHba,
                key="key-vim.host.BlockHba-vmhba0",
                device="vmhba0",
                bus=1,
                status="online",
                model="NVMe SSD Controller",
                driver="nvme_pcie",
                pci="0000:01:00.0",
                storageProtocol="nvme",
            )
        ],
        scsiLun=[_lun(store) for store in _disks(host)],
        scsiTopology=_topology(host),
        multipathInfo=_multipath(host),
        softwareInternetScsiEnabled=False,
    )


def _topology(host):
    """ScsiTopology: the adapter has one target, with all disks. Its form: GOV simulator/esx."""
    return make(
        vim.host.ScsiTopology,
        adapter=[
            make(
                vim.host.ScsiTopology.Interface,
                key="key-vim.host.ScsiTopology.Interface-vmhba0",
                adapter="key-vim.host.BlockHba-vmhba0",
                target=[
                    make(
                        vim.host.ScsiTopology.Target,
                        key="key-vim.host.ScsiTopology.Target-vmhba0:0:0",
                        target=0,
                        lun=[
                            make(
                                vim.host.ScsiTopology.Lun,
                                key=f"key-vim.host.ScsiTopology.Lun-{store.uuid}",
                                lun=number,
                                scsiLun=f"key-vim.host.ScsiDisk-{store.uuid}",
                            )
                            for number, store in enumerate(_disks(host))
                        ],
                        transport=make(vim.host.BlockAdapterTargetTransport),
                    )
                ],
            )
        ],
    )


def _disks(host):
    return [store for store in host.datastores.values() if store.filesystem == "VMFS"]


def _multipath(host):
    """HostMultipathInfo: one path to each disk. Its form: GOV simulator/esx."""
    return make(
        vim.host.MultipathInfo,
        lun=[
            make(
                vim.host.MultipathInfo.LogicalUnit,
                key=f"key-vim.host.MultipathInfo.LogicalUnit-{store.uuid}",
                id=store.uuid,
                lun=f"key-vim.host.ScsiDisk-{store.uuid}",
                path=[
                    make(
                        vim.host.MultipathInfo.Path,
                        key=f"key-vim.host.MultipathInfo.Path-vmhba0:C0:T0:L{number}",
                        name=f"vmhba0:C0:T0:L{number}",
                        pathState="active",
                        state="active",
                        isWorkingPath=True,
                        adapter="key-vim.host.BlockHba-vmhba0",
                        lun=f"key-vim.host.MultipathInfo.LogicalUnit-{store.uuid}",
                        transport=make(vim.host.BlockAdapterTargetTransport),
                    )
                ],
                policy=make(
                    vim.host.MultipathInfo.FixedLogicalUnitPolicy,
                    policy="VMW_PSP_FIXED",
                    prefer=f"vmhba0:C0:T0:L{number}",
                ),
                storageArrayTypePolicy=make(
                    vim.host.MultipathInfo.LogicalUnitStorageArrayTypePolicy, policy="VMW_SATP_LOCAL"
                ),
            )
            for number, store in enumerate(_disks(host))
        ],
    )


def _lun(store):
    """The disk below a VMFS volume, as esxcli shows it too."""
    return make(
        vim.host.ScsiDisk,
        key=f"key-vim.host.ScsiDisk-{store.uuid}",
        uuid=store.uuid,
        deviceName=f"/vmfs/devices/disks/{store.lun}",
        deviceType="disk",
        canonicalName=store.lun,
        displayName=f"Fibre Channel Disk ({store.lun})",
        lunType="disk",
        vendor="DGC",
        model="VRAID",
        revision="1.0",
        scsiLevel=6,
        operationalState=["ok"],
        capabilities=make(vim.host.ScsiLun.Capabilities, updateDisplayNameSupported=True),
        vStorageSupport="vStorageSupported",
        capacity=make(vim.host.DiskDimensions.Lba, blockSize=512, block=store.capacity // 512),
        devicePath=f"/vmfs/devices/disks/{store.lun}",
        ssd=True,
        localDisk=False,
    )


def file_systems(host):
    """The mounted datastores."""
    return make(
        vim.host.FileSystemVolumeInfo,
        volumeTypeList=["VMFS", "NFS", "NFS41", "vsan", "VFFS"],
        mountInfo=[
            make(
                vim.host.FileSystemMountInfo,
                mountInfo=mount(store, host),
                volume=vmfs(store) if store.filesystem == "VMFS" else _volume(store),
                vStorageSupport="vStorageSupported",
            )
            for store in host.datastores.values()
        ],
    )


def _volume(store):
    return make(vim.host.FileSystemVolume, type=store.filesystem, name=store.name, capacity=store.capacity)


def autostart(host):
    """HostAutoStartManagerConfig: what starts with the host."""
    defaults = host.autostart["defaults"] or make(
        vim.host.AutoStartManager.SystemDefaults,
        enabled=False,
        startDelay=120,
        stopDelay=120,
        waitForHeartbeat=False,
        stopAction="PowerOff",
    )
    order = [one for moid, one in host.autostart["order"].items() if moid in host.vms]
    return make(vim.host.AutoStartManager.Config, defaults=defaults, powerInfo=order)


def make_policy(key, short, name):
    """Return one power policy."""
    return make(vim.host.PowerSystem.PowerPolicy, key=key, name=name, shortName=short, description=name)


def power_capability():
    """The power policies that the host has."""
    return make(vim.host.PowerSystem.Capability, availablePolicy=[make_policy(*row) for row in POLICIES])


def power_info(host):
    """The power policy in use."""
    return make(vim.host.PowerSystem.Info, currentPolicy=make_policy(*POLICIES[host.power_policy - 1]))


def snmp_configuration(host):
    """The settings of the SNMP agent."""
    agent = host.snmp
    return make(
        vim.host.SnmpSystem.SnmpConfigSpec,
        enabled=agent.enabled,
        port=agent.port,
        readOnlyCommunities=agent.communities,
        trapTargets=agent.targets,
        option=[make(vim.KeyValue, key=key, value=value) for key, value in agent.options.items()],
    )


def authentication():
    """The stores of users of a host: its own, and Active Directory, which no host of the twin has joined."""
    return make(
        vim.host.AuthenticationManagerInfo,
        authConfig=[
            make(vim.host.LocalAuthenticationInfo, enabled=True),
            make(vim.host.ActiveDirectoryInfo, enabled=False, smartCardAuthenticationEnabled=False),
        ],
    )
