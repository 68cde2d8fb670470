"""Data paths of VMs as clients see them that nobody here wrote: adapters, switches, passthrough by hand."""

from __future__ import annotations

import time

from pyVmomi import vim

from .observe import client, power_on, virtual_machine
from .test_third_party_modules import HOST, ONE, OTHER_HOST, TWO, community, differences, run

DEVICE = vim.vm.device
PF, PORT, GPU = "0000:3a:00.1", "0000:3b:00.0", "0000:39:00.0"
ADAPTERS = [
    community(
        "vmware_guest_network",
        {"changed": True, "network_info/1/device_type": "pvrdma", "network_info/1/switch": "dvs-rdma"},
        network_name="pg-rdma",
        device_type="pvrdma",
        mac_address="00:50:56:aa:00:01",
        **ONE,
    ),
    community(
        "vmware_guest_network",
        {"changed": False},
        network_name="pg-rdma",
        device_type="pvrdma",
        **ONE,
    ),
    community(
        "vmware_guest_network",
        {"changed": True, "network_info/1/network_name": "VM Network", "network_info/1/switch": "vSwitch0"},
        network_name="VM Network",
        device_type="vmxnet3",
        mac_address="00:50:56:a0:00:01",
        **ONE,
    ),
    community(
        "vmware_guest_network",
        {"changed": True, "network_info/1/mac_address": "00:50:56:aa:00:01"},
        mac_address="00:50:56:a0:00:01",
        state="absent",
        **ONE,
    ),
]
FUNCTION = [
    community(
        "vmware_guest_network",
        {"changed": True, "network_info/1/allow_guest_os_mtu_change": True},
        network_name="pg-sriov",
        device_type="sriov",
        physical_function_backing=PF,
        allow_guest_os_mtu_change=True,
        mac_address="00:50:56:aa:00:02",
        **TWO,
    ),
]
SWITCHES = [
    community(
        "vmware_dvswitch_info",
        {
            "distributed_virtual_switches/0/configure/settings/properties/general/numUplinks": 1,
            "distributed_virtual_switches/0/configure/settings/properties/advanced/maxMtu": 9000,
            "distributed_virtual_switches/0/configure/hosts": [HOST, OTHER_HOST],
        },
        switch_name="dvs-rdma",
    ),
    community(
        "vmware_dvs_portgroup_info",
        {
            "dvs_portgroup_info/dvs-rdma/1/portgroup_name": "pg-rdma",
            "dvs_portgroup_info/dvs-rdma/1/vlan_info/vlan_id": "112",
            "dvs_portgroup_info/dvs-rdma/1/teaming_policy/policy": "loadbalance_srcid",
        },
        datacenter="lab",
        dvswitch="dvs-rdma",
        show_vlan_info=True,
    ),
    community(
        "vmware_dvs_portgroup_find", {"dvs_portgroups/0/name": "pg-sriov"}, dvswitch="dvs-sriov", name="pg-", vlanid=113
    ),
    community(
        "vmware_dvs_host",
        {"changed": False},
        esxi_hostname=HOST,
        switch_name="dvs-rdma",
        vmnics=["vmnic2"],
        state="present",
    ),
    community(
        "vmware_dvs_host", {"changed": True}, esxi_hostname=HOST, switch_name="dvs-train", vmnics=[], state="present"
    ),
    community(
        "vmware_dvs_host",
        {"changed": True},
        esxi_hostname=HOST,
        switch_name="dvs-rdma",
        vmnics=["vmnic5"],
        state="present",
    ),
    community("vmware_dvs_host", {"changed": True}, esxi_hostname=OTHER_HOST, switch_name="dvs-sriov", state="absent"),
    community(
        "vmware_dvs_portgroup",
        {"changed": True},
        portgroup_name="pg-train",
        switch_name="dvs-train",
        vlan_id=111,
        num_ports=128,
        port_binding="static",
        teaming_policy={"load_balance_policy": "failover_explicit", "active_uplinks": ["Uplink 2"]},
        state="present",
    ),
]
REFUSALS = [
    (
        community("vmware_guest_network", {}, network_name="VM Network", device_type="pvrdma", force=True, **ONE),
        "Invalid backing for the PVRDMA adapter",
    ),
    (
        community(
            "vmware_dvs_host", {}, esxi_hostname=HOST, switch_name="dvs-rdma", vmnics=["vmnic3"], state="present"
        ),
        "The resource 'vmnic3' is in use.",
    ),
    (
        community("vmware_dvs_host", {}, esxi_hostname=HOST, switch_name="dvs-rdma", state="absent"),
        "The resource 'dvs-rdma' is in use.",
    ),
]


