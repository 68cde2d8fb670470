"""CreateImportSpec: the specification of a VM from an OVF descriptor, and the files that an import uploads."""

from __future__ import annotations

import re

from pyVmomi import vim

from . import backings, devices, inventory, kept, ovf, provision

DEVICE = vim.vm.device
ADAPTERS = {
    "E1000": DEVICE.VirtualE1000,
    "E1000e": DEVICE.VirtualE1000e,
    "PCNet32": DEVICE.VirtualPCNet32,
    "VmxNet3": DEVICE.VirtualVmxnet3,
}
# By type and subtype of an item (DSP1043 and the descriptors that vCenter exports); "" is the subtype of no subtype.
CONTROLLERS = {
    "5": {"": DEVICE.VirtualIDEController},
    "6": {
        "": DEVICE.VirtualLsiLogicController,
        "lsilogic": DEVICE.VirtualLsiLogicController,
        "lsilogicsas": DEVICE.VirtualLsiLogicSASController,
        "buslogic": DEVICE.VirtualBusLogicController,
        "virtualscsi": DEVICE.ParaVirtualSCSIController,
    },
    "20": {"vmware.sata.ahci": DEVICE.VirtualAHCIController, "vmware.nvme.controller": DEVICE.VirtualNVMEController},
    "23": {"vmware.usb.ehci": DEVICE.VirtualUSBController, "vmware.usb.xhci": DEVICE.VirtualUSBXHCIController},
}
# Thin or not, by the provisioning of the request; those of hosted products are not supported (vSphere API reference).
PROVISIONING = {
    **dict.fromkeys(("thin", "sparse"), True),
    **dict.fromkeys(("", "thick", "flat", "monolithicFlat", "eagerZeroedThick"), False),
}
IGNORED = ("1", "2", "24", "35")  # VMCI, what each VM has, video and sound cards
BOOLEANS = ("cpuHotAddEnabled", "memoryHotAddEnabled", "nestedHVEnabled")
# Settings that vCenter exports and the twin does not model.
UNMODELLED = ("bootOptions.", "flags.", "powerOpInfo.", "tools.", "videoRamSizeInKB", "slotInfo.", "wakeOnLanEnabled")


