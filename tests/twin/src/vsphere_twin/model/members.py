"""Members of a distributed switch: hosts, and which of their ports is plugged into which uplink port."""

from __future__ import annotations

from pyVmomi import vim

from .host import touch


def plug(switch, host):
    """The ports of a member with their uplink ports: (port of the host, key of the uplink port, name of the uplink)."""
    free = dict(zip(keys(switch, host), switch.uplinks, strict=False))
    ports = switch.uplinks_of(host)
    plugged = {nic.device: nic.uplink_port for nic in ports if nic.uplink_port in free}
    for nic in ports:
        left = [key for key in free if key not in plugged.values()]
        plugged.setdefault(nic.device, left[0] if left else "")
    return [(nic, plugged[nic.device], free.get(plugged[nic.device], "")) for nic in ports]


def keys(switch, host):
    """The keys of the uplink ports that a member has, one for each uplink of the switch."""
    first = switch.seats.get(host.moid, 0) * len(switch.uplinks)
    return [str(switch.uplink_group.first_port + first + number) for number in range(len(switch.uplinks))]


def join(switch, host):
    """Make a host a member, with the lowest seat that is free, and show it the switch's port groups."""
    taken = set(switch.seats.values())
    switch.seats[host.moid] = next(number for number in range(len(taken) + 1) if number not in taken)
    switch.hosts[host.moid] = host
    host.switches[switch.moid] = switch
    for group in switch.portgroups.values():
        if not group.uplink:
            host.networks[group.moid] = group


def change(world, switch, specs):
    """Apply the host part of ReconfigureDvs: all checks come before any change."""
    rows = [(spec, world.get(spec.host._moId)) for spec in specs]
    for spec, host in rows:
        _check(switch, spec, host)
    for spec, host in rows:
        if spec.operation == "remove":
            leave(switch, host)
        else:
            if spec.operation == "add":
                join(switch, host)
            if spec.backing is not None:
                _attach(switch, host, spec.backing.pnicSpec or [])
        touch(world, host)
    world.touch(switch, *switch.portgroups.values())


def rename_uplinks(switch, names):
    """The uplinks of a switch: as many as names; those in use cannot go."""
    most = max((len(switch.uplinks_of(host)) for host in switch.hosts.values()), default=0)
    if len(names) < max(1, most):
        raise _in_use(switch.name)
    follow(switch, dict(zip(switch.uplinks, names, strict=False)))
    switch.uplinks = list(names)


def follow(switch, names):
    """Change the names of uplinks and LACP groups in the orders of port groups [unsure: that they follow]."""
    for group in switch.portgroups.values():
        teaming = group.teaming
        teaming.active = teaming.active and [names.get(one, one) for one in teaming.active]
        teaming.standby = [names.get(one, one) for one in teaming.standby]


def _check(switch, spec, host):
    if host is None:
        raise vim.fault.NotFound(msg="The object or item referred to could not be found.")
    member = host.moid in switch.hosts
    if spec.operation == "add" and member:
        raise vim.fault.AlreadyExists(msg="The specified key, name, or identifier already exists.", name=host.name)
    if spec.operation != "add" and not member:
        raise vim.fault.NotFound(msg="The object or item referred to could not be found.")
    if spec.operation == "remove":
        on_it = [
            vm
            for vm in host.vms.values()
            if any(getattr(one, "switch", None) is switch for one in vm.networks.values())
        ]
        if on_it or any(one.switch is switch for one in host.vmkernel):
            raise _in_use(switch.name)
    elif spec.backing is not None:
        _check_ports(switch, host, [one.pnicDevice for one in spec.backing.pnicSpec or []])


def _check_ports(switch, host, devices):
    by_name = {nic.device: nic for nic in host.nics}
    for device in devices:
        if device not in by_name:
            raise vim.fault.NotFound(msg=f"The object or item referred to could not be found: {device}")
        if by_name[device].switch not in (None, switch):
            raise _in_use(device)
    if len(devices) > len(switch.uplinks):  # every port takes one uplink port [unsure: the fault]
        raise _in_use(switch.name)


def _attach(switch, host, specs):
    """Replace the whole list of ports; a port without a request gets a free uplink port."""
    wanted = {one.pnicDevice: one.uplinkPortKey or "" for one in specs}
    for nic in host.nics:
        if nic.device in wanted:
            nic.switch, nic.uplink_port = switch, wanted[nic.device]
        elif nic.switch is switch:
            nic.switch, nic.uplink_port = None, ""


def leave(switch, host):
    """Make a host a member no more; its ports are free."""
    _attach(switch, host, [])
    switch.hosts.pop(host.moid)
    switch.seats.pop(host.moid)
    host.switches.pop(switch.moid)
    for moid in switch.portgroups:
        host.networks.pop(moid, None)


def require_unused(group):
    """Raise ResourceInUse for a port group with an adapter of a VM or a vmkernel port."""
    ports = [nic for host in group.switch.hosts.values() for nic in host.vmkernel]
    if group.vms or any(nic.dv_portgroup is group for nic in ports):
        raise _in_use(group.name)


def dissolve(world, switch):
    """Remove the port groups of a switch, and its members; not while a VM or a vmkernel port is on it."""
    try:
        for group in switch.portgroups.values():
            require_unused(group)
    except vim.fault.ResourceInUse:
        raise _in_use(switch.name) from None
    for host in list(switch.hosts.values()):
        leave(switch, host)
        touch(world, host)
    for group in list(switch.portgroups.values()):
        switch.portgroups.pop(group.moid)
        group.parent.children.pop(group.moid, None)
        world.remove(group)


def _in_use(name):
    return vim.fault.ResourceInUse(msg=f"The resource '{name}' is in use.", name=name)
