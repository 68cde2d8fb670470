"""Settings of distributed switches and their port groups: those with a rule, and those that are kept as requested."""

from __future__ import annotations

import copy

from pyVmomi import vim

from . import dv_features, kept, members, network, pvlans

SWITCH = vim.dvs.VmwareDistributedVirtualSwitch
GROUP = vim.dvs.DistributedVirtualPortgroup
KEPT_OF_SWITCH = (
    "contact",
    "defaultPortConfig",
    "defaultProxySwitchMaxNumPorts",
    "extensionKey",
    "ipfixConfig",
    "lacpApiVersion",
    "linkDiscoveryProtocolConfig",
    "maxPorts",
    "multicastFilteringMode",
    "networkOffloadSpecId",
    "networkResourceControlVersion",
    "policy",
    "switchIpAddress",
)
SERVED_OF_SWITCH = (
    *KEPT_OF_SWITCH,
    *("configVersion", "name", "description", "host", "maxMtu", "uplinkPortPolicy", "uplinkPortgroup"),
    *("infrastructureTrafficResourceConfig", "pvlanConfigSpec", "vspanConfigSpec"),
)
LACP = ("singleLag", "multipleLag")
MULTICAST = ("legacyFiltering", "snooping")
RESOURCE_CONTROL = ("version2", "version3")
LINK = vim.host.LinkDiscoveryProtocolConfig
KEPT_OF_GROUP = ("autoExpand", "policy", "portNameFormat", "type", "vmVnicNetworkResourcePoolKey")
SERVED_OF_GROUP = (
    *KEPT_OF_GROUP,
    "backingType",
    "configVersion",
    "defaultPortConfig",
    "description",
    "name",
    "numPorts",
)
VLANS = range(4095)
MOST_PORTS = 60_000  # of a vCenter (vSphere configuration maximums)
NO_POOL = "-1"  # the key that clients send for a port group without a network resource pool


def check_switch(spec, switch=None):
    """Refuse fields that the twin would drop, and values that no switch can have."""
    if spec.numStandalonePorts == 0:
        spec.numStandalonePorts = None
    kept.refuse_unserved(spec, SERVED_OF_SWITCH)
    kept.require_one_of(getattr(spec, "lacpApiVersion", None), LACP, "spec.lacpApiVersion")
    kept.require_one_of(getattr(spec, "multicastFilteringMode", None), MULTICAST, "spec.multicastFilteringMode")
    kept.require_one_of(spec.networkResourceControlVersion, RESOURCE_CONTROL, "spec.networkResourceControlVersion")
    link = getattr(spec, "linkDiscoveryProtocolConfig", None)
    if link is not None:
        kept.require_one_of(link.protocol, LINK.ProtocolType.values, "spec.linkDiscoveryProtocolConfig.protocol")
        kept.require_one_of(link.operation, LINK.OperationType.values, "spec.linkDiscoveryProtocolConfig.operation")
    if getattr(spec, "maxMtu", None):
        network.check_mtu(spec.maxMtu)
    _check_ports(spec.defaultPortConfig, {})
    if switch is not None:
        pvlans.changed(switch, getattr(spec, "pvlanConfigSpec", None))
        _check_upgrades(switch, spec)


def configure_switch(world, switch, spec):
    """Apply a checked specification."""
    traffic = dv_features.traffic(switch, spec.infrastructureTrafficResourceConfig or [])
    mirrors = getattr(spec, "vspanConfigSpec", None) or []
    sessions = dv_features.sessions(switch, mirrors, port_keys(switch) if mirrors else set())
    private = pvlans.changed(switch, getattr(spec, "pvlanConfigSpec", None))
    if getattr(spec, "maxMtu", None):
        network.set_switch_mtu(world, switch, spec.maxMtu)
    if isinstance(spec.uplinkPortPolicy, vim.DistributedVirtualSwitch.NameArrayUplinkPortPolicy):
        members.rename_uplinks(switch, spec.uplinkPortPolicy.uplinkPortName)
    members.change(world, switch, spec.host or [])
    switch.description = switch.description if spec.description is None else spec.description
    switch.pvlans = private
    switch.features.traffic, switch.features.sessions = traffic, sessions
    kept.keep(switch.kept, spec, KEPT_OF_SWITCH)
    link = getattr(spec, "linkDiscoveryProtocolConfig", None)
    if link is not None:
        switch.lldp = str(link.operation) if link.protocol == LINK.ProtocolType.lldp else "none"


