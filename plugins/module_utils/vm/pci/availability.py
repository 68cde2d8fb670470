# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Check whether the host of a VM has a passthrough device for it, and give the reason if not. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterator, Mapping, NamedTuple, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci import near
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci.costs import cost_sentence
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci.state import DVX, GROUP, STATIC
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.rules import Problem

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.passthrough import Given
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.pci import Device
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci.near import HostDevices
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci.offer import Offer
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci.state import Asked, Direct, DirectState, Placed

MIG = "multiInstanceGpu"
_SHOWN = 6


class Claim(NamedTuple):
    """A VM that asks for a device or holds one; one that is not made yet has no MoID."""

    moid: str | None
    label: str


def against_host(state: DirectState, offer: Offer) -> list[Problem]:
    """Return the reasons why the devices of the VM's host cannot be determined."""
    if state.place is None:
        return [Problem("no_host", "vCenter does not report the host of the VM.", "Move the VM to a host.")]
    if not state.place.connected:
        return [
            Problem(
                "host_not_connected",
                f"Its host {state.place.name} is not connected, so its passthrough devices are unknown.",
                "Connect the host in vCenter.",
            )
        ]
    if offer.trouble is not None:
        return [Problem(offer.trouble.code, f"{offer.trouble.subject}: {offer.trouble.found}", offer.trouble.todo)]
    return []


def against_device(
    state: Placed, one: Direct, offer: Offer, claims: Mapping[Asked, Sequence[Claim]], me: Claim
) -> list[Problem]:
    """The problems with one device that the VM does not have yet."""
    rule = {STATIC: _static, GROUP: _group, DVX: _enhanced}.get(one.asked.kind, _dynamic)
    return list(rule(state, one.asked, offer, claims, me))


def listed(words: Sequence[str]) -> str:
    shown = list(words) if len(words) <= _SHOWN else [*words[: _SHOWN - 1], f"{len(words) - _SHOWN + 1} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _static(
    state: Placed, asked: Asked, offer: Offer, claims: Mapping[Asked, Sequence[Claim]], me: Claim
) -> Iterator[Problem]:
    host, device = state.host, state.host.tree.get(asked.id)
    given = host.given.get(asked.id)
    if device is None or given is None:
        yield Problem(
            "device_not_there",
            f"Host {host.name} has no device at {asked.id}. {_gives(host, offer)}",
            "Correct id, or move the VM to the host that has the device.",
        )
        return
    name = f"{asked.id} ({device.name}) of host {host.name}"
    if asked.id in offer.functions:
        yield Problem(
            "virtual_function",
            f"{name} is a virtual function of a network adapter.",
            "Add it to the VM with aiready.vsphere.sriov_nic, which also manages its MAC address and port group.",
        )
        return
    if not given.active:
        yield from _not_active(host, device, given, offer, name)
        return
    yield from _divided(host, device, name)
    if asked.id not in offer.targets:
        yield Problem(
            "device_not_offered",
            f"{name} is in passthrough mode, but vSphere does not offer it to VMs.",
            "Check the device in the PCI devices of the host: it may be disabled or defective.",
        )
    yield from _held(host, offer, asked, name, me)
    rivals = sorted({one.label for one in claims.get(asked, ()) if one != me})
    if rivals:
        yield Problem(
            "claimed_twice",
            f"{name} is also requested by VM {listed(rivals)} of this task. {cost_sentence('passthrough_static')}",
            "Give each VM its own device, or set kind=dynamic.",
        )


