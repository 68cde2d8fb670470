"""Specifications of VMs and their devices: their fields, and the requests of the vSphere API that they mean."""

from __future__ import annotations

from pyVmomi import vim

from ..model import devices
from .errors import RestError
from .fields import Struct
from .vm_shapes import DEVICE, NICS, SCSI, SHARING

MIB, GIB = 1024**2, 1024**3
VERSIONS = tuple(f"VMX_{number:02}" for number in (3, 4, *range(6, 23)))
CPU = Struct("vm.hardware.Cpu.UpdateSpec", count=int, cores_per_socket=int, hot_add_enabled=bool,
             hot_remove_enabled=bool)  # fmt: skip
MEMORY = Struct("vm.hardware.Memory.UpdateSpec", size_MiB=int, hot_add_enabled=bool)
_BOOT = {
    "type": ("BIOS", "EFI"),
    "efi_legacy_boot": bool,
    "network_protocol": ("IPV4", "IPV6"),
    "retry": bool,
    "enter_setup_mode": bool,
    **dict.fromkeys(("delay", "retry_delay"), int),
}
BOOT = Struct("vm.hardware.Boot.UpdateSpec", **_BOOT)
_BOOT_TYPES = ("CDROM", "DISK", "ETHERNET", "FLOPPY")
BOOT_ENTRY = Struct("vm.hardware.boot.Device.Entry", ["type"], type=_BOOT_TYPES, nic=str, disks=[str])
NEW_BOOT_ENTRY = Struct("vm.hardware.boot.Device.EntryCreateSpec", ["type"], type=_BOOT_TYPES)
_IDE = Struct("vm.hardware.IdeAddressSpec", primary=bool, master=bool)
_BUSES = {
    name: Struct(f"vm.hardware.{name.capitalize()}AddressSpec", ["bus"], bus=int, unit=int)
    for name in ("scsi", "sata", "nvme")
}
VMDK = Struct("vm.hardware.Disk.BackingSpec", ["type"], type=("VMDK_FILE",), vmdk_file=str)
_POLICY = Struct("vm.hardware.Disk.StoragePolicySpec", ["policy"], policy=str)
DISK = Struct(
    "vm.hardware.Disk.CreateSpec",
    type=("IDE", "SCSI", "SATA", "NVME"),
    ide=_IDE,
    **_BUSES,
    backing=VMDK,
    new_vmdk=Struct("vm.hardware.Disk.VmdkCreateSpec", name=str, capacity=int, storage_policy=_POLICY),
)
DISK_UPDATE = Struct("vm.hardware.Disk.UpdateSpec", backing=VMDK)
NETWORK = Struct(
    "vm.hardware.Ethernet.BackingSpec",
    ["type"],
    type=("STANDARD_PORTGROUP", "HOST_DEVICE", "DISTRIBUTED_PORTGROUP", "OPAQUE_NETWORK"),
    network=str,
    distributed_port=str,
)
_CONNECTION = {"start_connected": bool, "allow_guest_control": bool}
_NIC = {
    "upt_compatibility_enabled": bool,
    "upt_v2_compatibility_enabled": bool,
    "mac_type": ("MANUAL", "GENERATED", "ASSIGNED"),
    "mac_address": str,
    "wake_on_lan_enabled": bool,
    "backing": NETWORK,
    **_CONNECTION,
}
NIC = Struct("vm.hardware.Ethernet.CreateSpec", type=tuple(NICS), pci_slot_number=int, **_NIC)
NIC_UPDATE = Struct("vm.hardware.Ethernet.UpdateSpec", **_NIC)
_ISO = Struct(
    "vm.hardware.Cdrom.BackingSpec",
    ["type"],
    type=("ISO_FILE", "HOST_DEVICE", "CLIENT_DEVICE"),
    iso_file=str,
    host_device=str,
    device_access_type=("EMULATION", "PASSTHRU", "PASSTHRU_EXCLUSIVE"),
)
CDROM = Struct("vm.hardware.Cdrom.CreateSpec", type=("IDE", "SATA"), ide=_IDE, sata=_BUSES["sata"], backing=_ISO,
               **_CONNECTION)  # fmt: skip
CDROM_UPDATE = Struct("vm.hardware.Cdrom.UpdateSpec", backing=_ISO, **_CONNECTION)
_ADAPTER = {"bus": int, "pci_slot_number": int}
ADAPTERS = {
    "adapter/sata": Struct("vm.hardware.adapter.Sata.CreateSpec", type=("AHCI",), **_ADAPTER),
    "adapter/scsi": Struct("vm.hardware.adapter.Scsi.CreateSpec", type=tuple(SCSI), sharing=tuple(SHARING), **_ADAPTER),
    "adapter/nvme": Struct("vm.hardware.adapter.Nvme.CreateSpec", **_ADAPTER),
}
SCSI_UPDATE = Struct("vm.hardware.adapter.Scsi.UpdateSpec", sharing=tuple(SHARING))


