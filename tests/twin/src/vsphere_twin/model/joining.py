"""Hosts that leave the inventory of a vCenter, and come back to it by their names."""

from __future__ import annotations

from pyVmomi import vim

from . import evc, inventory, kept, members, power, provision
from .host import show_connection, wrong_state


def remove(world, host):
    """HostSystem.Destroy: only a disconnected host, or one in maintenance mode; its VMs and memberships go with it."""
    if host.connection == "connected" and not host.maintenance:
        raise wrong_state()
    for vm in list(host.vms.values()):
        if vm.power != "poweredOff":  # a VM runs on after its host has left, but not in the model
            power.stop(world, vm)
        provision.unregister(world, vm)
    for switch in list(host.switches.values()):
        members.leave(switch, host)
        world.touch(switch, *switch.portgroups.values())
    compute = host.compute
    for one in (*host.datastores.values(), *host.networks.values()):
        one.hosts.pop(host.moid, None)
        world.touch(one)
    compute.hosts.pop(host.moid)
    for one in (host, host.browser, *host.managers.values(), *host.stores_of_users):
        world.remove(one)
    world.removed_hosts[host.name] = host
    if compute.kind == "ComputeResource":
        compute.parent.children.pop(compute.moid, None)
        for one in (compute.pool, compute.browser, compute):
            world.remove(one)
        world.touch(compute.parent)
    else:
        world.touch(compute)


def check(world, compute, spec):
    """The host that a ConnectSpec names: one that left the inventory, because the model has no other machines."""
    if not spec.hostName:
        raise kept.wrong("spec.hostName")
    if not spec.userName or not spec.password:
        raise vim.fault.InvalidLogin(msg="Cannot complete login due to an incorrect user name or password.")
    for host in world.of_kind("HostSystem"):
        if host.name == spec.hostName:
            if compute is not None and host.compute is compute:
                raise vim.fault.DuplicateName(
                    msg=f"The name '{host.name}' already exists.", name=host.name, object=inventory.reference(host)
                )
            raise vim.fault.AlreadyConnected(msg=f"The host '{host.name}' is already connected.", name=host.name)
    found = world.removed_hosts.get(spec.hostName)
    if found is None or not found.running_esxi:
        raise vim.fault.NoHost(
            msg="Cannot contact the specified host. It may be unavailable on the network.", name=spec.hostName
        )
    return found


def add(world, compute, spec, connected):
    """AddHost: the host has its identifier of before, which vCenter gives anew [a model]."""
    host = check(world, compute, spec)
    evc.refuse_host(compute, host)
    del world.removed_hosts[host.name]
    host.parent = compute
    compute.hosts[host.moid] = host
    for one in (host, host.browser, *host.managers.values(), *host.stores_of_users):
        world.add(one)
    for one in (*host.datastores.values(), *host.networks.values()):
        one.hosts[host.moid] = host
        world.touch(one)
    show_connection(host, "connected" if connected else "disconnected")
    world.touch(host, compute)
    return host


def add_standalone(world, folder, spec, connected):
    """AddStandaloneHost: the host in a compute resource of its own."""
    check(world, None, spec)
    inventory.refuse_new_name(folder, spec.hostName)
    compute = inventory.ComputeResource(world, inventory.encoded(spec.hostName), None)
    inventory.put(world, folder, world.add(compute))
    add(world, compute, spec, connected)
    return compute
