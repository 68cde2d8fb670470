"""Distributed switches and their port groups."""

from __future__ import annotations

from pyVmomi import vim

from vsphere_twin.model import kept, members, pvlans
from vsphere_twin.model.fabric import Teaming

from ..registry import prop
from .shape import make

GROUP = "DistributedVirtualPortgroup"
VMWARE = vim.dvs.VmwareDistributedVirtualSwitch


@prop(GROUP, "key")
def group_key(group, world):
    return group.key


@prop(GROUP, "portKeys")
def group_ports(group, world):
    if group.uplink:
        return [key for host in group.switch.hosts.values() for key in members.keys(group.switch, host)]
    if not group.bound:
        return [port.portKey for vm in group.vms.values() for port in vm.ports_of(group)]
    return group.port_keys


@prop(GROUP, "config")
def group_config(group, world):
    shown = make(
        vim.dvs.DistributedVirtualPortgroup.ConfigInfo,
        key=group.key,
        name=group.name,
        numPorts=group.ports,
        distributedVirtualSwitch=group.switch,
        defaultPortConfig=port_setting(group.switch, group),
        description=group.description,
        type="earlyBinding",
        vmVnicNetworkResourcePoolKey="-1",
        backingType="standard",
        policy=make(
            VMWARE.VMwarePortgroupPolicy,
            blockOverrideAllowed=True,
            livePortMovingAllowed=False,
            portConfigResetAtDisconnect=True,
            shapingOverrideAllowed=False,
            vendorConfigOverrideAllowed=False,
            vlanOverrideAllowed=False,
            uplinkTeamingOverrideAllowed=False,
            securityPolicyOverrideAllowed=False,
            macManagementOverrideAllowed=False,
            networkResourcePoolOverrideAllowed=False,
            ipfixOverrideAllowed=False,
            trafficFilterOverrideAllowed=False,
        ),
        configVersion=str(group.config_version),
        autoExpand=True,
        uplink=group.uplink,
    )
    return kept.show(shown, group.kept)


@prop("DistributedVirtualSwitch", "uuid")
def switch_uuid(switch, world):
    return switch.uuid


@prop("DistributedVirtualSwitch", "portgroup")
def switch_portgroup(switch, world):
    return list(switch.portgroups.values())


@prop("DistributedVirtualSwitch", "networkResourcePool")
def network_resource_pool(switch, world):
    return []


@prop("DistributedVirtualSwitch", "summary")
def switch_summary(switch, world):
    return make(
        vim.DistributedVirtualSwitch.Summary,
        name=switch.name,
        uuid=switch.uuid,
        numPorts=sum(group.ports for group in switch.portgroups.values()),
        productInfo=product(switch.product_version),
        hostMember=list(switch.hosts.values()),
        vm=list({moid: vm for group in switch.portgroups.values() for moid, vm in group.vms.items()}.values()),
        host=list(switch.hosts.values()),
        portgroupName=[group.name for group in switch.portgroups.values()],
        description=switch.description or None,
        contact=switch.kept.get("contact") or make(vim.DistributedVirtualSwitch.ContactInfo),
        numHosts=len(switch.hosts),
    )


@prop("DistributedVirtualSwitch", "capability")
def switch_capability(switch, world):
    return make(vim.DistributedVirtualSwitch.Capability, dvsOperationSupported=True)


@prop("DistributedVirtualSwitch", "config")
def switch_config(switch, world):
    shown = make(
        VMWARE.ConfigInfo,
        uuid=switch.uuid,
        name=switch.name,
        numStandalonePorts=0,
        numPorts=sum(group.ports for group in switch.portgroups.values()),
        maxPorts=2147483647,
        uplinkPortPolicy=make(
            vim.DistributedVirtualSwitch.NameArrayUplinkPortPolicy, uplinkPortName=list(switch.uplinks)
        ),
        uplinkPortgroup=[group for group in switch.portgroups.values() if group.uplink],
        defaultPortConfig=port_setting(switch),
        host=[_member(switch, host) for host in switch.hosts.values()],
        productInfo=product(switch.product_version),
        configVersion=str(switch.config_version),
        contact=make(vim.DistributedVirtualSwitch.ContactInfo),
        description=switch.description or None,
        createTime=None,
        networkResourceManagementEnabled=switch.features.nioc,
        infrastructureTrafficResourceConfig=_traffic(switch),
        lacpGroupConfig=list(switch.features.lags.values()),
        vspanSession=list(switch.features.sessions.values()),
        defaultProxySwitchMaxNumPorts=2048,
        policy=make(vim.DistributedVirtualSwitch.SwitchPolicy, autoPreInstallAllowed=True),
        networkResourceControlVersion="version3",
        linkDiscoveryProtocolConfig=_discovery(switch),
        pvlanConfig=pvlans.shown(switch),
        maxMtu=switch.mtu,
        ipfixConfig=make(
            VMWARE.IpfixConfig,
            activeFlowTimeout=60,
            idleFlowTimeout=15,
            samplingRate=4096,
        ),
        lacpApiVersion="multipleLag",
        multicastFilteringMode="legacyFiltering",
        healthCheckConfig=[
            make(kind, enable=enable, interval=interval) for kind, (enable, interval) in switch.features.health.items()
        ],
    )
    return kept.show(shown, switch.kept)