def wrong(text):
    """The error for values that do not fit each other."""
    return RestError("INVALID_ARGUMENT", text, code="com.vmware.api.vcenter.vm.invalid_argument")


def sized(spec, cpu=None, memory=None):
    """A specification with the processors and the memory of a request."""
    cpu, memory = cpu or {}, memory or {}
    for name, value in (("count", cpu.get("count")), ("cores_per_socket", cpu.get("cores_per_socket"))):
        if value is not None and not 1 <= value <= 960:
            raise wrong(f"The value {value} of cpu.{name} is out of its range.")
    size = memory.get("size_MiB")
    if size is not None and not 4 <= size <= 24 * 1024**2:
        raise wrong(f"The value {size} of memory.size_MiB is out of its range.")
    spec.numCPUs, spec.numCoresPerSocket = cpu.get("count"), cpu.get("cores_per_socket")
    spec.cpuHotAddEnabled, spec.cpuHotRemoveEnabled = cpu.get("hot_add_enabled"), cpu.get("hot_remove_enabled")
    spec.memoryMB, spec.memoryHotAddEnabled = size, memory.get("hot_add_enabled")
    return spec


def booted(spec, given):
    """A specification with the boot options of a request."""
    for name in ("delay", "retry_delay"):
        if given.get(name, 0) < 0:
            raise wrong(f"The value {given[name]} of boot.{name} is negative.")
    if given.get("efi_legacy_boot"):
        raise RestError("UNSUPPORTED", "The virtual machine has no legacy boot of EFI.")
    spec.firmware = given["type"].lower() if "type" in given else None
    options = vim.vm.BootOptions(
        bootDelay=given.get("delay"),
        bootRetryEnabled=given.get("retry"),
        bootRetryDelay=given.get("retry_delay"),
        enterBIOSSetup=given.get("enter_setup_mode"),
        networkBootProtocol=given["network_protocol"].lower() if "network_protocol" in given else None,
    )
    if set(given) - {"type", "efi_legacy_boot"}:
        spec.bootOptions = options
    return spec


def boot_order(vm, entries):
    """The order of boot devices; devices of a VM by their identifiers."""
    kinds, order = vim.vm.BootOptions, []
    for one in entries:
        if one["type"] == "DISK":
            if not one.get("disks"):
                raise wrong("The entry DISK of the boot devices has no disks.")
            order += [
                kinds.BootableDiskDevice(deviceKey=by_id(vm, DEVICE.VirtualDisk, key).key) for key in one["disks"]
            ]
        elif one["type"] == "ETHERNET":
            if "nic" not in one:
                raise wrong("The entry ETHERNET of the boot devices has no nic.")
            key = by_id(vm, DEVICE.VirtualEthernetCard, one["nic"]).key
            order.append(kinds.BootableEthernetDevice(deviceKey=key))
        else:
            order.append(kinds.BootableCdromDevice() if one["type"] == "CDROM" else kinds.BootableFloppyDevice())
    return order or [kinds.BootableDevice()]


def by_id(vm, kind, key):
    """A device of a VM; NOT_FOUND where it has none of this kind."""
    found = devices.by_key(vm, int(key)) if key.isascii() and key.isdecimal() and len(key) < 10 else None
    if not isinstance(found, kind):
        text = f"Device with identifier '{key}' does not exist on the virtual machine '{vm.moid}'."
        raise RestError("NOT_FOUND", text, code="com.vmware.api.vcenter.vm.device.not_found", args=[key, vm.moid])
    return found


def disk(request, vm, given, changes, key=-1):
    """The device changes that add a disk: a controller where there is none, and the disk."""
    if ("backing" in given) == ("new_vmdk" in given):
        raise wrong("Exactly one of the fields backing and new_vmdk has to be specified.")
    backing = DEVICE.VirtualDisk.FlatVer2BackingInfo(fileName="", diskMode="persistent")
    made = DEVICE.VirtualDisk(key=key, backing=backing)
    made.controllerKey, made.unitNumber = _controller(vm, given, "SCSI", changes)
    change = DEVICE.VirtualDeviceSpec(operation="add", device=made)
    if "backing" in given:
        if "vmdk_file" not in given["backing"]:
            raise wrong("The backing VMDK_FILE needs the field vmdk_file.")
        backing.fileName = given["backing"]["vmdk_file"]
    else:
        new = given["new_vmdk"]
        size = new.get("capacity", 16 * GIB)  # "defaults to a guest-specific capacity": [unsure] the size
        if size <= 0:
            raise wrong(f"The capacity {size} of the disk is not positive.")
        made.capacityInBytes, made.capacityInKB, change.fileOperation = size, size // 1024, "create"
        backing.thinProvisioned = True
        if "name" in new:
            if "/" in new["name"] or not new["name"]:
                raise wrong(f"The name {new['name']} of the VMDK file is not valid.")
            directory = vm.home.rpartition("/")[0]
            backing.fileName = f"{directory}/{new['name'].removesuffix('.vmdk')}.vmdk"
        policy = new.get("storage_policy", {}).get("policy")
        if policy is not None:
            if policy not in request.world.storage_policies.policies:
                raise RestError("NOT_FOUND", f"The storage policy {policy} does not exist.")
            change.profile = [vim.vm.DefinedProfileSpec(profileId=policy)]
    changes.append(change)


