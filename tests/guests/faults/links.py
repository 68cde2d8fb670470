"""What is wrong with VLANs, links, addresses and duplicates of the data path."""

from __future__ import annotations

import contextlib

from vsphere_twin.model import pvrdma

from . import ONE, OTHER, Fault, attribute, changed, host, lines, named
from .hosts import NO_RDMA

CHECK, PREFLIGHT = "fabric_check", "preflight"
SHUT, DARK = "is administratively down", "has no link"


def typed(switch, wrong, right):
    """Lines at the command line of a switch."""
    return lambda twin: lines(twin, switch, wrong, right)


def shut(switch, port, cumulus=False):
    """A port that an administrator took down, as most platforms write it."""
    if cumulus:
        return typed(switch, [f"nv set interface {port} link state down"], [f"nv unset interface {port} link state"])
    return typed(switch, [f"interface {port}", "shutdown"], [f"interface {port}", "no shutdown"])


def pulled(switch, port):
    """A cable that was pulled."""
    return lambda twin: changed(
        twin,
        lambda world: world.fabric.link(switch, port, False),
        lambda world: world.fabric.link(switch, port, True),
    )


@contextlib.contextmanager
def recabled(twin):
    """The cable of a host is plugged into the port beside the one that the inventory names."""
    fabric, end = twin.world.fabric, (ONE, "vmnic2")
    trunk = ["switchport mode trunk", "switchport trunk allowed vlan 111"]

    def plug(old, new):
        def act(_world):
            port = fabric.switches["leaf-01"].ports[old]
            fabric.cables.pop(("leaf-01", old), None)
            port.plugged, port.peer = False, None
            fabric.connect(end, ("leaf-01", new))

        return act

    with (
        lines(twin, "leaf-01", ["interface Ethernet2", *trunk], ["interface Ethernet2", "no switchport mode"]),
        changed(twin, plug("Ethernet1", "Ethernet2"), plug("Ethernet2", "Ethernet1")),
    ):
        yield


def vmknic(twin, name=OTHER):
    """The VMkernel adapter that PVRDMA uses on a host."""
    one = host(twin, name)
    return next(adapter for adapter in one.vmkernel if adapter.device == one.options[pvrdma.TAG])


def group(twin, name):
    return next(one for one in twin.world.of_kind("DistributedVirtualPortgroup") if one.name == name)


def address(key, value):
    """Another address, or mask, of one VMkernel adapter."""
    return lambda twin: attribute(twin, vmknic(twin), key, value(twin) if callable(value) else value)


def others_address(twin):
    return vmknic(twin, ONE).ip


@contextlib.contextmanager
def other_group(twin):
    """The VMkernel adapter of one host is in a port group of another VLAN."""
    with in_vlan(twin, "pg-train", 222), attribute(twin, vmknic(twin), "dv_portgroup", group(twin, "pg-train")):
        yield


def in_vlan(twin, name, vlan):
    """A port group in another VLAN, of which clients of vCenter hear, too."""
    one = group(twin, name)
    before = one.vlan

    def put(number):
        def act(world):
            one.vlan = number
            world.touch(one)

        return act

    return changed(twin, put(vlan), put(before))


def other_vlan(twin):
    return in_vlan(twin, "pg-rdma", 222)


def link(plant, *seen, by=CHECK, **more):
    return Fault("link", plant, seen, by=by, **more)


