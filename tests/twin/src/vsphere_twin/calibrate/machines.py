"""VMs: devices, numbering, reservations, firmware, moves."""

from __future__ import annotations

import re
from collections import Counter

from vsphere_twin.model import admission, assigned, catalogue, graphics, nics, release, resources, slots
from vsphere_twin.vcenter.projections import hardware_options

from .gpus import vgpus_of
from .registry import rule
from .verdict import confirms, either, lacks, refutes

PASSTHROUGH = "VirtualPCIPassthrough"
SRIOV, PVRDMA = "VirtualSriovEthernetCard", "VirtualVmxnet3Vrdma"
SCSI = (
    "ParaVirtualSCSIController",
    "VirtualLsiLogicSASController",
    "VirtualLsiLogicController",
    "VirtualBusLogicController",
)
EXPRESS = tuple(one.__name__.rpartition(".")[2] for one in slots.EXPRESS)
PLAIN_PCI = ("VirtualE1000", "VirtualPCNet32", "VirtualVmxnet")
ADAPTERS = re.compile(r"Virtual(?:Vmxnet\w*|E1000e?|PCNet32|SriovEthernetCard)")
VIDEO = "VirtualMachineVideoCard"
FIRST_DEVICE, LAST_DEVICE, FIRST_ADAPTER = 13000, 13999, 4000
# Running VMs of one shape differ: 44 to 67 MB with 1 vCPU and 2 GB, and 33 MB with 128 MB, in six public recordings.
TOLERANCE, TOLERANCE_MB = 0.25, 28
MB = 1024 * 1024


def devices(vm, *kinds):
    return [one for one in vm.all("config.hardware.device") if one.kind in kinds]


def adapters(vm):
    found = [one for one in vm.all("config.hardware.device") if ADAPTERS.fullmatch(one.kind)]
    return sorted(found, key=lambda one: one.number("key") or 0)


def settings(vm):
    """The extraConfig of a VM as pairs, in their order."""
    return [(one.text("key") or "", one.text("value") or "") for one in vm.all("config.extraConfig")]


def setting(vm, name):
    return next((value for key, value in settings(vm) if key.casefold() == name.casefold()), None)


def needs_memory(vm):
    return bool(devices(vm, PASSTHROUGH, SRIOV, PVRDMA))


@rule("pci-device-keys")
def keys(evidence):
    for vm in evidence.vms:
        for one in devices(vm, PASSTHROUGH):
            key, unit = one.number("key"), one.number("unitNumber")
            values = f"key {key}, unit {unit}, controller {one.number('controllerKey')}"
            good = key is not None and FIRST_DEVICE <= key <= LAST_DEVICE and one.number("controllerKey") == 100
            yield either(good, vm.name, values)


@rule("passthru-numbering")
def numbering(evidence):
    for vm in evidence.vms:
        found = {int(one[1]) for key, _v in settings(vm) if (one := re.fullmatch(r"ethernet(\d+)\.pciSlotNumber", key))}
        cards = {(one.number("key") or 0) - FIRST_ADAPTER for one in adapters(vm)}
        if found and cards:
            values = f"ethernet{sorted(found)}, keys of adapters minus {FIRST_ADAPTER}: {sorted(cards)}"
            # An adapter that was added while the VM ran can have no slot yet.
            yield either(found <= cards, vm.name, values)
        present = {
            int(one[1])
            for key, value in settings(vm)
            if (one := re.fullmatch(r"pciPassthru(\d+)\.present", key)) and value.casefold() == "true"
        }
        count = len(devices(vm, PASSTHROUGH))
        if present and count:
            values = f"pciPassthru{sorted(present)} present, {count} devices"
            yield either(present == set(range(count)), vm.name, values)


