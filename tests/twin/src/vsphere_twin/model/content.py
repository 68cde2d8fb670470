"""Deployments from content libraries: VMs from OVFs, and the libraries of a seed."""

from __future__ import annotations

import copy

from pyVmomi import vim, vmodl

from . import backings, cloning, inventory, ovf, ovf_export, ovf_import, provision, vmdk
from .content_libraries import Item
from .seed_file import SeedError, line_of
from .vm import NIC


def furnish(world, entry, stores, vms):
    """A library of a seed."""
    store = stores.get(entry.get("datastore", next(iter(sorted(stores)), "")))
    if store is None:
        raise SeedError([f"Library {entry['name']}: there is no datastore {entry.get('datastore')!r}."])
    library = world.libraries.add(
        world, entry["name"], "SUBSCRIBED" if entry.get("subscribed") else "LOCAL", store, entry.get("id")
    )
    for one in entry.get("items", []):
        source = _source(world, one.get("from", ""), vms)
        kind = one.get("type", "vm-template")
        if kind != "iso" and (source is None or kind == "vm-template" and not source.template):
            words = f"Library {entry['name']}, {one['name']}: {one.get('from')!r} is no template of the seed."
            raise SeedError([words]).at(line_of(one))
        made = put(
            world, library, one["name"], kind, source, one.get("description", ""), one.get("eula", ""), one.get("id")
        )
        made.bytes, made.files = one.get("size"), one.get("files")


def _source(world, name, vms):
    """The VM with this name, or with the identifier of a capture, whose folders can have VMs of one name."""
    found = vms.get(name) or world.get(name)
    return found if found is not None and found.kind == "VirtualMachine" else None


def put(world, library, name, kind, source=None, description="", eula="", ident=None):
    """Add an item; an OVF keeps the state of its source at this moment."""
    if kind == "ovf":
        source = _exported(source)
    item = Item(ident or world.new_uuid("library item"), name, kind, source, description, eula)
    library.items[item.id] = item
    return item


def deploy_ovf(world, item, folder, pool, host, name, **requests):
    """A VM from an OVF: networks by the name that the OVF gives them, disks on the datastore that is named."""
    if item.content:
        return _deploy_descriptor(world, item, folder, pool, host, name, requests)
    location = vim.vm.RelocateSpec(pool=vim.ResourcePool(pool.moid))
    location.host = vim.HostSystem(host.moid) if host is not None else None
    target = cloning.host_for(world, item.source, pool, location)
    store = requests.get("store") or _roomiest(target)
    location.datastore = vim.Datastore(store.moid)
    provisioning = requests.get("provisioning")
    if provisioning:
        location.transform = "sparse" if provisioning == "thin" else "flat"
    location.deviceChange = _mapped(item.source, target, requests.get("networks") or {})
    spec = vim.vm.CloneSpec(location=location, template=False, powerOn=False)
    if requests.get("annotation"):
        spec.config = vim.vm.ConfigSpec(annotation=requests["annotation"])
    return cloning.clone(world, item.source, folder, name, spec)


def _deploy_descriptor(world, item, folder, pool, host, name, requests):
    """A VM from an OVF that a client sent."""
    target = provision.choose_host(pool, host)
    networks = requests.get("networks") or {}
    mapping = [
        vim.OvfManager.NetworkMapping(name=source, network=vim.Network(moid)) for source, moid in networks.items()
    ]
    params = vim.OvfManager.CreateImportSpecParams(
        entityName=name, diskProvisioning=requests.get("provisioning") or "", networkMapping=mapping
    )
    plan = ovf_import.Plan(world, pool, requests.get("store") or _roomiest(target), params, target)
    plan.read(_descriptor(item))
    if plan.errors:
        raise plan.errors[0]
    inventory.refuse_new_name(folder, name)
    if requests.get("annotation"):
        plan.config.annotation = requests["annotation"]
    return provision.create(world, folder, plan.config, pool, target)


def files(world, item):
    """The files of an item as a client downloads them; nothing where only their names are known."""
    if item.content:
        return item.content
    if item.kind != "ovf" or item.source is None:
        return {}
    disks = {
        f"{item.name}-{number}.vmdk": (disk, vmdk.empty(disk.capacityInBytes or 0))
        for number, disk in enumerate(item.source.disks, start=1)
    }
    controllers = {one.key: one for one in item.source.devices}
    named = [
        (ovf_import.device_id(item.source.moid, controllers[disk.controllerKey], disk), name, len(data))
        for name, (disk, data) in disks.items()
    ]
    text = ovf_export.descriptor(world, item.source, item.name, named, item.description)
    return {f"{item.name}.ovf": text.encode(), **{name: data for name, (_disk, data) in disks.items()}}


def _descriptor(item):
    return next(data for name, data in item.content.items() if name.casefold().endswith(".ovf"))


def licence(item):
    """The licence that a deployment accepts."""
    return "\n".join(ovf.read(_descriptor(item)).eulas) if item.content else item.eula


def network_names(item):
    """The networks that an OVF's network section names."""
    if item.content:
        return list(ovf.read(_descriptor(item)).networks)
    return list(dict.fromkeys(network.name for network in item.source.networks.values()))


def _exported(source):
    kept = copy.copy(source)
    kept.devices, kept.networks = list(source.devices), dict(source.networks)
    kept.extra, kept.snapshots, kept.current_snapshot = {}, [], None
    kept.template, kept.pool, kept.host = False, None, None
    return kept


def _roomiest(host):
    stores = sorted(host.datastores.values(), key=lambda one: (-one.free, one.name))
    if not stores:
        raise vmodl.fault.InvalidArgument(msg="The target has no datastore.", invalidProperty="default_datastore_id")
    return stores[0]


def _mapped(source, host, wanted):
    """Each adapter goes to the network that is mapped to its own, else to the one of that name."""
    changes = []
    for nic in source.devices:
        if not isinstance(nic, NIC):
            continue
        mine = source.networks.get(backings.network_id(nic.backing))
        target = host.networks.get(wanted.get(mine.name if mine is not None else "", ""))
        if target is None and mine is not None and mine.moid in host.networks:
            continue
        if target is None:
            target = next((one for one in host.networks.values() if not getattr(one, "uplink", False)), None)
        if target is not None:
            changes.append(_on(nic, target))
    return changes


def _on(nic, network):
    fresh = type(nic)(key=nic.key, backing=ovf_import.backing_of(network))
    return vim.vm.device.VirtualDeviceSpec(operation="edit", device=fresh)
