"""The network of a host: one standard switch, the distributed ones, ports and addresses."""

from __future__ import annotations

from pyVmomi import vim, vmodl

from vsphere_twin.model import adapters, members, net_stacks, standard

from .shape import make
from .switch import pnic_backing

NIC_SERVICES = (
    "faultToleranceLogging",
    "management",
    "vSphereReplication",
    "vmotion",
    "vsan",
    "vSphereProvisioning",
    "vSphereReplicationNFC",
    "vSphereBackupNFC",
    "nvmeTcp",
    "nvmeRdma",
)


LLDP_SECONDS = 120


def network(host):
    """HostNetworkInfo."""
    return make(
        vim.host.NetworkInfo,
        vswitch=[_standard_switch(host, switch) for switch in host.standard_switches],
        proxySwitch=[_proxy_switch(host, switch) for switch in host.switches.values()],
        portgroup=[
            _port_group(host, switch, name, vlan)
            for switch in host.standard_switches
            for name, vlan in standard.groups_of(host, switch)
        ],
        pnic=[_physical(nic) for nic in host.nics],
        rdmaDevice=[_rdma(nic) for nic in adapters.rdma_devices(host)],
        vnic=[virtual_nic(nic) for nic in host.vmkernel],
        dnsConfig=dns(host),
        ipRouteConfig=route(host),
        ipV6Enabled=host.ipv6,
        atBootIpV6Enabled=host.ipv6_at_boot,
        netStackInstance=[
            make(
                vim.host.NetStackInstance,
                key=stack.key,
                name=stack.key if stack.key == net_stacks.DEFAULT else "",
                dnsConfig=stack.dns,
                ipRouteConfig=stack.route,
                requestedMaxNumberOfConnections=stack.connections,
                congestionControlAlgorithm=stack.algorithm,
                ipV6Enabled=host.ipv6,
            )
            for stack in host.net_stacks.values()
        ],
    )


def runtime_info(host):
    """HostRuntimeInfo.networkRuntimeInfo: the stacks and their VMkernel ports."""
    return make(
        vim.host.RuntimeInfo.NetworkRuntimeInfo,
        netStackInstanceRuntimeInfo=[
            make(
                vim.host.RuntimeInfo.NetStackInstanceRuntimeInfo,
                netStackInstanceKey=stack.key,
                state="active",
                vmknicKeys=[nic.device for nic in host.vmkernel if nic.stack == stack.key],
                maxNumberOfConnections=stack.connections,
                currentIpV6Enabled=host.ipv6,
            )
            for stack in host.net_stacks.values()
        ],
    )


def nic_services(host):
    """Which vmkernel ports carry which service."""
    return [
        make(
            vim.host.VirtualNicManager.NetConfig,
            nicType=service,
            multiSelectAllowed=True,
            candidateVnic=[virtual_nic(nic, service) for nic in host.vmkernel],
            selectedVnic=[_vnic_key(nic, service) for nic in host.vmkernel if service in nic.services],
        )
        for service in NIC_SERVICES
    ]


def virtual_nic(nic, service=None):
    """HostVirtualNic; as a candidate for a service its key names the service."""
    return make(
        vim.host.VirtualNic,
        device=nic.device,
        key=_vnic_key(nic, service),
        portgroup=nic.portgroup,
        port=nic.dv_portgroup.key if nic.dv_portgroup is not None else None,
        spec=make(
            vim.host.VirtualNic.Specification,
            ip=make(vim.host.IpConfig, dhcp=nic.dhcp, ipAddress=nic.ip, subnetMask=nic.netmask),
            mac=nic.mac,
            portgroup=nic.portgroup or None,
            distributedVirtualPort=_port(nic),
            mtu=nic.mtu,
            tsoEnabled=True,
            netStackInstanceKey=nic.stack,
        ),
    )


def hint(device, peer):
    """PhysicalNic.NetworkHint: peer is the LLDP data of the other end, or None. The keys are ESXi's [unsure: MEM]."""
    if peer is None:
        return make(vim.host.PhysicalNic.NetworkHint, device=device)
    reported = {"System Name": peer.system, "Port Description": peer.description, "TimeOut": "120"}
    return make(
        vim.host.PhysicalNic.NetworkHint,
        device=device,
        lldpInfo=make(
            vim.host.PhysicalNic.LldpInfo,
            chassisId=peer.chassis,
            portId=peer.port,
            timeToLive=LLDP_SECONDS,
            parameter=[make(vmodl.KeyAnyValue, key=key, value=value) for key, value in reported.items() if value],
        ),
    )


