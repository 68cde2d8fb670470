"""CreateDescriptor: an OVF 1.1 descriptor of a VM, as vCenter writes them."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from pyVmomi import vim

from . import backings, ovf, ovf_import

DEVICE = vim.vm.device
STREAM = "http://www.vmware.com/interfaces/specifications/vmdk.html#streamOptimized"
ENVELOPE = (
    f'<Envelope xmlns="{ovf.NAMESPACE}" xmlns:ovf="{ovf.NAMESPACE}"'
    ' xmlns:cim="http://schemas.dmtf.org/wbem/wscim/1/common"'
    ' xmlns:rasd="http://schemas.dmtf.org/wbem/wscim/1/cim-schema/2/CIM_ResourceAllocationSettingData"'
    ' xmlns:vmw="http://www.vmware.com/schema/ovf"'
    ' xmlns:vssd="http://schemas.dmtf.org/wbem/wscim/1/cim-schema/2/CIM_VirtualSystemSettingData">'
)
CONTROLLERS = (
    # (type, resource type, subtype): the first row that fits counts
    (DEVICE.VirtualIDEController, 5, ""),
    (DEVICE.ParaVirtualSCSIController, 6, "VirtualSCSI"),
    (DEVICE.VirtualLsiLogicSASController, 6, "lsilogicsas"),
    (DEVICE.VirtualBusLogicController, 6, "buslogic"),
    (DEVICE.VirtualLsiLogicController, 6, "lsilogic"),
    (DEVICE.VirtualAHCIController, 20, "vmware.sata.ahci"),
    (DEVICE.VirtualNVMEController, 20, "vmware.nvme.controller"),
    (DEVICE.VirtualUSBXHCIController, 23, "vmware.usb.xhci"),
    (DEVICE.VirtualUSBController, 23, "vmware.usb.ehci"),
)
ADAPTERS = {kind: name for name, kind in ovf_import.ADAPTERS.items()}


def descriptor(world, vm, name, files, description=""):
    """The text; files are (id of the device, path, size) in the order of the package."""
    found = {key: (f"file{number}", path, size) for number, (key, path, size) in enumerate(files, start=1)}
    controllers = {one.key: one for one in vm.devices}
    disks, items = [], []
    instances = _instances(vm)
    for device in vm.devices:
        item = _item(world, vm, device, instances)
        if item is None:
            continue
        values, disk = item
        if disk:
            key = ovf_import.device_id(vm.moid, controllers[device.controllerKey], device)
            disks.append(_disk(device, len(disks) + 1, found.get(key)))
            values["HostResource"] = f"ovf:/disk/vmdisk{len(disks)}"
        items.append(_element(values))
    networks = dict.fromkeys(_network(world, nic) for nic in vm.nics)
    references = "".join(
        f'<File ovf:href={quoteattr(path)} ovf:id="{ident}" ovf:size="{size}"/>' for ident, path, size in found.values()
    )
    section = "".join(
        f"<Network ovf:name={quoteattr(one)}><Description>The {escape(one)} network</Description></Network>"
        for one in networks
    )
    note = escape(description or vm.annotation or "")
    annotation = f"<AnnotationSection><Info>An annotation</Info><Annotation>{note}</Annotation></AnnotationSection>"
    system = escape(name or vm.name)
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n{ENVELOPE}<References>{references}</References>'
        f"<DiskSection><Info>Virtual disk information</Info>{''.join(disks)}</DiskSection>"
        f"<NetworkSection><Info>The list of logical networks</Info>{section}</NetworkSection>"
        f"<VirtualSystem ovf:id={quoteattr(name or vm.name)}><Info>A virtual machine</Info><Name>{system}</Name>"
        f'<OperatingSystemSection ovf:id="1" vmw:osType="{vm.guest_id}"><Info>The kind of installed guest operating'
        f" system</Info></OperatingSystemSection>{annotation if note else ''}{_vapp(vm)}"
        f"<VirtualHardwareSection{_transport(vm)}><Info>Virtual hardware requirements</Info><System>"
        "<vssd:ElementName>Virtual Hardware Family</vssd:ElementName><vssd:InstanceID>0</vssd:InstanceID>"
        f"<vssd:VirtualSystemType>{vm.hardware_version}</vssd:VirtualSystemType></System>"
        f"{_element(_processors(vm))}{_element(_memory(vm))}{''.join(items)}{_config(vm)}"
        "</VirtualHardwareSection></VirtualSystem></Envelope>\n"
    )


def _instances(vm):
    """The instance ids of devices; 1 and 2 are processors and memory."""
    return {device.key: number for number, device in enumerate(vm.devices, start=3)}


def _processors(vm):
    return {
        "AllocationUnits": "hertz * 10^6",
        "ElementName": f"{vm.cpus} virtual CPU(s)",
        "InstanceID": 1,
        "ResourceType": 3,
        "VirtualQuantity": vm.cpus,
        "vmw:CoresPerSocket": vm.cores_per_socket or None,
    }


def _memory(vm):
    return {
        "AllocationUnits": "byte * 2^20",
        "ElementName": f"{vm.memory_mb}MB of memory",
        "InstanceID": 2,
        "ResourceType": 4,
        "VirtualQuantity": vm.memory_mb,
    }


def _item(world, vm, device, instances):
    """The fields of a device and whether it is a disk; None for those that no descriptor has."""
    values = {"ElementName": device.deviceInfo.label, "InstanceID": instances[device.key]}
    kind, subtype = next(((two, three) for one, two, three in CONTROLLERS if isinstance(device, one)), (None, ""))
    if kind is not None:
        return {"Address": device.busNumber or 0, **values, "ResourceSubType": subtype, "ResourceType": kind}, False
    unit = {"AddressOnParent": device.unitNumber, "Parent": instances.get(device.controllerKey)}
    if isinstance(device, DEVICE.VirtualDisk):
        return {**values, **unit, "ResourceType": 17}, True
    if isinstance(device, DEVICE.VirtualCdrom):
        return {**values, **unit, "ResourceSubType": "vmware.cdrom.remotepassthrough", "ResourceType": 15}, False
    subtype = ADAPTERS.get(type(device))
    if subtype is not None:
        connected = str(bool(device.connectable.startConnected)).lower()
        name = _network(world, device)
        card = {"AutomaticAllocation": connected, "Connection": name, "ResourceSubType": subtype, "ResourceType": 10}
        return {"AddressOnParent": device.unitNumber, **values, **card}, False
    return None


def _element(values):
    """An item; its parts are in the order of their names (DSP0243 8.1), those of vCenter last."""
    ordered = sorted((name for name in values if values[name] not in (None, "")), key=lambda one: (":" in one, one))
    parts = (f"<{tag}>{escape(str(values[name]))}</{tag}>" for name in ordered for tag in [_tag(name)])
    return f"<Item>{''.join(parts)}</Item>"


def _tag(name):
    return name if ":" in name else f"rasd:{name}"


def _disk(disk, number, file):
    size = disk.capacityInBytes or (disk.capacityInKB or 0) * 1024
    reference = f' ovf:fileRef="{file[0]}"' if file is not None else ""
    return (
        f'<Disk ovf:capacity="{size}" ovf:capacityAllocationUnits="byte" ovf:diskId="vmdisk{number}"{reference}'
        f' ovf:format="{STREAM}" ovf:populatedSize="0"/>'
    )


def _network(world, nic):
    network = backings.network(world, nic.backing)
    return network.name if network is not None else "VM Network"


def _transport(vm):
    config = vm.kept.get("vAppConfig")
    transports = " ".join(config.ovfEnvironmentTransport) if config is not None else ""
    return f" ovf:transport={quoteattr(transports)}" if transports else ""


def _vapp(vm):
    config = vm.kept.get("vAppConfig")
    if config is None:
        return ""
    licences = "".join(
        f"<EulaSection><Info>A licence</Info><License>{escape(text)}</License></EulaSection>" for text in config.eula
    )
    sections = []
    for product in config.product:
        own = (product.classId or "", product.instanceId or "")
        ids = "".join(
            f" ovf:{name}={quoteattr(value)}" for name, value in zip(("class", "instance"), own, strict=True) if value
        )
        texts = "".join(
            f"<{tag}>{escape(getattr(product, name))}</{tag}>"
            for name, tag in ovf_import.PRODUCT.items()
            if getattr(product, name)
        )
        mine = [one for one in config.property if (one.classId or "", one.instanceId or "") == own]
        properties = "".join(map(_property, mine))
        sections.append(f"<ProductSection{ids}><Info>The product</Info>{texts}{properties}</ProductSection>")
    return licences + "".join(sections)


def _property(one):
    names = {"key": one.id, "type": one.type, "value": one.value or one.defaultValue}
    given = "".join(f" ovf:{name}={quoteattr(value)}" for name, value in names.items() if value)
    mine = str(bool(one.userConfigurable)).lower()
    label = f"<Label>{escape(one.label)}</Label>" if one.label else ""
    about = f"<Description>{escape(one.description)}</Description>" if one.description else ""
    return f'<Property{given} ovf:userConfigurable="{mine}">{label}{about}</Property>'


def _config(vm):
    secure = bool(getattr(vm.boot_options, "efiSecureBootEnabled", False))
    given = {
        "firmware": vm.firmware,
        "cpuHotAddEnabled": vm.cpu_hot_add,
        "memoryHotAddEnabled": vm.memory_hot_add,
        "bootOptions.efiSecureBootEnabled": secure,
    }
    return "".join(
        f'<vmw:Config ovf:required="false" vmw:key="{key}" vmw:value="{str(value).lower()}"/>'
        for key, value in given.items()
    )