@rule("guest-adapter-names")
def adapter_names(evidence):
    late, early = {}, Counter()  # by the controllers: VMs that start at a later slot, number of those that do not
    for vm in evidence.running:
        layout = tuple(sorted(one.kind for one in devices(vm, *SCSI)))
        free = slots.after(len(devices(vm, *EXPRESS)))
        placed = [one for one in adapters(vm) if one.kind not in PLAIN_PCI][: len(free)]
        cards = [one for one in placed if one.kind == "VirtualVmxnet3"]
        keys = [setting(vm, f"ethernet{(one.number('key') or 0) - FIRST_ADAPTER}.pciSlotNumber") for one in cards]
        expected = [free[number] for number, one in enumerate(placed) if one.kind == "VirtualVmxnet3"]
        links = evidence.outputs("guests", vm.name).data("ip -j link")
        if isinstance(links, list) and cards:
            by_mac = {str(one.get("address", "")).lower(): one.get("ifname") for one in links if isinstance(one, dict)}
            names = [by_mac.get((card.text("macAddress") or "").lower()) for card in cards]
            if None not in names:
                yield either(names == [slots.name_of(one) for one in expected], vm.name, f"guest: {', '.join(names)}")
                continue
        if cards and all(one is not None and one.isdecimal() for one in keys):
            found = list(map(int, keys))
            values = f"PCI slots {', '.join(keys)}, the twin has {', '.join(map(str, expected))}"
            early[layout] += found[0] == expected[0]
            if found == expected or not _skips(found, free):
                yield either(found == expected, vm.name, values)
            elif found[0] != expected[0] and not devices(vm, PASSTHROUGH, SRIOV):
                # A device that is passed through can have the first slot [unsure], so such a VM decides nothing.
                late.setdefault(layout, []).append(refutes(vm.name, values))
            # A gap behind the first adapter shows an adapter that the VM had before.
        elif cards:
            yield lacks("ethernet<N>.pciSlotNumber or ip -j link of a running VM")
    for layout, found in late.items():
        # A few VMs can have lost their first adapter or a controller. Most VMs of a layout start as the rule says.
        if len(found) >= early[layout]:
            yield from found


def _skips(found, free):
    """Whether adapters have slots for adapters, in their order."""
    places = [free.index(one) for one in found if one in free]
    return len(places) == len(found) and places == sorted(set(places))


@rule("extra-config-keys")
def extra_keys(evidence):
    for vm in evidence.vms:
        # An anonymised capture has one pseudonym for keys that begin with the same name of the site.
        names = {key for key, _value in settings(vm)}
        twice = sorted({one for one in names if sum(one.casefold() == other.casefold() for other in names) > 1})
        if twice:
            yield refutes(vm.name, f"keys that differ only in case: {', '.join(twice)}")
        odd = [one for one in names if one.casefold() in CANONICAL and one != CANONICAL[one.casefold()]]
        if odd and not twice:
            yield confirms(vm.name, f"key kept as it was written: {', '.join(odd)}")


CANONICAL = {
    one.casefold(): one
    for one in (
        "pciPassthru.use64bitMMIO",
        "pciPassthru.64bitMMIOSizeGB",
        "pciPassthru.allowP2P",
        "pciPassthru.RelaxACSforP2P",
        "numa.nodeAffinity",
        "sched.mem.pin",
    )
}


def _options(evidence):
    """The options of each hardware version, with the release of the hosts."""
    version = (evidence.manifest.get("vcenter") or {}).get("version") or ""
    for name, values in sorted(evidence.answers("QueryConfigOptionEx").items()):
        number = re.fullmatch(r"vmx-(\d+)", name)
        options = values[0].one("hardwareOptions") if values else None
        if number and options is not None:
            yield int(number[1]), options, version


def _limit(options, kind, field):
    found = [one for one in options.all("virtualDeviceOption") if one.kind == kind]
    return found[0].number(f"{field}.max") if found else None