def dns(host):
    """HostDnsConfig."""
    return host.net_stacks[net_stacks.DEFAULT].dns


def route(host):
    """HostIpRouteConfig."""
    return host.net_stacks[net_stacks.DEFAULT].route


def network_config(host):
    """HostNetworkConfig: the same, as it would be written."""
    shown = network(host)
    return make(
        vim.host.NetworkConfig,
        vswitch=[make(vim.host.VirtualSwitch.Config, name=one.name, spec=one.spec) for one in shown.vswitch],
        proxySwitch=[
            make(vim.host.HostProxySwitch.Config, uuid=one.dvsUuid, spec=one.spec) for one in shown.proxySwitch
        ],
        portgroup=[make(vim.host.PortGroup.Config, spec=one.spec) for one in shown.portgroup],
        pnic=[make(vim.host.PhysicalNic.Config, device=one.device, spec=one.spec) for one in shown.pnic],
        vnic=[
            make(vim.host.VirtualNic.Config, device=one.device, portgroup=one.portgroup, spec=one.spec)
            for one in shown.vnic
        ],
        dnsConfig=shown.dnsConfig,
        ipRouteConfig=shown.ipRouteConfig,
        ipV6Enabled=host.ipv6,
    )


def _vnic_key(nic, service):
    key = f"key-vim.host.VirtualNic-{nic.device}"
    return f"{service}.{key}" if service else key


def _port(nic):
    """Return the distributed port of a vmkernel port."""
    if nic.dv_portgroup is None:
        return None
    return make(
        vim.dvs.PortConnection,
        switchUuid=nic.switch.uuid,
        portgroupKey=nic.dv_portgroup.key,
        portKey=str(int(nic.dv_portgroup.key.rpartition("-")[2]) * 1000 + int(nic.device[3:])),
    )


def _standard_switch(host, switch):
    uplinks = [nic for nic in host.nics if nic.switch is switch]
    names = [nic.device for nic in uplinks]
    return make(
        vim.host.VirtualSwitch,
        name=switch.name,
        key=_switch_key(switch),
        numPorts=1536,
        numPortsAvailable=1520,
        mtu=switch.mtu,
        portgroup=[_group_key(name) for name, _vlan in standard.groups_of(host, switch)],
        pnic=[_pnic_key(nic) for nic in uplinks],
        spec=make(
            vim.host.VirtualSwitch.Specification,
            numPorts=switch.ports,
            mtu=switch.mtu,
            bridge=make(vim.host.VirtualSwitch.BondBridge, nicDevice=names) if names else None,
            policy=_switch_policy(host, switch),
        ),
    )


def _switch_key(switch):
    return f"key-vim.host.VirtualSwitch-{switch.name}"


def _group_key(name):
    return f"key-vim.host.PortGroup-{name}"


def _pnic_key(nic):
    return f"key-vim.host.PhysicalNic-{nic.device}"


def _port_group(host, switch, name, vlan):
    return make(
        vim.host.PortGroup,
        key=_group_key(name),
        vswitch=_switch_key(switch),
        computedPolicy=standard.overlaid(_switch_policy(host, switch), host.group_policies.get(name)),
        spec=make(
            vim.host.PortGroup.Specification,
            name=name,
            vlanId=vlan,
            vswitchName=switch.name,
            policy=standard.overlaid(_inherited(), host.group_policies.get(name)),
        ),
    )


def _inherited():
    """The policy of a port group that sets nothing: the parts are there, their fields are unset. GOV simulator/esx."""
    return make(
        vim.host.NetworkPolicy,
        security=make(vim.host.NetworkPolicy.SecurityPolicy),
        nicTeaming=make(
            vim.host.NetworkPolicy.NicTeamingPolicy,
            failureCriteria=make(vim.host.NetworkPolicy.NicFailureCriteria),
        ),
        offloadPolicy=make(vim.host.NetOffloadCapabilities),
        shapingPolicy=make(vim.host.NetworkPolicy.TrafficShapingPolicy),
    )


