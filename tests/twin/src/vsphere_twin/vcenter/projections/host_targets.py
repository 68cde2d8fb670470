"""QueryConfigTarget: the PCI devices, functions and groups of hosts that a VM could be given."""

from __future__ import annotations

from pyVmomi import vim

from vsphere_twin.model import dvx, groups, pci

from .host_pci import pci_device
from .shape import make


def passthrough(host):
    """pciPassthrough: the devices and functions that are set aside for VMs, in use or not."""
    return [
        make(vim.vm.PciPassthroughInfo, name=row.address, pciDevice=pci_device(row), systemId=host.uuid)
        for row in pci.devices(host)
        if row.passthru_active
    ]


def sriov(host):
    """sriov: ports that have virtual functions, and the functions."""
    split = {nic.pci: nic for nic in host.nics if nic.vfs}
    return [
        make(
            vim.vm.SriovInfo,
            name=row.address,
            pciDevice=pci_device(row),
            systemId=host.uuid,
            virtualFunction=row.is_vf,
            pnic=None if row.is_vf else split[row.address].device,
        )
        for row in pci.devices(host)
        if row.address in split or row.physical_function in split
    ]


def dynamic(hosts):
    """dynamicPassthrough: each kind of device with its label once; functions are left out [unsure]."""
    found = {}
    for host in hosts:
        for row in pci.devices(host):
            if row.passthru_active and not row.is_vf:
                label = host.passthru[row.address].label or ""
                found.setdefault((row.vendor_id, row.device_id, label), row)
    return [
        make(
            vim.vm.DynamicPassthroughInfo,
            name=row.device_name,
            vendorName=row.vendor_name,
            deviceName=row.device_name,
            customLabel=label,
            vendorId=vendor,
            deviceId=device,
        )
        for (vendor, device, label), row in sorted(found.items())
    ]


def dvx_classes(hosts):
    """dvxClassInfo (API 8.0.0.1 and later): each class once; the classes of the twin take no parameters."""
    found = {name: one for host in hosts for name, one in dvx.offered(host).items()}
    return [
        make(
            vim.vm.DvxClassInfo,
            deviceClass=vim.ElementDescription(key=name, label=name, summary=name),
            vendorName=one.vendor_name,
            sriovNic=one.sriov_nic,
        )
        for name, one in sorted(found.items())
    ]


def device_groups(hosts):
    """vendorDeviceGroupInfo (API 8.0.0.1 and later): each group once."""
    found = {group.name: group for host in hosts for group in groups.offered(host)}
    return [
        make(
            vim.vm.VendorDeviceGroupInfo,
            name=group.name,
            deviceGroupName=group.name,
            deviceGroupDescription=group.description,
            componentDeviceInfo=[
                make(
                    vim.vm.VendorDeviceGroupInfo.ComponentDeviceInfo,
                    type=one.kind,
                    vendorName=one.vendor_name,
                    deviceName=one.device_name,
                    isConfigurable=False,
                    device=one.template(number),
                )
                for number, one in enumerate(group.components)
            ],
        )
        for _name, group in sorted(found.items())
    ]
