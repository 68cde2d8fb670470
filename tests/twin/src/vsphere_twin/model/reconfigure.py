"""ReconfigVM: apply a config spec to a VM, as a whole or not at all."""

from __future__ import annotations

import contextlib
import copy
import re

from pyVmomi import vim, vmodl

from . import admission, backings, devices, disk_files, guest, kept, storage_policies, vapp_config
from .inventory import encoded, refuse_duplicate, refuse_name
from .vm import written

PLAIN = {
    # ConfigSpec field: (attribute, whether it may change while the VM runs)
    "annotation": ("annotation", True),
    "guestId": ("guest_id", False),
    "uuid": ("uuid", False),
    "instanceUuid": ("instance_uuid", False),
    "cpuHotAddEnabled": ("cpu_hot_add", False),
    "memoryHotAddEnabled": ("memory_hot_add", False),
    "memoryReservationLockedToMax": ("memory_locked", True),
}
MERGED = {"bootOptions": "boot_options", "flags": "flags"}
SERVED = {
    *PLAIN,
    *MERGED,
    *kept.OF_VMS,
    *("changeVersion", "name", "files", "firmware", "version", "latencySensitivity", "numCPUs", "memoryMB"),
    *("numCoresPerSocket", "cpuAllocation", "memoryAllocation", "extraConfig", "virtualNuma", "deviceChange"),
    *("deviceGroups", "vAppConfig", "vAppConfigRemoved", "vmProfile"),
}
# Free space of datastores follows from disks; ports of port groups and switches follow from adapters.
SHOWN_ELSEWHERE = (vim.vm.device.VirtualDisk, vim.vm.device.VirtualEthernetCard)
SHARES = {"low": 0.5, "normal": 1, "high": 2}
# Of a vCPU and of a megabyte (vSphere Resource Management, Resource Allocation Shares).
CPU_SHARES, MEMORY_SHARES = 1000, 10
FIRMWARES = ("bios", "efi")
GUESTS = frozenset(vim.vm.GuestOsDescriptor.GuestOsIdentifier.values)
UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
# extraConfig does not accept keys that have an API property (log of an OVF tool: "ExtraConfig option 'sched.mem.pin' is
# not allowed, will skip it."); that ReconfigVM skips it too is [unsure].
SKIPPED = ("sched.mem.pin",)


def reconfigure(world, vm, spec):
    """Apply a spec to a VM of the inventory."""
    if spec.changeVersion and spec.changeVersion != vm.change_version:
        raise vim.fault.ConcurrentAccess(msg="The object was changed by another operation.")
    if vm.template and spec.deviceChange:
        raise vmodl.fault.NotSupported(msg="The operation is not supported on the object.")
    if spec.name:
        refuse_name(spec.name)
    apply(world, vm, spec)


def apply(world, vm, spec):
    """Apply a spec; a fault leaves the VM as it was."""
    before, disks = {**vm.networks, **vm.datastores}, list(vm.disks)
    kept.refuse_unserved(spec, SERVED)
    with all_or_nothing(world, vm):
        _settings(vm, spec)
        _size(vm, spec)
        _allocations(vm, spec)
        _extra(vm, spec.extraConfig or [])
        _topology(vm, spec.virtualNuma, spec.deviceChange or [])
        devices.change(world, vm, spec.deviceChange or [], spec.deviceGroups)
        _files(world, vm, spec)
        storage_policies.associate(world, vm, None, spec.vmProfile, "configSpec.vmProfile")
        _check(vm)
        _room(world, vm, disks)
    destroyed = {one.device.key for one in spec.deviceChange or [] if one.fileOperation == "destroy" and one.device}
    settle_files(world, vm, disks, destroyed)
    vm.changed()
    attach(world, vm, before)
    if vm.pool is not None:
        world.touch(vm.pool)  # it lists the allocations of its VMs
    if any(isinstance(one.device, SHOWN_ELSEWHERE) for one in spec.deviceChange or []):
        shown = [*before.values(), *vm.networks.values(), *vm.datastores.values()]
        world.touch(*shown, *(one.switch for one in shown if hasattr(one, "switch")))
    guest.renew(world, vm)


@contextlib.contextmanager
def all_or_nothing(world, vm):
    """Changes of a VM that a fault takes back."""
    saved = {name: copy.copy(value) if isinstance(value, (list, dict)) else value for name, value in vars(vm).items()}
    try:
        yield
    except vmodl.MethodFault:
        after = {**vm.networks, **vm.datastores}
        vars(vm).update(saved)
        attach(world, vm, after)
        raise


def attach(world, vm, before=()):
    """Register the VM with its networks and datastores."""
    vm.networks = backings.networks_of(world, vm)
    vm.datastores = backings.datastores_of(world, vm)
    after = {**vm.networks, **vm.datastores}
    touched = []
    for moid, one in {**dict(before), **after}.items():
        if (moid in before) != (moid in after):
            touched += [one, *filter(None, [getattr(one, "switch", None)])]
        if moid in after:
            one.vms[vm.moid] = vm
        else:
            one.vms.pop(vm.moid, None)
    world.touch(vm, *touched)


