"""The network system of a host as a client sets it: policies of standard switches, stacks, DNS, VMkernel ports."""

from __future__ import annotations

import pytest
from pyVmomi import vim, vmodl

from vsphere_twin.model import boot

HOST = vim.host
POLICY = HOST.NetworkPolicy
ENTRY, NIC = HOST.PortGroup.Config, HOST.VirtualNic.Config
WRONG = vmodl.fault.InvalidArgument


@pytest.fixture
def system(client, world):
    return client.reference(world.of_kind("HostSystem")[0]).configManager.networkSystem


def group(policy, name="group"):
    return HOST.PortGroup.Specification(name=name, vlanId=0, vswitchName="vSwitch0", policy=policy)


def shown(system, name="group"):
    return next(one for one in system.networkInfo.portgroup if one.spec.name == name)


def order(active, standby=()):
    return POLICY(
        nicTeaming=POLICY.NicTeamingPolicy(
            policy="failover_explicit", nicOrder=POLICY.NicOrderPolicy(activeNic=active, standbyNic=list(standby))
        )
    )


def stack(key="defaultTcpipStack", operation="edit", **values):
    spec = HOST.NetworkConfig.NetStackSpec(
        operation=operation, netStackInstance=HOST.NetStackInstance(key=key, **values)
    )
    return HOST.NetworkConfig(netStackSpec=[spec])


def dns(**values):
    return HOST.DnsConfig(**{"dhcp": False, "hostName": "host-1", "domainName": "example", **values})


def test_a_port_group_has_its_policy_and_inherits_the_rest(system):
    system.AddPortGroup(group(POLICY(security=POLICY.SecurityPolicy(allowPromiscuous=True))))
    found = shown(system)
    assert (found.spec.policy.security.allowPromiscuous, found.spec.policy.security.macChanges) == (True, None)
    assert found.spec.policy.nicTeaming.failureCriteria.checkBeacon is None
    assert (found.computedPolicy.security.allowPromiscuous, found.computedPolicy.security.macChanges) == (True, False)
    assert found.computedPolicy.nicTeaming.failureCriteria.checkBeacon is False
    system.UpdatePortGroup("group", group(POLICY()))
    assert shown(system).spec.policy.security.allowPromiscuous is None
    assert shown(system).computedPolicy.security.allowPromiscuous is False


def test_a_switch_has_its_policy_and_number_of_ports_and_its_groups_inherit_them(system):
    system.AddPortGroup(group(POLICY()))
    shaping = POLICY.TrafficShapingPolicy(enabled=True, averageBandwidth=100, peakBandwidth=200, burstSize=300)
    system.UpdateVirtualSwitch(
        "vSwitch0", HOST.VirtualSwitch.Specification(numPorts=64, policy=POLICY(shapingPolicy=shaping))
    )
    (switch,) = system.networkInfo.vswitch
    assert (switch.spec.numPorts, switch.spec.policy.shapingPolicy.peakBandwidth) == (64, 200)
    assert switch.spec.policy.nicTeaming.policy == "loadbalance_srcid"
    assert shown(system).computedPolicy.shapingPolicy.burstSize == 300


def test_the_order_of_adapters_is_replaced_whole_and_has_adapters_of_the_switch_alone(system):
    first, *_rest = uplinks = [
        nic.device for nic in system.networkInfo.pnic if nic.key in system.networkInfo.vswitch[0].pnic
    ]
    system.AddPortGroup(group(order([], uplinks)))
    system.UpdatePortGroup("group", group(order([first])))
    found = shown(system).computedPolicy.nicTeaming.nicOrder
    assert (list(found.activeNic), list(found.standbyNic)) == ([first], [])
    unknown = POLICY(nicTeaming=POLICY.NicTeamingPolicy(policy="loadbalance_none"))
    for wrong in (order(["vmnic77"]), order([first], [first]), unknown):
        with pytest.raises(vmodl.fault.InvalidArgument):
            system.UpdatePortGroup("group", group(wrong))
        with pytest.raises(vmodl.fault.InvalidArgument):
            system.UpdateVirtualSwitch("vSwitch0", HOST.VirtualSwitch.Specification(numPorts=64, policy=wrong))
        with pytest.raises(vmodl.fault.InvalidArgument):
            system.AddPortGroup(group(wrong, "other"))
    assert "other" not in [one.spec.name for one in system.networkInfo.portgroup]
    assert system.networkInfo.vswitch[0].spec.numPorts == 128


def test_the_name_servers_of_a_host_are_replaced(system):
    system.UpdateNetworkConfig(
        stack(dnsConfig=dns(address=["192.0.2.1", "192.0.2.2"], searchDomain=["a", "b"])), "modify"
    )
    found = system.networkInfo.dnsConfig
    assert (list(found.address), list(found.searchDomain)) == (["192.0.2.1", "192.0.2.2"], ["a", "b"])
    system.UpdateDnsConfig(dns(address=["192.0.2.3"]))
    (default,) = [one for one in system.networkInfo.netStackInstance if one.key == "defaultTcpipStack"]
    assert (list(default.dnsConfig.address), list(default.dnsConfig.searchDomain)) == (["192.0.2.3"], [])
    system.UpdateDnsConfig(dns(dhcp=True, virtualNicDevice="vmk0"))
    assert (system.dnsConfig.dhcp, system.dnsConfig.virtualNicDevice) == (True, "vmk0")


