"""Hosts that give devices away whole, and what a plain client sees of the VMs that have them."""

from __future__ import annotations

from pyVmomi import vim

from .lab import lab
from .observe import virtual_machine

ROOT = "0000:36:02.0"
FAR_ROOT = "0000:b6:02.0"
FABRIC, SPARE = "0000:3a:00.0", "0000:3a:00.1"
PCI = vim.vm.device.VirtualPCIPassthrough
A100, PORT = "10de:20f1", "15b3:101d"
# A VM that is fit for passthrough devices.
FIT = {"memory_reservation": "all"}


def gpu(**more):
    """A GPU that is given away; a root of its own puts it elsewhere."""
    return {"board": "a100_pcie_40gb", "root": ROOT, "numa_node": 0, "passthrough": True, **more}


CLASS = "com.example.gpu"


def enhanced(**more):
    """A GPU that VMs get through the vendor's software."""
    given = {"class": CLASS, "vendor": "Example", "checkpoint": True, **more}
    return {"board": "a100_pcie_40gb", "root": ROOT, "numa_node": 0, "dvx": given}


def ports(*given, root=ROOT):
    """An onboard port for the host, and ports of ConnectX-6 Dx: given away with a label, without one, or not (None)."""
    onboard = {"device": "vmnic0", "model": "i350", "numa_node": 0, "uplink_of": "vSwitch0"}
    rows = [{"device": f"vmnic{number}", "model": "cx6dx", "root": root} for number in range(1, len(given) + 1)]
    for row, label in zip(rows, given, strict=True):
        if label is not None:
            row.update({"passthrough": True, **({"label": label} if label else {})})
    return [onboard, *rows]


def site(*vms, gpus=None, nics=None, **more):
    """A lab whose first host gives away a GPU and two labelled ports."""
    nics = ports("fabric", "fabric") if nics is None else nics
    return lab(*(vms or (FIT,)), gpus=[gpu()] if gpus is None else gpus, nics=nics, **more)


def direct(twin, *names):
    """The passthrough devices of VMs as their configuration has them, in a client's words."""
    return {name: _direct(twin, name) for name in names}


def _direct(twin, name):
    with virtual_machine(twin, name) as machine:
        config = machine.config
        found = [_reported(one) for one in config.hardware.device if isinstance(one, PCI)]
        groups = config.deviceGroups
        return {
            "devices": sorted(found, key=str),
            "groups": sorted(one.deviceGroupName for one in (groups.deviceGroup if groups else None) or []),
            "power": machine.runtime.powerState,
        }


def _reported(device):
    backing, node = device.backing, device.numaNode
    if isinstance(backing, PCI.DeviceBackingInfo):
        reported = ("static", backing.id, backing.vendorId, int(backing.deviceId, 16), backing.systemId != "")
    elif isinstance(backing, PCI.DynamicBackingInfo):
        allowed = tuple(f"{one.vendorId:04x}:{one.deviceId:04x}" for one in backing.allowedDevice)
        reported = ("dynamic", allowed, backing.customLabel or "")
    elif isinstance(backing, PCI.DvxBackingInfo):
        reported = ("dvx", backing.deviceClass)
    else:
        reported = ("vgpu", backing.vgpu)
    grouped = () if device.deviceGroupInfo is None else (f"part {device.deviceGroupInfo.sequenceId}",)
    return (*reported, *grouped, *(() if node is None or node < 0 else (f"node {node}",)))


def static(address, vendor=0x15B3, device=0x101D):
    """A static device as the observer reports it: the API's vendor field is signed."""
    return ("static", address, vendor, device, True)
