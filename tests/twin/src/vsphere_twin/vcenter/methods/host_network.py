"""The network system of a host: standard switches and vmkernel ports."""

from __future__ import annotations

from pyVmomi import vmodl

from vsphere_twin.model import network, standard
from vsphere_twin.switches import cabling

from ..projections import host_network
from .host_system import host_method


@host_method("HostVirtualNicManager", "QueryNetConfig")
def query_net_config(call, this, nicType):
    return next((row for row in host_network.nic_services(this.host) if row.nicType == nicType), None)


@host_method("HostVirtualNicManager", "SelectVnicForNicType")
def select_vnic(call, this, nicType, device):
    _known_service(nicType)
    network.tag(call.world, this.host, device, nicType, True)


@host_method("HostVirtualNicManager", "DeselectVnicForNicType")
def deselect_vnic(call, this, nicType, device):
    _known_service(nicType)
    network.tag(call.world, this.host, device, nicType, False)


@host_method("HostNetworkSystem", "QueryNetworkHint")
def query_network_hint(call, this, device=None):
    """Return LLDP data of the uplinks of distributed switches; the model's standard switches receive no CDP."""
    return [
        host_network.hint(nic.device, cabling.seen_by(call.world, this.host, nic.device))
        for nic in this.host.nics
        if not device or nic.device in device
    ]


@host_method("HostNetworkSystem", "AddVirtualNic")
def add_virtual_nic(call, this, portgroup, nic):
    return network.add_vmkernel(call.world, this.host, portgroup, nic)


@host_method("HostNetworkSystem", "UpdateVirtualNic")
def update_virtual_nic(call, this, device, nic):
    network.update_vmkernel(call.world, this.host, device, nic)


@host_method("HostNetworkSystem", "RemoveVirtualNic")
def remove_virtual_nic(call, this, device):
    network.remove_vmkernel(call.world, this.host, device)


@host_method("HostNetworkSystem", "AddVirtualSwitch")
def add_virtual_switch(call, this, vswitchName, spec=None):
    standard.add_switch(call.world, this.host, vswitchName, spec)


@host_method("HostNetworkSystem", "RemoveVirtualSwitch")
def remove_virtual_switch(call, this, vswitchName):
    standard.remove_switch(call.world, this.host, vswitchName)


@host_method("HostNetworkSystem", "AddPortGroup")
def add_port_group(call, this, portgrp):
    standard.add_group(call.world, this.host, portgrp)


@host_method("HostNetworkSystem", "UpdatePortGroup")
def update_port_group(call, this, pgName, portgrp):
    standard.update_group(call.world, this.host, pgName, portgrp)


@host_method("HostNetworkSystem", "RemovePortGroup")
def remove_port_group(call, this, pgName):
    standard.remove_group(call.world, this.host, pgName)


@host_method("HostNetworkSystem", "UpdateVirtualSwitch")
def update_virtual_switch(call, this, vswitchName, spec):
    network.update_switch(call.world, this.host, vswitchName, spec)


@host_method("HostNetworkSystem", "RefreshNetworkSystem")
def refresh_network(call, this):
    call.world.touch(this)


def _known_service(name):
    if name not in host_network.NIC_SERVICES:
        raise vmodl.fault.InvalidArgument(
            msg="A specified parameter was not correct: nicType", invalidProperty="nicType"
        )
