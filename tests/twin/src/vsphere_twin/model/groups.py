"""Vendor device groups: a GPU and a port behind one PCIe switch, or GPUs with NVLink, given to a VM as a unit."""

from __future__ import annotations

from dataclasses import dataclass

from pyVmomi import vim

from . import nvlink, pci

DEVICE = vim.vm.device
SINCE = 8  # major release
HARDWARE = 20  # frankdenneman.nl on vSphere 8
UPSTREAM = "PCIe Switch Upstream Port"
WHOLE_DEVICE, VGPU = "pciPassthru", "nvidiaVgpu"


@dataclass(frozen=True)
class Component:
    """One device of a group."""

    kind: str
    address: str
    vendor_name: str
    device_name: str
    vendor_id: int
    device_id: int
    label: str = ""
    profile: object = None  # of a vGPU

    def template(self, sequence):
        """The virtual device that a client adds for it, with its place in the group."""
        if self.kind == VGPU:
            backing = DEVICE.VirtualPCIPassthrough.VmiopBackingInfo(vgpu=self.profile.name)
        else:
            allowed = DEVICE.VirtualPCIPassthrough.AllowedDevice(vendorId=self.vendor_id, deviceId=self.device_id)
            backing = DEVICE.VirtualPCIPassthrough.DynamicBackingInfo(
                deviceName="", allowedDevice=[allowed], customLabel=self.label or None
            )
        place = DEVICE.VirtualDevice.DeviceGroupInfo(groupInstanceKey=-1, sequenceId=sequence)
        return DEVICE.VirtualPCIPassthrough(key=-1, backing=backing, deviceGroupInfo=place)


@dataclass(frozen=True)
class Group:
    """Devices that a host gives as a unit; several units of one host may have the same name."""

    name: str
    description: str
    components: tuple


def offered(host):
    """Return the groups of a host (vSphere 8.0), in use or not: the vendor's driver creates them from related devices.

    Their names, and the membership of a passthrough GPU, are [unsure]; clients take the names from here.
    """
    if not host.release.at_least(SINCE, 0, 0):
        return []
    found = []
    for bridge in host.bridges:
        if bridge.name == UPSTREAM:
            gpus = [one for gpu in host.gpus if _below(host, gpu.pci_id, bridge) and (one := _gpu(host, gpu))]
            ports = [_port(host, nic) for nic in host.ports if _given(host, nic.pci) and _beside(host, nic, bridge)]
            found += [_group(gpu, port) for gpu, port in zip(gpus, ports, strict=False)]
    return found + [group for joined in nvlink.sets(host) if (group := _peers(host, joined))]


def claim(vm, host, claims):
    """Choose a unit of the host for each group of the VM; answers the keys of the devices that it serves."""
    keys = set()
    for instance, name in vm.device_groups.items():
        members = members_of(vm, instance)
        unit = next((one for one in offered(host) if one.name == name and _free(host, one, claims)), None)
        if unit is None:
            reason = f"Device group '{name}' is not available on the host."
            raise vim.fault.GenericVmConfigFault(msg=reason, reason=reason)
        for device, component in zip(members, unit.components, strict=True):
            if component.kind == VGPU:
                claims.vgpus[device.key] = _gpu_at(host, component.address)
            else:
                claims.devices[device.key] = component.address
        keys |= {device.key for device in members}
    return keys


def available(host, unit):
    """Return whether all devices of a unit are free."""
    return _free(host, unit, _NOTHING)


def members_of(vm, instance):
    """The devices of a group, in their sequence."""
    found = [one for one in vm.devices if instance_of(one) == instance]
    return sorted(found, key=lambda one: one.deviceGroupInfo.sequenceId)


def instance_of(device):
    """The group that a device belongs to, or None."""
    return device.deviceGroupInfo.groupInstanceKey if device.deviceGroupInfo is not None else None


def change(vm, wanted):
    """Take over the groups of a request; answers the new keys by those of the request. Check after the devices."""
    if wanted is None:
        return {}
    number, keys, after = max(vm.device_groups, default=0), {}, {}
    for one in wanted.deviceGroup or []:
        if one.groupInstanceKey in vm.device_groups:
            after[one.groupInstanceKey] = vm.device_groups[one.groupInstanceKey]
            continue
        number += 1
        keys[one.groupInstanceKey] = number
        after[number] = getattr(one, "deviceGroupName", None)
    vm.device_groups = after
    return keys


