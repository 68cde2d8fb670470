# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Graphics types of a host: its default, each GPU, the assignment policy, and changes pending for Xorg. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Iterable, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.host import device_mode as modes
from ansible_collections.aiready.vsphere.plugins.module_utils.host.pci import normal_address
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import release as releases

ALL = "all"
# {value of the option: value of the API}.
TYPES = {"shared": "shared", "shared_direct": "sharedDirect"}
MODES = {"same_size": "sameSize", "mixed_size": "mixedSize"}
_MIG = "multiInstanceGpu"
_SPOKEN = {
    "shared": "shared",
    "sharedDirect": "shared_direct",
    "sameSize": "same_size",
    "mixedSize": "mixed_size",
    _MIG: "mig",
}


@dataclass(frozen=True)
class Device:
    """One GPU. active is basic without a driver and direct while the GPU is in passthrough mode.

    own: it has a type of its own; otherwise it follows the default of the host.
    """

    id: str
    name: str
    configured: str
    active: str
    mode: str = ""
    active_mode: str = ""
    vms: tuple[str, ...] = ()
    own: bool = True
    # None before vSphere 9.1.
    device_mode: modes.Mode | None = None
    # What a change of the type needs: by SOAP a restart of Xorg, by REST maintenance mode [unsure].
    needs: str = "xorg_restart"

    @property
    def waits(self) -> bool:
        """Return whether a restart of Xorg, or of the host, would change a setting."""
        if self.active in ("basic", "direct"):
            return False
        return self.configured != self.active


@dataclass(frozen=True)
class Graphics:
    """Graphics configuration of a host. active_policy is the one at the start of Xorg."""

    default_type: str
    policy: str
    active_policy: str
    devices: tuple[Device, ...] = ()
    version: tuple[int, ...] = ()
    restarted: bool = False

    def device(self, address: str) -> Device | None:
        return next((one for one in self.devices if one.id == address), None)


def state_of(
    config: Any,
    infos: Iterable[Any] | None,
    running: Mapping[str, str],
    version: str,
    active_policy: str | None,
    device_modes: Mapping[str, modes.Mode] | None = None,
) -> Graphics:
    """The state from config.graphicsConfig and config.graphicsInfo; running maps MoIDs to names of running VMs."""
    types = {entry.deviceId: entry for entry in config.deviceType or []}
    devices = [
        replace(_device(info, types.get(info.pciId), config, running), device_mode=(device_modes or {}).get(info.pciId))
        for info in infos or []
        if _is_nvidia(info)
    ]
    return Graphics(
        default_type=config.hostDefaultGraphicsType,
        policy=config.sharedPassthruAssignmentPolicy,
        active_policy=active_policy or config.sharedPassthruAssignmentPolicy,
        devices=tuple(sorted(devices, key=lambda device: device.id)),
        version=releases.numbers(version),
    )


def _is_nvidia(info: Any) -> bool:
    return "nvidia" in (info.vendorName or "").lower()


def _device(info: Any, entry: Any, config: Any, running: Mapping[str, str]) -> Device:
    moids = [ref._GetMoId() for ref in info.vm or []]
    return Device(
        id=info.pciId,
        name=info.deviceName,
        configured=entry.graphicsType if entry is not None else config.hostDefaultGraphicsType,
        active=info.graphicsType,
        # Servers before 8.0.3, and older type libraries, do not know it.
        mode=getattr(entry, "vgpuMode", None) or "",
        active_mode=getattr(info, "vgpuMode", None) or "",
        vms=tuple(sorted(running[moid] for moid in moids if moid in running)),
        own=entry is not None,
    )


@dataclass(frozen=True)
class DeviceRequest:
    """The graphics of one GPU, or of all. None keeps a setting."""

    id: str
    type: str | None
    vgpu_mode: str | None
    device_mode: str | None = None


@dataclass(frozen=True)
class GraphicsRequest:
    """The graphics of one host. None keeps a setting."""

    default_type: str | None
    assignment_policy: str | None
    devices: Sequence[DeviceRequest]
    restart: str
    method: str = modes.AUTO


def request_of(params: Mapping[str, Any]) -> GraphicsRequest:
    """Return the request of a task."""
    devices = [request(DeviceRequest, entry) for entry in params["devices"] or []]
    return request(GraphicsRequest, params, devices=devices)


