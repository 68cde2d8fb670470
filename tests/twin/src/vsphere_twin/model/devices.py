"""Virtual devices: keys, unit numbers, labels, and the rules for adding, editing and removing them."""

from __future__ import annotations

import copy
import functools

from pyVmomi import vim

from . import assigned, backings, disk_files, drives, files, groups, nics, storage_policies

DEVICE = vim.vm.device
PCI_CONTROLLER = 100
BASE_KEYS = (100, 200, 201, 300, 400, 500, 600, 700, 12000)
FIRST_PCI_UNIT = 17  # where vSphere puts the first passthrough device on the PCI controller [unsure: general knowledge]
SCSI_OWN_UNIT = 7

# (type, first key, label, units on its controller). The first row that fits a device counts.
KINDS = (
    (DEVICE.VirtualDisk, 2000, "Hard disk {}", 1),
    (DEVICE.VirtualEthernetCard, 4000, "Network adapter {}", 1),
    (DEVICE.VirtualPCIPassthrough, 13000, "PCI device {}", 0),
    (DEVICE.VirtualCdrom, 3000, "CD/DVD drive {}", 1),
    (DEVICE.VirtualSCSIController, 1000, "SCSI controller {}", 0),
    (DEVICE.VirtualAHCIController, 15000, "SATA controller {}", 0),
    (DEVICE.VirtualNVMEController, 31000, "NVME controller {}", 0),
    (DEVICE.VirtualUSBXHCIController, 14000, "USB xHCI controller", 0),
    (DEVICE.VirtualUSBController, 7000, "USB controller", 0),
    (DEVICE.VirtualTPM, 11000, "Virtual TPM", 0),
    (DEVICE.VirtualSerialPort, 9000, "Serial port {}", 1),
    (DEVICE.VirtualFloppy, 8000, "Floppy drive {}", 1),
    (DEVICE.VirtualIDEController, 200, "IDE {}", 0),
    (DEVICE.VirtualVideoCard, 500, "Video card ", 0),
    (DEVICE.VirtualSoundCard, 5000, "Sound card ", 0),
    (DEVICE.VirtualWDT, 18000, "Virtual watchdog timer", 0),
)
# Keys of disks contain their controller: first key, keys per bus (govmomi and captured VMs).
DISK_KEYS = (
    (DEVICE.VirtualSCSIController, 2000, 16),
    (DEVICE.VirtualAHCIController, 16000, 30),
    (DEVICE.VirtualNVMEController, 32000, 15),
    (DEVICE.VirtualIDEController, 3000, 2),
)
# Controllers of one kind in a VM (vSphere configuration maximums); the two IDE controllers are there from the start.
MOST = (
    (DEVICE.VirtualSCSIController, 4),
    (DEVICE.VirtualAHCIController, 4),
    (DEVICE.VirtualNVMEController, 4),
    (DEVICE.VirtualUSBXHCIController, 1),
    (DEVICE.VirtualUSBController, 1),
)
SIO_CONTROLLER = 400
ON_STORAGE = (DEVICE.VirtualDisk, DEVICE.VirtualCdrom)
ON_SIO = (DEVICE.VirtualSerialPort, DEVICE.VirtualParallelPort, DEVICE.VirtualFloppy)
HOT_PLUGGED = (
    DEVICE.VirtualDisk,
    DEVICE.VirtualEthernetCard,
    DEVICE.VirtualSCSIController,
    DEVICE.VirtualNVMEController,
    DEVICE.VirtualUSBXHCIController,
    DEVICE.VirtualUSBController,
)
HOT_EDITED = (*HOT_PLUGGED, DEVICE.VirtualCdrom, DEVICE.VirtualFloppy, DEVICE.VirtualSerialPort)


def change(world, vm, specs, device_groups=None):
    """Apply device changes in their order; new devices may refer to each other by the keys of the request."""
    new_keys, new_groups = {}, groups.change(vm, device_groups)
    for index, spec in enumerate(specs):
        if spec.operation == "add":
            _add(world, vm, index, spec, new_keys, new_groups)
            vm.policies.pop(vm.devices[-1].key, None)  # of a disk that a snapshot had, and a revert removed
        elif spec.operation == "edit":
            _edit(world, vm, index, spec)
        else:
            _remove(vm, index, spec)
            vm.policies.pop(spec.device.key, None)
        if spec.profile and isinstance(spec.device, DEVICE.VirtualDisk) and spec.operation in ("add", "edit"):
            key = vm.devices[-1].key if spec.operation == "add" else spec.device.key
            storage_policies.associate(world, vm, key, spec.profile, "configSpec.deviceChange.profile")
    groups.check(vm)
    _list_children(vm)