def nic(request, given, changes, key=-1, default=None):
    """The device change that adds a network adapter."""
    made = NICS[given.get("type", "VMXNET3")](key=key)
    if "backing" in given:
        made.backing = network(request, given["backing"])
    elif default is not None:
        made.backing = default
    else:
        raise wrong("The network adapter has no backing.")
    _address(made, given, {"mac_type": "ASSIGNED"})
    how = DEVICE.VirtualDevice.ConnectInfo(
        startConnected=given.get("start_connected", False),
        allowGuestControl=given.get("allow_guest_control", False),
        connected=given.get("start_connected", False),
    )
    made.connectable, made.wakeOnLanEnabled = how, given.get("wake_on_lan_enabled", False)
    if "upt_compatibility_enabled" in given:
        _require_vmxnet3(made)
        made.uptCompatibilityEnabled = given["upt_compatibility_enabled"]
    changes.append(DEVICE.VirtualDeviceSpec(operation="add", device=made))


def nic_update(request, old, given):
    """A network adapter as a request changes it."""
    made = type(old)(key=old.key, controllerKey=old.controllerKey, unitNumber=old.unitNumber, backing=old.backing)
    made.addressType, made.macAddress, made.wakeOnLanEnabled = old.addressType, old.macAddress, old.wakeOnLanEnabled
    if "backing" in given:
        made.backing = network(request, given["backing"])
    _address(made, given, {})
    made.wakeOnLanEnabled = given.get("wake_on_lan_enabled", made.wakeOnLanEnabled)
    if "upt_compatibility_enabled" in given:
        _require_vmxnet3(made)
        made.uptCompatibilityEnabled = given["upt_compatibility_enabled"]
    made.connectable = connection(old, given)
    return made


def _require_vmxnet3(device):
    if not isinstance(device, DEVICE.VirtualVmxnet3):
        raise wrong("The field upt_compatibility_enabled needs a network adapter of type VMXNET3.")


def _address(device, given, default):
    kind = given.get("mac_type", default.get("mac_type"))
    if "mac_address" in given and kind != "MANUAL":
        raise wrong("The field mac_address needs the MAC address type MANUAL.")
    if kind == "MANUAL" and "mac_address" not in given:
        raise wrong("The MAC address type MANUAL needs the field mac_address.")
    if kind is not None:
        device.addressType = kind.lower()
        device.macAddress = given.get("mac_address", device.macAddress if kind != "GENERATED" else None)


def network(request, given):
    """The backing of a network adapter."""
    kind = given["type"]
    if kind in ("HOST_DEVICE", "OPAQUE_NETWORK"):
        raise RestError("UNSUPPORTED", f"The backing type {kind} is not supported on this host.")
    if "network" not in given:
        raise wrong(f"The backing type {kind} needs the field network.")
    found = request.world.get(given["network"])
    wanted = "Network" if kind == "STANDARD_PORTGROUP" else "DistributedVirtualPortgroup"
    if found is None or found.kind not in ("Network", "DistributedVirtualPortgroup"):
        raise RestError("NOT_FOUND", f"Network with identifier '{given['network']}' does not exist.")
    if found.kind != wanted:
        raise wrong(f"The network '{found.name}' is no {kind}.")
    if kind == "STANDARD_PORTGROUP":
        return DEVICE.VirtualEthernetCard.NetworkBackingInfo(
            deviceName=found.name, network=vim.Network(found.moid), useAutoDetect=False
        )
    port = vim.dvs.PortConnection(
        switchUuid=found.switch.uuid, portgroupKey=found.moid, portKey=given.get("distributed_port")
    )
    return DEVICE.VirtualEthernetCard.DistributedVirtualPortBackingInfo(port=port)


