"""Standard switches of a host and their port groups, as clients make, change and remove them."""

from __future__ import annotations

from pyVmomi import vim, vmodl

from . import inventory, kept, network
from .fabric import Network
from .host import StandardSwitch, touch

VLANS = range(4096)  # 4095 is all of them
TEAMING = ("loadbalance_ip", "loadbalance_srcmac", "loadbalance_srcid", "failover_explicit")


def add_switch(world, host, name, spec):
    """AddVirtualSwitch."""
    if any(one.name == name for one in host.standard_switches):
        raise _exists(name)
    if not name or len(name) > 31:
        raise _wrong("vswitchName")
    host.standard_switches.append(StandardSwitch(name))
    try:
        if spec is not None:
            network.update_switch(world, host, name, spec)
    except vmodl.MethodFault:
        host.standard_switches.pop()
        raise
    touch(world, host)


def remove_switch(world, host, name):
    """RemoveVirtualSwitch: with its port groups, none of which may be in use."""
    switch = _switch(host, name)
    groups = groups_of(host, switch)
    for group, _vlan in groups:
        _require_free(host, group)
    for group, _vlan in groups:
        _drop(world, host, group)
    for nic in host.nics:
        if nic.switch is switch:
            nic.switch = None
    host.standard_switches.remove(switch)
    touch(world, host)


def add_group(world, host, spec):
    """AddPortGroup: on the host, and as a network of the datacenter if there is none of its name."""
    switch = _switch(host, spec.vswitchName)
    if spec.name in names(host):
        raise _exists(spec.name)
    if not spec.name:
        raise _wrong("portgrp.name")
    if spec.vlanId not in VLANS:
        raise _wrong("portgrp.vlanId")
    check_policy(spec.policy, uplinks_of(host, switch), "portgrp.policy")
    host.group_policies[spec.name] = spec.policy
    made = _network(world, host, spec.name, spec.vlanId)
    made.hosts[host.moid] = host
    host.networks[made.moid] = made
    host.group_places[made.moid] = (switch.name, spec.vlanId)
    touch(world, host)
    world.touch(made)


def update_group(world, host, name, spec):
    """UpdatePortGroup: another switch or VLAN, or another name, which no VM may be on."""
    if name not in names(host):
        raise network.not_found(name)
    switch = _switch(host, spec.vswitchName)
    if spec.vlanId not in VLANS:
        raise _wrong("portgrp.vlanId")
    check_policy(spec.policy, uplinks_of(host, switch), "portgrp.policy")
    if spec.name != name:
        if spec.name in names(host):
            raise _exists(spec.name)
        _require_free(host, name)
        _drop(world, host, name)
        add_group(world, host, spec)
        return
    host.group_policies[name] = spec.policy
    net = _on_host(host, name)
    if net is not None:
        host.group_places[net.moid] = (switch.name, spec.vlanId)
    else:
        for one in host.standard_switches:
            one.portgroups = [row for row in one.portgroups if row[0] != name]
        switch.portgroups.append((name, spec.vlanId))
    touch(world, host)


def remove_group(world, host, name):
    """RemovePortGroup."""
    if name not in names(host):
        raise network.not_found(name)
    _require_free(host, name)
    _drop(world, host, name)
    touch(world, host)


def groups_of(host, switch):
    """(name, VLAN) of the port groups of a standard switch; networks of a seed lie on the first one."""
    first, found = host.standard_switches[0], list(switch.portgroups)
    for net in host.networks.values():
        if isinstance(net, Network):
            place, vlan = host.group_places.get(net.moid, (first.name, net.vlan))
            if place == switch.name:
                found.append((net.name, vlan))
    return found


def uplinks_of(host, switch):
    """Return the names of the adapters of a standard switch."""
    return [nic.device for nic in host.nics if nic.switch is switch]


def check_policy(policy, uplinks, place):
    """Refuse an unknown teaming policy, and an order of adapters that the switch does not have or that repeats one
    (vSphere API reference, HostNicTeamingPolicy and HostNetworkSystem.AddPortGroup).
    """
    teaming = policy.nicTeaming
    if teaming is None:
        return
    kept.require_one_of(teaming.policy, TEAMING, f"{place}.nicTeaming.policy")
    if teaming.nicOrder is not None:
        named = [*teaming.nicOrder.activeNic, *teaming.nicOrder.standbyNic]
        if len(set(named)) < len(named) or not set(named) <= set(uplinks):
            raise _wrong(f"{place}.nicTeaming.nicOrder")


def overlaid(policy, given):
    """Return a policy in which the fields of another one replace its own; the order of adapters is replaced whole."""
    result = kept.overlay(policy, given)
    if given is not None and given.nicTeaming is not None and given.nicTeaming.nicOrder is not None:
        result.nicTeaming.nicOrder = given.nicTeaming.nicOrder
    return result


def names(host):
    """The names of all port groups of the host's standard switches."""
    return [name for switch in host.standard_switches for name, _vlan in groups_of(host, switch)]


def _switch(host, name):
    found = next((one for one in host.standard_switches if one.name == name), None)
    if found is None:
        raise network.not_found(name)
    return found


def _on_host(host, name):
    return next((one for one in host.networks.values() if isinstance(one, Network) and one.name == name), None)


def _network(world, host, name, vlan):
    center = inventory.datacenter_of(host)
    for one in world.of_kind("Network"):
        if one.name == name and inventory.datacenter_of(one) is center:
            return one
    return inventory.put(world, center.network_folder, world.add(Network(world, name, None, vlan)))


def _require_free(host, name):
    net = _on_host(host, name)
    on_it = [vm for vm in net.vms.values() if vm.host is host] if net is not None else []
    if on_it or any(nic.portgroup == name for nic in host.vmkernel):
        raise vim.fault.ResourceInUse(msg=f"The resource '{name}' is in use.", name=name)


def _drop(world, host, name):
    host.group_policies.pop(name, None)
    for switch in host.standard_switches:
        switch.portgroups = [row for row in switch.portgroups if row[0] != name]
    net = _on_host(host, name)
    if net is None:
        return
    host.networks.pop(net.moid)
    host.group_places.pop(net.moid, None)
    net.hosts.pop(host.moid, None)
    world.touch(net)
    if not net.hosts:
        net.parent.children.pop(net.moid, None)
        world.touch(net.parent)
        world.remove(net)


def _exists(name):
    return vim.fault.AlreadyExists(msg="The specified key, name, or identifier already exists.", name=name)


def _wrong(place):
    return vmodl.fault.InvalidArgument(msg=f"A specified parameter was not correct: {place}", invalidProperty=place)