@functools.cache
def base_hardware():
    """The devices that every VM has from the start; a device is never changed in place, so VMs share them."""
    return (
        DEVICE.VirtualIDEController(key=200, deviceInfo=_text("IDE 0", "IDE 0"), busNumber=0),
        DEVICE.VirtualIDEController(key=201, deviceInfo=_text("IDE 1", "IDE 1"), busNumber=1),
        DEVICE.VirtualPS2Controller(key=300, deviceInfo=_text("PS2 controller 0", "PS2 controller 0"), busNumber=0),
        DEVICE.VirtualPCIController(key=100, deviceInfo=_text("PCI controller 0", "PCI controller 0"), busNumber=0),
        DEVICE.VirtualSIOController(key=400, deviceInfo=_text("SIO controller 0", "SIO controller 0"), busNumber=0),
        DEVICE.VirtualKeyboard(key=600, deviceInfo=_text("Keyboard", "Keyboard"), controllerKey=300, unitNumber=0),
        DEVICE.VirtualPointingDevice(
            key=700,
            deviceInfo=_text("Pointing device", "Pointing device; Device"),
            backing=DEVICE.VirtualPointingDevice.DeviceBackingInfo(
                deviceName="", useAutoDetect=False, hostPointingDevice="autodetect"
            ),
            controllerKey=300,
            unitNumber=1,
        ),
        DEVICE.VirtualVideoCard(
            key=500,
            deviceInfo=_text("Video card ", "Video card"),
            controllerKey=100,
            unitNumber=0,
            videoRamSizeInKB=4096,
            numDisplays=1,
            useAutoDetect=False,
            enable3DSupport=False,
            use3dRenderer="automatic",
            graphicsMemorySizeInKB=262144,
        ),
        DEVICE.VirtualVMCIDevice(
            key=12000,
            deviceInfo=_text(
                "VMCI device",
                "Device on the virtual machine PCI bus that provides support for the virtual machine "
                "communication interface",
            ),
            controllerKey=100,
            unitNumber=17,
            id=-1,
            allowUnrestrictedCommunication=False,
        ),
    )


def invalid(index, device=None):
    """The fault for a device change that makes no sense."""
    return vim.fault.InvalidDeviceSpec(
        msg=f"Invalid configuration for device '{index}'.",
        property=f"virtualDeviceSpec.device.key={device.key}" if device is not None else None,
        deviceIndex=index,
    )


def wrong_power(vm):
    """Return the fault for an operation that is invalid in this power state."""
    words = {"poweredOn": "Powered on", "poweredOff": "Powered off", "suspended": "Suspended"}
    return vim.fault.InvalidPowerState(
        msg=f"The attempted operation cannot be performed in the current state ({words[vm.power]}).",
        existingState=vm.power,
        requestedState="poweredOff" if vm.power != "poweredOff" else "poweredOn",
    )


def _add(world, vm, index, spec, new_keys, new_groups):
    device = copy.deepcopy(spec.device)
    if device is None:
        raise invalid(index)
    if vm.power != "poweredOff" and not _hot(device):
        raise wrong_power(vm)
    if _is_base(vm, device, new_keys):
        return
    if isinstance(device, DEVICE.VirtualPCIPassthrough):
        assigned.check(vm, index, device)
    if device.deviceGroupInfo is not None:
        group = device.deviceGroupInfo.groupInstanceKey
        device.deviceGroupInfo.groupInstanceKey = new_groups.get(group, group)
    if device.controllerKey is not None:
        device.controllerKey = new_keys.get(device.controllerKey, device.controllerKey)
    requested = device.key
    _connect(vm, index, device)
    device.key = _new_key(vm, device)
    new_keys[requested] = device.key
    device.deviceInfo = _text(_label(vm, device), "")
    if isinstance(device, DEVICE.VirtualDisk):
        _check_file(world, index, device, spec.fileOperation)
    if isinstance(device, DEVICE.VirtualCdrom):
        _check_drive(world, vm, index, device)
    backings.fill(world, vm, device, spec.fileOperation)
    if isinstance(device, DEVICE.VirtualEthernetCard):
        nics.check(world, vm, index, device)
    device.deviceInfo.summary = backings.summary(device)
    vm.devices = [*vm.devices, device]