VMK = f"{OTHER}, address of vmk1:"
# The VMs run already, and no place for PVRDMA suits them any more.
NO_PLACE = ("blocks: gpu, room for the VMs:*",)
FAULTS: dict[str, Fault] = {
    "link-host-port-shut": link(
        shut("leaf-01", "Ethernet1"),
        named("leaf-01 Ethernet1", SHUT),
        named(f"{ONE} vmnic2", DARK),
    ),
    "link-uplink-shut": link(
        shut("leaf-03", "swp31", cumulus=True),
        named("leaf-03 swp31", SHUT),
        named("spine-01 Eth1/3", DARK),
    ),
    "link-spine-port-shut": link(
        typed("spine-02", ["config interface shutdown Ethernet0"], ["config interface startup Ethernet0"]),
        named("spine-02 Ethernet0", SHUT),
        named("leaf-01 Ethernet32", DARK),
    ),
    "link-spare-uplink-shut": link(
        shut("leaf-02", "Ethernet1/31"), named("leaf-02 Ethernet1/31", SHUT), named("spine-01 Eth1/2", DARK)
    ),
    "link-cable-out": link(
        pulled("leaf-04", "ethernet1/1/31"),
        named("leaf-04 ethernet1/1/31", DARK),
        named("spine-01 Eth1/4", DARK),
    ),
    "link-other-port": link(
        recabled,
        named("leaf-01 Ethernet2", "is not in the inventory", f"{ONE} vmnic2"),
        named("leaf-01 Ethernet1", DARK),
        also=("error *leaf-01 Ethernet2*",),
    ),
    "link-access-vlan": link(
        typed(
            "leaf-01",
            ["vlan 222", "interface Ethernet1", "switchport mode access", "switchport access vlan 222"],
            ["interface Ethernet1", "no switchport access vlan", "switchport mode trunk", "no vlan 222"],
        ),
        named("leaf-01 Ethernet1", "carries VLAN 222 untagged, but not 111", f"{ONE} vmnic2"),
    ),
    "link-vlan-not-on-trunk": link(
        typed(
            "spine-01",
            ["interface ethernet 1/3 switchport trunk allowed-vlan remove 111"],
            ["interface ethernet 1/3 switchport trunk allowed-vlan add 111"],
        ),
        named("spine-01 Eth1/3", "carries VLAN none, but not 111", "leaf-03 swp31"),
    ),
    "link-not-a-member": link(
        typed("spine-02", ["config vlan member del 111 Ethernet8"], ["config vlan member add 111 Ethernet8"]),
        named("spine-02 Ethernet8", "is routed and in no VLAN", "leaf-03 swp32"),
    ),
    "link-native-vlan": link(
        typed(
            "leaf-03",
            ["nv set interface swp1 bridge domain br_default untagged 111"],
            ["nv unset interface swp1 bridge domain br_default untagged"],
        ),
        named("leaf-03 swp1", "sends VLAN 111 untagged", f"{OTHER} vmnic2"),
    ),
    "link-vlan-gone": link(
        typed("leaf-01", ["no vlan 111"], ["vlan 111"]),
        named("leaf-01 Ethernet1", "carries VLAN none, but not 111", f"{ONE} vmnic2"),
        named("leaf-01 Ethernet31", "but not 111", "spine-01 Eth1/1"),
        named("leaf-01 Ethernet32", "but not 111", "spine-02 Ethernet0"),
    ),
    "link-address-portgroup-vlan": link(
        other_vlan,
        named("leaf-01 Ethernet1", "but not 222", "pg-rdma"),
        named("leaf-03 swp1", "but not 222", "pg-rdma"),
        also=("error *but not 222*",),
    ),
    "link-address-vmk-vlan": link(
        other_group,
        named(f"{OTHER} vmk1", "is in VLAN 222 (pg-train)", f"{ONE} vmk1", "is in VLAN 111 (pg-rdma)"),
        also=("error *leaf-03 swp1*but not 222*",),
    ),
    "link-address-vmk-duplicate": link(
        address("ip", others_address), named(f"{OTHER} vmk1", "has the address", f"{ONE} vmk1", "has it too")
    ),
    "link-address-vmk-subnet": link(
        address("ip", "198.51.100.9"), named(f"{OTHER} vmk1", "is in the subnet 198.51.0.0/16", f"{ONE} vmk1")
    ),
    "link-preflight-port-shut": link(
        shut("leaf-02", "Ethernet1/1"), named("blocks: leaf-02, ports:", "Ethernet1/1", SHUT), by=PREFLIGHT
    ),
    "link-preflight-vmk-vlan": link(
        other_group, named(f"blocks: {VMK}", "VLAN 222 (pg-train)", f"{ONE} vmk1"), by=PREFLIGHT, also=NO_PLACE
    ),
    "link-preflight-vmk-duplicate": link(
        address("ip", others_address), named(f"blocks: {VMK}", "has it too", f"{ONE} vmk1"), by=PREFLIGHT, also=NO_PLACE
    ),
    "link-preflight-vmk-netmask": link(
        address("netmask", "255.255.255.252"),
        named(f"blocks: {VMK}", "is in the subnet", "/30"),
        by=PREFLIGHT,
        also=NO_PLACE,
    ),
    # PVRDMA does not say that it is TCP: only measuring shows it.
    "link-address-vmk-apart": Fault("link", address("ip", "198.51.100.9"), NO_RDMA, silent=True),
    "link-address-vmk-alike": Fault("link", address("ip", others_address), NO_RDMA),
}
