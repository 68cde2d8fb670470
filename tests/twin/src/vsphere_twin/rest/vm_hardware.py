"""The hardware of a virtual machine over REST (com.vmware.vcenter.vm.hardware)."""

from __future__ import annotations

from pyVmomi import vim

from ..model import reconfigure
from ..model.vm import NIC
from ..vcenter import vm_privileges
from . import vm_shapes, vm_specs
from .api import Created, route
from .errors import RestError, message
from .fields import Struct, checked
from .refusals import Caller, Refusal, find, refused
from .vm_shapes import DEVICE, DEVICES
from .vms import VM, default_network, require_idle

HARDWARE = f"{VM}/hardware"
VERSION = Struct(
    "vm.Hardware.UpdateSpec",
    upgrade_policy=("NEVER", "AFTER_CLEAN_SHUTDOWN", "ALWAYS"),
    upgrade_version=vm_specs.VERSIONS,
)
UPGRADE = Struct("vm.Hardware.Upgrade", version=vm_specs.VERSIONS)
ORDER = Struct("vm.hardware.boot.Device.Set", ["devices"], devices=[vm_specs.BOOT_ENTRY])
CONNECTABLE = ("cdrom", "ethernet", "floppy", "parallel", "serial")
# How vCenter changes a device: the type of the request, and the device after it.
UPDATES = {
    "disk": (vm_specs.DISK_UPDATE, lambda request, old, given: _other_file(old, given)),
    "ethernet": (vm_specs.NIC_UPDATE, vm_specs.nic_update),
    "cdrom": (vm_specs.CDROM_UPDATE, lambda request, old, given: vm_specs.cdrom_update(old, given)),
    "adapter/scsi": (vm_specs.SCSI_UPDATE, lambda request, old, given: _shared(old, given)),
}


def change(request, vm, spec):
    """Reconfigure a virtual machine with the checks of a ReconfigVM."""
    require_idle(vm)
    vm_privileges.reconfigure(Caller(request), vm, spec)
    with refused():
        reconfigure.reconfigure(request.world, vm, spec)


@route("GET", HARDWARE)
def hardware(request, vm):
    """The version of the virtual hardware."""
    return vm_shapes.hardware(find(request, vm, "VirtualMachine"))


@route("PATCH", HARDWARE)
def update_hardware(request, vm):
    """The policy of an upgrade at a later start, which the twin does not have."""
    found, spec = find(request, vm, "VirtualMachine"), checked(request.body, VERSION)
    if spec.get("upgrade_policy", "NEVER") != "NEVER":
        raise RestError("UNSUPPORTED", "An upgrade of the virtual hardware at a power cycle is not supported.")
    if "upgrade_version" in spec:
        raise vm_specs.wrong("The field upgrade_version needs another upgrade_policy than NEVER.")
    require_idle(found)


@route("POST", HARDWARE, action="upgrade")
def upgrade(request, vm):
    """Upgrade the virtual hardware now."""
    found, spec = find(request, vm, "VirtualMachine"), checked(request.body, UPGRADE)
    Caller(request).require_privilege("VirtualMachine.Config.UpgradeVirtualHardware", found)
    require_idle(found)
    wanted = spec["version"].lower().replace("_", "-") if "version" in spec else None
    try:
        with refused():
            reconfigure.upgrade(request.world, found, wanted)
    except Refusal as problem:
        if isinstance(problem.__cause__, vim.fault.AlreadyUpgraded):
            raise RestError("ALREADY_IN_DESIRED_STATE", *problem.texts, code=problem.code) from problem
        raise


@route("GET", f"{HARDWARE}/cpu")
def cpu(request, vm):
    """The processors."""
    return vm_shapes.cpu(find(request, vm, "VirtualMachine"))


@route("PATCH", f"{HARDWARE}/cpu")
def update_cpu(request, vm):
    """Change the processors."""
    found = find(request, vm, "VirtualMachine")
    change(request, found, vm_specs.sized(vim.vm.ConfigSpec(), cpu=checked(request.body, vm_specs.CPU)))


@route("GET", f"{HARDWARE}/memory")
def memory(request, vm):
    """The memory."""
    return vm_shapes.memory(find(request, vm, "VirtualMachine"))


@route("PATCH", f"{HARDWARE}/memory")
def update_memory(request, vm):
    """Change the memory."""
    found = find(request, vm, "VirtualMachine")
    change(request, found, vm_specs.sized(vim.vm.ConfigSpec(), memory=checked(request.body, vm_specs.MEMORY)))


@route("GET", f"{HARDWARE}/boot")
def boot(request, vm):
    """The boot options."""
    return vm_shapes.boot(find(request, vm, "VirtualMachine"))


@route("PATCH", f"{HARDWARE}/boot")
def update_boot(request, vm):
    """Change the boot options."""
    found = find(request, vm, "VirtualMachine")
    change(request, found, vm_specs.booted(vim.vm.ConfigSpec(), checked(request.body, vm_specs.BOOT)))


@route("GET", f"{HARDWARE}/boot/device")
def boot_devices(request, vm):
    """The order of the boot devices."""
    return vm_shapes.boot_devices(find(request, vm, "VirtualMachine"))