def cdrom(vm, given, changes, key=-1):
    """The device change that adds a CD drive."""
    made = DEVICE.VirtualCdrom(key=key, backing=iso(given.get("backing", {"type": "CLIENT_DEVICE"})))
    made.controllerKey, made.unitNumber = _controller(vm, given, "IDE", changes)
    made.connectable = DEVICE.VirtualDevice.ConnectInfo(
        startConnected=given.get("start_connected", False),
        allowGuestControl=given.get("allow_guest_control", False),
        connected=False,
        status="untried",
    )
    changes.append(DEVICE.VirtualDeviceSpec(operation="add", device=made))


def iso(given):
    """The backing of a CD drive."""
    kinds, kind = DEVICE.VirtualCdrom, given["type"]
    if kind == "ISO_FILE":
        if "iso_file" not in given:
            raise wrong("The backing type ISO_FILE needs the field iso_file.")
        return kinds.IsoBackingInfo(fileName=given["iso_file"])
    if kind == "HOST_DEVICE":
        return kinds.AtapiBackingInfo(deviceName=given.get("host_device", ""), useAutoDetect="host_device" not in given)
    emulated = given.get("device_access_type") == "EMULATION"
    return (kinds.RemoteAtapiBackingInfo if emulated else kinds.RemotePassthroughBackingInfo)(
        deviceName="", useAutoDetect=False
    )


def cdrom_update(old, given):
    """A CD drive as a request changes it."""
    backing = iso(given["backing"]) if "backing" in given else old.backing
    made = DEVICE.VirtualCdrom(key=old.key, controllerKey=old.controllerKey, unitNumber=old.unitNumber, backing=backing)
    made.connectable = connection(old, given)
    return made


def connection(old, given, connected=None):
    """The connection of a device as a request changes it."""
    before = old.connectable
    now = before is not None and bool(before.connected)
    return DEVICE.VirtualDevice.ConnectInfo(
        startConnected=given.get("start_connected", before is not None and bool(before.startConnected)),
        allowGuestControl=given.get("allow_guest_control", before is not None and bool(before.allowGuestControl)),
        connected=now if connected is None else connected,
        status="ok" if (now if connected is None else connected) else "untried",
    )


def adapter(name, given, changes, key=-1):
    """The device change that adds a controller."""
    kind = {"adapter/sata": DEVICE.VirtualAHCIController, "adapter/nvme": DEVICE.VirtualNVMEController}.get(name)
    if kind is None:
        kind = SCSI[given.get("type", "PVSCSI")]
    if not 0 <= given.get("bus", 0) <= 3:
        raise wrong(f"The bus {given['bus']} of the adapter is out of its range.")
    made = kind(key=key, busNumber=given.get("bus", 0))
    if name == "adapter/scsi":
        made.sharedBus = SHARING[given.get("sharing", "NONE")]
    changes.append(DEVICE.VirtualDeviceSpec(operation="add", device=made))


def _controller(vm, given, default, changes):
    """(key of the controller, unit) of a disk or drive; a controller of its type is added where there is none."""
    kind = given.get("type", default)
    places = {name for name in ("ide", "scsi", "sata", "nvme") if name in given}
    if places - {kind.lower()}:
        raise wrong(f"The field {min(places - {kind.lower()})} does not fit the type {kind}.")
    if kind == "IDE":
        at = given.get("ide", {})
        bus = 0 if at.get("primary", True) else 1
        if "primary" not in at:
            bus = next((bus for bus in (0, 1) if len(_on(vm, changes, 200 + bus)) < 2), 0)
        free = [unit for unit in (0, 1) if unit not in _on(vm, changes, 200 + bus)]
        unit = {True: 0, False: 1}[at["master"]] if "master" in at else free[0] if free else 0
        return 200 + bus, unit
    at, family = given.get(kind.lower(), {}), _FAMILIES[kind]
    present = [one for one in vm.devices if isinstance(one, family)] if vm is not None else []
    present += [one.device for one in changes if isinstance(one.device, family)]
    if "bus" in at:
        present = [one for one in present if (one.busNumber or 0) == at["bus"]]
        if not present:
            raise wrong(f"The virtual machine has no {kind} adapter with bus {at['bus']}.")
    if not present:
        adapter(f"adapter/{kind.lower()}", {}, changes, key=-100 - len(changes))
        present = [changes[-1].device]
    return present[0].key, at.get("unit")


def _on(vm, changes, key):
    """The units that are taken on a controller."""
    held = [*(vm.devices if vm is not None else ()), *(one.device for one in changes)]
    return {one.unitNumber for one in held if one.controllerKey == key}


_FAMILIES = {
    "SCSI": DEVICE.VirtualSCSIController,
    "SATA": DEVICE.VirtualAHCIController,
    "NVME": DEVICE.VirtualNVMEController,
}