def _is_base(vm, device, new_keys):
    """Return whether a request for a new VM names hardware that each VM has; its key then means that hardware."""
    if vm.change_count:
        return False
    bus = getattr(device, "busNumber", None) or 0
    for one in vm.devices:
        if type(one) is type(device) and one.key in BASE_KEYS and getattr(one, "busNumber", 0) == bus:
            new_keys[device.key] = one.key
            return True
    return False


def _edit(world, vm, index, spec):
    old = by_key(vm, spec.device.key) if spec.device is not None else None
    if old is None:
        raise invalid(index, spec.device)
    if vm.power != "poweredOff" and not _hot(old, HOT_EDITED):
        raise wrong_power(vm)
    if isinstance(old, DEVICE.VirtualEthernetCard) and type(old) is not type(spec.device):
        raise invalid(index, spec.device)  # a kind of adapter is not changed into another [unsure: the fault]
    device = copy.deepcopy(old)
    for info in spec.device._GetPropertyList():
        value = getattr(spec.device, info.name)
        if value is not None and info.name not in ("key", "deviceInfo", "dynamicProperty", "dynamicType"):
            setattr(device, info.name, value)
    if isinstance(device, DEVICE.VirtualDisk):
        device.capacityInBytes = _capacity(index, old, spec.device)
    backings.check_edit(vm, index, old, device)
    if isinstance(device, DEVICE.VirtualCdrom):
        _check_drive(world, vm, index, device)
    backings.fill(world, vm, device, None, new=False)
    if isinstance(device, DEVICE.VirtualEthernetCard):
        if vm.power != "poweredOff" and nics.replugs(old, device):
            raise wrong_power(vm)
        nics.check_edit(world, vm, index, device)
    device.deviceInfo = _text(old.deviceInfo.label, backings.summary(device))
    vm.devices = [device if one is old else one for one in vm.devices]


def _capacity(index, old, disk):
    """Return the requested bytes of a disk: the one of both fields that differs from before. GOV simulator."""
    in_kilobytes = None if disk.capacityInKB is None else disk.capacityInKB * 1024
    wanted = {size for size in (disk.capacityInBytes, in_kilobytes) if size not in (None, 0, old.capacityInBytes)}
    if len(wanted) > 1:
        raise invalid(index, disk)  # [unsure: the fault]
    return wanted.pop() if wanted else old.capacityInBytes


def _check_file(world, index, disk, operation):
    """Check the file of a disk: a new one needs a free path, an existing one keeps its size."""
    if disk.backing is None:
        raise invalid(index, disk)  # [unsure: the fault]
    if not isinstance(disk.backing, backings.FLAT):
        return
    name = disk.backing.fileName or ""
    known = disk_files.find(world, name) if name.endswith(".vmdk") else None
    if operation == "create" and disk.backing.parent is not None:
        parent = disk_files.find(world, disk.backing.parent.fileName)  # a new disk on top of an existing one
        if parent is None:
            raise files.not_found(disk.backing.parent.fileName)
        disk.capacityInKB, disk.capacityInBytes = parent.capacityInKB, parent.capacityInBytes
    if operation == "create":
        if known is not None:
            raise files.already_exists(name)
        if not (disk.capacityInBytes or disk.capacityInKB):
            raise invalid(index, disk)
        return
    if not name.endswith(".vmdk"):
        raise invalid(index, disk)  # neither made nor there [unsure: the fault]
    if known is None:
        raise files.not_found(name)
    disk.capacityInKB, disk.capacityInBytes = known.capacityInKB, known.capacityInBytes
    disk.backing.thinProvisioned, disk.backing.uuid = known.backing.thinProvisioned, known.backing.uuid


def _check_drive(world, vm, index, drive):
    """Check the image of a drive: its datastore exists (packer-plugin-vsphere issue 105), and what is connected too."""
    if not drives.knows_datastore(world, vm, drive):
        raise invalid(index, drive)
    drives.check(world, vm, drive)


def _remove(vm, index, spec):
    old = by_key(vm, spec.device.key) if spec.device is not None else None
    if old is None or old.key in BASE_KEYS:
        raise invalid(index, spec.device)
    if vm.power != "poweredOff" and not _hot(old):
        raise wrong_power(vm)
    if isinstance(old, DEVICE.VirtualController) and any(one.controllerKey == old.key for one in vm.devices):
        raise invalid(index, spec.device)
    vm.devices = [one for one in vm.devices if one is not old]


def _hot(device, kinds=HOT_PLUGGED):
    """Return whether a device can be added, removed or changed while its VM runs."""
    return isinstance(device, kinds) and (kinds is HOT_EDITED or not isinstance(device, nics.COLD))