@rule("pvrdma-options")
def pvrdma(evidence):
    for number, options, version in _options(evidence):
        found = _limit(options, "VirtualPCIControllerOption", "numVmxnet3VrdmaEthernetCards")
        expected = nics.most_pvrdma(number) if number >= nics.PVRDMA_HARDWARE else None
        if found is not None or number >= nics.PVRDMA_HARDWARE:
            if found is None:
                yield lacks(f"numVmxnet3VrdmaEthernetCards of vmx-{number}")
            else:
                yield either(found == expected, f"vmx-{number}", f"{found} PVRDMA adapters, the twin has {expected}")
        card = next(
            (one for one in options.all("virtualDeviceOption") if one.kind == "VirtualVmxnet3VrdmaOption"), None
        )
        if card is not None:
            protocols = [one.text("key") for one in card.all("deviceProtocol.choiceInfo")]
            right = _protocols(number, version)
            if right is not None and (protocols or right):
                values = f"protocols {protocols}, the twin has {right}"
                yield either(sorted(protocols) == sorted(right), f"vmx-{number}", values)


def _protocols(number, version):
    own = release.RELEASES.get(version)
    if own is None:
        return None
    return list(nics.protocols(own)) if number in nics.PROTOCOL_HARDWARE else []


@rule("hardware-limits")
def limits(evidence):
    for number, options, _version in _options(evidence):
        pairs = {
            "passthrough devices": (
                _limit(options, "VirtualPCIControllerOption", "numPCIPassthroughDevices"),
                assigned.most(number),
            ),
            "device groups": (options.number("numDeviceGroups.max"), assigned.most(number) if number >= 20 else None),
            "NUMA nodes": (
                options.number("numNumaNodes.max"),
                hardware_options.MOST_VIRTUAL_NUMA_NODES if number >= 20 else None,
            ),
            "CPUs": (
                max((int(one) for one in options.texts("numCPU")), default=None),
                next(
                    (most for at, most in sorted(hardware_options.MOST_CPUS.items(), reverse=True) if number >= at), 64
                ),
            ),
        }
        for what, (found, expected) in pairs.items():
            if found is not None:
                yield either(found == expected, f"vmx-{number}", f"{what}: {found}, the twin has {expected}")


@rule("assigned-ids")
def assigned_ids(evidence):
    for vm in evidence.running:
        for one in devices(vm, PASSTHROUGH):
            backing = one.one("backing")
            if backing is not None and backing.kind.endswith("DynamicBackingInfo"):
                found = backing.text("assignedId")
                yield either(bool(found), vm.name, f"device {one.number('key')}: assignedId {found}")
        for one in devices(vm, SRIOV):
            found = one.number("sriovBacking.virtualFunctionIndex")
            yield either(found is not None, vm.name, f"adapter {one.number('key')}: virtualFunctionIndex {found}")


@rule("vm-overhead")
def overhead(evidence):
    for vm in evidence.running:
        found = vm.number("config.initialOverhead.initialMemoryReservation")
        cpus, memory_mb = vm.number("config.hardware.numCPU"), vm.number("config.hardware.memoryMB")
        # A VM that is a hypervisor itself needs more, about 4 MB per GB. One with 3D graphics needs about its video
        # memory more. The twin has neither.
        other = vm.text("config.nestedHVEnabled"), *(one.text("enable3DSupport") for one in devices(vm, VIDEO))
        if not found or not cpus or not memory_mb or "true" in other:
            continue
        mapped = (setting(vm, "pciPassthru.use64bitMMIO") or "").casefold() == "true"
        expected = resources.overhead_of(cpus, memory_mb, mapped)
        real = found // MB
        values = f"{cpus} CPUs, {memory_mb} MB: {real} MB, the twin has {expected} MB"
        yield either(abs(real - expected) <= max(TOLERANCE * real, TOLERANCE_MB), vm.name, values)


