"""Changes of a host's network system: vmkernel ports, standard switches, the MTU of the path."""

from __future__ import annotations

from pyVmomi import vim, vmodl

from . import kept, net_stacks, standard
from .host import VmkernelNic, touch

MTU = range(1280, 9001)  # MTU limits of ESXi for switches and vmkernel ports (vSphere networking guide: at most 9000)


def set_switch_mtu(world, switch, mtu):
    """The maximum MTU of a distributed switch; its uplinks on every host follow."""
    check_mtu(mtu)
    switch.mtu = mtu
    for host in switch.hosts.values():
        touch(world, host)


def update_switch(world, host, name, spec):
    """UpdateVirtualSwitch: the MTU, the uplinks, the ports and the policy of a standard switch."""
    switch = next((one for one in host.standard_switches if one.name == name), None)
    if switch is None:
        raise not_found(name)
    devices = list(spec.bridge.nicDevice) if isinstance(spec.bridge, vim.host.VirtualSwitch.BondBridge) else None
    if spec.mtu:
        check_mtu(spec.mtu)
    by_name = {nic.device: nic for nic in host.nics}
    for device in devices or ():
        if device not in by_name:
            raise not_found(device)
        if by_name[device].switch not in (None, switch):
            raise vim.fault.ResourceInUse(
                msg=f"The resource '{device}' is in use.", type=vim.host.PhysicalNic, name=device
            )
    if spec.policy is not None:
        uplinks = devices if devices is not None else [nic.device for nic in host.nics if nic.switch is switch]
        standard.check_policy(spec.policy, uplinks, "spec.policy")
        switch.policy = standard.overlaid(switch.policy, spec.policy)
    if spec.mtu:
        switch.mtu = spec.mtu
    switch.ports = spec.numPorts or switch.ports
    if devices is not None:
        for nic in host.nics:
            if nic.device in devices:
                nic.switch = switch
            elif nic.switch is switch:
                nic.switch = None
    touch(world, host)


def add_vmkernel(world, host, portgroup, spec):
    """AddVirtualNic: a new vmkernel port, on a standard port group by its name or on a distributed one."""
    group = _group(world, host, spec)
    if group is None and portgroup not in standard.names(host):
        raise not_found(portgroup)
    stack = spec.netStackInstanceKey or net_stacks.DEFAULT
    kept.require_one_of(stack, host.net_stacks, "nic.netStackInstanceKey")
    taken = {one.device for one in host.vmkernel}
    device = next(f"vmk{number}" for number in range(256) if f"vmk{number}" not in taken)
    nic = VmkernelNic(
        device=device,
        ip="0.0.0.0",
        netmask="0.0.0.0",
        mac=f"00:50:56:6{int(device[3:]) % 16:x}:{host.number >> 8 & 0xFF:02x}:{host.number & 0xFF:02x}",
        portgroup="" if group is not None else portgroup,
        services=(),
        dv_portgroup=group,
        stack=stack,
    )
    _change(nic, spec)
    host.vmkernel.append(nic)
    touch(world, host)
    return device


def update_vmkernel(world, host, device, spec):
    """UpdateVirtualNic: address, MTU and network of a vmkernel port; omitted fields stay unchanged."""
    nic = find_vmkernel(host, device)
    group = _group(world, host, spec)
    if spec.portgroup and spec.portgroup not in standard.names(host):
        raise not_found(spec.portgroup)
    kept.require_one_of(spec.netStackInstanceKey or nic.stack, (nic.stack,), "nic.netStackInstanceKey")  # [unsure]
    _change(nic, spec)
    if group is not None:
        nic.dv_portgroup, nic.portgroup = group, ""
    elif spec.portgroup:
        nic.dv_portgroup, nic.portgroup = None, spec.portgroup
    touch(world, host)


def remove_vmkernel(world, host, device):
    """RemoveVirtualNic: never the last one for management."""
    nic = find_vmkernel(host, device)
    managing = [one for one in host.vmkernel if "management" in one.services]
    if managing == [nic]:
        raise vim.fault.HostConfigFault(
            msg="An error occurred during host configuration.",
            faultMessage=[_message(f"{device} is the last vmkernel port for management.")],
        )
    host.vmkernel.remove(nic)
    touch(world, host)


def tag(world, host, device, service, selected):
    """Which vmkernel port carries a service."""
    nic = find_vmkernel(host, device.rpartition("-")[2])
    kept = tuple(one for one in nic.services if one != service)
    nic.services = (*kept, service) if selected else kept
    touch(world, host)


def find_vmkernel(host, device):
    """A vmkernel port by its name."""
    found = next((one for one in host.vmkernel if one.device == device), None)
    if found is None:
        raise not_found(device)
    return found


def _change(nic, spec):
    if spec.mtu:
        check_mtu(spec.mtu)
        nic.mtu = spec.mtu
    if spec.ip is not None:
        nic.dhcp = bool(spec.ip.dhcp)  # an address stays: the model has no DHCP server
    if spec.ip is not None and spec.ip.ipAddress and not spec.ip.dhcp:
        nic.ip, nic.netmask = spec.ip.ipAddress, spec.ip.subnetMask or nic.netmask


def _group(world, host, spec):
    port = spec.distributedVirtualPort
    if port is None:
        return None
    found = world.get(port.portgroupKey or "")
    if found is None or found.moid not in host.networks:
        raise not_found(port.portgroupKey)
    return found


def check_mtu(mtu):
    if mtu not in MTU:
        raise vmodl.fault.InvalidArgument(msg="A specified parameter was not correct: mtu", invalidProperty="mtu")


def not_found(name):
    """The fault for something that a host does not have."""
    return vim.fault.NotFound(msg=f"The object or item referred to could not be found: {name}")


def _message(text):
    return vmodl.LocalizableMessage(key="twin.network", message=text)
