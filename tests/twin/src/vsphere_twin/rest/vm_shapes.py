"""VMs and their devices as the REST API shows them (com.vmware.vcenter.vm of vmware-vcenter 9.1.1)."""

from __future__ import annotations

from pyVmomi import vim

from ..model import backings
from . import guest_os

DEVICE = vim.vm.device
POWER = {"poweredOn": "POWERED_ON", "poweredOff": "POWERED_OFF", "suspended": "SUSPENDED"}
SCSI = {
    "BUSLOGIC": DEVICE.VirtualBusLogicController,
    "LSILOGIC": DEVICE.VirtualLsiLogicController,
    "LSILOGICSAS": DEVICE.VirtualLsiLogicSASController,
    "PVSCSI": DEVICE.ParaVirtualSCSIController,
}
SHARING = {"NONE": "noSharing", "VIRTUAL": "virtualSharing", "PHYSICAL": "physicalSharing"}
NICS = {
    "E1000": DEVICE.VirtualE1000,
    "E1000E": DEVICE.VirtualE1000e,
    "PCNET32": DEVICE.VirtualPCNet32,
    "VMXNET": DEVICE.VirtualVmxnet,
    "VMXNET2": DEVICE.VirtualVmxnet2,
    "VMXNET3": DEVICE.VirtualVmxnet3,
}
# By the last part of a path: the type of the devices, the name of their list in a VM, and the field of their summary.
DEVICES = {
    "disk": (DEVICE.VirtualDisk, "disks", "disk"),
    "ethernet": (DEVICE.VirtualEthernetCard, "nics", "nic"),
    "cdrom": (DEVICE.VirtualCdrom, "cdroms", "cdrom"),
    "floppy": (DEVICE.VirtualFloppy, "floppies", "floppy"),
    "parallel": (DEVICE.VirtualParallelPort, "parallel_ports", "port"),
    "serial": (DEVICE.VirtualSerialPort, "serial_ports", "port"),
    "adapter/sata": (DEVICE.VirtualAHCIController, "sata_adapters", "adapter"),
    "adapter/scsi": (DEVICE.VirtualSCSIController, "scsi_adapters", "adapter"),
    "adapter/nvme": (DEVICE.VirtualNVMEController, "nvme_adapters", "adapter"),
}


def info(vm):
    """All of a VM (VM.Info)."""
    shown = {
        "guest_OS": guest_os.rest_name(vm.guest_id),
        "name": vm.name,
        "identity": {"name": vm.name, "bios_uuid": vm.uuid, "instance_uuid": vm.instance_uuid},
        "power_state": POWER[vm.power],
        "instant_clone_frozen": False,
        "hardware": hardware(vm),
        "boot": boot(vm),
        "boot_devices": boot_devices(vm),
        "cpu": cpu(vm),
        "memory": memory(vm),
    }
    for name, (kind, field, _summary) in DEVICES.items():
        shown[field] = {str(one.key): device(vm, name, one) for one in vm.devices if isinstance(one, kind)}
    return shown


def hardware(vm):
    """The version of the hardware; the model upgrades none by a schedule."""
    return {"version": version(vm.hardware_version), "upgrade_policy": "NEVER", "upgrade_status": "NONE"}


def version(name):
    """VMX_21 of vmx-21."""
    return name.upper().replace("-", "_")


def boot(vm):
    """The boot options."""
    options = vm.boot_options
    shown = {
        "type": vm.firmware.upper(),
        "delay": int(getattr(options, "bootDelay", None) or 0),
        "retry": bool(getattr(options, "bootRetryEnabled", None)),
        "retry_delay": int(getattr(options, "bootRetryDelay", None) or 10_000),
        "enter_setup_mode": bool(getattr(options, "enterBIOSSetup", None)),
    }
    if vm.firmware == "efi":
        shown["efi_legacy_boot"] = False
        shown["network_protocol"] = (getattr(options, "networkBootProtocol", None) or "ipv4").upper()
    return shown


def boot_devices(vm):
    """The configured order of boot devices; none means the default order."""
    shown = []
    kinds = vim.vm.BootOptions
    for one in getattr(vm.boot_options, "bootOrder", None) or []:
        if isinstance(one, kinds.BootableDiskDevice):
            if shown and shown[-1]["type"] == "DISK":
                shown[-1]["disks"].append(str(one.deviceKey))
            else:
                shown.append({"type": "DISK", "disks": [str(one.deviceKey)]})
        elif isinstance(one, kinds.BootableEthernetDevice):
            shown.append({"type": "ETHERNET", "nic": str(one.deviceKey)})
        elif isinstance(one, (kinds.BootableCdromDevice, kinds.BootableFloppyDevice)):
            shown.append({"type": "CDROM" if isinstance(one, kinds.BootableCdromDevice) else "FLOPPY"})
    return shown


def cpu(vm):
    """The processors."""
    return {
        "count": vm.cpus,
        "cores_per_socket": vm.cores_per_socket or 1,
        "hot_add_enabled": vm.cpu_hot_add,
        "hot_remove_enabled": bool(vm.kept.get("cpuHotRemoveEnabled")),
    }


def memory(vm):
    """The memory."""
    return {"size_MiB": vm.memory_mb, "hot_add_enabled": vm.memory_hot_add}


def device(vm, name, one):
    """One device, by the last part of its path."""
    return {"label": one.deviceInfo.label, **_SHAPES[name](vm, one)}


