"""Distributed switches of a seed: their uplinks, port groups and members."""

from __future__ import annotations

from . import members
from .fabric import Network, Portgroup, Switch, Teaming
from .seed_file import SeedError


def make(world, put, entry):
    """A switch with its port groups; answers it and the groups by their names."""
    uplinks = entry.get("uplinks", 2)
    version = entry.get("version", world.release.version)
    with world.given_moids(entry.get("moids", ())):
        switch = put(Switch(world, entry["name"], None, entry.get("mtu", 1500), version, uplinks))
        switch.uuid = entry.get("uuid", switch.uuid)
        switch.uplinks = entry.get("uplink_names", switch.uplinks)
        put(Portgroup(world, entry.get("uplink_group", switch.uplinks_name), None, switch, uplink=True))
    switch.joined_by = entry.get("members", "all")
    switch.lldp = entry.get("lldp", "both")
    groups = {}
    for row in entry.get("portgroups", []):
        with world.given_moids(row.get("moids", ())):
            group = Portgroup(world, row["name"], None, switch, row.get("vlan", 0), ports=row.get("ports", 128))
        group.teaming = _teaming(switch, row)
        groups[row["name"]] = put(group)
    return switch, groups


def join(host, switches, networks):
    """Add a host to its switches, and show it its networks."""
    for switch in switches:
        if switch.joined_by == "all" or _serves(host, switch):
            members.join(switch, host)
    for network in networks:
        if isinstance(network, Network):
            network.hosts[host.moid] = host
            host.networks[network.moid] = network


def _teaming(switch, row):
    """The uplinks of a port group, which must be uplinks of its switch."""
    unknown = [name for name in (*row.get("active", []), *row.get("standby", [])) if name not in switch.uplinks]
    if unknown:
        place, there = f"Port group {row['name']}", ", ".join(switch.uplinks)
        raise SeedError([f"{place}: {switch.name} has no {', '.join(unknown)}; it has {there}."])
    return Teaming(row.get("teaming", "loadbalance_srcid"), row.get("active"), row.get("standby", []))


def _serves(host, switch):
    """Return whether a port or a vmkernel adapter of the host makes it a member of the switch."""
    return any(nic.switch is switch for nic in host.ports) or any(one.switch is switch for one in host.vmkernel)