def check(vm):
    """Groups are whole, known, and of virtual hardware that has them; one that lost all its devices is gone."""
    vm.device_groups = {key: name for key, name in vm.device_groups.items() if members_of(vm, key)}
    strays = [one for one in vm.devices if instance_of(one) not in (None, *vm.device_groups)]
    if strays:
        raise _invalid(f"virtualDeviceSpec.device.key={strays[0].key}")
    if vm.device_groups and vm.hardware_number < HARDWARE:
        raise vim.fault.DeviceUnsupportedForVmVersion(
            msg="A device group is not supported for this virtual machine's hardware version.",
            deviceIndex=0,
            currentVersion=vm.hardware_version,
            expectedVersion=f"vmx-{HARDWARE}",
        )
    known = {group.name: group for host in vm.host.compute.hosts.values() for group in offered(host)}
    for key, name in vm.device_groups.items():
        if name not in known or not _whole(known[name], members_of(vm, key)):
            raise _invalid("configSpec.deviceGroups")


def _whole(group, members):
    if [one.deviceGroupInfo.sequenceId for one in members] != list(range(len(group.components))):
        return False
    templates = (one.template(number) for number, one in enumerate(group.components))
    return all(type(one.backing) is type(mine.backing) for one, mine in zip(members, templates, strict=True))


def _group(gpu, port):
    return Group(
        name=f"Nvidia:1@{gpu.profile.name if gpu.profile else gpu.device_name}%{port.device_name}",
        description=f"{gpu.device_name} and {port.device_name} behind one PCIe switch",
        components=(gpu, port),
    )


def _peers(host, joined):
    """A group of GPUs with NVLink, if VMs get all of them alike."""
    found = [one for gpu in joined if (one := _gpu(host, gpu))]
    if len(found) < len(joined) or len({one.kind for one in found}) > 1:
        return None
    first = found[0]
    return Group(
        name=f"Nvidia:{len(found)}@{first.profile.name if first.profile else first.device_name}%NVLink",
        description=f"{len(found)} {first.device_name} with NVLink",
        components=tuple(found),
    )


def _gpu(host, gpu):
    common = (gpu.pci_id, "NVIDIA Corporation", f"NVIDIA {gpu.board.title}", pci.NVIDIA, gpu.board.device_id)
    if host.passthru[gpu.pci_id].enhanced_active:
        return None  # a group of devices by DVX is not described
    if gpu.passthrough:
        return Component(WHOLE_DEVICE, *common, label=host.passthru[gpu.pci_id].label or "")
    whole = [one for one in gpu.types(host.release) if one.series == "c" and one.fb_gb == gpu.board.memory_gb]
    return Component(VGPU, *common, profile=whole[0]) if whole and not gpu.mig_enabled else None


def _port(host, nic):
    return Component(
        WHOLE_DEVICE,
        nic.pci,
        nic.kind.vendor_name,
        nic.model,
        nic.vendor_id,
        nic.device_id,
        label=host.passthru[nic.pci].label or "",
    )


def _given(host, address):
    return host.passthru[address].active


def _below(host, address, bridge):
    return _upstream(host, host.slots[address].parent) == bridge.address


def _beside(host, nic, bridge):
    return _upstream(host, nic.parent) == bridge.address


def _upstream(host, downstream):
    return next((one.parent for one in host.bridges if one.address == downstream), "")


class _Nothing:
    """No choice is made yet."""

    vgpus: dict = {}
    devices: dict = {}


_NOTHING = _Nothing()


def _free(host, unit, claims):
    for one in unit.components:
        if one.kind == VGPU:
            gpu = _gpu_at(host, one.address)
            if gpu in claims.vgpus.values() or gpu.room_for(one.profile, host.release) is None:
                return False
        elif one.address in host.claimed or one.address in claims.devices.values():
            return False
    return True


def _gpu_at(host, address):
    return next(gpu for gpu in host.gpus if gpu.pci_id == address)


def _invalid(place):
    return vim.fault.InvalidDeviceSpec(msg="Invalid configuration for device '0'.", property=place, deviceIndex=0)
