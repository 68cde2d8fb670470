"""The network adapters of a VM: which networks, hardware versions and protocols each kind takes, and when."""

from __future__ import annotations

import re

from pyVmomi import vim

from . import backings

DEVICE = vim.vm.device
SRIOV = DEVICE.VirtualSriovEthernetCard
PVRDMA = DEVICE.VirtualVmxnet3Vrdma
# The documents add both kinds to a VM that is off; that vSphere refuses it otherwise is [unsure].
COLD = (SRIOV, PVRDMA)
PVRDMA_HARDWARE = 13  # vSphere 7.0 networking guide
PROTOCOLS = ("rocev1", "rocev2")
PROTOCOL_HARDWARE = range(14, 20)  # where community.vmware and govc send a protocol
SRIOV_HARDWARE = 10  # vSphere 6.5 networking guide
MOST_ADAPTERS = 10
MAC = re.compile(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}")
MOST_PVRDMA_SINCE_17 = 10  # one before [unsure: general knowledge]


def most_pvrdma(hardware):
    """Return how many PVRDMA adapters virtual hardware of this version accepts."""
    if hardware < PVRDMA_HARDWARE:
        return 0
    return MOST_PVRDMA_SINCE_17 if hardware >= 17 else 1


def protocols(release):
    """The RoCE versions that PVRDMA adapters can have; ESX 9 has no RoCE v1 [unsure: one secondary source]."""
    return PROTOCOLS[1:] if release.at_least(9, 0, 0) else PROTOCOLS


def check(world, vm, index, device):
    """Refuse an adapter that its VM cannot have; the device is complete and not yet part of the VM."""
    hardware = vm.hardware_number
    if len(vm.nics) >= MOST_ADAPTERS:
        raise _too_many(index)
    if isinstance(device, SRIOV):
        _require_hardware(vm, index, SRIOV_HARDWARE)
    if isinstance(device, PVRDMA):
        _require_hardware(vm, index, PVRDMA_HARDWARE)
        if sum(isinstance(one, PVRDMA) for one in vm.nics) >= most_pvrdma(hardware):
            raise _too_many(index)
        check_protocol(world, vm, index, device)
    _check_address(index, device)
    check_backing(world, vm, index, device)


def check_edit(world, vm, index, device):
    """Refuse an invalid change of an adapter."""
    if isinstance(device, PVRDMA):
        check_protocol(world, vm, index, device)
    _check_address(index, device)
    check_backing(world, vm, index, device)


def replugs(old, new):
    """Return whether a running guest would reject an edit [unsure]: another address, protocol or function."""
    if (old.macAddress, _protocol(old)) != (new.macAddress, _protocol(new)):
        return True
    places = [(backings.network_id(one.backing), _physical(one)) for one in (old, new) if isinstance(one, SRIOV)]
    return len(set(places)) > 1


def _protocol(device):
    return getattr(device, "deviceProtocol", None)


def _physical(device):
    wanted = device.sriovBacking.physicalFunctionBacking if device.sriovBacking is not None else None
    return wanted.id if wanted is not None else None


def _check_address(index, device):
    """Refuse a text that is no MAC address [unsure: the fault]."""
    if device.macAddress and not MAC.fullmatch(device.macAddress):
        raise vim.fault.InvalidDeviceSpec(
            msg=f"Invalid configuration for device '{index}'.",
            property="virtualDeviceSpec.device.macAddress",
            deviceIndex=index,
        )


def check_protocol(world, vm, index, device):
    """Hardware 13 has no protocol to choose, newer than 19 settles it itself [unsure: that vSphere refuses one]."""
    given = device.deviceProtocol
    if given and (given not in protocols((vm.host or world).release) or vm.hardware_number not in PROTOCOL_HARDWARE):
        raise vim.fault.InvalidDeviceSpec(
            msg=f"Invalid configuration for device '{index}'.",
            property="virtualDeviceSpec.device.deviceProtocol",
            deviceIndex=index,
        )


def check_backing(world, vm, index, device):
    """PVRDMA lives on distributed switches; and every switch must be one that the VM's host is a member of."""
    if isinstance(device, PVRDMA) and not isinstance(device.backing, backings.NIC_DISTRIBUTED):
        # The answer of vSphere to a standard network is [unsure].
        raise vim.fault.InvalidDeviceBacking(
            msg="Invalid backing for the PVRDMA adapter: it needs a port group of a distributed switch.",
            property="virtualDeviceSpec.device.backing",
            deviceIndex=index,
        )
    network = backings.network(world, device.backing)
    if vm.host is not None and network is not None and not _reaches(vm.host, network):
        raise vim.fault.InvalidDeviceSpec(
            msg=f"Invalid configuration for device '{index}'.",
            property="virtualDeviceSpec.device.backing",
            deviceIndex=index,
        )


def check_networks(vm, host):
    """Require the networks of a VM on the host that is to run it."""
    for device in vm.nics:
        network = vm.networks.get(backings.network_id(device.backing))
        if network is not None and not _reaches(host, network):
            raise vim.fault.CannotAccessNetwork(
                msg=f"Network interface '{device.deviceInfo.label}' uses network '{network.name}', which is not "
                "accessible.",
                device=device.deviceInfo.label,
                backing=network.name,
                connected=bool(device.connectable.startConnected),
                network=vim.Network(network.moid),
            )


def _reaches(host, network):
    return network.moid in host.networks


def _require_hardware(vm, index, least):
    if vm.hardware_number < least:
        raise vim.fault.DeviceUnsupportedForVmVersion(
            msg=f"Device '{index}' is not supported for the hardware version of the virtual machine.",
            property="virtualDeviceSpec.device",
            deviceIndex=index,
            currentVersion=vm.hardware_version,
            expectedVersion=f"vmx-{least:02}",
        )


def _too_many(index):
    return vim.fault.TooManyDevices(
        msg="The number of virtual devices exceeds the maximum for a given controller.",
        property=f"virtualDeviceSpec[{index}].device",
    )