def _settings(vm, spec):
    running = vm.power == "poweredOn"
    if spec.name:
        if vm.parent is not None:
            refuse_duplicate(vm.parent, spec.name, but=vm)
        vm.name = encoded(spec.name)
    for field, (attribute, hot) in PLAIN.items():
        value = getattr(spec, field)
        if value is None:
            continue
        if running and not hot and value != getattr(vm, attribute):
            raise devices.wrong_power(vm)
        if field == "guestId" and value not in GUESTS or field.lower().endswith("uuid") and not UUID.fullmatch(value):
            raise _wrong(f"configSpec.{field}")
        setattr(vm, attribute, value)
    for field, attribute in MERGED.items():
        setattr(vm, attribute, kept.overlay(getattr(vm, attribute), getattr(spec, field)))
    if [type(one) for one in getattr(vm.boot_options, "bootOrder", None) or []] == [vim.vm.BootOptions.BootableDevice]:
        # One device of the base type brings the default order back (vSphere API reference, bootOrder).
        vm.boot_options.bootOrder = []
    if kept.of_vm(vm, spec, running) is not None:
        raise devices.wrong_power(vm)
    if spec.firmware is not None and spec.firmware != vm.firmware:
        if spec.firmware not in FIRMWARES:
            raise _wrong("configSpec.firmware")
        if vm.power != "poweredOff":
            raise devices.wrong_power(vm)
        vm.firmware = spec.firmware
    if spec.version is not None and spec.version != vm.hardware_version:
        _upgrade(vm, spec.version)
    if spec.vAppConfigRemoved:
        vm.kept.pop("vAppConfig", None)
    elif spec.vAppConfig is not None:
        vm.kept["vAppConfig"] = vapp_config.merged(vm.kept.get("vAppConfig"), spec.vAppConfig)
    if spec.latencySensitivity is not None:
        vm.latency_sensitivity = spec.latencySensitivity.level


def upgrade(world, vm, version=None):
    """UpgradeVM: to a version, or to the newest that the host has."""
    wanted = version or f"vmx-{vm.host.release.newest_hardware}"
    if vm.template:
        raise vmodl.fault.NotSupported(msg="The operation is not supported on the object.")
    if wanted == vm.hardware_version:
        raise vim.fault.AlreadyUpgraded(msg="The virtual machine hardware is already up-to-date.")
    apply(world, vm, vim.vm.ConfigSpec(version=wanted))


def _upgrade(vm, wanted):
    """Upgrade virtual hardware: only to a newer version, while the VM is off, and up to the host's newest."""
    number = wanted.partition("-")[2]
    if not wanted.startswith("vmx-") or not number.isdigit():
        raise _wrong("configSpec.version")
    if vm.power != "poweredOff":
        raise devices.wrong_power(vm)
    if int(number) < vm.hardware_number:
        raise vim.fault.InvalidState(msg="The operation is not allowed in the current state.")
    if int(number) > vm.host.release.newest_hardware:
        raise admission.too_new(vm.host)
    vm.hardware_version = wanted


def _topology(vm, wanted, specs):
    """Refuse a virtual NUMA topology before vSphere 8.0 and hardware version 20 [unsure: how it is refused before]."""
    if any(getattr(one.device, "numaNode", None) not in (None, -1) for one in specs):
        _require_numa(vm, "configSpec.deviceChange.device.numaNode")
    if wanted is None or wanted.coresPerNumaNode is None:
        return
    _require_numa(vm, "configSpec.virtualNuma")
    cores = wanted.coresPerNumaNode or None
    if cores != vm.cores_per_numa_node:
        if vm.power != "poweredOff":
            raise devices.wrong_power(vm)
        if cores is not None and not 0 < cores <= vm.cpus:
            raise _wrong("configSpec.virtualNuma.coresPerNumaNode")
        vm.cores_per_numa_node = cores


def _require_numa(vm, place):
    if not vm.host.release.at_least(8, 0, 0) or vm.hardware_number < 20:
        raise _wrong(place)


def _wrong(place):
    return vmodl.fault.InvalidArgument(msg=f"A specified parameter was not correct: {place}", invalidProperty=place)


def _size(vm, spec):
    running = vm.power == "poweredOn"
    cpus = spec.numCPUs if spec.numCPUs is not None else vm.cpus
    memory = spec.memoryMB if spec.memoryMB is not None else vm.memory_mb
    if running and (cpus < vm.cpus or memory < vm.memory_mb):
        raise devices.wrong_power(vm)
    if running and cpus > vm.cpus and not vm.cpu_hot_add:
        raise vim.fault.CpuHotPlugNotSupported(msg="CPU hot plug is not supported for this virtual machine.")
    if running and memory > vm.memory_mb and not vm.memory_hot_add:
        raise vim.fault.MemoryHotPlugNotSupported(msg="Memory hot plug is not supported for this virtual machine.")
    if cpus < 1 or memory < 4 or memory % 4:
        raise _wrong("configSpec.memoryMB")
    vm.cpus, vm.memory_mb = cpus, memory
    if spec.numCoresPerSocket is not None:
        if running and spec.numCoresPerSocket != vm.cores_per_socket:
            raise devices.wrong_power(vm)
        vm.cores_per_socket = spec.numCoresPerSocket


