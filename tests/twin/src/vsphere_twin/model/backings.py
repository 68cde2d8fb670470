"""Backings of virtual devices: files for disks, networks for NICs, GPUs for PCI devices."""

from __future__ import annotations

import re
import uuid

from pyVmomi import vim

from . import dvx
from .vm import VMIOP

DEVICE = vim.vm.device
NIC_STANDARD = DEVICE.VirtualEthernetCard.NetworkBackingInfo
NIC_DISTRIBUTED = DEVICE.VirtualEthernetCard.DistributedVirtualPortBackingInfo
FLAT = DEVICE.VirtualDisk.FlatVer2BackingInfo
CONTROLLER_SUMMARIES = {
    "ParaVirtualSCSIController": "VMware paravirtual SCSI",
    "VirtualLsiLogicController": "LSI Logic",
    "VirtualLsiLogicSASController": "LSI Logic SAS",
    "VirtualBusLogicController": "BusLogic",
    "VirtualAHCIController": "AHCI",
    "VirtualNVMEController": "NVME Controller",
}


def fill(world, vm, device, file_operation, new=True):
    """Complete the fields that the request left to the server."""
    if isinstance(device, DEVICE.VirtualDisk):
        _disk(world, vm, device, file_operation)
    elif isinstance(device, DEVICE.VirtualEthernetCard):
        _nic(world, vm, device, new)
    elif isinstance(device, DEVICE.VirtualPCIPassthrough) and isinstance(device.backing, VMIOP):
        # Read-only in the API: the type says whether the VM can move.
        device.backing.migrateSupported = True


def check_edit(vm, index, old, new):
    """Refuse an invalid edit: a disk never shrinks, and grows only without snapshots and without a parent disk."""
    if not isinstance(old, DEVICE.VirtualDisk) or _kilobytes(new) == _kilobytes(old):
        return
    chained = bool(vm.snapshots) or getattr(old.backing, "parent", None) is not None
    if _kilobytes(new) < _kilobytes(old) or chained:  # [unsure: the fault of a chain]
        raise vim.fault.InvalidDeviceOperation(
            msg=f"Invalid operation for device '{index}'.",
            property=f"virtualDeviceSpec.device.key={old.key}",
            deviceIndex=index,
            badOp="edit",
        )


def summary(device):
    """The line under the label."""
    backing = device.backing
    if isinstance(device, DEVICE.VirtualDisk):
        return f"{_kilobytes(device):,} KB"
    if isinstance(backing, VMIOP):
        return f"NVIDIA GRID vGPU {backing.vgpu}"
    if isinstance(backing, NIC_DISTRIBUTED):
        return f"DVSwitch: {backing.port.switchUuid}"
    if isinstance(backing, NIC_STANDARD):
        return backing.deviceName
    if isinstance(device, DEVICE.VirtualCdrom):
        name = getattr(backing, "fileName", None)
        return f"ISO {name}" if name else "Remote device"
    if isinstance(backing, dvx.BACKING):
        return backing.deviceClass
    if isinstance(device, DEVICE.VirtualPCIPassthrough):
        return backing.deviceName or "PCI passthrough device" if backing is not None else "PCI passthrough device"
    return CONTROLLER_SUMMARIES.get(type(device)._wsdlName, device.deviceInfo.label)


def networks_of(world, vm):
    """The networks that the NICs of a VM are attached to, by moid."""
    found = {}
    for nic in vm.nics:
        one = network(world, nic.backing)
        if one is not None:
            found[one.moid] = one
    return found


def datastores_of(world, vm):
    """The datastores that hold files of a VM, by moid."""
    names = {datastore_name(vm.home)} | {
        datastore_name(disk.backing.fileName) for disk in vm.disks if getattr(disk.backing, "fileName", None)
    }
    return {one.moid: one for one in world.of_kind("Datastore") if one.name in names and _reaches(vm, one)}


def datastore_name(path):
    """'ds1' of '[ds1] vm/vm.vmx'."""
    found = re.match(r"\[([^\]]*)\]", path or "")
    return found.group(1) if found else ""


def mac(world):
    """A MAC address of vCenter's range."""
    number = int(world.new_moid("mac").rpartition("-")[2])
    return f"00:50:56:{0x80 | (number >> 16 & 0x3F):02x}:{number >> 8 & 0xFF:02x}:{number & 0xFF:02x}"


def _reaches(vm, datastore):
    return vm.host is None or not datastore.hosts or vm.host.moid in datastore.hosts


def _kilobytes(disk):
    if disk.capacityInBytes:
        return disk.capacityInBytes // 1024
    return disk.capacityInKB or 0


