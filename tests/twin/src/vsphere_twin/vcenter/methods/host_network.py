"""The network system of a host: standard switches and vmkernel ports."""

from __future__ import annotations

from pyVmomi import vim, vmodl

from vsphere_twin.model import kept, net_stacks, network, standard
from vsphere_twin.model.host import touch
from vsphere_twin.switches import cabling

from ..projections import host_network
from ..projections.shape import make
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


@host_method("HostNetworkSystem", "UpdateDnsConfig")
def update_dns(call, this, config):
    net_stacks.check_dns(this.host, config)
    net_stacks.set_dns(this.host.net_stacks[net_stacks.DEFAULT], config)
    touch(call.world, this.host)


@host_method("HostNetworkSystem", "UpdateIpRouteConfig")
def update_route(call, this, config):
    net_stacks.check_route(config)
    stack = this.host.net_stacks[net_stacks.DEFAULT]
    stack.route = kept.overlay(stack.route, config)
    touch(call.world, this.host)


@host_method("HostNetworkSystem", "UpdateNetworkConfig")
def update_network_config(call, this, config, changeMode):
    """Apply single changes: stacks, new port groups, VMkernel ports, then port groups that go [unsure: the order]."""
    if changeMode != "modify":
        raise vmodl.fault.NotSupported(msg="The operation is not supported on the object: the twin has only modify.")
    kept.refuse_unserved(config, ("netStackSpec", "portgroup", "vnic", "ipV6Enabled"))
    world, host = call.world, this.host
    for entry in [*config.portgroup, *config.vnic]:
        kept.require_one_of(entry.changeOperation, ("add", "edit", "remove", "ignore"), "config.changeOperation")
    if any(one.spec is None and one.changeOperation in ("add", "edit", "remove") for one in config.portgroup):
        raise kept.wrong("config.portgroup.spec")
    if any(one.spec is None and one.changeOperation in ("add", "edit") for one in config.vnic):
        raise kept.wrong("config.vnic.spec")
    for spec in config.netStackSpec:
        net_stacks.check(host, spec)
    for spec in config.netStackSpec:
        net_stacks.change(host, spec)
    if config.ipV6Enabled is not None:
        # It takes effect at the next boot (vSphere API reference, HostNetworkConfig).
        host.ipv6_at_boot = config.ipV6Enabled
    groups = [(entry.changeOperation, entry.spec) for entry in config.portgroup]
    for spec in [spec for operation, spec in groups if operation == "add"]:
        standard.add_group(world, host, spec)
    for spec in [spec for operation, spec in groups if operation == "edit"]:
        standard.update_group(world, host, spec.name, spec)
    made = [_change_nic(world, host, entry) for entry in config.vnic]
    for spec in [spec for operation, spec in groups if operation == "remove"]:
        standard.remove_group(world, host, spec.name)
    touch(world, host)
    return make(vim.host.NetworkConfig.Result, vnicDevice=[device for device in made if device])


def _change_nic(world, host, entry):
    """Apply one change of a VMkernel port; return the device that is new."""
    if entry.changeOperation == "add":
        return network.add_vmkernel(world, host, entry.portgroup or "", entry.spec)
    if entry.changeOperation == "remove":
        network.remove_vmkernel(world, host, entry.device)
    elif entry.changeOperation == "edit":
        network.update_vmkernel(world, host, entry.device, entry.spec)
    return None


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