def host_of(service, name):
    view = service.content.viewManager.CreateContainerView(service.content.rootFolder, [vim.HostSystem], True)
    return next(one for one in view.view if one.name == name)


def adapters(machine):
    return {
        one.macAddress: one for one in machine.config.hardware.device if isinstance(one, DEVICE.VirtualEthernetCard)
    }


def ended(task):
    while task.info.state not in ("success", "error"):
        time.sleep(0.02)
    assert task.info.error is None, task.info.error.msg


def test_third_party_modules_plug_adapters_of_every_kind(twin):
    running = twin()
    assert differences(running, [ADAPTERS, FUNCTION]) == []
    assert running.unserved == {}
    with virtual_machine(running, "train-01") as machine:
        found = adapters(machine)
        assert sorted(type(one).__name__.rpartition(".")[2] for one in found.values()) == [
            "VirtualVmxnet3",
            "VirtualVmxnet3Vrdma",
        ]
        assert found["00:50:56:aa:00:01"].deviceProtocol is None  # hardware 20 settles it itself
    with virtual_machine(running, "train-02") as machine:
        function = adapters(machine)["00:50:56:aa:00:02"]
        assert function.sriovBacking.physicalFunctionBacking.id == PF
        assert function.allowGuestOSMtuChange is True


def test_third_party_modules_see_and_change_distributed_switches(twin):
    running = twin()
    assert differences(running, [SWITCHES]) == []
    assert running.unserved == {}
    with client(running) as service:
        proxies = {one.dvsName: one for one in host_of(service, HOST).config.network.proxySwitch}
        assert [one.pnicDevice for one in proxies["dvs-rdma"].spec.backing.pnicSpec] == ["vmnic5"]
        assert not proxies["dvs-train"].pnic
        assert "dvs-sriov" not in [one.dvsName for one in host_of(service, OTHER_HOST).config.network.proxySwitch]
        group = next(one for one in host_of(service, HOST).network if one.name == "pg-train")
        teaming = group.config.defaultPortConfig.uplinkTeamingPolicy
        assert (teaming.policy.value, list(teaming.uplinkPortOrder.activeUplinkPort)) == (
            "failover_explicit",
            ["Uplink 2"],
        )


def test_the_twin_refuses_third_party_modules_what_vsphere_would(twin):
    (answers,) = run(twin(), [[step for step, _says in REFUSALS]])
    for (step, says), answer in zip(REFUSALS, answers, strict=True):
        assert answer["failed"], step
        assert says in answer["msg"], step


def test_the_way_of_pvrdma_traffic_is_seen_beside_vcenter(twin):
    running = twin()
    plug = [
        community("vmware_guest_network", {"changed": True}, network_name="pg-rdma", device_type="pvrdma", **one)
        for one in (ONE, TWO)
    ]
    assert differences(running, [plug]) == []
    for name in ("train-01", "train-02"):
        with virtual_machine(running, name) as machine:
            ended(machine.ReconfigVM_Task(vim.vm.ConfigSpec(memoryReservationLockedToMax=True)))
        assert power_on(running, name) is None
    (row,) = running.control.data_paths(vm="train-01")
    assert [(path["peer"], path["way"]) for path in row["pvrdma"]] == [("train-02", "rdma")]
    with client(running) as service:
        host = host_of(service, OTHER_HOST)
        host.configManager.firewallSystem.DisableRuleset("pvrdma")
    (row,) = running.control.data_paths(vm="train-01")
    assert [(path["way"], path["reasons"]) for path in row["pvrdma"]] == [
        ("tcp", (f"{OTHER_HOST}: the firewall ruleset pvrdma is closed",))
    ]
    with virtual_machine(running, "train-01") as machine:
        assert (machine.runtime.powerState, machine.overallStatus) == ("poweredOn", "green")
