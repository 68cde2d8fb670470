"""Services and settings of a host: services, firewall, clock, options, storage, power."""

from __future__ import annotations

from pyVmomi import vim

from .fabric import mount
from .shape import make

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
                    make(vim.host.Ruleset.Rule, port=port, endPort=end, direction=way, portType="dst", protocol="tcp")
                    for port, end in [(28250, 28761) if key == "pvrdma" else (22, None)]
                    for way in ("inbound", "outbound")
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
    """Return one local NVMe adapter; disks are not modelled."""
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
        softwareInternetScsiEnabled=False,
    )


def file_systems(host):
    """The mounted datastores."""
    return make(
        vim.host.FileSystemVolumeInfo,
        volumeTypeList=["VMFS", "NFS", "NFS41", "vsan", "VFFS"],
        mountInfo=[
            make(
                vim.host.FileSystemMountInfo,
                mountInfo=mount(store),
                volume=make(vim.host.FileSystemVolume, type=store.filesystem, name=store.name, capacity=store.capacity),
                vStorageSupport="vStorageSupported",
            )
            for store in host.datastores.values()
        ],
    )


def make_policy(key, short, name):
    """Return one power policy."""
    return make(vim.host.PowerSystem.PowerPolicy, key=key, name=name, shortName=short, description=name)


def power_capability():
    """The power policies that the host has."""
    return make(vim.host.PowerSystem.Capability, availablePolicy=[make_policy(*row) for row in POLICIES])


def power_info():
    """The power policy in use."""
    return make(vim.host.PowerSystem.Info, currentPolicy=make_policy(*POLICIES[1]))
