"""Hosts of the twin are what modules of community.vmware take for hosts: maintenance, restarts, devices, settings."""

from __future__ import annotations

import pytest
import yaml

from vsphere_twin.model import seed as seeds

from .observe import client
from .test_third_party_modules import HOST, OTHER_HOST, community, differences, run

SECOND_PCI = "0000:3a:00.1"


def data(release="8.0.3"):
    """The factory seed, with a ConnectX whose firmware gives virtual functions."""
    found = yaml.safe_load((seeds.SEEDS / "factory.yml").read_text(encoding="utf-8"))
    for host in found["datacenters"][0]["clusters"][0]["hosts"]:
        host["state"] = "ready"
        for nic in host["nics"]:
            if nic["model"] == "cx6dx":
                nic["firmware"] = {"sriov": True, "num_vfs": 8}
    found["datacenters"][0]["vms"].append({"name": "busy", "host": HOST, "power": "on"})
    return {**found, "release": release}


READS = [
    community("vmware_host_feature_info", {f"hosts_feature_info/{HOST}/3/key": "hv.capable"}, esxi_hostname=HOST),
    community(
        "vmware_host_facts",
        {"ansible_facts/ansible_hostname": HOST, "ansible_facts/ansible_in_maintenance_mode": False},
        esxi_hostname=HOST,
    ),
    community(
        "vmware_host_vmnic_info",
        {
            f"hosts_vmnics_info/{HOST}/used": ["vmnic2", "vmnic0"],
            f"hosts_vmnics_info/{HOST}/vmnic_details/0/device": "vmnic0",
            f"hosts_vmnics_info/{HOST}/vmnic_details/0/driver": "igbn",
        },
        capabilities=True,
        esxi_hostname=HOST,
    ),
    community(
        "vmware_host_capability_info", {f"hosts_capability_info/{HOST}/rebootSupported": True}, esxi_hostname=HOST
    ),
    community("vmware_host_package_info", {f"hosts_package_info/{HOST}/0/vendor": "VMware"}, esxi_hostname=HOST),
    community(
        "vmware_vmkernel_info",
        {f"host_vmk_info/{HOST}/1/device": "vmk1", f"host_vmk_info/{HOST}/1/mtu": 1500},
        esxi_hostname=HOST,
    ),
    community("vmware_host_acceptance_info", {f"host_acceptance_info/{HOST}/level": "partner"}, esxi_hostname=HOST),
]
SETTINGS = [
    community("vmware_host_acceptance", {"changed": True}, esxi_hostname=HOST, state="vmware_accepted"),
    community(
        "vmware_host_config_manager", {"changed": True}, esxi_hostname=HOST, options={"Net.PVRDMAVmknic": "vmk1"}
    ),
    community(
        "vmware_host_config_manager", {"changed": False}, esxi_hostname=HOST, options={"Net.PVRDMAVmknic": "vmk1"}
    ),
    community(
        "vmware_host_firewall_manager",
        {"changed": True},
        esxi_hostname=HOST,
        rules=[{"name": "pvrdma", "enabled": True, "allowed_hosts": {"all_ip": True}}],
    ),
    community(
        "vmware_host_service_manager", {"changed": True}, esxi_hostname=HOST, service_name="TSM-SSH", state="start"
    ),
    community("vmware_host_lockdown", {"changed": True}, esxi_hostname=HOST, state="normal"),
    community(
        "vmware_host_kernel_manager",
        {"changed": True, f"host_kernel_status/{HOST}/original_options": ""},
        esxi_hostname=HOST,
        kernel_module_name="nmlx5_core",
        kernel_module_option="pfctx=0x08 pfcrx=0x08",
    ),
    community("vmware_host_graphics", {"changed": True}, esxi_hostname=HOST, graphic_type="sharedDirect"),
    community("vmware_host_passthrough", {"changed": True}, esxi_hostname=HOST, devices=[{"device": SECOND_PCI}]),
    community("vmware_host_sriov", {"changed": True}, esxi_hostname=HOST, vmnic="vmnic2", num_virt_func=4),
]
NETWORK = [
    community(
        "vmware_dvswitch",
        {"changed": True},
        datacenter_name="lab",
        switch_name="dvs-train",
        mtu=9000,
        uplink_quantity=2,
        switch_version="RELEASE",
    ),
    community(
        "vmware_vmkernel",
        {"changed": True},
        esxi_hostname=OTHER_HOST,
        device="vmk1",
        dvswitch_name="dvs-train",
        portgroup_name="pg-rdma",
        mtu=9000,
        network={"type": "static", "ip_address": "172.17.9.9", "subnet_mask": "255.255.0.0"},
    ),
    community(
        "vmware_vmkernel",
        {"changed": True, "device": "vmk2"},
        esxi_hostname=OTHER_HOST,
        dvswitch_name="dvs-train",
        portgroup_name="pg-train",
        mtu=9000,
        enable_vmotion=True,
        network={"type": "static", "ip_address": "172.18.9.9", "subnet_mask": "255.255.0.0"},
    ),
    community(
        "vmware_vmkernel",
        {"changed": True},
        esxi_hostname=OTHER_HOST,
        device="vmk2",
        portgroup_name="pg-train",
        dvswitch_name="dvs-train",
        state="absent",
    ),
    community(
        "vmware_vcenter_settings_info",
        {"vcenter_config_info/vgpu.hotmigrate.enabled": False},
        schema="vsphere",
        properties=["vgpu.hotmigrate.enabled"],
    ),
]
POWER = [
    community("vmware_maintenancemode", {"changed": True}, esxi_hostname=OTHER_HOST, state="present", timeout=60),
    community("vmware_maintenancemode", {"changed": False}, esxi_hostname=OTHER_HOST, state="present", timeout=60),
    community("vmware_host_powerstate", {"changed": True}, esxi_hostname=OTHER_HOST, state="reboot-host"),
]
FAILURES = [
    (community("vmware_maintenancemode", {}, esxi_hostname=HOST, state="present", timeout=1), "Operation timed out."),
    (community("vmware_host_powerstate", {}, esxi_hostname=HOST, state="reboot-host"), "is not in maintenance mode"),
    (
        community(
            "vmware_host_kernel_manager", {}, esxi_hostname=HOST, kernel_module_name="none", kernel_module_option=""
        ),
        "Failed to find kernel module",
    ),
    (community("vmware_host_sriov", {}, esxi_hostname=HOST, vmnic="vmnic2", num_virt_func=9), "maxVirtualFunction"),
    (
        community("vmware_host_config_manager", {}, esxi_hostname=HOST, options={"Net.PVRDMAvmknik": "vmk1"}),
        "Unsupported option",
    ),
]