@route("PUT", f"{HARDWARE}/boot/device")
def set_boot_devices(request, vm):
    """Set the order of the boot devices; an empty list brings the default back."""
    found, spec = find(request, vm, "VirtualMachine"), checked(request.body, ORDER)
    order = vm_specs.boot_order(found, spec["devices"])
    change(request, found, vim.vm.ConfigSpec(bootOptions=vim.vm.BootOptions(bootOrder=order)))


def _register(name):
    """Register the requests about one kind of devices."""
    kind, _field, summary = DEVICES[name]
    base = f"{HARDWARE}/{name}"
    one = f"{base}/{{{summary}}}"

    def entity(request, vm, keys):
        found = find(request, vm, "VirtualMachine")
        return found, vm_specs.by_id(found, kind, keys[summary])

    @route("GET", base)
    def listed(request, vm):
        found = find(request, vm, "VirtualMachine")
        return [{summary: str(one.key)} for one in found.devices if isinstance(one, kind)]

    @route("GET", one)
    def info(request, vm, **keys):
        found, device = entity(request, vm, keys)
        return vm_shapes.device(found, name, device)

    @route("POST", base)
    def create(request, vm):
        if request.query:
            raise RestError("OPERATION_NOT_FOUND", "There is no such operation.", status=404)
        found, changes = find(request, vm, "VirtualMachine"), []
        _ADD[name](request, found, changes)
        before = {each.key for each in found.devices}
        change(request, found, vim.vm.ConfigSpec(deviceChange=changes))
        return Created(
            next(str(each.key) for each in found.devices if each.key not in before and isinstance(each, kind))
        )

    @route("DELETE", one)
    def delete(request, vm, **keys):
        found, device = entity(request, vm, keys)
        if any(each.controllerKey == device.key for each in found.devices) and name.startswith("adapter"):
            raise RestError("RESOURCE_IN_USE", f"Devices are attached to the adapter '{device.key}'.")
        removal = DEVICE.VirtualDeviceSpec(operation="remove", device=device)
        change(request, found, vim.vm.ConfigSpec(deviceChange=[removal]))

    if name in UPDATES:
        struct, after = UPDATES[name]

        @route("PATCH", one)
        def update(request, vm, **keys):
            found, device = entity(request, vm, keys)
            made = after(request, device, checked(request.body, struct))
            _edit(request, found, made)

    for action in ("connect", "disconnect") if name in CONNECTABLE else ():
        _connectable(one, action, entity)


def _connectable(template, action, entity):
    @route("POST", template, action=action)
    def connect(request, vm, **keys):
        found, device = entity(request, vm, keys)
        require_idle(found)
        wanted = action == "connect"
        if found.power != "poweredOn":
            text = message("The device is connected only while the virtual machine is powered on.")
            raise Refusal(reconfigure.devices.wrong_power(found), text)
        if bool(device.connectable.connected) == wanted:
            raise RestError("ALREADY_IN_DESIRED_STATE", f"The device is already {action}ed.")
        made = vm_specs.nic_update(request, device, {}) if isinstance(device, NIC) else _same(device)
        made.connectable = vm_specs.connection(device, {}, connected=wanted)
        _edit(request, found, made)


def _edit(request, vm, device):
    edit = DEVICE.VirtualDeviceSpec(operation="edit", device=device)
    change(request, vm, vim.vm.ConfigSpec(deviceChange=[edit]))


def _same(device):
    if isinstance(device, DEVICE.VirtualCdrom):
        return vm_specs.cdrom_update(device, {})
    made = type(device)(key=device.key, controllerKey=device.controllerKey, unitNumber=device.unitNumber)
    made.backing = device.backing
    return made


def _other_file(old, given):
    """A disk keeps its file: vCenter changes the backing of a disk, and the model does not."""
    wanted = given.get("backing", {}).get("vmdk_file", old.backing.fileName)
    if wanted != old.backing.fileName:
        raise RestError("UNSUPPORTED", "The backing of the disk cannot be changed.")
    return DEVICE.VirtualDisk(key=old.key, controllerKey=old.controllerKey, unitNumber=old.unitNumber)


def _shared(old, given):
    made = type(old)(key=old.key, busNumber=old.busNumber)
    made.sharedBus = vm_specs.SHARING[given["sharing"]] if "sharing" in given else old.sharedBus
    return made


def _no_port(request, _vm, _changes):
    raise RestError("UNSUPPORTED", "The host has no port of this kind for a virtual machine.")


def _adding(struct, add):
    return lambda request, vm, changes: add(request, vm, checked(request.body, struct), changes)


_ADD = {
    **dict.fromkeys(("floppy", "parallel", "serial"), _no_port),
    "disk": _adding(vm_specs.DISK, vm_specs.disk),
    "ethernet": _adding(
        vm_specs.NIC,
        lambda request, vm, given, changes: vm_specs.nic(request, given, changes, default=default_network(vm)),
    ),
    "cdrom": _adding(vm_specs.CDROM, lambda request, vm, given, changes: vm_specs.cdrom(vm, given, changes)),
    **{
        name: _adding(struct, lambda request, vm, given, changes, name=name: vm_specs.adapter(name, given, changes))
        for name, struct in vm_specs.ADAPTERS.items()
    },
}
for _name in DEVICES:
    _register(_name)