def _allocations(vm, spec):
    vm.cpu_allocation = _merged(vm.cpu_allocation, spec.cpuAllocation)
    vm.memory_allocation = _merged(vm.memory_allocation, spec.memoryAllocation)
    for name, merged in (("cpuAllocation", vm.cpu_allocation), ("memoryAllocation", vm.memory_allocation)):
        if getattr(spec, name) is not None:
            kept.check_allocation(merged, f"configSpec.{name}")
    if vm.memory_locked:
        vm.memory_allocation = _merged(
            vm.memory_allocation, vim.ResourceAllocationInfo(reservation=vm.memory_mb, limit=-1)
        )
    vm.cpu_allocation = _with_shares(vm.cpu_allocation, vm.cpus * CPU_SHARES)
    vm.memory_allocation = _with_shares(vm.memory_allocation, vm.memory_mb * MEMORY_SHARES)


def _with_shares(allocation, normal):
    """The number of shares follows from a level, other than custom, and from the size of the VM."""
    level = str(allocation.shares.level)
    if level not in SHARES:
        return allocation
    shares = vim.SharesInfo(level=level, shares=int(normal * SHARES[level]))
    return _merged(allocation, vim.ResourceAllocationInfo(shares=shares))


def _merged(old, new):
    if new is None:
        return old
    merged = copy.copy(old)
    for name in ("reservation", "expandableReservation", "limit", "shares", "overheadLimit"):
        if getattr(new, name) is not None:
            setattr(merged, name, getattr(new, name))
    return merged


def _extra(vm, options):
    """Set values; an empty one deletes its key, and an unknown key is silently kept."""
    for option in options:
        if option.key.casefold() in SKIPPED:
            continue
        name = next((key for key in vm.extra if key.casefold() == option.key.casefold()), option.key)
        value = "" if option.value is None else _text(option.value)
        if value == "":
            vm.extra.pop(name, None)
        else:
            vm.extra[name] = value


def _text(value):
    return str(value).upper() if isinstance(value, bool) else str(value)


def _files(world, vm, spec):
    if spec.files is not None and spec.files.vmPathName and not vm.home:
        vm.home = spec.files.vmPathName


def _room(world, vm, before):
    """Require space for growing disks on their datastores, and the maximum size of each disk."""
    needs, old = {}, {_file(disk): written(disk) for disk in before}
    for disk in vm.disks:
        store = world.get(disk.backing.datastore._moId) if getattr(disk.backing, "datastore", None) else None
        if store is None or _file(disk) in store.left_disks or disk_files.of_others(world, vm, _file(disk)):
            continue
        if (disk.capacityInBytes or 0) > disk_files.MOST_BYTES:
            raise disk_files.too_large(store.name, disk.capacityInBytes)
        if _file(disk) not in old:
            store.refuse_new_files()
        needs.setdefault(store, 0)
        needs[store] += written(disk) - old.get(_file(disk), 0)
    for store, need in needs.items():
        if need > 0 and need > max(0, store.room + _counted_already(vm, store, before)):
            raise vim.fault.NoDiskSpace(
                msg=f"Insufficient disk space on datastore '{store.name}'.", file="", datastore=store.name
            )


def _counted_already(vm, store, before):
    """Return the bytes that the datastore already counts for this VM's new disks while they are being added."""
    if vm.moid not in store.vms:
        return 0
    return vm.bytes_on(store.moid) - sum(
        written(disk) for disk in before if getattr(disk.backing, "datastore", None) == vim.Datastore(store.moid)
    )


def settle_files(world, vm, before, destroyed):
    """Update the list of files without a VM: attached disks leave it; detached ones enter it, unless destroyed."""
    names = {_file(disk) for disk in vm.disks}
    for name in names:
        disk_files.take(world, name)
    for disk in before:
        gone = destroyed is True or disk.key in destroyed
        if _file(disk) not in names and not gone and not disk_files.of_others(world, vm, _file(disk)):
            disk_files.leave(world, disk)


def _file(disk):
    return getattr(disk.backing, "fileName", None)


def _check(vm):
    reservation = vm.memory_allocation.reservation or 0
    if reservation > vm.memory_mb:
        raise _wrong("configSpec.memoryAllocation.reservation")
    if vm.cores_per_socket < 0 or vm.cpus % max(1, vm.cores_per_socket):
        raise _wrong("configSpec.numCoresPerSocket")
