"""Network adapters, PCI devices and device groups of a seed's VM, as a client would ask for them."""

from __future__ import annotations

from pyVmomi import vim

from . import dvx, groups, pci
from .fabric import Portgroup
from .seed_file import SeedError

DEVICE = vim.vm.device
ADAPTERS = {
    "vmxnet3": DEVICE.VirtualVmxnet3,
    "pvrdma": DEVICE.VirtualVmxnet3Vrdma,
    "sriov": DEVICE.VirtualSriovEthernetCard,
}


def adapter(network, row):
    """A network adapter of the seed's kind."""
    made = ADAPTERS[row.get("type", "vmxnet3")](key=-1, backing=backing(network))
    if "mac" in row:
        made.macAddress, made.addressType = row["mac"], "manual"
    if "protocol" in row:
        made.deviceProtocol = row["protocol"]
    if "physical_function" in row:
        physical = DEVICE.VirtualPCIPassthrough.DeviceBackingInfo(id=row["physical_function"])
        made.sriovBacking = DEVICE.VirtualSriovEthernetCard.SriovBackingInfo(physicalFunctionBacking=physical)
    return made


def backing(network):
    """Return the backing of an adapter in a network."""
    if isinstance(network, Portgroup):
        port = vim.dvs.PortConnection(switchUuid=network.switch.uuid, portgroupKey=network.key)
        return DEVICE.VirtualEthernetCard.DistributedVirtualPortBackingInfo(port=port)
    return DEVICE.VirtualEthernetCard.NetworkBackingInfo(deviceName=network.name)


def pci_device(host, row):
    """A passed-through device: one address of the host, or whatever is allowed and has the label."""
    if "id" in row:
        found = next((one for one in pci.devices(host) if one.address == row["id"]), None)
        if found is None:
            raise SeedError([f"Host {host.name} has no PCI device {row['id']}."])
        made = DEVICE.VirtualPCIPassthrough.DeviceBackingInfo(
            deviceName=found.device_name,
            id=found.address,
            deviceId=f"{found.device_id:x}",
            systemId=host.uuid,
            vendorId=found.vendor_id - 0x10000 if found.vendor_id >= 0x8000 else found.vendor_id,
        )
    elif "dvx" in row:
        made = dvx.BACKING(deviceClass=row["dvx"])
    else:
        allowed = [_allowed(text) for text in row.get("allowed", [])]
        made = DEVICE.VirtualPCIPassthrough.DynamicBackingInfo(
            deviceName="", allowedDevice=allowed, customLabel=row.get("label")
        )
    return DEVICE.VirtualPCIPassthrough(key=-1, backing=made)


def device_group(host, name, instance):
    """A device group and its devices."""
    found = next((one for one in groups.offered(host) if one.name == name), None)
    if found is None:
        known = ", ".join(sorted({one.name for one in groups.offered(host)})) or "none"
        raise SeedError([f"Host {host.name} has no device group {name!r}; it has: {known}."])
    members = []
    for position, component in enumerate(found.components):
        device = component.template(position)
        device.key = 100 * instance - position - 1
        device.deviceGroupInfo.groupInstanceKey = instance
        members.append(device)
    group = vim.vm.VirtualDeviceGroups.VendorDeviceGroup(groupInstanceKey=instance, deviceGroupName=name)
    return group, members


def _allowed(text):
    try:
        vendor, device = (int(part, 16) for part in text.split(":"))
    except ValueError:
        raise SeedError([f"{text!r} is no PCI id such as 10de:20f1."]) from None
    return DEVICE.VirtualPCIPassthrough.AllowedDevice(vendorId=vendor, deviceId=device)