@rule("server-does-not-lock-memory")
def locked(evidence):
    for vm in evidence.vms:
        reserved, size = vm.number("config.memoryAllocation.reservation"), vm.number("config.hardware.memoryMB")
        free = vm.text("config.memoryReservationLockedToMax") == "false"
        if vgpus_of(vm) and free and reserved is not None and size is not None and reserved < size:
            yield confirms(vm.name, f"a vGPU, {reserved} of {size} MB reserved")


@rule("all-memory-reserved")
def reserved(evidence):
    for vm in evidence.running:
        size = vm.number("config.hardware.memoryMB")
        found = vm.number("resourceConfig.memoryAllocation.reservation")
        if not needs_memory(vm) or size is None:
            continue
        if found is None:
            yield lacks("resourceConfig of a running VM with a GPU or RDMA device")
        else:
            yield either(found >= size, vm.name, f"runs with {found} of {size} MB reserved")


@rule("gpu-firmware-and-mmio")
def firmware(evidence):
    for vm in evidence.running:
        boards = [board for _profile, board in map(catalogue.profile, vgpus_of(vm)) if board is not None]
        need_gb = sum(board.mmio_gb for board in boards)
        if not need_gb:
            continue
        kind = vm.text("config.firmware")
        on = (setting(vm, "pciPassthru.use64bitMMIO") or "").casefold() == "true"
        size = setting(vm, "pciPassthru.64bitMMIOSizeGB")
        has_gb = (int(size) if size and size.isdigit() else admission.DEFAULT_MMIO_GB) if on else 0
        yield either(kind == "efi" and has_gb >= need_gb, vm.name, f"runs with {kind}, {has_gb} of {need_gb} GB MMIO")


@rule("vgpus-per-vm")
def count(evidence):
    for vm in evidence.running:
        host, found = evidence.host_of(vm), len(vgpus_of(vm))
        version = (host.text("config.product.version") or "") if host is not None else ""
        if not found or not version:
            continue
        most = 8 if int(version.partition(".")[0]) >= 8 else 4
        if found > most:
            yield refutes(vm.name, f"runs with {found} vGPUs on ESXi {version}")
        elif found == most:
            yield confirms(vm.name, f"runs with {found} vGPUs on ESXi {version}")


# Classes of faults by which the twin rejects a start.
REASONS = frozenset(
    [
        "CannotAccessFile",
        "CannotAccessNetwork",
        "DeviceNotSupported",
        "GenericVmConfigFault",
        "HostNotConnected",
        "InsufficientCpuResourcesFault",
        "InsufficientGraphicsResourcesFault",
        "InsufficientMemoryResourcesFault",
        "InsufficientResourcesFault",
        "InvalidHostState",
        "InvalidPowerState",
        "NoCompatibleHost",
        "NotEnoughLogicalCpus",
        "NotSupported",
        "RuleViolation",
        "TaskInProgress",
        "VirtualHardwareVersionNotSupported",
    ]
)


# Words of faults by which the twin rejects a start, with their class.
WORDS_OF = {
    graphics.NO_GRAPHICS: "InsufficientGraphicsResourcesFault",
    resources.NO_MEMORY: "InsufficientMemoryResourcesFault",
    resources.NO_CPU: "InsufficientCpuResourcesFault",
}


@rule("power-on-faults")
def faults(evidence):
    for event in evidence.events:
        if event.kind != "VmFailedToPowerOnEvent":
            continue
        reason = event.one("reason.fault") or event.one("reason") or event
        kind = reason.kind
        if kind in ("", "LocalizedMethodFault", event.kind):
            continue
        values = f"the start failed with {kind}"
        # A capture has the words of a fault only if they are known and name nothing of the site.
        said = {event.text("reason.localizedMessage"), reason.text("msg")} & {*WORDS_OF}
        right = kind in REASONS and all(WORDS_OF[one] == kind for one in said)
        yield either(right, event.text("vm.name") or event.kind, ": ".join([values, *sorted(filter(None, said))]))