class Plan:
    """The specification of an import, with its files and all that is wrong with it."""

    def __init__(self, world, pool, store, params, host=None):
        self.world, self.pool, self.store, self.params = world, pool, store, params
        if host is not None and host.moid not in pool.owner.hosts:
            raise kept.wrong("cisp.hostSystem")
        self.host = host or provision.choose_host(pool, None)
        self.config = vim.vm.ConfigSpec(memoryMB=32, numCPUs=1, deviceChange=[])
        self.files, self.errors, self.warnings = [], [], []
        self._controllers = {}  # instance: device
        self._units = {}  # key of a controller: its units
        self._images = 0

    def read(self, text):
        """Fill the plan from a descriptor."""
        try:
            found = ovf.read(text)
        except vim.fault.OvfFault as fault:
            self.errors.append(fault)
            return self
        self.config.name = self.params.entityName or found.name
        self._general(found)
        option = self.params.deploymentOption or found.default_option
        if option not in found.options and option:
            self.errors.append(kept.wrong("cisp.deploymentOption"))  # [unsure: the fault]
        if (self.params.diskProvisioning or "") not in PROVISIONING:
            self.errors.append(_no_such_provisioning(self.params.diskProvisioning))
        for element, values in found.items:
            wanted = element.get("configuration", "").split()
            if wanted and option not in wanted:
                continue
            try:
                self._item(found, element, values)
            except vim.fault.OvfFault as fault:
                optional = element.get("required") == "false" and isinstance(fault, vim.fault.OvfUnsupportedPackage)
                (self.warnings if optional else self.errors).append(fault)
        return self

    def _general(self, found):
        config = self.config
        versions = [one for one in found.hardware if one.startswith("vmx-")]
        fitting = [one for one in versions if _makes(self.host, one)]
        if versions and not fitting:
            version = " ".join(versions)
            self.errors.append(
                vim.fault.OvfNoSupportedHardwareFamily(
                    msg=f"No supported hardware versions among [{version}]; supported: "
                    f"vmx-{self.host.release.newest_hardware} and older.",
                    version=version,
                    lineNumber=0,
                )
            )
        config.version = max(fitting, key=lambda one: int(one[4:]), default=None)
        known = found.guest in vim.vm.GuestOsDescriptor.GuestOsIdentifier.values
        config.guestId = found.guest if known else "otherGuest"
        config.annotation = found.annotation or None
        config.files = vim.vm.FileInfo(vmPathName=f"[{self.store.name}]")
        for key, value in found.config.items():
            if key == "firmware":
                config.firmware = value
            elif key in BOOLEANS:
                setattr(config, key, value == "true")
            elif key == "bootOptions.efiSecureBootEnabled":
                config.bootOptions = vim.vm.BootOptions(efiSecureBootEnabled=value == "true")
            elif not key.startswith(UNMODELLED):
                self.warnings.append(_unsupported_value("Config", key))
        allowed = "allowExtraConfig" in (self.params.importOption or [])
        for key, value in found.extra.items():
            if allowed:
                config.extraConfig.append(vim.option.OptionValue(key=key, value=value))
            else:
                self.warnings.append(_unsupported_value("ExtraConfig", key))
        if found.products or found.eulas or found.transports:
            config.vAppConfig = vapp_config(found, self.params)

    def _item(self, found, element, values):
        kind, subtype = values.get("ResourceType", ""), values.get("ResourceSubType", "").split(" ")[0].casefold()
        if kind in IGNORED:
            return
        if kind == ovf.PROCESSOR:
            self.config.numCPUs = self._quantity(values)
            cores = values.get("CoresPerSocket")
            self.config.numCoresPerSocket = ovf.amount("Item", "CoresPerSocket", cores) if cores else None
        elif kind == ovf.MEMORY:
            self.config.memoryMB = self._quantity(values, values.get("AllocationUnits") or "byte * 2^20") // 2**20
        elif kind in CONTROLLERS:
            self._controller(CONTROLLERS[kind], kind, subtype, values)
        elif kind == "10":
            self._adapter(found, element, subtype, values)
        elif kind == ovf.CDROM or kind == "16":
            self._cdrom(found, values)
        elif kind == ovf.DISK:
            self._disk(found, values)
        elif kind == "14":
            backing = DEVICE.VirtualFloppy.RemoteDeviceBackingInfo()
            self._add(DEVICE.VirtualFloppy(controllerKey=devices.SIO_CONTROLLER, backing=backing))
        else:
            raise vim.fault.OvfUnsupportedType(
                msg=f"Unsupported hardware device '{values.get('ElementName', '')}' of type {kind}.",
                name=values.get("ElementName", ""),
                instanceId=values.get("InstanceID", ""),
                deviceType=int(kind) if kind.isdecimal() and len(kind) < 9 else 0,
                lineNumber=0,
            )

    def _quantity(self, values, units=None):
        number = ovf.amount("Item", "VirtualQuantity", values.get("VirtualQuantity"), units)
        if number >= 2**31 * (2**20 if units else 1):
            raise ovf.malformed("Item", "VirtualQuantity", values["VirtualQuantity"])
        return number

    def _controller(self, kinds, kind, subtype, values):
        made = kinds.get(subtype if kind != "5" else "")
        if made is None:
            raise _unsupported_subtype(values, kind)
        address = values.get("Address", "")
        family = [one for one in self._controllers.values() if _family(type(one)) is _family(made)]
        bus = int(address) if address.isdecimal() and len(address) < 3 else len(family)
        device = made(key=self._key(), busNumber=bus)
        if isinstance(device, DEVICE.VirtualSCSIController):
            device.sharedBus = DEVICE.VirtualSCSIController.Sharing.noSharing
        self._controllers[values.get("InstanceID", "")] = self._add(device)

    def _disk(self, found, values):
        disk = self._host_resource(found, values, "disk", found.disks)
        if disk is None:
            raise ovf.missing_element("HostResource")
        thin = PROVISIONING.get(self.params.diskProvisioning or "", False)
        backing = backings.FLAT(diskMode="persistent", thinProvisioned=thin, fileName=f"[{self.store.name}]")
        device = DEVICE.VirtualDisk(backing=backing, capacityInKB=-(-disk.capacity // 1024))
        device.capacityInBytes = disk.capacity
        self._place(device, values)
        self._add(device, "create")
        if disk.file is not None:
            self._upload(found.files[disk.file], device, ovf.DISK)

    def _cdrom(self, found, values):
        device = DEVICE.VirtualCdrom(backing=DEVICE.VirtualCdrom.RemotePassthroughBackingInfo(exclusive=False))
        device.backing.deviceName = ""
        file = self._host_resource(found, values, "file", found.files)
        self._place(device, values)
        if file is not None:
            name = f"[{self.store.name}] _deviceImage{self._images}.iso"
            device.backing = DEVICE.VirtualCdrom.IsoBackingInfo(fileName=name)
            self._images += 1
            self._upload(file, device, ovf.CDROM)
        self._add(device)

    def _adapter(self, found, element, subtype, values):
        made = next((one for name, one in ADAPTERS.items() if name.casefold() == (subtype or "pcnet32")), None)
        if made is None:
            raise _unsupported_subtype(values, "10")
        name = values.get("Connection", "")
        if name and name not in found.networks:
            raise ovf.unknown_reference("Item", "Connection", name)
        device = made(backing=backing_of(self._network(name)), addressType="assigned")
        start = values.get("AutomaticAllocation", "true") != "false"
        device.connectable = DEVICE.VirtualDevice.ConnectInfo(
            startConnected=start, allowGuestControl=True, connected=start
        )
        self._add(device)

    def _network(self, name):
        """The mapped network, else one of the same name, else the first of the host [unsure: the last two]."""
        mapped = {one.name: one.network for one in self.params.networkMapping or []}
        if name in mapped:
            target = self.world.get(mapped[name]._moId)
            if target is None or target.moid not in self.host.networks:
                raise vim.fault.OvfNoHostNic(msg=f"The host has no network for '{name}'.", lineNumber=0)
            return target
        usable = [one for one in self.host.networks.values() if not getattr(one, "uplink", False)]
        if not usable:
            raise vim.fault.OvfNoHostNic(msg="No networks found on the host.", lineNumber=0)
        return next((one for one in usable if one.name == name), usable[0])

    def _host_resource(self, found, values, kind, known):
        """The disk or file of ovf:/disk/vmdisk1; None where the item has none."""
        text = values.get("HostResource", "")
        if not text:
            return None
        wanted, _slash, ident = text.removeprefix("ovf:").removeprefix("/").partition("/")
        if wanted != kind or ident not in known:
            raise ovf.unknown_reference("Item", "HostResource", text)
        return known[ident]

    def _place(self, device, values):
        """Put a device on its parent, at its address or the next free one."""
        parent = self._controllers.get(values.get("Parent", ""))
        if parent is None:
            raise ovf.unknown_reference("Item", "Parent", values.get("Parent", ""))
        taken, unit = self._units.setdefault(parent.key, set()), values.get("AddressOnParent", "")
        if isinstance(parent, DEVICE.VirtualSCSIController):
            taken.add(7)
        free = next(number for number in range(len(taken) + 1) if number not in taken)
        number = int(unit) if unit.isdecimal() and len(unit) < 4 else free
        if number in taken:
            raise ovf.malformed("Item", "AddressOnParent", unit)
        taken.add(number)
        device.controllerKey, device.unitNumber = parent.key, number

    def _upload(self, file, device, kind):
        parent = next(one for one in self._controllers.values() if one.key == device.controllerKey)
        item = vim.OvfManager.FileItem(
            deviceId=device_id(self.config.name, parent, device),
            path=file.href,
            size=file.size or None,
            cimType=int(kind),
            create=kind != ovf.DISK,
        )
        self.files.append(item)

    def _key(self):
        return -1 - len(self.config.deviceChange)

    def _add(self, device, operation=None):
        device.key = device.key or self._key()
        change = vim.vm.device.VirtualDeviceSpec(operation="add", fileOperation=operation, device=device)
        self.config.deviceChange.append(change)
        return device


def device_id(name, controller, device):
    """The id by which an import names the device of a file: /NAME/VirtualLsiLogicController0:0."""
    return f"/{name}/{type(controller)._wsdlName}{controller.busNumber or 0}:{device.unitNumber}"


def backing_of(network):
    """The backing of an adapter that is attached to a network."""
    switch = getattr(network, "switch", None)
    if switch is None:
        return backings.NIC_STANDARD(deviceName=network.name, network=inventory.reference(network))
    return backings.NIC_DISTRIBUTED(port=vim.dvs.PortConnection(switchUuid=switch.uuid, portgroupKey=network.key))


def sizes(found):
    """Bytes of a download, of thick and of thin disks."""
    thick = sum(disk.capacity for disk in found.disks.values())
    download = sum(file.size for file in found.files.values())
    return download, thick, min(thick, download)


def _family(kind):
    return DEVICE.VirtualSCSIController if issubclass(kind, DEVICE.VirtualSCSIController) else kind


def _makes(host, version):
    number = int(version[4:]) if re.fullmatch(r"vmx-\d{1,3}", version) else 0
    return number in provision.MADE and number <= host.release.newest_hardware


def vapp_config(found, params):
    """Products, properties with their values, and licences, as vCenter writes them into the specification."""
    given = {one.key: one.value for one in params.propertyMapping or []}
    spec = vim.vApp.VmConfigSpec(eula=found.eulas, ovfEnvironmentTransport=found.transports)
    for key, product in enumerate(found.products):
        texts = {name: product.findtext(tag) or "" for name, tag in PRODUCT.items()}
        info = vim.vApp.ProductInfo(
            key=key, classId=product.get("class", ""), instanceId=product.get("instance", ""), **texts
        )
        spec.product.append(vim.vApp.ProductSpec(operation="add", info=info))
    for key, (product, category, one) in enumerate(found.properties()):
        parts = (product.get("class"), one.get("key"), product.get("instance"))
        ident = ".".join(part for part in parts if part)
        info = vim.vApp.PropertyInfo(
            key=key,
            classId=product.get("class", ""),
            instanceId=product.get("instance", ""),
            id=one.get("key", ""),
            category=category,
            label=one.findtext("Label") or "",
            type=one.get("type", "string"),
            userConfigurable=one.get("userConfigurable") == "true",
            defaultValue=one.get("value", ""),
            value=given.get(ident, ""),
            description=one.findtext("Description") or "",
        )
        spec.property.append(vim.vApp.PropertySpec(operation="add", info=info))
    if params.ipAllocationPolicy or params.ipProtocol:
        spec.ipAssignment = vim.vApp.IPAssignmentInfo(
            ipAllocationPolicy=params.ipAllocationPolicy, ipProtocol=params.ipProtocol
        )
    return spec


PRODUCT = {
    "name": "Product",
    "vendor": "Vendor",
    "version": "Version",
    "fullVersion": "FullVersion",
    "vendorUrl": "VendorUrl",
    "productUrl": "ProductUrl",
    "appUrl": "AppUrl",
}


def _no_such_provisioning(name):
    supported = [one for one in PROVISIONING if one]
    return vim.fault.OvfUnsupportedDiskProvisioning(
        msg=f"The host does not support the disk provisioning '{name}'. Supported: {', '.join(supported)}.",
        diskProvisioning=name,
        supportedDiskProvisioning=", ".join(supported),
    )


def _unsupported_subtype(values, kind):
    return vim.fault.OvfUnsupportedSubType(
        msg=f"Unsupported type '{values.get('ResourceSubType', '')}' of the device '{values.get('ElementName', '')}'.",
        elementName=values.get("ElementName", ""),
        instanceId=values.get("InstanceID", ""),
        deviceType=int(kind),
        deviceSubType=values.get("ResourceSubType", ""),
        lineNumber=0,
    )


def _unsupported_value(element, key):
    return vim.fault.OvfUnsupportedElementValue(
        msg=f"{element} option '{key}' is not allowed, will skip it.", name=element, value=key, lineNumber=0
    )
