"""Network path of each adapter of a VM in the model: its port, and the largest packet that passes from there."""

from __future__ import annotations

from dataclasses import dataclass

from ..model import guest as guest_model
from ..model import slots
from ..switches import cabling

STANDARD_MTU = 1500
LARGEST = 9000
# Ports of VMs meet in the untagged network of the switches that they are cabled to.
UNTAGGED = "fabric"


@dataclass(frozen=True)
class Wire:
    """An adapter and its cable."""

    mac: str
    name: str  # its name in the guest
    network: str  # the key of its segment
    mtu: int  # the largest packet that gets away from here
    connected: bool
    reaches: bool  # whether anything beyond the VM's own host is reached


def wires(world, vm):
    """Return one Wire for each adapter, in the order in which the guest finds them."""
    names = slots.names(vm)
    found = [_wire(world, vm, nic, name) for nic, name in zip(vm.nics, names, strict=False)]
    names = names[len(found) :]
    return found + [
        _port_wire(world, vm.host, port, name) for port, name in zip(guest_model.ports(vm), names, strict=False)
    ]


def key_of(world, nic):
    """The broadcast domain of an adapter: a standard network, or a VLAN of a distributed switch."""
    group = _group(world, nic)
    if group is None:
        return nic.backing.network._moId
    return f"{group.switch.moid}-{group.vlan if isinstance(group.vlan, int) else group.moid}"


def _group(world, nic):
    port = getattr(nic.backing, "port", None)
    return world.get(port.portgroupKey) if port is not None else None


def _wire(world, vm, nic, name):
    group = _group(world, nic)
    connected = bool(nic.connectable is not None and nic.connectable.connected)
    mtu, reaches = (_standard(vm.host), True) if group is None else _distributed(world, vm.host, group)
    return Wire(nic.macAddress.lower(), name, key_of(world, nic), mtu, connected, reaches)


def _port_wire(world, host, port, name):
    """A port that the VM has in whole: its cable, and the MTU of the switches behind it."""
    far = world.fabric.cables.get((host.name, port.device))
    sizes = [*_through(world, far)] if far is not None and far[0] in world.fabric.switches else []
    return Wire(port.mac.lower(), name, UNTAGGED, min(*sizes, LARGEST, LARGEST), True, port.link_up)


def _standard(host):
    """Return the smallest MTU of the host for networks of standard switches, since the model does not name the
    switch.
    """
    return min((switch.mtu for switch in host.standard_switches), default=STANDARD_MTU)


def _distributed(world, host, group):
    """(the largest packet, whether the host's uplinks carry anything of the port group)."""
    switch = group.switch
    uplinks = switch.uplinks_of(host)
    living = [nic for nic in uplinks if nic.link_up]
    sizes = [switch.mtu, *(nic.mtu for nic in living)]
    for nic in living:
        far = world.fabric.cables.get((host.name, nic.device))
        if far is not None and far[0] in world.fabric.switches:
            sizes += _through(world, far)
    carried = [nic for nic in living if _among_others(world, host, nic, group)]
    return min(*sizes, LARGEST), bool(carried) or not uplinks


def _among_others(world, host, nic, group):
    """Return whether a port is in the largest part into which cables and VLANs divide the hosts of a port group."""
    if (host.name, nic.device) not in world.fabric.cables or not isinstance(group.vlan, int):
        return True
    members = {(one.name, port.device): (one, port) for one in group.switch.hosts.values() for port in one.nics}
    members = {end: who for end, who in members.items() if who[1].switch is group.switch}
    parts = {
        end: frozenset({end} | (cabling.reached(world, one, port.device, group.vlan) & {*members}))
        for end, (one, port) in members.items()
        if end in world.fabric.cables
    }
    largest = max(parts.values(), key=lambda part: (len(part), tuple(-ord(char) for char in min(part)[0])))
    return (host.name, nic.device) in largest


def _through(world, entry):
    """The MTUs of the ports from the first switch on: its own, and those between switches."""
    first, port = entry
    yield _port(world, first, port)
    for name, far in world.fabric.switches[first].ports.items():
        peer = world.fabric.cables.get((first, name))
        if far.up and peer is not None and peer[0] in world.fabric.switches:
            yield _port(world, first, name)
            yield _port(world, *peer)


def _port(world, switch, port):
    return world.fabric.switches[switch].device.treatment(port).mtu
