"""Distributed switches, port groups, datastores."""

from __future__ import annotations

from pyVmomi import vim, vmodl

from vsphere_twin.model import fabric, inventory, members, network
from vsphere_twin.model.release import RELEASES

from ..projections import dvs_ports
from ..projections.switch import product
from ..registry import method
from .tasking import begin

SWITCH = "DistributedVirtualSwitch"
GROUP = "DistributedVirtualPortgroup"


@method("DistributedVirtualSwitchManager", "QueryDvsByUuid")
def switch_by_uuid(call, this, uuid):
    for switch in call.world.of_kind("VmwareDistributedVirtualSwitch"):
        if switch.uuid == uuid:
            return switch
    raise vim.fault.NotFound(msg="The object or item referred to could not be found.")


@method("DistributedVirtualSwitchManager", "QueryAvailableDvsSpec")
def available_switch_versions(call, this, recommended=None):
    """The versions that a switch of this vCenter may have: that of every release up to its own."""
    mine = call.world.release.numbers
    return [product(release.version) for release in RELEASES.values() if release.numbers <= mine]


@method(SWITCH, "ReconfigureDvs_Task")
def reconfigure_switch(call, this, spec):
    def work():
        _require_version(spec, this)
        if spec.name and spec.name != this.name:
            inventory.rename(call.world, this, spec.name)
        if getattr(spec, "maxMtu", None):
            network.set_switch_mtu(call.world, this, spec.maxMtu)
        if isinstance(spec.uplinkPortPolicy, vim.DistributedVirtualSwitch.NameArrayUplinkPortPolicy):
            members.rename_uplinks(this, spec.uplinkPortPolicy.uplinkPortName)
        members.change(call.world, this, spec.host or [])
        this.description = this.description if spec.description is None else spec.description
        this.config_version += 1
        call.world.touch(this, *this.hosts.values())

    return begin(call, "ReconfigureDvs_Task", this, work)


@method(SWITCH, "AddDVPortgroup_Task")
def add_portgroups(call, this, spec):
    def work():
        for one in spec:
            _add(call.world, this, one)

    return begin(call, "AddDVPortgroup_Task", this, work)


@method(SWITCH, "CreateDVPortgroup_Task")
def create_portgroup(call, this, spec):
    return begin(call, "CreateDVPortgroup_Task", this, lambda: _add(call.world, this, spec))


@method(GROUP, "ReconfigureDVPortgroup_Task")
def reconfigure_portgroup(call, this, spec):
    def work():
        _require_version(spec, this)
        if spec.name and spec.name != this.name:
            inventory.rename(call.world, this, spec.name)
        this.vlan = _vlan(spec, this.vlan)
        _set_teaming(this, spec)
        this.own_ports = spec.numPorts or this.own_ports
        this.description = this.description if spec.description is None else spec.description
        this.config_version += 1
        call.world.touch(this, this.switch)

    return begin(call, "ReconfigureDVPortgroup_Task", this, work)


@method(SWITCH, "FetchDVPorts")
def fetch_ports(call, this, criteria=None):
    return dvs_ports.fetch(this, criteria or vim.dvs.PortCriteria())


@method(SWITCH, "FetchDVPortKeys")
def fetch_port_keys(call, this, criteria=None):
    return [row.key for row in fetch_ports(call, this, criteria)]


@method("Datastore", "RefreshDatastore")
def refresh_datastore(call, this):
    call.world.touch(this)


@method("Datastore", "RenameDatastore")
def rename_datastore(call, this, newName):
    inventory.rename(call.world, this, newName)


@method("Datastore", "RefreshDatastoreStorageInfo")
def refresh_storage_info(call, this):
    call.world.touch(this)


def _add(world, switch, spec):
    inventory.refuse_duplicate(switch.parent, spec.name)
    group = fabric.Portgroup(
        world, inventory.encoded(spec.name), None, switch, vlan=_vlan(spec, 0), ports=spec.numPorts or 8
    )
    _set_teaming(group, spec)
    group.description = spec.description or ""
    inventory.put(world, switch.parent, world.add(group))
    for host in switch.hosts.values():
        host.networks[group.moid] = group
    world.touch(switch, *switch.hosts.values())
    return group


def _vlan(spec, default):
    vlan = getattr(spec.defaultPortConfig, "vlan", None) if spec.defaultPortConfig is not None else None
    number = getattr(vlan, "vlanId", None)
    return number if isinstance(number, int) else default


def _set_teaming(group, spec):
    """Apply the uplinks of a spec; they must be the switch's."""
    wanted = getattr(spec.defaultPortConfig, "uplinkTeamingPolicy", None)
    if wanted is None:
        return
    order = wanted.uplinkPortOrder
    named = [*(order.activeUplinkPort or []), *(order.standbyUplinkPort or [])] if order is not None else []
    if any(name not in group.switch.uplinks for name in named):
        raise vmodl.fault.InvalidArgument(
            msg="A specified parameter was not correct: spec.defaultPortConfig.uplinkTeamingPolicy",
            invalidProperty="spec.defaultPortConfig.uplinkTeamingPolicy",
        )
    if wanted.policy is not None and wanted.policy.value:
        group.teaming.policy = wanted.policy.value
    if order is not None:
        group.teaming.active = list(order.activeUplinkPort or [])
        group.teaming.standby = list(order.standbyUplinkPort or [])


def _require_version(spec, entity):
    if spec.configVersion and spec.configVersion != str(entity.config_version):
        raise vim.fault.ConcurrentAccess(msg="The object was changed by another operation.")