def _not_active(host: HostDevices, device: Device, given: Given, offer: Offer, name: str) -> Iterator[Problem]:
    if given.configured:
        yield Problem(
            "passthrough_pending",
            f"Passthrough of {name} is configured and pending a restart of the host.",
            "Restart the host with aiready.vsphere.esxi_reboot.",
        )
        return
    port = next((one for one in offer.network.ports if one.pci == device.address), None)
    if port is not None and port.switch:
        adapters = offer.network.on_switch(port.switch)
        carried = ", ".join(f"{one.device} ({', '.join(one.services) or 'no service'})" for one in adapters)
        yield Problem(
            "port_in_use",
            f"{name} is {port.device}, an uplink of {port.switch}"
            + (f", which carries {carried}." if carried else "."),
            "Choose another port, since one port cannot serve both the host and a VM. To pass this one "
            "through, remove it "
            f"from {port.switch} and use aiready.vsphere.pci_passthrough.",
        )
        return
    graphics = host.graphics.get(device.address)
    if graphics is not None and "sharedDirect" in (graphics.active, graphics.configured):
        divided = " and in MIG mode" if graphics.mode == MIG else ""
        yield Problem(
            "gpu_for_vgpu",
            f"{name} is configured for vGPU (graphics type Shared Direct{divided}), not for passthrough.",
            "Add a profile to the VM with aiready.vsphere.vgpu_profile, or remove the GPU from vGPU with "
            "aiready.vsphere.pci_passthrough and take_from_vgpu.",
        )
        return
    todo = "Switch it on with aiready.vsphere.pci_passthrough."
    if not given.capable:
        todo = "Check that the IOMMU (VT-d) is on in the BIOS: ESXi cannot pass this device through."
    yield Problem("passthrough_off", f"Passthrough of {name} is off.", todo)


def _divided(host: HostDevices, device: Device, name: str) -> Iterator[Problem]:
    graphics = host.graphics.get(device.address)
    if graphics is not None and graphics.mode == MIG:
        yield Problem(
            "gpu_in_mig",
            f"{name} is in MIG mode. A guest would get it in that mode, without instances and without peer to peer.",
            "Disable its passthrough, switch MIG mode off with aiready.vsphere.mig_partition, and enable "
            "passthrough again.",
        )


def _held(host: HostDevices, offer: Offer, asked: Asked, name: str, me: Claim) -> Iterator[Problem]:
    holder = offer.holders.get(asked.id)
    if holder is not None and holder.moid != me.moid:
        yield Problem(
            "device_held",
            f"{name} is in use by VM {holder.label}, which is running. {cost_sentence('passthrough_static')}",
            f"Shut {holder.label} down, or choose another device. {_free(host, offer)}",
        )


def _dynamic(
    state: Placed, asked: Asked, offer: Offer, claims: Mapping[Asked, Sequence[Claim]], me: Claim
) -> Iterator[Problem]:
    host = state.host
    if any(other.choice(asked) for other in state.reach):
        return
    kinds, there = " or ".join(asked.allowed), host.of_kind(asked.allowed)
    if not there:
        yield Problem(
            "kind_not_there",
            f"Host {host.name} has no device {kinds}. {_gives(host, offer)}",
            "Correct allowed, or move the VM to a host that has such a device.",
        )
        return
    active = [one for one in host.active() if near.fits(one, asked.allowed) and one.address not in offer.functions]
    if not active:
        first = there[0]
        name = f"{first.address} ({first.name}) of host {host.name}"
        yield from _not_active(host, first, host.given[first.address], offer, name)
        return
    fitting = [one for one in active if asked.label in ("", host.given[one.address].label)]
    if not fitting:
        labels = sorted({host.given[one.address].label for one in active} - {""})
        yield Problem(
            "label_not_there",
            f"No device {kinds} of host {host.name} is labelled {asked.label}; "
            + (f"the labels there are {listed(labels)}." if labels else "none of them has a label."),
            "Correct label, or label the device with aiready.vsphere.pci_passthrough.",
        )
        return
    for device in fitting:
        yield from _divided(host, device, f"{device.address} ({device.name}) of host {host.name}")
    yield from _too_few(state, asked, fitting, offer, claims, me)


