"""Distributed switches, port groups, datastores."""

from __future__ import annotations

from pyVmomi import vim

from vsphere_twin.model import disk_files, dv_features, dv_settings, fabric, inventory, kept
from vsphere_twin.model.host import touch
from vsphere_twin.model.release import RELEASES

from ..projections import dvs_ports
from ..projections.switch import product
from ..registry import method
from .tasking import begin

SWITCH = "DistributedVirtualSwitch"
GROUP = "DistributedVirtualPortgroup"
# Versions before that of the oldest release; vCenter 7.0 has them (community.vmware, vmware_dvswitch).
OLDER = ("6.5.0", "6.6.0", "7.0.0")


@method("DistributedVirtualSwitchManager", "QueryDvsByUuid")
def switch_by_uuid(call, this, uuid):
    for switch in call.world.of_kind("VmwareDistributedVirtualSwitch"):
        if switch.uuid == uuid:
            return switch
    raise vim.fault.NotFound(msg="The object or item referred to could not be found.")


@method("DistributedVirtualSwitchManager", "DVSManagerLookupDvPortGroup")
def group_by_key(call, this, switchUuid, portgroupKey):
    for group in switch_by_uuid(call, this, switchUuid).portgroups.values():
        if group.key == portgroupKey:
            return group
    raise vim.fault.NotFound(msg="The object or item referred to could not be found.")


@method("DistributedVirtualSwitchManager", "QueryAvailableDvsSpec")
def available_switch_versions(call, this, recommended=None):
    """The versions that a switch of this vCenter may have: older ones, and that of every release up to its own."""
    mine = call.world.release.numbers
    own = [release.version for release in RELEASES.values() if release.numbers <= mine]
    return [product(version) for version in (*OLDER, *own)]


@method("Folder", "CreateDVS_Task")
def create_switch(call, this, spec):
    version = spec.productInfo.version if spec.productInfo is not None else None

    def work():
        config = spec.configSpec
        inventory.refuse_new_name(this, config.name)
        if version and version not in [one.version for one in available_switch_versions(call, this)]:
            raise kept.wrong("spec.productInfo")
        dv_settings.check_switch(config)
        release = version or call.world.release.version
        switch = fabric.Switch(call.world, inventory.encoded(config.name), None, 1500, release)
        uplinks = fabric.Portgroup(call.world, switch.uplinks_name, None, switch, uplink=True, ports=4)
        dv_settings.configure_switch(call.world, switch, config)  # first: a fault leaves no switch
        for one in (switch, uplinks):
            inventory.put(call.world, this, call.world.add(one))
        return switch

    return begin(call, "CreateDVS_Task", this, work, exclusive=False)


@method(SWITCH, "ReconfigureDvs_Task")
def reconfigure_switch(call, this, spec):
    def work():
        _require_version(spec, this)
        dv_settings.check_switch(spec, this)
        if spec.name and spec.name != this.name:
            inventory.rename(call.world, this, spec.name)
        dv_settings.configure_switch(call.world, this, spec)
        this.config_version += 1
        call.world.touch(this)
        for host in this.hosts.values():
            touch(call.world, host)

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
        dv_settings.check_group(this.switch, spec)
        if spec.name and spec.name != this.name:
            inventory.rename(call.world, this, spec.name)
        dv_settings.configure_group(this, spec)
        this.config_version += 1
        call.world.touch(this, this.switch)

    return begin(call, "ReconfigureDVPortgroup_Task", this, work)


@method(SWITCH, "FetchDVPorts")
def fetch_ports(call, this, criteria=None):
    return dvs_ports.fetch(this, criteria or vim.dvs.PortCriteria())


@method(SWITCH, "FetchDVPortKeys")
def fetch_port_keys(call, this, criteria=None):
    return [row.key for row in fetch_ports(call, this, criteria)]


@method(SWITCH, "ReconfigureDVPort_Task")
def reconfigure_ports(call, this, port):
    def work():
        dv_features.set_ports(this, port, dv_settings.port_keys(this))
        call.world.touch(this)

    return begin(call, "ReconfigureDVPort_Task", this, work)


@method(SWITCH, "QueryUsedVlanIdInDvs")
def used_vlans(call, this):
    """The VLANs of its port groups; a trunk counts with its ends [unsure]."""
    groups = [group for group in this.portgroups.values() if not group.uplink]
    found = set()
    for group in groups:
        ranges = group.vlan if isinstance(group.vlan, list) else []
        found.update((int(group.vlan),) if not ranges else (end for one in ranges for end in (one.start, one.end)))
    return sorted(found)


@method(SWITCH, "EnableNetworkResourceManagement")
def enable_resource_management(call, this, enable):
    this.features.nioc = enable
    this.config_version += 1
    call.world.touch(this)


@method(SWITCH, "UpdateDVSHealthCheckConfig_Task")
def update_health_check(call, this, healthCheckConfig):
    return _changed_by(call, "UpdateDVSHealthCheckConfig_Task", this, dv_features.set_health, healthCheckConfig)


@method("VmwareDistributedVirtualSwitch", "UpdateDVSLacpGroupConfig_Task")
def update_lacp_groups(call, this, lacpGroupSpec):
    return _changed_by(call, "UpdateDVSLacpGroupConfig_Task", this, dv_features.update_lags, lacpGroupSpec)


@method("Datastore", "RefreshDatastore")
def refresh_datastore(call, this):
    call.world.touch(this)


@method("Datastore", "RenameDatastore")
def rename_datastore(call, this, newName):
    disk_files.rename_store(call.world, this, newName)


@method("Datastore", "Rename_Task")
def rename_datastore_task(call, this, newName):
    return begin(call, "Rename_Task", this, lambda: disk_files.rename_store(call.world, this, newName))


@method("Datastore", "RefreshDatastoreStorageInfo")
def refresh_storage_info(call, this):
    call.world.touch(this)


def _add(world, switch, spec):
    inventory.refuse_new_name(switch.parent, spec.name)
    dv_settings.check_group(switch, spec)
    group = fabric.Portgroup(world, inventory.encoded(spec.name), None, switch)
    dv_settings.configure_group(group, spec)
    inventory.put(world, switch.parent, world.add(group))
    for host in switch.hosts.values():
        host.networks[group.moid] = group
        touch(world, host)
    world.touch(switch)
    return group


def _changed_by(call, name, switch, change, wanted):
    """Start a task that changes a switch and its version."""

    def work():
        change(switch, wanted)
        switch.config_version += 1
        call.world.touch(switch)

    return begin(call, name, switch, work)


def _require_version(spec, entity):
    if spec.configVersion and spec.configVersion != str(entity.config_version):
        raise vim.fault.ConcurrentAccess(msg="The object was changed by another operation.")
