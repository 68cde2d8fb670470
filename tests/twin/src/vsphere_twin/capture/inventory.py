"""Datacenters, folders, storage and networks of a capture, as parts of a seed."""

from __future__ import annotations

import re

from pyVmomi import VmomiSupport

UUID = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4,8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4,12}(-[0-9a-fA-F]{12})?")
ROOTS = {"vm": "vmFolder", "host": "hostFolder", "datastore": "datastoreFolder", "network": "networkFolder"}
LLDP = ("none", "listen", "advertise", "both")
FILESYSTEMS = ("VMFS", "NFS", "NFS41", "vsan")
# Simulators record the second kind.
SWITCHES = ("VmwareDistributedVirtualSwitch", "DistributedVirtualSwitch")


class Tree:
    """The places of the objects of one datacenter."""

    def __init__(self, bundle, center, images_only=False):
        self.bundle = bundle
        self.images_only = images_only  # the release has no baselines
        self.center = center
        self.shells = None  # answers of hosts to esxcli
        self.bmcs = None  # BIOS settings of hosts
        self.roots = {kind: ident(center.get(name)) for kind, name in ROOTS.items()}

    def within(self, one):
        """Whether an object belongs to this datacenter. Below a missing folder, it belongs to the only one."""
        while one is not None and one.moid != self.center.moid:
            above = ident(one.get("parent") or one.get("parentVApp"))
            # The identifiers of folders around datacenters start with group-d.
            if above and self.bundle.get(above) is None and not one.moid.startswith("group-d"):
                return len(self.bundle.of_kind("Datacenter")) == 1
            one = self.bundle.get(above)
        return one is not None

    def of_kind(self, *kinds):
        return [one for one in self.bundle.of_kind(*kinds) if self.within(one)]

    def folder(self, one):
        """The path of the folder that an object is in, below the root folder of its kind."""
        names = []
        above = self.bundle.get(ident(one.get("parent")))
        while above is not None and above.kind == "Folder" and above.moid not in self.roots.values():
            names.append(above.name)
            above = self.bundle.get(ident(above.get("parent")))
        return "/".join(reversed(names))

    def folders(self):
        """The folders of each kind, parents before children."""
        made = {kind: [] for kind in ROOTS}
        for one in self.of_kind("Folder"):
            if one.moid in self.roots.values():
                continue
            letter = re.match(r"group-([a-z])", one.moid)
            kind = {"v": "vm", "h": "host", "s": "datastore", "n": "network", "p": "network"}.get(
                letter[1] if letter else "", "vm"
            )
            path = "/".join(filter(None, (self.folder(one), one.name)))
            made[kind].append({"path": path, "moid": one.moid})
        return {f"{kind}_folders": sorted(rows, key=lambda row: row["path"].count("/")) for kind, rows in made.items()}


def ident(reference):
    """The moid of a reference, or an empty text."""
    return reference._moId if isinstance(reference, VmomiSupport.ManagedObject) else ""


def datacenter(tree, assumptions):
    """A datacenter without its clusters and VMs."""
    center = tree.center
    stores = [_datastore(tree, one, assumptions) for one in tree.of_kind("Datastore")]
    if not stores:
        name = assumptions.assume(f"datacenter {center.name}", "datastore", "datastore1")
        stores = [{"name": name, "capacity_bytes": 10 * 1024**4, "free_bytes": 10 * 1024**4}]
    return {
        "name": center.name,
        "moids": [center.moid, *filter(None, tree.roots.values())],
        **tree.folders(),
        "datastores": stores,
        "networks": [
            {"name": one.name, "vlan": _vlan_of(tree, one), "folder": tree.folder(one), "moids": [one.moid]}
            for one in tree.of_kind("Network")
        ],
        "switches": [_switch(tree, one, assumptions) for one in tree.of_kind(*SWITCHES)],
    }


def _datastore(tree, one, assumptions):
    made = {"name": one.name, "folder": tree.folder(one), "moids": [one.moid]}
    capacity, free = one.get("summary.capacity"), one.get("summary.freeSpace")
    what = f"datastore {one.name}"
    if capacity is None:
        capacity = assumptions.assume(what, "capacity in bytes", 10 * 1024**4)
    if free is None:
        free = assumptions.assume(what, "free space in bytes", capacity)
    made.update(capacity_bytes=int(capacity), free_bytes=int(free))
    kind = one.get("summary.type", "VMFS")
    made["type"] = kind if kind in FILESYSTEMS else assumptions.assume(what, "type", "VMFS", f"the twin has no {kind}")
    found = UUID.search(one.get("summary.url", ""))
    if found:
        made["uuid"] = found[0]
    return made


def _vlan_of(tree, network):
    """The VLAN of a standard port group: the one of its first host that lists it."""
    for reference in network.get("host", ()):
        host = tree.bundle.get(ident(reference))
        for group in host.get("config.network.portgroup", ()) if host is not None else ():
            if group.spec.name == network.name:
                return group.spec.vlanId
    return 0


def _switch(tree, one, assumptions):
    what = f"distributed switch {one.name}"
    config = one.get("config")
    made = {"name": one.name, "folder": tree.folder(one), "moids": [one.moid], "members": "uplinks"}
    if one.get("uuid"):
        made["uuid"] = one.get("uuid")
    mtu = getattr(config, "maxMtu", None)
    made["mtu"] = mtu or assumptions.assume(what, "MTU", 1500)
    version = getattr(getattr(config, "productInfo", None), "version", None)
    if version:
        made["version"] = version
    uplinks = list(getattr(getattr(config, "uplinkPortPolicy", None), "uplinkPortName", ()))
    made["uplink_names"] = uplinks or assumptions.assume(what, "uplinks", ["Uplink 1", "Uplink 2"])
    groups = [
        group
        for group in tree.of_kind("DistributedVirtualPortgroup")
        if ident(group.get("config.distributedVirtualSwitch")) == one.moid
    ]
    above = [ident(group) for group in getattr(config, "uplinkPortgroup", ())]
    for group in groups:
        if group.moid in above or group.get("config.uplink"):
            made["uplink_group"] = group.name
            made["moids"].append(group.moid)
    made["portgroups"] = [_group(group, made, assumptions) for group in groups if group.moid not in made["moids"]]
    link = getattr(config, "linkDiscoveryProtocolConfig", None)
    if link is not None and (link.protocol != "lldp" or link.operation in LLDP):
        made["lldp"] = link.operation if link.protocol == "lldp" else "none"
    return made


def _group(group, switch, assumptions):
    what = f"port group {group.name}"
    setting = group.get("config.defaultPortConfig")
    made = {"name": group.name, "moids": [group.moid], "ports": group.get("config.numPorts") or 1}
    vlan = getattr(getattr(setting, "vlan", None), "vlanId", None)
    if isinstance(vlan, int):
        made["vlan"] = vlan
    elif vlan is None:
        made["vlan"] = assumptions.assume(what, "VLAN", 0)
    else:
        made["vlan"] = assumptions.assume(what, "VLAN", 0, "the twin has no trunk and no private VLAN")
    teaming = getattr(setting, "uplinkTeamingPolicy", None)
    order = getattr(teaming, "uplinkPortOrder", None)
    if order is not None:
        made["active"] = [name for name in order.activeUplinkPort if name in switch["uplink_names"]]
        made["standby"] = [name for name in order.standbyUplinkPort if name in switch["uplink_names"]]
        if made["active"] == switch["uplink_names"]:
            del made["active"]
    policy = getattr(getattr(teaming, "policy", None), "value", None)
    if policy:
        made["teaming"] = policy
    return made
