"""Reachability of vmkernel ports: their addresses, their VLANs, and the fabric between their hosts."""

from __future__ import annotations

import ipaddress

from ..switches import cabling


def vlan_of(host, nic):
    """The VLAN of a vmkernel port: that of its distributed or standard port group, 0 for none."""
    if nic.dv_portgroup is not None:
        return nic.dv_portgroup.vlan if isinstance(nic.dv_portgroup.vlan, int) else 0
    groups = {name: vlan for switch in host.standard_switches for name, vlan in switch.portgroups}
    groups.update({one.name: one.vlan for one in host.networks.values() if one.kind == "Network"})
    return groups.get(nic.portgroup, 0)


def holders(world, address):
    """[(host, vmkernel port)] that have an address."""
    return [(host, nic) for host in world.of_kind("HostSystem") for nic in host.vmkernel if nic.ip == address]


def apart(world, one, other):
    """Return why a vmkernel port, given as (host, port), does not reach another one; None if it does."""
    (_host, mine), (peer, theirs) = one, other
    vlans = [vlan_of(*end) for end in (one, other)]
    if vlans[0] != vlans[1]:
        return f"it is in VLAN {vlans[0]}, {theirs.device} of {peer.name} in {vlans[1]}"
    if mine.ip == theirs.ip:
        return f"{theirs.device} of {peer.name} has the same address, {mine.ip}"
    networks = [ipaddress.ip_interface(f"{nic.ip}/{nic.netmask}").network for nic in (mine, theirs)]
    if networks[0] != networks[1]:
        return f"it is in {networks[0]}, {theirs.device} of {peer.name} in {networks[1]}"
    taken = [
        f"{nic.device} of {owner.name}"
        for end in (one, other)
        for owner, nic in holders(world, end[1].ip)
        if nic is not end[1] and vlan_of(owner, nic) == vlans[0]
    ]
    if taken:
        return f"{taken[0]} has an address of theirs too"
    return _cut(world, one, other, vlans[0])


def _cut(world, one, other, vlan):
    """Return the break between two hosts; nothing if no cable is described."""
    ends = [(host, port) for host, nic in (one, other) for port in _uplinks(host, nic)[:1]]
    cabled = [(host.name, port.device) in world.fabric.cables for host, port in ends]
    if len(ends) < 2 or not any(cabled):
        return None
    return cabling.apart(world, *ends, vlan) if all(cabled) else "one of the two hosts has no cable"


def _uplinks(host, nic):
    return [port for port in host.nics if port.switch is not None and port.switch is nic.switch]
