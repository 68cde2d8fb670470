"""SearchIndex: from a name, a path, a UUID or an address to an object."""

from __future__ import annotations

from vsphere_twin.model import inventory

from ..registry import method
from .tasking import resolved

KIND = "SearchIndex"


@method(KIND, "FindByInventoryPath")
def by_path(call, this, inventoryPath):
    return inventory.find_by_path(call.world, inventoryPath)


@method(KIND, "FindChild")
def child(call, this, entity, name):
    return inventory.find_child(call.resolve(entity), name)


@method(KIND, "FindByUuid")
def by_uuid(call, this, uuid, vmSearch, datacenter=None, instanceUuid=None):
    return _first(_by_uuid(call, uuid, vmSearch, datacenter, instanceUuid))


@method(KIND, "FindAllByUuid")
def all_by_uuid(call, this, uuid, vmSearch, datacenter=None, instanceUuid=None):
    return _by_uuid(call, uuid, vmSearch, datacenter, instanceUuid)


@method(KIND, "FindByDnsName")
def by_dns_name(call, this, dnsName, vmSearch, datacenter=None):
    return _first(_by_name(call, dnsName, vmSearch, datacenter))


@method(KIND, "FindAllByDnsName")
def all_by_dns_name(call, this, dnsName, vmSearch, datacenter=None):
    return _by_name(call, dnsName, vmSearch, datacenter)


@method(KIND, "FindByIp")
def by_ip(call, this, ip, vmSearch, datacenter=None):
    return _first(_by_ip(call, ip, vmSearch, datacenter))


@method(KIND, "FindAllByIp")
def all_by_ip(call, this, ip, vmSearch, datacenter=None):
    return _by_ip(call, ip, vmSearch, datacenter)


@method(KIND, "FindByDatastorePath")
def by_datastore_path(call, this, datacenter, path):
    return _first(_among(call, True, datacenter, lambda vm: vm.home == path))


def _by_uuid(call, uuid, vm_search, datacenter, instance):
    wanted = uuid.lower()
    attribute = "instance_uuid" if vm_search and instance else "uuid"
    return _among(call, vm_search, datacenter, lambda one: getattr(one, attribute).lower() == wanted)


def _by_name(call, name, vm_search, datacenter):
    wanted = name.casefold()
    if vm_search:
        return _among(call, True, datacenter, lambda vm: vm.tools_running and vm.host_name.casefold() == wanted)
    return _among(call, False, datacenter, lambda host: host.name.casefold() == wanted)


def _by_ip(call, ip, vm_search, datacenter):
    if vm_search:
        return _among(call, True, datacenter, lambda vm: vm.tools_running and ip in vm.addresses.values())
    return _among(call, False, datacenter, lambda host: any(nic.ip == ip for nic in host.vmkernel))


def _among(call, vm_search, datacenter, fits):
    center = resolved(call, datacenter)
    candidates = call.world.of_kind("VirtualMachine" if vm_search else "HostSystem")
    return [one for one in candidates if fits(one) and (center is None or inventory.datacenter_of(one) is center)]


def _first(found):
    return found[0] if found else None