def _traffic(switch):
    kind = vim.DistributedVirtualSwitch.HostInfrastructureTrafficResource
    return [
        make(
            kind,
            key=name,
            allocationInfo=make(kind.ResourceAllocation, limit=limit, shares=shares, reservation=reservation),
        )
        for name, (limit, shares, reservation) in switch.features.traffic.items()
    ]


def _discovery(switch):
    """A switch without LLDP listens by CDP, as vSphere creates it."""
    protocol, operation = ("cdp", "listen") if switch.lldp == "none" else ("lldp", switch.lldp)
    return make(vim.host.LinkDiscoveryProtocolConfig, protocol=protocol, operation=operation)


def _member(switch, host):
    return make(
        vim.dvs.HostMember,
        config=make(
            vim.dvs.HostMember.ConfigInfo,
            host=host,
            maxProxySwitchPorts=2048,
            backing=pnic_backing(switch, host),
        ),
        uplinkPortKey=members.keys(switch, host),
        productInfo=product(switch.product_version),
        status="up",
    )


def pnic_backing(switch, host):
    """The ports of a member, each with the uplink port that it is plugged into."""
    return make(
        vim.dvs.HostMember.PnicBacking,
        pnicSpec=[
            make(
                vim.dvs.HostMember.PnicSpec,
                pnicDevice=nic.device,
                uplinkPortKey=key or None,
                uplinkPortgroupKey=switch.uplink_group.key,
                connectionCookie=1,
            )
            for nic, key, _name in members.plug(switch, host)
        ],
    )


def product(version):
    """The product that a switch of this version is."""
    return make(
        vim.dvs.ProductSpec,
        name="DVS",
        vendor="VMware, Inc.",
        version=version,
        build="0",
        forwardingClass="etherswitch",
    )


def port_setting(switch, group=None):
    """The port configuration of a port group, or of the switch as a whole."""
    flag = _policy_flag
    number = group.vlan if group is not None else 0
    if isinstance(number, list):
        vlan = make(VMWARE.TrunkVlanSpec, inherited=False, vlanId=number)
    elif isinstance(number, pvlans.PrivateVlan):
        vlan = make(VMWARE.PvlanSpec, inherited=False, pvlanId=int(number))
    else:
        vlan = make(VMWARE.VlanIdSpec, inherited=group is None, vlanId=number)
    shown = make(
        VMWARE.VmwarePortConfigPolicy,
        blocked=flag(False),
        vmDirectPathGen2Allowed=flag(False),
        inShapingPolicy=_shaping(),
        outShapingPolicy=_shaping(),
        networkResourcePoolKey=make(vim.StringPolicy, inherited=True, value="-1"),
        vlan=vlan,
        uplinkTeamingPolicy=_teaming(switch, group),
        securityPolicy=make(
            VMWARE.SecurityPolicy,
            inherited=False,
            allowPromiscuous=flag(False),
            macChanges=flag(False),
            forgedTransmits=flag(False),
        ),
        macManagementPolicy=make(
            VMWARE.MacManagementPolicy,
            allowPromiscuous=False,
            macChanges=False,
            forgedTransmits=False,
            macLearningPolicy=make(VMWARE.MacLearningPolicy, enabled=False),
        ),
        ipfixEnabled=flag(False),
        txUplink=flag(False),
        lacpPolicy=make(
            VMWARE.UplinkLacpPolicy,
            inherited=False,
            enable=flag(False),
            mode=make(vim.StringPolicy, inherited=False, value="passive"),
        ),
    )
    return kept.overlay(shown, group.kept.get("defaultPortConfig")) if group is not None else shown


def _teaming(switch, group):
    """Which uplinks carry the traffic; the switch's own setting is all of them."""
    teaming = group.teaming if group is not None else Teaming()
    active = switch.uplinks if teaming.active is None else teaming.active
    return make(
        VMWARE.UplinkPortTeamingPolicy,
        inherited=False,
        policy=make(vim.StringPolicy, inherited=False, value=teaming.policy),
        reversePolicy=_policy_flag(True),
        notifySwitches=_policy_flag(True),
        rollingOrder=_policy_flag(False),
        failureCriteria=make(VMWARE.FailureCriteria, inherited=False, checkBeacon=_policy_flag(False)),
        uplinkPortOrder=make(
            VMWARE.UplinkPortOrderPolicy,
            inherited=False,
            activeUplinkPort=list(active),
            standbyUplinkPort=list(teaming.standby),
        ),
    )


def _policy_flag(value):
    return make(vim.BoolPolicy, inherited=False, value=value)


def _shaping():
    number = make(vim.LongPolicy, inherited=True, value=100000000)
    return make(
        vim.dvs.DistributedVirtualPort.TrafficShapingPolicy,
        inherited=True,
        enabled=_policy_flag(False),
        averageBandwidth=number,
        peakBandwidth=number,
        burstSize=number,
    )
