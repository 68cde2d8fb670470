"""Guest in a VM: its start, its names, its addresses."""

from __future__ import annotations

import ipaddress

from pyVmomi import vim

from . import cloudinit, customization, devices, tasks

# Beginnings of the guest IDs of Linux that a guest of a lab can be.
LINUX = ("ubuntu", "debian", "rhel", "rockylinux", "almalinux", "centos", "sles", "otherLinux", "other5xLinux")
NETWORK = ipaddress.ip_network("10.100.0.0/16")  # of the first network; each further one has the next
NETWORKS = 50  # so many of each kind have addresses of their own


def boot(world, vm):
    """Start the guest after a while, with tools running and addresses on its NICs."""
    if _real(world, vm):
        world.guests.boot(vm)
        return
    if not vm.tools_installed or not starts(vm):
        return
    seconds = world.task_seconds.get("boot", tasks.SECONDS["boot"])
    booted = vm.booted
    world.timeline.after(seconds, lambda: _came(world, vm, booted))


def ran(world, vm):
    """The guest of a VM that ran when it was captured does not boot again."""
    if not _real(world, vm):
        vm.tools_running = vm.tools_installed and starts(vm)
        renew(world, vm)


def shut_down(world, vm, went):
    """Ask the guest to go; it takes its time."""
    require_tools(vm)
    vm.shutdown_pending = True
    if _real(world, vm):
        world.guests.shut_down(vm)
        return
    seconds = world.task_seconds.get("ShutdownGuest", tasks.SECONDS["ShutdownGuest"])
    world.timeline.after(seconds, went)


def reset(world, vm):
    """Power is gone for a moment."""
    vm.tools_running = False
    world.touch(vm)
    if _real(world, vm):
        world.guests.reset(vm)
    else:
        boot(world, vm)


def reboot(world, vm):
    """Ask the guest to restart."""
    require_tools(vm)
    vm.tools_running = False
    world.touch(vm)
    if _real(world, vm):
        world.guests.reboot(vm)
    else:
        boot(world, vm)


def resume(world, vm):
    """Resume it at the point of its suspend."""
    if _real(world, vm):
        world.guests.resume(vm)
    else:
        boot(world, vm)


def renew(world, vm):
    """The addresses that the guest has now; a NIC that has none yet asks for one."""
    if vm.tools_running and not _real(world, vm):
        vm.addresses = _addresses(world, vm)
        world.touch(vm)


def require_tools(vm):
    """Require running tools for a request to the guest."""
    if vm.power != "poweredOn":
        raise devices.wrong_power(vm)
    if not vm.tools_running:
        raise vim.fault.ToolsUnavailable(
            msg="Cannot complete operation because VMware Tools is not running in this virtual machine."
        )


def interface(vm, nic):
    """The address of a NIC with the length of its prefix, or None."""
    text = vm.addresses.get(nic.key)
    if text is None:
        return None
    fixed = vm.fixed_addresses.get(nic.macAddress)
    if fixed is not None and str(fixed.ip) == text:
        return fixed
    return ipaddress.ip_interface(f"{text}/{vm.prefixes.get(nic.key, NETWORK.prefixlen)}")


def starts(vm):
    """An installed guest boots with the firmware that it was installed with, and with no other."""
    return vm.installed_firmware in (None, vm.firmware)


def ports(vm):
    """The host's ports that a running VM has in whole, in the order of their addresses."""
    held = {at for at, holder in vm.host.claimed.items() if holder.vm is vm} if vm.host is not None else set()
    return sorted((one for one in vm.host.ports if one.pci in held), key=lambda one: one.pci) if held else []


def report(world, vm, host_name, seen):
    """Apply the report of VMware Tools in a real guest: its name, and {MAC: address with prefix}."""
    vm.tools_running = True
    if host_name and host_name != vm.host_name.partition(".")[0]:
        vm.host_name = host_name
    vm.addresses, vm.prefixes = {}, {}
    macs = {port.mac.lower() for port in ports(vm)}
    vm.port_addresses = {mac: address for mac, address in seen.items() if mac in macs}
    for nic in vm.nics if not world.faults.has_no_address(vm.name) else ():
        if nic.macAddress.lower() in seen:
            address, _slash, length = seen[nic.macAddress.lower()].partition("/")
            vm.addresses[nic.key], vm.prefixes[nic.key] = address, int(length)
    world.touch(vm)


def _real(world, vm):
    """Return whether the guest is a real machine that reports its own state."""
    return world.guests is not None and world.guests.runs(vm)


def _came(world, vm, booted):
    if _real(world, vm):
        return  # the model had planned it before there were machines
    if vm.power != "poweredOn" or vm.booted != booted or world.faults.has_no_tools(vm.name):
        return
    vm.tools_running = True
    if vm.customization is not None:
        customization.apply(world, vm)
    cloudinit.apply(vm)
    vm.addresses = _addresses(world, vm)
    world.touch(vm)


def _addresses(world, vm):
    if world.faults.has_no_address(vm.name):
        return {}
    found = {}
    for position, nic in enumerate(vm.nics):
        if nic.connectable is not None and nic.connectable.connected:
            fixed = vm.fixed_addresses.get(nic.macAddress)
            found[nic.key] = str(fixed.ip) if fixed is not None else _leased(vm, nic, position)
    return found


def _leased(vm, nic, position):
    """Return the permanent DHCP lease of this VM in a network."""
    port = getattr(nic.backing, "port", None)
    moid = port.portgroupKey if port is not None else nic.backing.network._moId
    kind = NETWORKS if port is not None else 0
    base = int(NETWORK.network_address) + ((kind + _number(moid) % NETWORKS) << 16)
    lease = (position << 13) + _number(vm.moid) // 250 * 256 + _number(vm.moid) % 250 + 2
    return str(ipaddress.ip_address(base + lease))


def _number(moid):
    return int(moid.rpartition("-")[2])
