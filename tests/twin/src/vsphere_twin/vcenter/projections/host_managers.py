"""Managers below a host: most show the same data as the host's config."""

from __future__ import annotations

from pyVmomi import vim

from vsphere_twin.model import snmp

from ..registry import prop
from . import host_gpu, host_network, host_pci, host_settings
from .shape import make

READ = {
    ("HostGraphicsManager", "graphicsInfo"): host_gpu.graphics_info,
    ("HostGraphicsManager", "graphicsConfig"): host_gpu.graphics_config,
    ("HostGraphicsManager", "sharedPassthruGpuTypes"): host_gpu.types_offered,
    ("HostGraphicsManager", "sharedGpuCapabilities"): host_gpu.capabilities,
    ("HostPciPassthruSystem", "pciPassthruInfo"): host_pci.passthrough_info,
    ("HostNetworkSystem", "networkInfo"): host_network.network,
    ("HostNetworkSystem", "dnsConfig"): host_network.dns,
    ("HostNetworkSystem", "ipRouteConfig"): host_network.route,
    ("HostNetworkSystem", "networkConfig"): host_network.network_config,
    ("HostAutoStartManager", "config"): host_settings.autostart,
    ("HostServiceSystem", "serviceInfo"): host_settings.services,
    ("HostFirewallSystem", "firewallInfo"): host_settings.firewall,
    ("HostDateTimeSystem", "dateTimeInfo"): host_settings.date_time,
    ("HostStorageSystem", "storageDeviceInfo"): host_settings.storage_device,
    ("HostStorageSystem", "fileSystemVolumeInfo"): host_settings.file_systems,
    ("HostPowerSystem", "info"): host_settings.power_info,
    ("HostPowerSystem", "capability"): lambda host: host_settings.power_capability(),
    ("HostVMotionSystem", "ipConfig"): lambda host: make(vim.host.IpConfig, dhcp=False, ipAddress=host.vmkernel[0].ip),
    ("HostVirtualNicManager", "info"): lambda host: make(
        vim.host.VirtualNicManagerInfo, netConfig=host_network.nic_services(host)
    ),
    ("HostAuthenticationManager", "info"): lambda host: host_settings.authentication(),
    ("HostAuthenticationManager", "supportedStore"): lambda host: host.stores_of_users,
    ("HostLocalAuthentication", "info"): lambda host: host_settings.authentication().authConfig[0],
    ("HostActiveDirectoryAuthentication", "info"): lambda host: host_settings.authentication().authConfig[1],
    ("HostAccessManager", "lockdownMode"): lambda host: host.lockdown,
    ("HostDatastoreSystem", "datastore"): lambda host: list(host.datastores.values()),
    ("HostDatastoreBrowser", "datastore"): lambda host: list(host.datastores.values()),
}
for (_kind, _name), _read in READ.items():
    prop(_kind, _name)(lambda manager, world, read=_read: read(manager.host))


@prop("HostSnmpSystem", "configuration")
def snmp_configuration(manager, world):
    """The agent of a host; that of vCenter itself is not served."""
    return host_settings.snmp_configuration(manager.host) if hasattr(manager, "host") else None


@prop("HostSnmpSystem", "limits")
def snmp_limits(manager, world):
    return snmp.limits() if hasattr(manager, "host") else None


@prop("OptionManager", "supportedOption")
def supported_option(manager, world):
    """The advanced settings with their types."""
    values = manager.host.options if hasattr(manager, "host") else manager.values
    return [
        make(vim.option.OptionDef, key=key, label=key, summary=key, optionType=_option_type(value))
        for key, value in sorted(values.items())
    ]


@prop("OptionManager", "setting")
def setting(manager, world):
    """Advanced settings, of a host or of vCenter itself."""
    values = manager.host.options if hasattr(manager, "host") else manager.values
    return [make(vim.option.OptionValue, key=key, value=value) for key, value in sorted(values.items())]


def _option_type(value):
    if isinstance(value, bool):
        return make(vim.option.BoolOption, supported=True, defaultValue=value, valueIsReadonly=False)
    if isinstance(value, int):
        return make(vim.option.LongOption, min=-(2**31), max=2**31 - 1, defaultValue=value, valueIsReadonly=False)
    return make(vim.option.StringOption, defaultValue=value, valueIsReadonly=False)
