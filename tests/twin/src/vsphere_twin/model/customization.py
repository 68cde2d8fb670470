"""Guest customization: saved specs of vCenter, their requirements, and their effects at the next boot of a VM."""

from __future__ import annotations

import ipaddress
import re

from pyVmomi import vim, vmodl

from . import cloudinit
from .tasks import utc_now

CUSTOM = vim.vm.customization
LINUX = (CUSTOM.LinuxPrep, CUSTOM.CloudinitPrep)
PACKAGE = "tools.deployPkg.fileName"  # where vCenter notes the package that Tools will find
HOST_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9-]+)*")


class Specs:
    """The customization specifications of a vCenter, by name."""

    def __init__(self):
        self.items: dict[str, vim.CustomizationSpecItem] = {}

    def get(self, name):
        if name not in self.items:
            raise vim.fault.NotFound(msg="The object or item referred to could not be found.")
        return self.items[name]

    def add(self, item):
        if item.info.name in self.items:
            raise vim.fault.AlreadyExists(
                msg=f"The specified key, name, or identifier '{item.info.name}' already exists.", name=item.info.name
            )
        self.items[item.info.name] = _dated(item, "1")

    def change(self, item):
        version = self.get(item.info.name).info.changeVersion
        if item.info.changeVersion != version:
            raise vim.fault.ConcurrentAccess(msg="The object was changed by another operation.")
        self.items[item.info.name] = _dated(item, str(int(version) + 1))

    def remove(self, name):
        self.get(name)
        del self.items[name]


def _dated(item, version):
    item.info.changeVersion, item.info.lastUpdateTime = version, utc_now()
    return item


def seeded(entry):
    """The spec that a seed describes: a Linux guest, with an adapter for each entry of nics."""
    adapters = [_seeded_adapter(one) for one in entry.get("nics", ["dhcp"])]
    hostname = entry.get("hostname")
    identity = CUSTOM.LinuxPrep(
        hostName=CUSTOM.FixedName(name=hostname) if hostname else CUSTOM.VirtualMachineNameGenerator(),
        domain=entry.get("domain", "example"),
        hwClockUTC=True,
        timeZone="Etc/UTC",
    )
    dns = CUSTOM.GlobalIPSettings(dnsServerList=list(entry.get("dns", [])))
    spec = CUSTOM.Specification(
        options=CUSTOM.LinuxOptions(), identity=identity, globalIPSettings=dns, nicSettingMap=adapters
    )
    info = vim.CustomizationSpecInfo(name=entry["name"], description="", type="Linux")
    return vim.CustomizationSpecItem(info=info, spec=spec)


def _seeded_adapter(one):
    if one == "dhcp":
        return CUSTOM.AdapterMapping(adapter=CUSTOM.IPSettings(ip=CUSTOM.DhcpIpGenerator()))
    interface = ipaddress.ip_interface(one)
    return CUSTOM.AdapterMapping(
        adapter=CUSTOM.IPSettings(ip=CUSTOM.FixedIp(ipAddress=str(interface.ip)), subnetMask=str(interface.netmask))
    )


def accept(vm, spec):
    """CustomizeVM, or the customization of a clone: kept until the next boot."""
    if vm.power != "poweredOff":
        raise vim.fault.InvalidPowerState(
            msg="The attempted operation cannot be performed in the current state (Powered on).",
            existingState=vm.power,
            requestedState="poweredOff",
        )
    if vm.customization is not None:
        raise vim.fault.CustomizationPending(
            msg="Customization of the guest operating system is already pending for this virtual machine."
        )
    _check(vm, spec)
    vm.customization = spec
    vm.extra[PACKAGE] = f"imcf-{vm.moid}"


def _check(vm, spec):
    if not vm.tools_installed:
        # vCenter's words for a template without Tools [unsure].
        raise vim.fault.UncustomizableGuest(
            msg="Customization of the guest operating system is not supported due to the given reason: "
            "VMware Tools is not installed.",
            uncustomizableGuestOS=vm.guest_name,
        )
    if isinstance(spec.identity, LINUX) == vm.guest_id.startswith("windows"):
        raise vim.fault.UncustomizableGuest(
            msg=f"Customization of the guest operating system '{vm.guest_id}' is not supported in this configuration.",
            uncustomizableGuestOS=vm.guest_name,
        )
    if isinstance(spec.identity, CUSTOM.CloudinitPrep):
        return
    if len(spec.nicSettingMap or []) != len(vm.nics):
        raise vim.fault.NicSettingMismatch(
            msg=f"The number of network adapters in the customization specification ({len(spec.nicSettingMap or [])}) "
            f"does not match the number of network adapters present in the virtual machine ({len(vm.nics)}).",
            numberOfNicsInSpec=len(spec.nicSettingMap or []),
            numberOfNicsInVM=len(vm.nics),
        )
    name = getattr(getattr(spec.identity, "hostName", None), "name", None)
    if name is not None and not HOST_NAME.fullmatch(name):
        raise _wrong("spec.identity.hostName")
    for mapping in spec.nicSettingMap or []:
        if _fixed(mapping.adapter) is ValueError:
            raise _wrong("spec.nicSettingMap.adapter.ip")


def apply(world, vm):
    """Apply the customization at the next boot: a host name, and an address for each adapter."""
    spec, vm.customization = vm.customization, None
    vm.extra.pop(PACKAGE, None)
    for name, words in (("CustomizationStartedEvent", "Started"), ("CustomizationSucceeded", "Succeeded")):
        world.journal.post(name, vm, message=f"Customization of VM {vm.name}: {words}")
    identity = spec.identity
    if isinstance(identity, CUSTOM.CloudinitPrep):
        cloudinit.take(vm, identity.metadata, identity.userdata)
        return
    if isinstance(identity, CUSTOM.LinuxPrep):
        given = getattr(identity.hostName, "name", None) or getattr(identity.hostName, "base", None)
        vm.host_name = given or vm.name
    vm.fixed_addresses = {}
    unnamed = [nic for nic in vm.nics if nic.macAddress not in {one.macAddress for one in spec.nicSettingMap}]
    for mapping in spec.nicSettingMap or []:
        mac = mapping.macAddress or unnamed.pop(0).macAddress
        interface = _fixed(mapping.adapter)
        if interface is not None:
            vm.fixed_addresses[mac] = interface


def _fixed(adapter):
    """The interface that an adapter's settings name, None for DHCP, the type ValueError where they make no sense."""
    if not isinstance(adapter.ip, CUSTOM.FixedIp):
        return None
    try:
        return ipaddress.ip_interface(f"{adapter.ip.ipAddress}/{adapter.subnetMask or '24'}")
    except ValueError:
        return ValueError


def _wrong(place):
    return vmodl.fault.InvalidArgument(msg=f"A specified parameter was not correct: {place}", invalidProperty=place)