def _disk(world, vm, device, file_operation):
    size = _kilobytes(device)
    device.capacityInKB, device.capacityInBytes = size, size * 1024
    device.diskObjectId = f"{vm.moid.rpartition('-')[2]}-{device.key}"
    backing = device.backing
    if not isinstance(backing, FLAT):
        return
    directory = re.sub(r"[^/]*$", "", vm.home)
    base = vm.home[len(directory) :].rpartition(".")[0] or vm.name
    if not backing.fileName or backing.fileName.endswith("]") or file_operation == "create" and not _is_file(backing):
        place = backing.fileName if backing.fileName and backing.fileName != directory else ""
        wanted = datastore_name(place) if place else datastore_name(vm.home)
        start = directory if wanted == datastore_name(vm.home) else f"[{wanted}] {base}/"
        stores = [one for one in world.of_kind("Datastore") if one.name == wanted]
        taken = {disk.backing.fileName for disk in vm.disks}.union(*(one.left_disks for one in stores))
        names = (f"{start}{base}{'' if number == 0 else f'_{number}'}.vmdk" for number in range(1000))
        backing.fileName = next(name for name in names if name not in taken)
    store = datastore_name(backing.fileName)
    found = next((one for one in world.of_kind("Datastore") if one.name == store and _reaches(vm, one)), None)
    if found is None:
        raise vim.fault.InvalidDatastore(msg=f"Invalid datastore path '{backing.fileName}'.", name=store)
    backing.datastore = vim.Datastore(found.moid)
    backing.diskMode = backing.diskMode or "persistent"
    backing.thinProvisioned = bool(backing.thinProvisioned)
    backing.uuid = backing.uuid or str(uuid.UUID(world.new_uuid("disk")))


def _is_file(backing):
    return backing.fileName.endswith(".vmdk")


def _nic(world, vm, device, new):
    attached = network(world, device.backing)
    if attached is None and isinstance(device.backing, (NIC_STANDARD, NIC_DISTRIBUTED)):
        raise vim.fault.InvalidDeviceBacking(
            msg="Invalid backing for the network adapter: the network does not exist.",
            property="virtualDeviceSpec.device.backing",
            deviceIndex=0,
        )
    if isinstance(device.backing, NIC_DISTRIBUTED):
        port = device.backing.port
        port.switchUuid = attached.switch.uuid
        port.portKey = port.portKey or attached.free_port(vm)
        port.connectionCookie = port.connectionCookie or 1
    elif isinstance(device.backing, NIC_STANDARD):
        device.backing.network = vim.Network(attached.moid)
        device.backing.deviceName = attached.name
    if not device.macAddress:
        device.macAddress = mac(world)
    device.addressType = device.addressType or "assigned"
    if device.addressType == "generated":
        device.addressType = "assigned"
    device.wakeOnLanEnabled = True if device.wakeOnLanEnabled is None else device.wakeOnLanEnabled
    if not isinstance(device, DEVICE.VirtualSriovEthernetCard):  # that those have none is [unsure]
        device.resourceAllocation = _allocated(device.resourceAllocation)
    if device.connectable is None:
        device.connectable = DEVICE.VirtualDevice.ConnectInfo(startConnected=True, allowGuestControl=True)
    if vm.power != "poweredOn":
        device.connectable.connected = False
    elif new:
        device.connectable.connected = bool(device.connectable.startConnected)
    device.connectable.status = "ok" if device.connectable.connected else "untried"


def network_id(backing):
    """The MoID of the network that a complete backing names, or None."""
    if isinstance(backing, NIC_DISTRIBUTED):
        return backing.port.portgroupKey
    if isinstance(backing, NIC_STANDARD) and backing.network is not None:
        return backing.network._moId
    return None


def network(world, backing):
    """The network that a backing names, or None."""
    if isinstance(backing, NIC_DISTRIBUTED):
        found = world.get(backing.port.portgroupKey or "")
        return found if found is not None and found.kind == "DistributedVirtualPortgroup" else None
    if isinstance(backing, NIC_STANDARD):
        if backing.network is not None and world.get(backing.network._moId) is not None:
            return world.get(backing.network._moId)
        return next((one for one in world.of_kind("Network") if one.name == backing.deviceName), None)
    return None


def _allocated(wanted):
    """The resources of an adapter; each has some (vim-cmd of public hosts; Terraform reads them unasked)."""
    found = wanted or vim.vm.device.VirtualEthernetCard.ResourceAllocation()
    share = found.share or vim.SharesInfo(level="normal")
    # API reference, networkResourcePoolHighShareValue: normal is half of high, low a quarter.
    share.shares = {"low": 25, "normal": 50, "high": 100}.get(share.level, share.shares)
    found.share, found.reservation = share, found.reservation or 0
    found.limit = -1 if found.limit is None else found.limit
    return found
