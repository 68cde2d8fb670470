"""Paths of PVRDMA between VMs. vCenter does not report them; a fallback to TCP is silent."""

from __future__ import annotations

from dataclasses import dataclass

from pyVmomi import vim

from . import vmkernel

PVRDMA = vim.vm.device.VirtualVmxnet3Vrdma
RDMA, TCP, LOCAL = "rdma", "tcp", "local"
TAG, RULESET = "Net.PVRDMAVmknic", "pvrdma"


@dataclass(frozen=True)
class Path:
    """Path of one adapter to an adapter of another VM, and the reasons if it does not use RDMA."""

    adapter: str
    peer: str
    peer_adapter: str
    way: str
    reasons: tuple = ()


def state(world, vm):
    """Return the path to every PVRDMA adapter of every other running VM on the same network of switches."""
    peers = [one for one in world.of_kind("VirtualMachine") if one is not vm and one.power == "poweredOn"]
    return [
        _path(world, vm, mine, peer, other)
        for mine in adapters_of(vm)
        for peer in peers
        for other in adapters_of(peer)
        if vm.power == "poweredOn"
    ]


def adapters_of(vm):
    """The PVRDMA adapters of a VM."""
    return [one for one in vm.devices if isinstance(one, PVRDMA)]


def host_reasons(host, switch):
    """Return why PVRDMA on a switch cannot use the host's adapter; empty if it can (vSphere networking guide,
    PVRDMA).
    """
    found = []
    tag = host.options.get(TAG) or ""
    vmk = next((one for one in host.vmkernel if one.device == tag), None)
    if not tag:
        found.append(f"{TAG} is not set")
    elif vmk is None:
        found.append(f"{TAG} names {tag}, which does not exist")
    elif vmk.switch is not switch:
        found.append(f"{TAG} names {tag}, which is not on {switch.name}")
    elif vmk.mtu > switch.mtu:  # large packets get lost [unsure: that this ends in TCP]
        found.append(f"{tag} has MTU {vmk.mtu}, {switch.name} only {switch.mtu}")
    if not host.rulesets.get(RULESET):
        found.append(f"the firewall ruleset {RULESET} is closed")
    return [f"{host.name}: {reason}" for reason in found + _uplinks(host, switch)]


def between(world, one, other):
    """Return why the vmkernel ports for PVRDMA of two hosts cannot connect: then RDMA connections are not made."""
    mine, theirs = (_tagged(host) for host in (one, other))
    if mine is None or theirs is None:
        return []  # reported for each host
    found = vmkernel.apart(world, (one, mine), (other, theirs))
    return [f"{one.name} {mine.device}: {found}"] if found else []


def _tagged(host):
    return next((one for one in host.vmkernel if one.device == (host.options.get(TAG) or "")), None)


def _uplinks(host, switch):
    uplinks = switch.uplinks_of(host)
    if len(uplinks) != 1:
        names = ", ".join(nic.device for nic in uplinks) or "none"
        return [f"{switch.name} needs the RDMA port as its only uplink, and has {names}"]
    (nic,) = uplinks
    if nic.rdma is None:
        return [f"{nic.device} has no RDMA device"]
    return [] if nic.link_up else [f"the link of {nic.device} is down"]


def _path(world, vm, mine, peer, other):
    reasons = _adapter_reasons(vm, mine) + _adapter_reasons(peer, other)
    here, there = _switch(world, mine), _switch(world, other)
    if here is not there:
        reasons.append(f"{peer.name} is on another switch, {there.name}")
    if (mine.deviceProtocol or "") != (other.deviceProtocol or ""):  # [unsure]
        reasons.append(f"{vm.name} speaks {_protocol(mine)}, {peer.name} {_protocol(other)}")
    if vm.host is peer.host:
        # Memory is copied; the adapter of the host is not used (vSphere networking guide).
        return Path(_name(mine), peer.name, _name(other), TCP if reasons else LOCAL, tuple(reasons))
    for host, switch in ((vm.host, here), (peer.host, there)):
        reasons += host_reasons(host, switch)
    reasons += between(world, vm.host, peer.host)
    return Path(_name(mine), peer.name, _name(other), TCP if reasons else RDMA, tuple(reasons))


def _adapter_reasons(vm, device):
    return [] if device.connectable.connected else [f"{vm.name}: {_name(device)} is not connected"]


def _switch(world, device):
    return world.get(device.backing.port.portgroupKey).switch


def _protocol(device):
    return device.deviceProtocol or "the protocol that the host chooses"


def _name(device):
    return device.deviceInfo.label
