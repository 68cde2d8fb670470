# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.host.network import network_of
from pyVmomi import vim


def nic(device, driver="nmlx5_core"):
    return vim.host.PhysicalNic(
        key=f"key-vim.host.PhysicalNic-{device}", device=device, pci="0000:3a:00.0", driver=driver
    )


def rdma(paired):
    return vim.host.RdmaDevice(
        device="vmrdma0",
        driver="nmlx5_rdma",
        backing=vim.host.RdmaDevice.PnicBacking(pairedUplink=paired),
        connectionInfo=vim.host.RdmaDevice.ConnectionInfo(state="active", mtu=4096, speedInMbps=100000),
    )


def vmk(device, portgroup=None, switch=None):
    port = vim.dvs.PortConnection(switchUuid=switch) if switch else None
    spec = vim.host.VirtualNic.Specification(mtu=9000, distributedVirtualPort=port)
    return vim.host.VirtualNic(device=device, key=f"key-{device}", portgroup=portgroup or "", spec=spec)


def info(rdma_uplink="key-vim.host.PhysicalNic-vmnic2"):
    switch = vim.host.VirtualSwitch(name="vSwitch0", mtu=1500, pnic=["key-vim.host.PhysicalNic-vmnic0"])
    proxy = vim.host.HostProxySwitch(
        dvsUuid="50 1a", dvsName="dvs-train", mtu=9000, pnic=["key-vim.host.PhysicalNic-vmnic2"]
    )
    group = vim.host.PortGroup(
        spec=vim.host.PortGroup.Specification(name="Management Network", vlanId=0, vswitchName="vSwitch0")
    )
    return vim.host.NetworkInfo(
        pnic=[nic("vmnic0", "igbn"), nic("vmnic2"), nic("vmnic3")],
        vswitch=[switch],
        proxySwitch=[proxy],
        portgroup=[group],
        vnic=[vmk("vmk0", "Management Network"), vmk("vmk1", switch="50 1a")],
        rdmaDevice=[rdma(rdma_uplink)],
    )


def services():
    config = vim.host.VirtualNicManager.NetConfig(
        nicType="management",
        candidateVnic=[vim.host.VirtualNic(device="vmk0", key="VirtualNicManager.management.key-vmk0")],
        selectedVnic=["VirtualNicManager.management.key-vmk0"],
    )
    return vim.host.VirtualNicManagerInfo(netConfig=[config])


def test_ports_take_the_mtu_of_their_switch_and_a_free_one_has_that_of_esxi():
    network = network_of(info())
    assert {port.device: (port.switch, port.mtu) for port in network.ports} == {
        "vmnic0": ("vSwitch0", 1500),
        "vmnic2": ("dvs-train", 9000),
        "vmnic3": ("", 1500),
    }


def test_adapters_are_on_their_switch_with_their_services():
    network = network_of(info(), services())
    assert [(one.device, one.switch, one.services) for one in network.vmkernel] == [
        ("vmk0", "vSwitch0", ("management",)),
        ("vmk1", "dvs-train", ()),
    ]


@pytest.mark.parametrize("uplink", ["key-vim.host.PhysicalNic-vmnic2", "vmnic2"])
def test_an_rdma_device_belongs_to_its_port_whether_the_server_sends_the_key_or_the_name(uplink):
    network = network_of(info(uplink))
    assert network.rdma_of("vmnic2").device == "vmrdma0"
    assert network.rdma_of("vmnic3") is None


def test_a_port_without_a_link_has_no_speed():
    config = info()
    config.pnic[1].linkSpeed = vim.host.PhysicalNic.LinkSpeedDuplex(speedMb=100000, duplex=True)
    assert [port.link_mbps for port in network_of(config).ports] == [0, 100000, 0]


def test_a_host_that_reports_nothing_has_an_empty_network():
    assert network_of(None).ports == ()


def test_the_uplink_of_a_switch_of_nsx_is_no_free_port():
    config = info()
    config.opaqueSwitch = [vim.host.OpaqueSwitch(key="nsx", name="nvds-1", pnic=["key-vim.host.PhysicalNic-vmnic3"])]
    assert network_of(config).port("vmnic3").switch == "nvds-1"


def test_an_adapter_that_is_selected_for_a_service_counts_though_it_is_no_candidate_any_more():
    manager = services()
    manager.netConfig[0].candidateVnic = []
    manager.netConfig[0].selectedVnic = ["VirtualNicManager.management.key-vmk0"]
    assert network_of(info(), manager).adapter("vmk0").services == ("management",)