def by_key(vm, key):
    """The device with this key, or None."""
    return next((one for one in vm.devices if one.key == key), None)


def _connect(vm, index, device):
    """Put a device on its controller, at a unit that is free."""
    if isinstance(device, DEVICE.VirtualController):
        if device.busNumber is None or device.busNumber < 0:
            device.busNumber = 0
        family, most = next((row for row in MOST if isinstance(device, row[0])), (None, 0))
        taken = {one.busNumber for one in vm.devices if family is not None and isinstance(one, family)}
        if len(taken) >= most or device.busNumber >= most:
            raise invalid(index, device)
        while device.busNumber in taken:
            device.busNumber = (device.busNumber + 1) % most
        device.controllerKey, device.unitNumber = PCI_CONTROLLER, None
        if isinstance(device, DEVICE.VirtualSCSIController):
            device.scsiCtlrUnitNumber = SCSI_OWN_UNIT
            device.hotAddRemove = True
        return
    if isinstance(
        device,
        (DEVICE.VirtualEthernetCard, DEVICE.VirtualPCIPassthrough, DEVICE.VirtualTPM, DEVICE.VirtualPrecisionClock),
    ):
        device.controllerKey = PCI_CONTROLLER
    if isinstance(device, ON_SIO) and device.controllerKey is None:
        device.controllerKey = SIO_CONTROLLER
    controller = by_key(vm, device.controllerKey) if device.controllerKey is not None else None
    holders = tuple(row[0] for row in DISK_KEYS) if isinstance(device, ON_STORAGE) else DEVICE.VirtualController
    if not isinstance(controller, holders):
        raise invalid(index, device)
    taken = {one.unitNumber for one in vm.devices if one.controllerKey == controller.key}
    if isinstance(controller, DEVICE.VirtualSCSIController):
        taken.add(SCSI_OWN_UNIT)
    first, most = _first_unit(device), _units(vm, controller)
    if len(taken) >= most or (device.unitNumber or 0) >= most:
        raise invalid(index, device)
    if device.unitNumber is None or device.unitNumber < 0 or isinstance(controller, DEVICE.VirtualPCIController):
        device.unitNumber = next(unit for unit in range(first, 10_000) if unit not in taken)
    elif device.unitNumber in taken:
        raise invalid(index, device)


def _units(vm, controller):
    """Places for disks and drives (vSphere configuration maximums; on NVMe 64 since hardware version 21)."""
    if isinstance(controller, DEVICE.VirtualNVMEController):
        return 64 if vm.hardware_number >= 21 else 15
    rows = (
        (DEVICE.ParaVirtualSCSIController, 64 if vm.hardware_number >= 14 else 16),
        (DEVICE.VirtualSCSIController, 16),
        (DEVICE.VirtualAHCIController, 30),
        (DEVICE.VirtualIDEController, 2),
    )
    return next((units for kind, units in rows if isinstance(controller, kind)), 10_000)


def _first_unit(device):
    if isinstance(device, DEVICE.VirtualEthernetCard):
        return 7
    if isinstance(device, DEVICE.VirtualPCIPassthrough):
        return FIRST_PCI_UNIT + 1
    return 0


def _new_key(vm, device):
    if isinstance(device, DEVICE.VirtualDisk):
        controller = by_key(vm, device.controllerKey)
        for family, first, per_bus in DISK_KEYS:
            if isinstance(controller, family):
                return first + controller.busNumber * per_bus + device.unitNumber
    if isinstance(device, DEVICE.VirtualController):
        return _row(device)[1] + device.busNumber
    taken = {one.key for one in vm.devices}
    return next(key for key in range(_row(device)[1], 10**6) if key not in taken)


def _label(vm, device):
    _family, first, label, offset = _row(device)
    if isinstance(device, DEVICE.VirtualDisk):
        taken = {one.deviceInfo.label for one in vm.disks}
        return next(text for number in range(1, 1000) if (text := label.format(number)) not in taken)
    return label.format(device.key - first + offset)


def _row(device):
    for row in KINDS:
        if isinstance(device, row[0]):
            return row
    return (type(device), 20000, type(device)._wsdlName, 0)


def _list_children(vm):
    for position, device in enumerate(vm.devices):
        if isinstance(device, DEVICE.VirtualController):
            children = [one.key for one in vm.devices if one.controllerKey == device.key]
            if list(device.device or []) != children:
                fresh = copy.copy(device)
                fresh.device = children
                vm.devices[position] = fresh


def _text(label, summary):
    return vim.Description(label=label, summary=summary)