def _too_few(
    state: Placed,
    asked: Asked,
    fitting: Sequence[Device],
    offer: Offer,
    claims: Mapping[Asked, Sequence[Claim]],
    me: Claim,
) -> Iterator[Problem]:
    """Running VMs of others hold some of them, and VMs of this task ask for the rest."""
    asking = claims.get(asked, ())
    rivals = {one.moid for one in asking}
    held = [offer.holders[one.address] for one in fitting if one.address in offer.holders]
    held = [holder for holder in held if holder.moid not in rivals]
    free = len(fitting) - len(held)
    if len(asking) <= free:
        return
    holders = listed(sorted({one.label for one in held})) if held else ""
    yield Problem(
        "too_few_devices",
        f"{len(asking)} of `{asked}` are requested on host {state.host.name} by VM "
        f"{listed(sorted({one.label for one in asking}))}, but {free} of its {len(fitting)} are free"
        + (f"; VM {holders} uses {len(held)} of them." if held else "."),
        "Move a VM to another host, or shut down the VMs that use them.",
    )


def _group(
    state: Placed, asked: Asked, offer: Offer, claims: Mapping[Asked, Sequence[Claim]], me: Claim
) -> Iterator[Problem]:
    host = state.host
    if host.before((8,)):
        yield Problem(
            "no_groups",
            f"Device groups need vSphere 8.0, and host {host.name} has {host.version}.",
            "List the devices of the group one by one with kind=dynamic.",
        )
        return
    if asked.group not in offer.groups:
        names = sorted(offer.groups)
        yield Problem(
            "group_not_there",
            f"Host {host.name} offers no device group {asked.group}; "
            + (f"it offers {listed(names)}." if names else "it offers none."),
            "Correct group."
            if names
            else "Install the vendor's software that defines device groups, and check the slots and NVLink bridges.",
        )


def _enhanced(
    state: Placed, asked: Asked, offer: Offer, claims: Mapping[Asked, Sequence[Claim]], me: Claim
) -> Iterator[Problem]:
    host, name = state.host, asked.device_class
    if any(name in other.dvx for other in state.reach if other is not host):
        return
    if host.before((8,)):
        yield Problem(
            "no_dvx",
            f"Enhanced DirectPath I/O needs vSphere 8.0, and host {host.name} has {host.version}.",
            "List the device with kind=dynamic.",
        )
        return
    if name not in host.dvx:
        names = sorted(host.dvx)
        yield Problem(
            "dvx_class_not_there",
            f"Host {host.name} has no device class {name}; "
            + (f"its classes are {listed(names)}." if names else "it has none."),
            "Correct device_class." if names else "Install the vendor's software that defines the class.",
        )
        return
    if host.dvx[name].sriov_nic:
        yield Problem(
            "dvx_class_of_adapters",
            f"Class {name} of host {host.name} has virtual functions of network ports, which VMs get as adapters.",
            "Choose a class of whole devices, or add the adapter with aiready.vsphere.sriov_nic.",
        )
    elif name not in offer.dvx:
        yield Problem(
            "dvx_class_not_offered",
            f"Host {host.name} has the class {name}, but offers no device of it to VMs.",
            "Set the mode of a device of this class to enhanced_direct_path, and restart the host if vCenter asks for "
            "it.",
        )


def _gives(host: HostDevices, offer: Offer) -> str:
    """Return the devices that the host offers at this moment."""
    active = [one for one in host.active() if one.address not in offer.functions]
    if not active:
        return "It has no device in passthrough mode."
    names = [_shown(host, one) for one in sorted(active, key=lambda one: one.address)]
    return f"Its passthrough devices are {listed(names)}."


def _free(host: HostDevices, offer: Offer) -> str:
    free = [one for one in host.active() if one.address not in offer.functions and one.address not in offer.holders]
    return f"Free are {listed(sorted(_shown(host, one) for one in free))}." if free else "None is free."


def _shown(host: HostDevices, device: Device) -> str:
    label = host.given[device.address].label
    ids = f"{device.vendor:04x}:{device.device:04x}"
    return f"{device.address} ({ids}, label {label})" if label else f"{device.address} ({ids})"