def host_object(service, name):
    center = service.content.rootFolder.childEntity[0]
    (found,) = [one for one in center.hostFolder.childEntity[0].host if one.name == name]
    return found


def until(running, name, holds):
    """Wait for the model's host to reach a state."""
    (host,) = [one for one in running.world.of_kind("HostSystem") if one.name == name]
    with running.world.changed:
        assert running.world.changed.wait_for(lambda: holds(host), timeout=120)


def test_modules_that_read_hosts_see_those_of_the_seed(twin):
    running = twin(seed=data())
    assert differences(running, [READS]) == []
    assert running.unserved == {}


@pytest.mark.parametrize("release", ["8.0.3", "9.1.0"])
def test_settings_by_third_party_modules_arrive_and_what_needs_a_boot_waits_for_it(twin, release):
    running = twin(seed=data(release))
    network = [
        step._replace(
            arguments={key: release if value == "RELEASE" else value for key, value in step.arguments.items()}
        )
        for step in NETWORK
    ]
    assert differences(running, [SETTINGS, network]) == []
    assert running.unserved == {}
    with client(running) as service:
        host = host_object(service, HOST)
        devices = {row.id: row for row in host.config.pciPassthruInfo}
        assert host.configManager.imageConfigManager.HostImageConfigGetAcceptance() == "vmware_accepted"
        assert {one.key: one.running for one in host.config.service.service}["TSM-SSH"]
        assert {one.key: one.enabled for one in host.config.firewall.ruleset}["pvrdma"]
        assert {one.key: one.value for one in host.config.option}["Net.PVRDMAVmknic"] == "vmk1"
        assert host.config.lockdownMode == "lockdownNormal"
        assert host.config.graphicsConfig.hostDefaultGraphicsType == "sharedDirect"
        assert (devices[SECOND_PCI].passthruEnabled, devices[SECOND_PCI].passthruActive) == (True, True)
        assert "vmnic3" not in [nic.device for nic in host.config.network.pnic]
        assert host.summary.rebootRequired
        (uplink,) = [row for row in host.config.pciPassthruInfo if row.id == "0000:3a:00.0"]
        assert (uplink.numVirtualFunctionRequested, uplink.numVirtualFunction) == (4, 0)
        (switch,) = [one for one in host.config.network.proxySwitch if one.dvsName == "dvs-train"]
        other = host_object(service, OTHER_HOST).config.network.vnic[1].spec
        assert (switch.mtu, other.mtu, other.ip.ipAddress) == (9000, 9000, "172.17.9.9")


def test_a_host_that_third_party_modules_restart_goes_away_and_comes_back(twin):
    running = twin(seed=data())
    with client(running) as service:
        before = host_object(service, OTHER_HOST).runtime.bootTime
        assert differences(running, [POWER]) == []
        until(running, OTHER_HOST, lambda host: host.boots == 1)
        runtime = host_object(service, OTHER_HOST).runtime
        assert runtime.bootTime > before
        assert (runtime.connectionState, runtime.inMaintenanceMode) == ("connected", True)


def test_third_party_modules_fail_in_their_own_words(twin):
    (answers,) = run(twin(seed=data()), [[step for step, _says in FAILURES]])
    for (step, says), answer in zip(FAILURES, answers, strict=True):
        assert answer["failed"], step
        assert says in answer["msg"], step