def _switch_policy(host, switch):
    """The policy of a standard switch; an adapter that left it is in no order of adapters."""
    uplinks = standard.uplinks_of(host, switch)
    policy = standard.overlaid(_policy(uplinks), switch.policy)
    order = policy.nicTeaming.nicOrder
    policy.nicTeaming.nicOrder = make(
        vim.host.NetworkPolicy.NicOrderPolicy,
        activeNic=[one for one in order.activeNic if one in uplinks],
        standbyNic=[one for one in order.standbyNic if one in uplinks],
    )
    return policy


def _policy(uplinks):
    """The policy of a new standard switch. GOV simulator/esx, except for the security since ESXi 8 [unsure: MEM]."""
    return make(
        vim.host.NetworkPolicy,
        security=make(
            vim.host.NetworkPolicy.SecurityPolicy, allowPromiscuous=False, macChanges=False, forgedTransmits=False
        ),
        nicTeaming=make(
            vim.host.NetworkPolicy.NicTeamingPolicy,
            policy="loadbalance_srcid",
            reversePolicy=True,
            notifySwitches=True,
            rollingOrder=False,
            failureCriteria=make(
                vim.host.NetworkPolicy.NicFailureCriteria,
                checkSpeed="minimum",
                speed=10,
                checkDuplex=False,
                fullDuplex=False,
                checkErrorPercent=False,
                percentage=0,
                checkBeacon=False,
            ),
            nicOrder=make(vim.host.NetworkPolicy.NicOrderPolicy, activeNic=uplinks, standbyNic=[]),
        ),
        shapingPolicy=make(
            vim.host.NetworkPolicy.TrafficShapingPolicy, enabled=False, averageBandwidth=0, peakBandwidth=0, burstSize=0
        ),
        offloadPolicy=make(vim.host.NetOffloadCapabilities, csumOffload=True, tcpSegmentation=True, zeroCopyXmit=True),
    )


def _physical(nic):
    speed = make(vim.host.PhysicalNic.LinkSpeedDuplex, speedMb=nic.speed_mbps, duplex=True)
    return make(
        vim.host.PhysicalNic,
        key=_pnic_key(nic),
        device=nic.device,
        pci=nic.pci,
        driver=nic.driver,
        driverVersion="4.23.0.66" if nic.kind.rdma else None,
        firmwareVersion=nic.firmware.version if nic.kind.rdma else None,
        linkSpeed=speed if nic.link_up else None,
        validLinkSpecification=[speed],
        spec=make(vim.host.PhysicalNic.Specification, ip=make(vim.host.IpConfig, dhcp=False), linkSpeed=speed),
        wakeOnLanSupported=False,
        mac=nic.mac,
        autoNegotiateSupported=True,
        resourcePoolSchedulerAllowed=True,
    )


def _rdma(nic):
    return make(
        vim.host.RdmaDevice,
        key=f"key-vim.host.RdmaDevice-{nic.rdma.name}",
        device=nic.rdma.name,
        driver=nic.rdma.driver,
        description=nic.model,
        backing=make(vim.host.RdmaDevice.PnicBacking, pairedUplink=_pnic_key(nic)),
        connectionInfo=make(
            vim.host.RdmaDevice.ConnectionInfo,
            state="active" if nic.link_up else "down",
            mtu=adapters.rdma_mtu(nic),
            speedInMbps=nic.speed_mbps if nic.link_up else 0,
        ),
        capability=make(vim.host.RdmaDevice.Capability, roceV1Capable=True, roceV2Capable=True, iWarpCapable=False),
    )


def _proxy_switch(host, switch):
    plugged = members.plug(switch, host)
    names = dict(zip(members.keys(switch, host), switch.uplinks, strict=True))
    return make(
        vim.host.HostProxySwitch,
        dvsUuid=switch.uuid,
        dvsName=switch.name,
        key=f"key-vim.host.HostProxySwitch-{switch.name}",
        numPorts=2048,
        numPortsAvailable=2000,
        uplinkPort=[make(vim.KeyValue, key=key, value=name) for key, name in names.items()],
        mtu=switch.mtu,
        pnic=[_pnic_key(nic) for nic, _key, _name in plugged],
        spec=make(vim.host.HostProxySwitch.Specification, backing=pnic_backing(switch, host)),
        networkReservationSupported=True,
    )
