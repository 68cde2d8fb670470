"""Enhanced DirectPath I/O (device virtualization extensions, DVX): devices that VMs get through the vendor's code.

A VM asks for a class of devices. The vendor's code on the host defines the class and says what it supports. The types
are those of pyVmomi 9.1.1.0, which describe no rule of power-on: rules marked [unsure] are derived.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyVmomi import vim

SINCE = 8  # major release (types of API 8.0.0.1)
HARDWARE = 20  # frankdenneman.nl on vSphere 8
BACKING = vim.vm.device.VirtualPCIPassthrough.DvxBackingInfo


@dataclass(frozen=True)
class DvxClass:
    """A class of devices, and what the vendor's code supports for it."""

    name: str
    vendor_name: str = ""
    checkpoint: bool = False  # the state of the device can be saved, which vMotion, suspend and snapshots need
    dma_tracing: bool = False
    sriov_nic: bool = False


def registered(host):
    """Return {name: class} of the vendors' code on the host, whatever the modes of the devices."""
    if not host.release.at_least(SINCE, 0, 0):
        return {}
    found = [state.dvx for _address, state in sorted(host.passthru.items()) if state.dvx is not None]
    return {one.name: one for one in found}


def offered(host):
    """Return {name: class} of which the host has a device in the mode for it [unsure: that others are left out]."""
    return {name: one for name, one in registered(host).items() if addresses(host, name)}


def addresses(host, name):
    """The devices of a class that VMs can get, in use or not."""
    if not host.release.at_least(SINCE, 0, 0):
        return []
    return [
        address
        for address, state in sorted(host.passthru.items())
        if state.dvx is not None and state.dvx.name == name and state.enhanced_active
    ]


def free(host, name, taken=()):
    """The devices of a class that no VM has."""
    return [one for one in addresses(host, name) if one not in host.claimed and one not in taken]


def can_checkpoint(host, device):
    """Return whether the state of a device of a VM can be saved."""
    found = registered(host).get(device.backing.deviceClass)
    return found is not None and found.checkpoint
