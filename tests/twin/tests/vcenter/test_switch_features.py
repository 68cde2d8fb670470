"""Resource control, health check, LACP groups and port mirroring of a distributed switch over the protocol."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from pyVmomi import vim, vmodl

Switch = vim.dvs.VmwareDistributedVirtualSwitch
Traffic = vim.DistributedVirtualSwitch.HostInfrastructureTrafficResource


@pytest.fixture
def switch(client, world):
    folder = client.reference(world.of_kind("Datacenter")[0]).networkFolder
    config = Switch.ConfigSpec(name="dvs")
    folder.CreateDVS_Task(vim.DistributedVirtualSwitch.CreateSpec(configSpec=config))
    world.timeline.settle()
    return client.reference(world.of_kind("VmwareDistributedVirtualSwitch")[0])


@pytest.fixture
def group(switch, result):
    spec = vim.dvs.DistributedVirtualPortgroup.ConfigSpec(name="pg", type="earlyBinding", numPorts=4)
    return result(switch.CreateDVPortgroup_Task(spec))


def allocation(key, **values):
    return Switch.ConfigSpec(
        infrastructureTrafficResourceConfig=[Traffic(key=key, allocationInfo=Traffic.ResourceAllocation(**values))]
    )


def test_traffic_of_a_switch_has_shares_limits_and_reservations(switch, result):
    def shown(key):
        (found,) = [one for one in switch.config.infrastructureTrafficResourceConfig if one.key == key]
        return (found.allocationInfo.limit, found.allocationInfo.shares.shares, found.allocationInfo.reservation)

    assert (shown("vmotion"), shown("virtualMachine")) == ((-1, 50, 0), (-1, 100, 0))
    result(switch.ReconfigureDvs_Task(allocation("vmotion", reservation=100)))
    high = vim.SharesInfo(level="high", shares=0)
    result(switch.ReconfigureDvs_Task(allocation("vmotion", limit=1000, shares=high)))
    assert (shown("vmotion"), shown("nfs")) == ((1000, 100, 100), (-1, 50, 0))
    assert switch.config.networkResourceManagementEnabled is False
    switch.EnableNetworkResourceManagement(True)
    assert switch.config.networkResourceManagementEnabled is True


@pytest.mark.parametrize(
    "spec",
    [
        allocation("cake", limit=1),
        allocation("vmotion", limit=-2),
        allocation("vmotion", limit=10, reservation=11),
        allocation("vmotion", shares=vim.SharesInfo(level="custom", shares=101)),
        Switch.ConfigSpec(networkResourceControlVersion="version2"),
    ],
)
def test_impossible_traffic_is_rejected(switch, result, spec):
    with pytest.raises(vmodl.fault.InvalidArgument):
        result(switch.ReconfigureDvs_Task(spec))


def test_reservations_have_a_part_of_the_slowest_uplink(world, switch, result, monkeypatch):
    model = world.get(switch._moId)
    monkeypatch.setattr(model, "hosts", {"host": world.of_kind("HostSystem")[0]})
    monkeypatch.setattr(model, "uplinks_of", lambda _host: [SimpleNamespace(speed_mbps=1000)])
    result(switch.ReconfigureDvs_Task(allocation("vmotion", reservation=750)))
    with pytest.raises(vim.fault.ResourceNotAvailable) as caught:
        result(switch.ReconfigureDvs_Task(allocation("nfs", reservation=1)))
    assert caught.value.containerName == "dvs"


def test_health_checks_go_on_and_off(switch, result):
    result(switch.UpdateDVSHealthCheckConfig_Task([Switch.TeamingHealthCheckConfig(enable=True, interval=2)]))
    shown = {type(one).__name__: (one.enable, one.interval) for one in switch.config.healthCheckConfig}
    assert [value for name, value in sorted(shown.items())] == [(True, 2), (False, 1)]
    with pytest.raises(vmodl.fault.InvalidArgument):
        result(switch.UpdateDVSHealthCheckConfig_Task([Switch.VlanMtuHealthCheckConfig(enable=True, interval=-1)]))


def lag(operation, key=None, name="lag1", links=2, mode="active", algorithm="srcDestIpTcpUdpPortVlan"):
    config = Switch.LacpGroupConfig(key=key, name=name, uplinkNum=links, mode=mode, loadbalanceAlgorithm=algorithm)
    return [Switch.LacpGroupSpec(operation=operation, lacpGroupConfig=config)]


def test_a_lacp_group_is_added_changed_and_removed(switch, result):
    result(switch.UpdateDVSLacpGroupConfig_Task(lag("add")))
    (made,) = switch.config.lacpGroupConfig
    assert (made.name, made.mode, list(made.uplinkName)) == ("lag1", "active", ["lag1-0", "lag1-1"])
    result(switch.UpdateDVSLacpGroupConfig_Task(lag("edit", made.key, links=3, mode="passive")))
    (made,) = switch.config.lacpGroupConfig
    assert (made.uplinkNum, made.mode) == (3, "passive")
    basic = Switch.ConfigSpec(lacpApiVersion="singleLag")
    with pytest.raises(vmodl.fault.InvalidArgument):
        result(switch.ReconfigureDvs_Task(basic))
    result(switch.UpdateDVSLacpGroupConfig_Task(lag("remove", made.key)))
    assert list(switch.config.lacpGroupConfig) == []
    result(switch.ReconfigureDvs_Task(basic))
    with pytest.raises(vmodl.fault.NotSupported):
        result(switch.UpdateDVSLacpGroupConfig_Task(lag("add")))


@pytest.mark.parametrize(
    "specs, fault",
    [
        (lag("add") + lag("add"), vim.fault.DuplicateName),
        (lag("add", links=40), vmodl.fault.InvalidArgument),
        (lag("add", mode="fast"), vmodl.fault.InvalidArgument),
        (lag("add", algorithm="dice"), vmodl.fault.InvalidArgument),
        (lag("edit", "77"), vmodl.fault.InvalidArgument),
    ],
)
def test_a_lacp_group_that_cannot_be_is_rejected(switch, result, specs, fault):
    with pytest.raises(fault):
        result(switch.UpdateDVSLacpGroupConfig_Task(specs))
    assert list(switch.config.lacpGroupConfig) == []


def test_a_lacp_group_in_the_order_of_a_port_group_stays(switch, group, result):
    result(switch.UpdateDVSLacpGroupConfig_Task(lag("add")))
    (made,) = switch.config.lacpGroupConfig
    order = Switch.UplinkPortOrderPolicy(inherited=False, activeUplinkPort=[made.name], standbyUplinkPort=[])
    setting = Switch.VmwarePortConfigPolicy(uplinkTeamingPolicy=Switch.UplinkPortTeamingPolicy(uplinkPortOrder=order))
    result(group.ReconfigureDVPortgroup_Task(vim.dvs.DistributedVirtualPortgroup.ConfigSpec(defaultPortConfig=setting)))
    with pytest.raises(vim.fault.ResourceInUse):
        result(switch.UpdateDVSLacpGroupConfig_Task(lag("remove", made.key)))
    result(switch.UpdateDVSLacpGroupConfig_Task(lag("edit", made.key, name="lag2")))
    with pytest.raises(vim.fault.ResourceInUse):
        result(switch.UpdateDVSLacpGroupConfig_Task(lag("remove", made.key)))
    assert active(group) == [one.name for one in switch.config.lacpGroupConfig] == ["lag2"]


def active(group):
    return list(group.config.defaultPortConfig.uplinkTeamingPolicy.uplinkPortOrder.activeUplinkPort)


def test_the_order_of_a_port_group_has_the_new_name_of_an_uplink(switch, group, result):
    first, *others = switch.config.uplinkPortPolicy.uplinkPortName
    order = Switch.UplinkPortOrderPolicy(inherited=False, activeUplinkPort=[first], standbyUplinkPort=[])
    setting = Switch.VmwarePortConfigPolicy(uplinkTeamingPolicy=Switch.UplinkPortTeamingPolicy(uplinkPortOrder=order))
    result(group.ReconfigureDVPortgroup_Task(vim.dvs.DistributedVirtualPortgroup.ConfigSpec(defaultPortConfig=setting)))
    names = vim.DistributedVirtualSwitch.NameArrayUplinkPortPolicy(uplinkPortName=["leaf-1", *others])
    result(switch.ReconfigureDvs_Task(Switch.ConfigSpec(uplinkPortPolicy=names)))
    assert active(group) == ["leaf-1"]


def mirror(operation, source, target, **values):
    ports = [Switch.VspanPorts(portKey=[key]) for key in (source, target)]
    fields = {"name": "mirror", "enabled": True, "sessionType": "dvPortMirror", **values}
    fields.update(stripOriginalVlan=False, normalTrafficAllowed=True)
    session = Switch.VspanSession(sourcePortReceived=ports[0], destinationPort=ports[1], **fields)
    return Switch.ConfigSpec(vspanConfigSpec=[Switch.VspanConfigSpec(operation=operation, vspanSession=session)])


def test_ports_are_mirrored_and_one_is_promiscuous(switch, group, result):
    source, target = group.portKeys[:2]
    result(switch.ReconfigureDvs_Task(mirror("add", source, target)))
    (made,) = switch.config.vspanSession
    assert (made.name, list(made.destinationPort.portKey)) == ("mirror", [target])
    policy = Switch.MacManagementPolicy(allowPromiscuous=True)
    edit = vim.dvs.DistributedVirtualPort.ConfigSpec(
        operation="edit", key=target, setting=Switch.VmwarePortConfigPolicy(macManagementPolicy=policy)
    )
    result(switch.ReconfigureDVPort_Task([edit]))
    ports = switch.FetchDVPorts(vim.dvs.PortCriteria(portKey=[source, target]))
    assert [one.config.setting.macManagementPolicy.allowPromiscuous for one in ports] == [False, True]
    result(switch.ReconfigureDvs_Task(mirror("remove", source, target, key=made.key)))
    assert list(switch.config.vspanSession) == []


@pytest.mark.parametrize(
    "values, fault",
    [
        ({"sessionType": "telepathy"}, vmodl.fault.InvalidArgument),
        ({"mirroredPacketLength": 10}, vmodl.fault.InvalidArgument),
        ({"name": ""}, vmodl.fault.InvalidArgument),
        ({"target": "no-port"}, vim.fault.NotFound),
    ],
)
def test_a_mirror_that_cannot_be_is_rejected(switch, group, result, values, fault):
    source, target = group.portKeys[:2]
    with pytest.raises(fault):
        result(
            switch.ReconfigureDvs_Task(
                mirror(
                    "add",
                    source,
                    values.get("target", target),
                    **{name: value for name, value in values.items() if name != "target"},
                )
            )
        )
    assert list(switch.config.vspanSession) == []


def test_a_switch_goes_with_its_port_groups_and_leaves_its_hosts(client, world, switch, group, result):
    host = client.reference(world.of_kind("HostSystem")[0])
    member = vim.dvs.HostMember.ConfigSpec(operation="add", host=host)
    result(switch.ReconfigureDvs_Task(Switch.ConfigSpec(host=[member])))
    port = vim.dvs.PortConnection(switchUuid=switch.uuid, portgroupKey=group.key)
    ip = vim.host.IpConfig(dhcp=True)
    spec = vim.host.VirtualNic.Specification(ip=ip, distributedVirtualPort=port)
    network = host.configManager.networkSystem
    device = network.AddVirtualNic("", spec)
    for used in (switch, group):
        with pytest.raises(vim.fault.ResourceInUse):
            result(used.Destroy_Task())
    network.RemoveVirtualNic(device)
    result(switch.Destroy_Task())
    assert world.of_kind("DistributedVirtualPortgroup") == []
    assert [one for one in host.network if isinstance(one, vim.dvs.DistributedVirtualPortgroup)] == []