@pytest.mark.parametrize(
    "config, fault",
    [
        (dns(address=["192.0.2"]), vmodl.fault.InvalidArgument),
        (dns(hostName="no name"), vmodl.fault.InvalidArgument),
        (dns(dhcp=True, virtualNicDevice="vmk7"), vim.fault.NotFound),
    ],
)
def test_a_dns_configuration_that_no_host_can_have_is_refused(system, config, fault):
    for attempt in (system.UpdateDnsConfig, lambda given: system.UpdateNetworkConfig(stack(dnsConfig=given), "modify")):
        with pytest.raises(fault):
            attempt(config)
    assert list(system.dnsConfig.address) == ["10.0.0.2"]


def test_each_stack_has_its_gateway_and_settings(system, client, world):
    route = HOST.IpRouteConfig(defaultGateway="192.0.2.1")
    system.UpdateNetworkConfig(stack("vmotion", ipRouteConfig=route, congestionControlAlgorithm="cubic"), "modify")
    found = {one.key: one for one in system.networkInfo.netStackInstance}
    assert sorted(found) == ["defaultTcpipStack", "vSphereProvisioning", "vmotion"]
    assert found["vmotion"].ipRouteConfig.defaultGateway == "192.0.2.1"
    assert (found["vmotion"].congestionControlAlgorithm, found["vmotion"].requestedMaxNumberOfConnections) == (
        "cubic",
        11000,
    )
    assert found["defaultTcpipStack"].ipRouteConfig.defaultGateway == "10.0.0.1"
    system.UpdateIpRouteConfig(HOST.IpRouteConfig(defaultGateway="10.0.0.9"))
    assert system.ipRouteConfig.defaultGateway == "10.0.0.9"
    host = client.reference(world.of_kind("HostSystem")[0])
    running = {one.netStackInstanceKey: one for one in host.runtime.networkRuntimeInfo.netStackInstanceRuntimeInfo}
    assert (list(running["defaultTcpipStack"].vmknicKeys), list(running["vmotion"].vmknicKeys)) == (["vmk0"], [])


@pytest.mark.parametrize(
    "config, mode, fault",
    [
        (stack("other"), "modify", vim.fault.NotFound),
        (stack("other", "add"), "modify", vmodl.fault.NotSupported),
        (stack(congestionControlAlgorithm="none"), "modify", vmodl.fault.InvalidArgument),
        (stack(ipRouteConfig=HOST.IpRouteConfig(defaultGateway="here")), "modify", vmodl.fault.InvalidArgument),
        (HOST.NetworkConfig(consoleIpRouteConfig=HOST.IpRouteConfig()), "modify", vmodl.fault.NotSupported),
        (stack(), "replace", vmodl.fault.NotSupported),
        *((HOST.NetworkConfig(portgroup=[ENTRY(changeOperation=one)]), "modify", WRONG) for one in ("add", "remove")),
        *(
            (HOST.NetworkConfig(vnic=[NIC(changeOperation=one, device="vmk0")]), "modify", WRONG)
            for one in ("add", "edit")
        ),
    ],
)
def test_a_network_configuration_that_the_twin_does_not_have_is_refused(system, config, mode, fault):
    with pytest.raises(fault):
        system.UpdateNetworkConfig(config, mode)


def test_a_vmkernel_port_keeps_its_stack_and_may_have_dhcp(system):
    nic = HOST.VirtualNic.Specification
    device = system.AddVirtualNic("VM Network", nic(ip=HOST.IpConfig(dhcp=True), netStackInstanceKey="vmotion"))
    (found,) = [one.spec for one in system.networkInfo.vnic if one.device == device]
    assert (found.netStackInstanceKey, found.ip.dhcp) == ("vmotion", True)
    for change in (
        lambda: system.UpdateVirtualNic(device, nic(netStackInstanceKey="defaultTcpipStack")),
        lambda: system.AddVirtualNic("VM Network", nic(netStackInstanceKey="none")),
    ):
        with pytest.raises(vmodl.fault.InvalidArgument):
            change()


def test_a_vmkernel_port_moves_in_one_request_with_its_port_group(system):
    moved = HOST.NetworkConfig(
        portgroup=[HOST.PortGroup.Config(changeOperation="add", spec=group(POLICY(), "new"))],
        vnic=[
            HOST.VirtualNic.Config(
                changeOperation="edit", device="vmk0", spec=HOST.VirtualNic.Specification(portgroup="new")
            )
        ],
    )
    system.UpdateNetworkConfig(moved, "modify")
    assert [(one.device, one.portgroup) for one in system.networkInfo.vnic] == [("vmk0", "new")]
    added = HOST.VirtualNic.Config(changeOperation="add", portgroup="new", spec=HOST.VirtualNic.Specification())
    assert list(system.UpdateNetworkConfig(HOST.NetworkConfig(vnic=[added]), "modify").vnicDevice) == ["vmk1"]
    gone = HOST.PortGroup.Config(changeOperation="remove", spec=group(POLICY(), "new"))
    with pytest.raises(vim.fault.ResourceInUse):
        system.UpdateNetworkConfig(HOST.NetworkConfig(portgroup=[gone]), "modify")


def test_ipv6_goes_off_at_the_next_boot(system, world):
    system.UpdateNetworkConfig(HOST.NetworkConfig(ipV6Enabled=False), "modify")
    assert (system.networkInfo.ipV6Enabled, system.networkInfo.atBootIpV6Enabled) == (True, False)
    boot.boot(world, world.of_kind("HostSystem")[0], cold=False)
    assert (system.networkInfo.ipV6Enabled, system.networkInfo.atBootIpV6Enabled) == (False, False)