def want(subject: str, now: Graphics, requested: GraphicsRequest) -> Graphics:
    """The desired graphics; reports all obstacles at once."""
    default_type = TYPES[requested.default_type] if requested.default_type is not None else now.default_type
    problems: list[tuple[str, str]] = []
    devices = {one.id: one if one.own else replace(one, configured=default_type) for one in now.devices}
    for entry in requested.devices:
        for device in _meant(now, entry, problems):
            devices[device.id] = _requested_settings(now.version, devices[device.id], entry, problems, requested.method)
    wanted = replace(
        now,
        default_type=default_type,
        policy=requested.assignment_policy or now.policy,
        devices=tuple(devices[device.id] for device in now.devices),
    )
    if requested.restart == "xorg" and _waits(wanted):
        wanted = _restarted(wanted)
    wanted = replace(wanted, devices=tuple(map(_in_mode, now.devices, wanted.devices)))
    if problems:
        raise OperatorError(
            subject,
            "cannot change its graphics settings",
            " ".join(found for found, todo in problems),
            " ".join(dict.fromkeys(todo for found, todo in problems)),
            "graphics_impossible",
            problems=[found for found, todo in problems],
            # Without a driver, a host lists no GPU.
            gone=[one.id for one in requested.devices if now.devices and not _listed(now, one.id)],
        )
    asked = [(device.id, mode) for device, mode in over_rest(now, wanted, requested.method)]
    of_rest = {address for address, _mode in asked}
    wanted = replace(
        wanted,
        devices=tuple(replace(one, needs="maintenance_mode") if one.id in of_rest else one for one in wanted.devices),
    )
    modes.refuse_impossible(
        subject,
        (
            (f"{one.id} ({one.name})", one.device_mode, mode)
            for one in now.devices
            for address, mode in asked
            if one.device_mode is not None and one.id == address
        ),
    )
    return wanted


def over_rest(now: Graphics, wanted: Graphics, method: str) -> list[tuple[Device, str]]:
    """(device, its mode) of the changes that are made over REST, in their order."""
    found = []
    for before, after in zip(now.devices, wanted.devices):
        if not modes.over_rest(method, before.device_mode):
            continue
        if after.own and _mode_differs(before, after):
            found.append((after, _fixed(after)))
        if modes.enters_host(before.device_mode, after.device_mode):
            found.append((after, modes.SYSTEM))
    return found


def over_soap(now: Graphics, wanted: Graphics, method: str) -> Graphics:
    """The desired graphics without the changes that REST makes. REST has no size for a GPU of type Shared."""
    rest = {device.id for device, dummy in over_rest(now, wanted, method)}
    devices = [
        (replace(before, mode=after.mode) if after.configured == TYPES["shared"] else before)
        if after.id in rest
        else after
        for before, after in zip(now.devices, wanted.devices)
    ]
    return replace(wanted, devices=tuple(devices))


def _fixed(device: Device) -> str:
    """The mode that follows from the configured settings."""
    return modes.HOST if device.configured == TYPES["shared"] else modes.vgpu_mode(device.mode)


def _mode_differs(before: Device, after: Device) -> bool:
    resized = before.mode != after.mode and after.configured == TYPES["shared_direct"]
    return before.configured != after.configured or resized or modes.leaves_host(before.device_mode, after.device_mode)


def refuse_in_use(subject: str, now: Graphics, wanted: Graphics, method: str = modes.SOAP) -> None:
    """Raise an error for running VMs; called only before a change, because they may have ended since the plan."""
    rest = {device.id for device, dummy in over_rest(now, wanted, method)}
    changed = [
        before
        for before, after in zip(now.devices, wanted.devices)
        if before.configured != after.configured or before.id in rest
    ]
    concerned = now.devices if wanted.restarted else changed
    users = [f"{device.id} by {', '.join(device.vms)}" for device in concerned if device.vms]
    if users:
        raise OperatorError(
            subject,
            "cannot change the graphics type of its GPUs" + (" and restart Xorg" if wanted.restarted else ""),
            f"Running VMs use the GPUs: {'; '.join(users)}",
            "Shut the VMs down, or move them to another host",
            "gpu_in_use",
            vms=sorted({vm for device in concerned for vm in device.vms}),
        )


def compare(now: Graphics, wanted: Graphics) -> list[Change]:
    """Return one change per setting, and the restart itself."""
    needs = None if wanted.restarted else "xorg_restart"
    changes = []
    if now.default_type != wanted.default_type:
        changes.append(Change("graphics.default_type", spoken(now.default_type), spoken(wanted.default_type)))
    if now.policy != wanted.policy:
        waits = needs if wanted.policy != now.active_policy else None
        changes.append(Change("graphics.assignment_policy", now.policy, wanted.policy, waits))
    for before, after in zip(now.devices, wanted.devices):
        path = f"graphics.{before.id}"
        if before.configured != after.configured:
            waits = after.needs if needs and replace(after, active=before.active).waits else None
            changes.append(Change(path, spoken(before.configured), spoken(after.configured), waits))
        if before.mode != after.mode:
            changes.append(Change(f"{path}.vgpu_mode", spoken(before.mode), spoken(after.mode)))
        if modes.leaves_host(before.device_mode, after.device_mode):
            changes.append(Change(f"{path}.device_mode", modes.SYSTEM, _fixed(after)))
        elif modes.enters_host(before.device_mode, after.device_mode):
            changes.append(Change(f"{path}.device_mode", _fixed(before), modes.SYSTEM))
    if wanted.restarted and not now.restarted:
        changes.append(Change("graphics.xorg", "running", "restarted"))
    return changes


def pending(now: Graphics) -> list[dict[str, str]]:
    """Types and policy that wait for a restart of Xorg; a restart of the host does as well."""
    waiting = [f"graphics.{device.id}" for device in now.devices if device.waits]
    if now.policy != now.active_policy:
        waiting.append("graphics.assignment_policy")
    return [{"what": what, "needs": "xorg_restart"} for what in waiting]


