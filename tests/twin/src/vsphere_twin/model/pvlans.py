"""Private VLANs of a distributed switch: the map of primary and secondary VLANs, and the port groups that use it."""

from __future__ import annotations

from pyVmomi import vim

from . import inventory, kept

ENTRY = vim.dvs.VmwareDistributedVirtualSwitch.PvlanMapEntry
PROMISCUOUS, ISOLATED, COMMUNITY = "promiscuous", "isolated", "community"
PLACE = "spec.pvlanConfigSpec"


class PrivateVlan(int):
    """The secondary VLAN of a port group; the ports of an isolated one do not reach each other."""


def changed(switch, specs):
    """The map after the changes of a request, as {secondary VLAN: (primary VLAN, type)}; all of them, or a fault.

    A promiscuous entry has one number on both sides, each other entry needs that of its primary VLAN, and a primary
    VLAN has one isolated VLAN at most (vSphere Networking, Private VLANs).
    """
    found = dict(switch.pvlans)
    for spec in specs or []:
        one = spec.pvlanEntry
        key, value = one.secondaryVlanId, (one.primaryVlanId, str(one.pvlanType))
        if spec.operation == "remove":
            if found.get(key) != value:
                raise kept.wrong(PLACE)
            del found[key]
        elif spec.operation == "add":
            if key in found or not (0 < key < 4095 and 0 < one.primaryVlanId < 4095):
                raise kept.wrong(PLACE)
            found[key] = value
        else:
            raise kept.wrong(PLACE)  # an entry is removed and added [unsure: that edit is refused]
    primaries = {primary for primary, kind in found.values() if kind == PROMISCUOUS}
    isolated = [primary for primary, kind in found.values() if kind == ISOLATED]
    for key, (primary, kind) in found.items():
        if kind not in (PROMISCUOUS, ISOLATED, COMMUNITY) or (kind == PROMISCUOUS) != (key == primary):
            raise kept.wrong(PLACE)
        if primary not in primaries or isolated.count(primary) > 1:
            raise kept.wrong(PLACE)
    for group in switch.portgroups.values():
        if isinstance(group.vlan, PrivateVlan) and int(group.vlan) not in found:
            raise inventory.in_use(group)
    return found


def shown(switch):
    """The map as the API shows it."""
    rows = sorted(switch.pvlans.items(), key=lambda row: (row[1][0], row[1][1] != PROMISCUOUS, row[0]))
    return [ENTRY(primaryVlanId=primary, secondaryVlanId=key, pvlanType=kind) for key, (primary, kind) in rows]