def check_group(switch, spec):
    """Refuse fields that the twin would drop, and values that no port group can have."""
    kept.refuse_unserved(spec, SERVED_OF_GROUP)
    kept.require_one_of(spec.type, GROUP.PortgroupType.values, "spec.type")
    kept.require_one_of(getattr(spec, "backingType", None), ("standard",), "spec.backingType")
    if spec.numPorts is not None and not 0 <= spec.numPorts <= MOST_PORTS:
        raise kept.wrong("spec.numPorts")
    # A switch of the twin has no network resource pools.
    kept.require_one_of(spec.vmVnicNetworkResourcePoolKey, (NO_POOL,), "spec.vmVnicNetworkResourcePoolKey")
    config = spec.defaultPortConfig
    _check_ports(config, switch.pvlans)
    order = getattr(getattr(config, "uplinkTeamingPolicy", None), "uplinkPortOrder", None)
    named = [*(order.activeUplinkPort or []), *(order.standbyUplinkPort or [])] if order is not None else []
    lags = [lag.name for lag in switch.features.lags.values()]
    if any(name not in (*switch.uplinks, *lags) for name in named):
        raise kept.wrong("spec.defaultPortConfig.uplinkTeamingPolicy")


def configure_group(group, spec):
    """Apply a checked specification."""
    config = copy.copy(spec.defaultPortConfig)
    if config is not None:
        _set_vlan(group, getattr(config, "vlan", None))
        teaming = copy.copy(getattr(config, "uplinkTeamingPolicy", None))
        if teaming is not None:
            _set_teaming(group, teaming)
            teaming.policy = teaming.uplinkPortOrder = None
            config.uplinkTeamingPolicy = teaming
        if hasattr(config, "vlan"):
            config.vlan = None
        group.kept["defaultPortConfig"] = kept.overlay(group.kept.get("defaultPortConfig"), config)
    kept.keep(group.kept, spec, KEPT_OF_GROUP)
    group.own_ports = group.own_ports if spec.numPorts is None else spec.numPorts
    group.description = group.description if spec.description is None else spec.description


def port_keys(switch):
    """The keys of all ports of a switch: of its groups, of its members' uplinks, and of adapters at ephemeral ones."""
    found = {key for host in switch.hosts.values() for key in members.keys(switch, host)}
    for group in switch.portgroups.values():
        if not group.uplink:
            found.update(group.port_keys if group.bound else ())
            found.update(port.portKey for vm in group.vms.values() for port in vm.ports_of(group))
    return found


def _check_upgrades(switch, spec):
    """Refuse an older resource control, which is irreversible (vSphere Networking), and basic LACP with groups."""
    if spec.networkResourceControlVersion == "version2" != switch.kept.get("networkResourceControlVersion", "version3"):
        raise kept.wrong("spec.networkResourceControlVersion")  # the fault is [unsure]
    if getattr(spec, "lacpApiVersion", None) == "singleLag" and switch.features.lags:
        raise kept.wrong("spec.lacpApiVersion")  # the fault is [unsure]


def _check_ports(config, private):
    vlan = getattr(config, "vlan", None)
    if isinstance(vlan, SWITCH.VlanIdSpec):
        if vlan.vlanId is not None and vlan.vlanId not in VLANS:
            raise kept.wrong("spec.defaultPortConfig.vlan")
    elif isinstance(vlan, SWITCH.TrunkVlanSpec):
        if any(not 0 <= one.start <= one.end <= VLANS[-1] for one in vlan.vlanId or []):
            raise kept.wrong("spec.defaultPortConfig.vlan")
    elif isinstance(vlan, SWITCH.PvlanSpec) and vlan.pvlanId not in private:
        raise kept.wrong("spec.defaultPortConfig.vlan")


def _set_vlan(group, vlan):
    if isinstance(vlan, SWITCH.VlanIdSpec) and vlan.vlanId is not None:
        group.vlan = vlan.vlanId
    elif isinstance(vlan, SWITCH.TrunkVlanSpec):
        group.vlan = list(vlan.vlanId or [])
    elif isinstance(vlan, SWITCH.PvlanSpec):
        group.vlan = pvlans.PrivateVlan(vlan.pvlanId)


def _set_teaming(group, wanted):
    order = wanted.uplinkPortOrder
    if wanted.policy is not None and wanted.policy.value:
        group.teaming.policy = wanted.policy.value
    if order is not None:
        group.teaming.active = list(order.activeUplinkPort or [])
        group.teaming.standby = list(order.standbyUplinkPort or [])
