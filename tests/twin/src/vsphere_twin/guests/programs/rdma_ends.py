"""Resources of RDMA programs in a guest before any connection: device, address, locked memory."""

from __future__ import annotations

import ipaddress

from vsphere_twin.model import ends

from . import devices


class Unusable(Exception):
    """Message of a program that cannot continue."""


def every(world, vm, guest):
    """The devices that libibverbs shows."""
    return devices.devices(world, vm, guest) if "ib_uverbs" in guest.loaded else []


def device(world, vm, guest, name=""):
    """The Device of a name, or the first one; Unusable in the words of perftest."""
    found = every(world, vm, guest)
    if not found:
        raise Unusable(
            " Did not detect devices \n If device exists, check if driver is up\n"
            " Unable to find the Infiniband/RoCE device\n"
        )
    if not name:
        return found[0]
    one = next((one for one in found if one.name == name), None)
    if one is None:
        raise Unusable(f"IB device {name} not found\n Unable to find the Infiniband/RoCE device\n")
    return one


def best_index(one):
    """The GID that programs choose by themselves: RoCE v2 with an IPv4 address, else the first."""
    rows = one.gids
    for version in (ends.V2, ends.V1):
        for index, (address, kind) in enumerate(rows):
            if kind == version and address.ipv4_mapped:
                return index
    return 0


def index_for(one, address):
    """The row of the GID table that rdma_cm takes for an address of the interface."""
    for index, (found, kind) in reversed(list(enumerate(one.gids))):
        if str(found.ipv4_mapped) == str(address) and kind == one.function.versions[-1]:
            return index
    return None


def gid(one, index):
    """(octets as hex digits, version) of a row, or None where it is empty."""
    rows = one.gids
    if not 0 <= index < len(rows):
        return None
    address, version = rows[index]
    return address.packed.hex(), version


def networks(one):
    """The networks that the interface of a device is in."""
    rows = one.interface["addresses"] if one.interface is not None else ()
    return [ipaddress.ip_interface(row).network for row in rows]


def near(one, octets):
    """Return whether this device reaches a peer's GID: its own network, or the link itself."""
    address = ipaddress.IPv6Address(bytes.fromhex(octets))
    if address.ipv4_mapped is None:
        return address.is_link_local
    return any(address.ipv4_mapped in one for one in networks(one) if one.version == 4)


def may_lock(guest, wanted_kb):
    """Return whether a process may lock this much memory; without an entry in limits.d there is no limit."""
    if guest.uid == 0:
        return True
    for line in guest.locked:
        words = line.split()
        if len(words) >= 4 and words[2] == "memlock" and words[3].isdigit() and int(words[3]) < wanted_kb:
            return False
    return True


def end(vm, one, version, dscp):
    """The model's End of a device."""
    return ends.End(vm, one.function.key, version, dscp)


def end_of(world, facts):
    """Return an end from the data of a peer."""
    return ends.End(world.get(facts["vm"]), facts["key"], facts["version"], facts["dscp"])