def _disk(vm, disk):
    return {
        **_address(vm, disk),
        "backing": {"type": "VMDK_FILE", "vmdk_file": getattr(disk.backing, "fileName", None) or ""},
        "capacity": disk.capacityInBytes,
    }


def _address(vm, device):
    """The controller of a disk or drive, and the place on it."""
    controller = next(one for one in vm.devices if one.key == device.controllerKey)
    at = {"bus": controller.busNumber, "unit": device.unitNumber}
    if isinstance(controller, DEVICE.VirtualIDEController):
        return {"type": "IDE", "ide": {"primary": controller.busNumber == 0, "master": device.unitNumber == 0}}
    kinds = (("SATA", DEVICE.VirtualAHCIController), ("NVME", DEVICE.VirtualNVMEController))
    name = next((name for name, kind in kinds if isinstance(controller, kind)), "SCSI")
    return {"type": name, name.lower(): at}


def _nic(_vm, nic):
    backing = {}
    if isinstance(nic.backing, backings.NIC_DISTRIBUTED):
        port = nic.backing.port
        backing = {
            "type": "DISTRIBUTED_PORTGROUP",
            "network": port.portgroupKey,
            "distributed_switch_uuid": port.switchUuid,
            "distributed_port": port.portKey,
            "connection_cookie": port.connectionCookie,
        }
    elif isinstance(nic.backing, backings.NIC_STANDARD):
        backing = {"type": "STANDARD_PORTGROUP", "network_name": nic.backing.deviceName}
        if nic.backing.network is not None:
            backing["network"] = nic.backing.network._moId
    else:
        backing = {"type": "OPAQUE_NETWORK"}
    shown = {
        "type": next((name for name, kind in NICS.items() if type(nic) is kind), "VMXNET3"),
        "mac_type": (nic.addressType or "assigned").upper(),
        "mac_address": nic.macAddress,
        "wake_on_lan_enabled": bool(nic.wakeOnLanEnabled),
        "backing": {key: value for key, value in backing.items() if value is not None},
        **_connection(nic),
    }
    if shown["type"] == "VMXNET3":
        shown["upt_compatibility_enabled"] = bool(getattr(nic, "uptCompatibilityEnabled", None))
    if getattr(nic.slotInfo, "pciSlotNumber", None) is not None:
        shown["pci_slot_number"] = nic.slotInfo.pciSlotNumber
    return shown


def _connection(device):
    how = device.connectable
    return {
        "state": "CONNECTED" if how is not None and how.connected else "NOT_CONNECTED",
        "start_connected": bool(how is not None and how.startConnected),
        "allow_guest_control": bool(how is not None and how.allowGuestControl),
    }


def _cdrom(vm, drive):
    backing, kinds = drive.backing, DEVICE.VirtualCdrom
    if isinstance(backing, kinds.IsoBackingInfo):
        shown = {"type": "ISO_FILE", "iso_file": backing.fileName}
    elif isinstance(backing, (kinds.AtapiBackingInfo, kinds.PassthroughBackingInfo)):
        shown = {"type": "HOST_DEVICE", "auto_detect": bool(backing.useAutoDetect)}
        if backing.deviceName:
            shown["host_device"] = backing.deviceName
    else:
        emulated = isinstance(backing, kinds.RemoteAtapiBackingInfo)
        shown = {"type": "CLIENT_DEVICE", "device_access_type": "EMULATION" if emulated else "PASSTHRU"}
    return {**_address(vm, drive), "backing": shown, **_connection(drive)}


def _port(_vm, port):
    names = (("FileBacking", "FILE", "file"), ("ImageBacking", "IMAGE_FILE", "image_file"))
    for part, kind, field in names:
        if type(port.backing).__name__.rpartition(".")[2].startswith(part):
            return {"backing": {"type": kind, field: port.backing.fileName}, **_connection(port)}
    return {"backing": {"type": "HOST_DEVICE", "auto_detect": True}, **_connection(port)}


def _serial(vm, port):
    backing = port.backing
    shown = {**_port(vm, port), "yield_on_poll": bool(port.yieldOnPoll)}
    if isinstance(backing, vim.vm.device.VirtualDevice.URIBackingInfo):
        kind = "NETWORK_SERVER" if backing.direction == "server" else "NETWORK_CLIENT"
        shown["backing"] = {"type": kind, "network_location": backing.serviceURI}
    elif isinstance(backing, vim.vm.device.VirtualDevice.PipeBackingInfo):
        kind = "PIPE_SERVER" if getattr(backing, "endpoint", "") == "server" else "PIPE_CLIENT"
        shown["backing"] = {"type": kind, "pipe": backing.pipeName}
    return shown


def _bus(_vm, adapter):
    return {"bus": adapter.busNumber}


def _sata(vm, adapter):
    return {"type": "AHCI", **_bus(vm, adapter)}


def _scsi(_vm, adapter):
    sharing = str(adapter.sharedBus or "noSharing")
    return {
        "type": next((name for name, kind in SCSI.items() if type(adapter) is kind), "LSILOGIC"),
        "scsi": {"bus": adapter.busNumber, "unit": 7},
        "sharing": next(name for name, one in SHARING.items() if one == sharing),
    }


_SHAPES = {
    "disk": _disk,
    "ethernet": _nic,
    "cdrom": _cdrom,
    "floppy": _port,
    "parallel": _port,
    "serial": _serial,
    "adapter/sata": _sata,
    "adapter/scsi": _scsi,
    "adapter/nvme": _bus,
}
