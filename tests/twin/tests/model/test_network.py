"""What a host's network system changes: MTU on the way, uplinks, vmkernel ports."""

from __future__ import annotations

import pytest
from pyVmomi import vim, vmodl

from vsphere_twin.model import network

NICS = [
    {"device": "vmnic0", "model": "i350", "uplink_of": "vSwitch0"},
    {"device": "vmnic1", "model": "i350"},
    {"device": "vmnic2", "model": "cx6dx", "uplink_of": "dvs"},
]


@pytest.fixture
def here(lab):
    return lab(hosts=[{"name": "esx-1", "nics": NICS, "vmkernel": [{"device": "vmk1", "portgroup": "train"}]}])


@pytest.fixture
def host(here):
    return here.hosts[0]


def vmk(**fields):
    return vim.host.VirtualNic.Specification(**fields)


def mtus(host):
    return {nic.device: nic.mtu for nic in host.nics}


def test_uplinks_take_the_mtu_of_their_switch(here, host):
    network.set_switch_mtu(here.world, host.ports[2].switch, 9000)
    spec = vim.host.VirtualSwitch.Specification(numPorts=128, mtu=4200)
    network.update_switch(here.world, host, "vSwitch0", spec)
    assert mtus(host) == {"vmnic0": 4200, "vmnic1": 1500, "vmnic2": 9000}


@pytest.mark.parametrize("mtu", [1279, 9001])
def test_an_mtu_that_no_switch_has_is_refused(here, host, mtu):
    with pytest.raises(vmodl.fault.InvalidArgument):
        network.set_switch_mtu(here.world, host.ports[2].switch, mtu)
    with pytest.raises(vmodl.fault.InvalidArgument):
        network.update_vmkernel(here.world, host, "vmk1", vmk(mtu=mtu))


def test_an_uplink_of_another_switch_is_not_taken(here, host):
    bridge = vim.host.VirtualSwitch.BondBridge(nicDevice=["vmnic0", "vmnic2"])
    with pytest.raises(vim.fault.ResourceInUse):
        network.update_switch(
            here.world, host, "vSwitch0", vim.host.VirtualSwitch.Specification(numPorts=128, bridge=bridge)
        )
    bridge.nicDevice = ["vmnic1"]
    network.update_switch(
        here.world, host, "vSwitch0", vim.host.VirtualSwitch.Specification(numPorts=128, bridge=bridge)
    )
    assert [nic.device for nic in host.nics if nic.switch is host.standard_switches[0]] == ["vmnic1"]


def test_a_vmkernel_port_keeps_what_the_change_does_not_name(here, host):
    before = network.find_vmkernel(host, "vmk1").ip
    network.update_vmkernel(here.world, host, "vmk1", vmk(mtu=9000))
    found = network.find_vmkernel(host, "vmk1")
    assert (found.mtu, found.ip, found.dv_portgroup.name) == (9000, before, "train")


def test_vmkernel_ports_come_and_go(here, host):
    made = network.add_vmkernel(here.world, host, "VM Network", vmk(mtu=1500))
    assert made == "vmk2"
    network.tag(here.world, host, "key-vim.host.VirtualNic-vmk2", "vmotion", True)
    assert network.find_vmkernel(host, "vmk2").services == ("vmotion",)
    network.remove_vmkernel(here.world, host, "vmk2")
    with pytest.raises(vim.fault.NotFound):
        network.find_vmkernel(host, "vmk2")


def test_the_last_management_port_cannot_be_removed(here, host):
    with pytest.raises(vim.fault.HostConfigFault):
        network.remove_vmkernel(here.world, host, "vmk0")


@pytest.mark.parametrize(
    "change",
    [
        lambda world, host: network.add_vmkernel(world, host, "no such group", vmk()),
        lambda world, host: network.update_vmkernel(world, host, "vmk9", vmk()),
        lambda world, host: network.update_switch(world, host, "vSwitch9", vim.host.VirtualSwitch.Specification()),
    ],
    ids=["port group", "vmkernel port", "switch"],
)
def test_what_is_not_there_is_named(here, host, change):
    with pytest.raises(vim.fault.NotFound, match="no such group|vmk9|vSwitch9"):
        change(here.world, host)