def not_active(waiting: Mapping[str, str]) -> Change:
    """Return the change that remains if a restart of Xorg did not apply the configuration."""
    return Change(waiting["what"], "configured", "active", waiting["needs"])


def project(now: Graphics) -> dict[str, Any]:
    """The graphics as a user sees them."""
    return {
        "default_type": spoken(now.default_type),
        "assignment_policy": now.policy,
        "devices": [
            {
                "id": device.id,
                "name": device.name,
                "configured": spoken(device.configured),
                "active": spoken(device.active),
                "vgpu_mode": spoken(device.mode) or None,
                "mode": spoken(device.active_mode) or None,
                "device_mode": modes.project(device.device_mode),
            }
            for device in now.devices
        ],
    }


def spoken(value: str) -> str:
    """A word of the API as users write it."""
    return _SPOKEN.get(value, value)


def _waits(state: Graphics) -> bool:
    return state.policy != state.active_policy or any(device.waits for device in state.devices)


def _listed(now: Graphics, name: str) -> bool:
    return name == ALL or now.device(normal_address(name) or name) is not None


def _meant(now: Graphics, entry: DeviceRequest, problems: list[tuple[str, str]]) -> list[Device]:
    """Return the devices of one entry; `all` excludes those in passthrough mode."""
    if entry.id == ALL:
        if not now.devices:
            problems.append(
                (
                    "The host shows no NVIDIA graphics device.",
                    "Check that the GPU is seated, and that the BIOS enables memory above 4 GB.",
                )
            )
        return [device for device in now.devices if device.active != "direct"]
    device = now.device(normal_address(entry.id) or entry.id)
    if device is None:
        there = ", ".join(f"{one.id} ({one.name})" for one in now.devices) or "none"
        problems.append((f"There is no graphics device {entry.id}; there are: {there}.", "Correct `devices`."))
        return []
    if device.active == "direct":
        problems.append(
            (
                f"{device.id} ({device.name}) is in passthrough mode.",
                "Disable passthrough for it with aiready.vsphere.pci_passthrough first.",
            )
        )
        return []
    return [device]


def _requested_settings(
    version: tuple[int, ...], device: Device, entry: DeviceRequest, problems: list[tuple[str, str]], method: str
) -> Device:
    requested_one, to_host = device, entry.device_mode is not None
    if to_host or entry.type is not None or entry.vgpu_mode is not None:
        problems.extend(modes.obstacles(method, f"{device.id} ({device.name})", device.device_mode, to_host))
        fixed = modes.of_the_host if to_host else modes.fixed
        requested_one = replace(device, device_mode=fixed(device.device_mode))
    if to_host and device.device_mode is not None and device.device_mode.of_the_host:
        # The host sets the type and size of a device whose mode it selects.
        return requested_one
    if entry.type is not None and TYPES[entry.type] != device.configured:
        requested_one = replace(requested_one, configured=TYPES[entry.type], own=True)
    if entry.vgpu_mode is not None and MODES[entry.vgpu_mode] != device.mode:
        if version < (8, 0, 3):
            there = ".".join(str(part) for part in version)
            problems.append(
                (
                    f"The host has ESXi {there}; vgpu_mode exists from 8.0.3 on.",
                    "Remove `vgpu_mode`, or upgrade the host and vCenter.",
                )
            )
        requested_one = _in_effect(replace(requested_one, mode=MODES[entry.vgpu_mode]))
    if (requested_one.configured, requested_one.mode) != (device.configured, device.mode) and device.active == "basic":
        problems.append(
            (
                f"{device.id} ({device.name}) has no driver: its graphics type is Basic.",
                "Install the NVIDIA AI Enterprise host driver (aiready.vsphere.nvaie_vib) and restart the host, "
                "then set the device. `default_type` can be set earlier.",
            )
        )
    return requested_one


def _restarted(wanted: Graphics) -> Graphics:
    """Return the expected state after a restart of Xorg: all configured values are active."""
    devices = tuple(_in_effect(replace(one, active=one.configured)) if one.waits else one for one in wanted.devices)
    return replace(wanted, active_policy=wanted.policy, devices=devices, restarted=True)


def _in_mode(before: Device, after: Device) -> Device:
    """Return the device with the mode that follows from its active settings, where a change affects it."""
    mode = after.device_mode
    same = (before.active, before.mode) == (after.active, after.mode)
    if mode is None or mode.of_the_host or (same and mode == before.device_mode):
        return after
    size = "" if after.active_mode == _MIG else after.mode
    return replace(after, device_mode=replace(mode, current=modes.by_state(False, after.active, size)))


def _in_effect(device: Device) -> Device:
    """The active mode follows the configured one, at once, for vGPU; the mode of MIG is not configured here."""
    if device.active_mode in ("", _MIG):
        return device
    return replace(device, active_mode=device.mode if device.active == TYPES["shared_direct"] else "none")
