# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""VM classes of a Supervisor: the request, the class in vCenter and the request bodies. Pure.

Fields are those of the Python stubs of vCenter 9.1.1.0 (com.vmware.vcenter.namespace_management).
"""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass, field, replace
from typing import Any, Iterator, Mapping, Sequence, Tuple, TypeVar

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import args

T = TypeVar("T")

# Percent. The API requires it for a class with a vGPU or a DirectPath device.
ALL = 100
MMIO_SWITCH, MMIO_SIZE = "pciPassthru.use64bitMMIO", "pciPassthru.64bitMMIOSizeGB"
# config_spec came with this release, and the lists of devices are deprecated since then.
CONFIG_SINCE = (8, 0, 2)
FIRST_KEY = -20000
# The class sets no firmware.
NO_FIRMWARE = "none"
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_VGPU, _DYNAMIC = "VirtualPCIPassthroughVmiopBackingInfo", "VirtualPCIPassthroughDynamicBackingInfo"

_DEVICE = {
    "vendor_id": {"type": "str", "required": True},
    "device_id": {"type": "str", "required": True},
    "label": {"type": "str"},
}
ARGUMENTS = dict(
    args.CONNECTION,
    name={"type": "str", "required": True},
    state={"type": "str", "choices": ["present", "absent"], "default": "present"},
    description={"type": "str"},
    cpus={"type": "int"},
    memory_mb={"type": "int"},
    cpu_reservation={"type": "int"},
    memory_reservation={"type": "int"},
    vgpu_profiles={"type": "list", "elements": "str"},
    devices={"type": "list", "elements": "dict", "options": _DEVICE},
    mmio_gb={"type": "int"},
    firmware={"type": "str", "choices": ["bios", "efi", NO_FIRMWARE]},
    extra_config={"type": "dict", "default": {}},
    namespaces={"type": "list", "elements": "str", "default": []},
    withdraw_from={"type": "list", "elements": "str", "default": []},
)


@dataclass(frozen=True, order=True)
class Device:
    """A PCI device that vSphere picks at power-on, by its type."""

    vendor_id: int
    device_id: int
    label: str = ""

    def __str__(self) -> str:
        text = f"{self.vendor_id:04x}:{self.device_id:04x}"
        return f"{text} ({self.label})" if self.label else text


Devices = Tuple[Device, ...]


@dataclass(frozen=True)
class ClassRequest:
    """The requested VM class; None keeps what the class has."""

    name: str
    state: str = "present"
    description: str | None = None
    cpus: int | None = None
    memory_mb: int | None = None
    cpu_reservation: int | None = None
    memory_reservation: int | None = None
    vgpu_profiles: Sequence[str] | None = None
    devices: Devices | None = None
    firmware: str | None = None
    # None removes a key.
    extra: Mapping[str, str | None] = field(default_factory=dict)
    namespaces: Sequence[str] = ()
    withdraw_from: Sequence[str] = ()

    @property
    def needs_config(self) -> bool:
        """Return whether the request has settings that only config_spec can hold."""
        return bool(self.firmware not in (None, NO_FIRMWARE) or self.extra)


@dataclass(frozen=True)
class VmClass:
    """A VM class as vCenter has it; absent without CPUs."""

    cpus: int = 0
    memory_mb: int = 0
    description: str = ""
    cpu_reservation: int | None = None
    memory_reservation: int | None = None
    vgpu_profiles: tuple[str, ...] = ()
    devices: Devices = ()
    firmware: str | None = None
    extra: Mapping[str, str] = field(default_factory=dict)
    namespaces: tuple[str, ...] = ()
    vms: tuple[str, ...] = ()
    # The document as it was read, because a change keeps the parts that the task does not name.
    config: Mapping[str, Any] = field(default_factory=dict)

    @property
    def present(self) -> bool:
        return self.cpus > 0


ABSENT = VmClass()


def request_of(params: Mapping[str, Any]) -> ClassRequest:
    """The request of a task."""
    devices = params["devices"]
    extra = {key: None if value is None else _text(value) for key, value in params["extra_config"].items()}
    if params["mmio_gb"] is not None:
        extra.update({MMIO_SWITCH: "TRUE", MMIO_SIZE: str(params["mmio_gb"])})
    return request(
        ClassRequest,
        params,
        devices=None if devices is None else tuple(_device(one) for one in devices),
        extra=extra,
    )


def check_params(params: Mapping[str, Any]) -> list[str]:
    """Everything that is wrong with the parameters, one sentence each."""
    return [*args.check_common(params), *_wrong(params)]


def _wrong(params: Mapping[str, Any]) -> Iterator[str]:
    if not _LABEL.fullmatch(params["name"]):
        yield (
            f"name is {params['name']!r}; use up to 63 lower-case letters, digits and -, and begin and end with a "
            "letter or a digit."
        )
    for name in ("cpus", "mmio_gb"):
        if params[name] is not None and params[name] < 1:
            yield f"{name} is {params[name]}; use at least 1."
    memory = params["memory_mb"]
    if memory is not None and (memory < 4 or memory % 4):
        yield f"memory_mb is {memory}; use a multiple of 4 MB."
    for name in ("cpu_reservation", "memory_reservation"):
        if params[name] is not None and not 0 <= params[name] <= ALL:
            yield f"{name} is {params[name]}; use a percentage between 0 and {ALL}."
    for name in sorted({*params["namespaces"]} & {*params["withdraw_from"]}):
        yield f"namespaces and withdraw_from have {name}; remove it from one of them."
    for number, one in enumerate(params["devices"] or ()):
        for name in ("vendor_id", "device_id"):
            if _number(one[name]) is None:
                yield f"devices[{number}].{name} is {one[name]!r}; use a PCI identifier such as 0x10de."
    if (params["vgpu_profiles"] or params["devices"]) and params["memory_reservation"] not in (None, ALL):
        yield (
            f"memory_reservation is {params['memory_reservation']}; a class with a vGPU or a DirectPath device needs "
            f"{ALL}. Remove memory_reservation, or set it to {ALL}."
        )
    if params["mmio_gb"] is not None:
        for key in (MMIO_SWITCH, MMIO_SIZE):
            if key in params["extra_config"]:
                yield f"extra_config has {key}, and mmio_gb sets it too; remove one of them."


def parsed(info: Mapping[str, Any]) -> VmClass:
    """A class from the answer of vCenter. Devices of a config_spec replace the older lists of devices."""
    config = info.get("config_spec") or {}
    profiles: list[str]
    if config:
        backings = [_backing(one) for one in config.get("deviceChange") or ()]
        profiles = [one["vgpu"] for one in backings if one.get("vgpu")]
        devices = [
            Device(int(row["vendorId"]), int(row["deviceId"]), one.get("customLabel") or "")
            for one in backings
            for row in one.get("allowedDevice") or ()
        ]
    else:
        older = info.get("devices") or {}
        profiles = [one["profile_name"] for one in older.get("vgpu_devices") or ()]
        devices = [
            Device(int(one["vendor_id"]), int(one["device_id"]), one.get("custom_label") or "")
            for one in older.get("dynamic_direct_path_IO_devices") or ()
        ]
    return VmClass(
        cpus=int(info["cpu_count"]),
        memory_mb=int(info["memory_MB"]),
        description=info.get("description") or "",
        cpu_reservation=info.get("cpu_reservation"),
        memory_reservation=info.get("memory_reservation"),
        vgpu_profiles=tuple(sorted(profiles)),
        devices=tuple(sorted(devices)),
        firmware=config.get("firmware") or None,
        extra={str(one["key"]): _text(_plain(one.get("value"))) for one in config.get("extraConfig") or ()},
        namespaces=tuple(sorted(info.get("namespaces") or ())),
        vms=tuple(sorted(info.get("vms") or ())),
        config=config,
    )


def want(label: str, now: VmClass, requested: ClassRequest, release: tuple[int, ...]) -> VmClass:
    """The class after the task; raises for a class that vCenter cannot have."""
    kept = set(now.namespaces) - set(requested.withdraw_from)
    if requested.state == "absent":
        _refuse_used(label, sorted(kept), now.vms, "cannot be removed")
        return ABSENT
    if kept != set(now.namespaces):
        _refuse_used(label, [], now.vms, "cannot be withdrawn from a namespace")
    missing = [name for name in ("cpus", "memory_mb") if not now.present and getattr(requested, name) is None]
    if missing:
        raise OperatorError(
            label,
            "cannot be changed",
            "vCenter has no such class",
            f"Correct `name`, or set {' and '.join(f'`{name}`' for name in missing)} to create the class",
            "vm_class_incomplete",
        )
    if requested.needs_config and release < CONFIG_SINCE:
        raise OperatorError(
            label,
            "cannot set firmware, MMIO or advanced settings",
            f"This vCenter is {'.'.join(map(str, release))}, and VM classes have these settings from 8.0 Update 2 on",
            "Remove `firmware`, `mmio_gb` and `extra_config`, or update vCenter",
            "vm_class_release",
        )
    extra = {key: value for key, value in {**now.extra, **requested.extra}.items() if value is not None}
    profiles = now.vgpu_profiles if requested.vgpu_profiles is None else tuple(sorted(requested.vgpu_profiles))
    devices = now.devices if requested.devices is None else tuple(sorted(requested.devices))
    memory_reservation = _given(requested.memory_reservation, now.memory_reservation)
    if profiles or devices:
        memory_reservation = ALL if requested.memory_reservation is None else requested.memory_reservation
        if memory_reservation != ALL:
            raise OperatorError(
                label,
                f"cannot reserve {memory_reservation} % of the memory",
                "The class has a vGPU or a DirectPath device, which needs all of the memory",
                f"Set `memory_reservation` to {ALL}, or remove the devices with empty lists",
                "vm_class_reservation",
            )
    return replace(
        now,
        cpus=_given(requested.cpus, now.cpus),
        memory_mb=_given(requested.memory_mb, now.memory_mb),
        description=_given(requested.description, now.description),
        cpu_reservation=_given(requested.cpu_reservation, now.cpu_reservation),
        memory_reservation=memory_reservation,
        vgpu_profiles=profiles,
        devices=devices,
        firmware=None if requested.firmware == NO_FIRMWARE else _given(requested.firmware, now.firmware),
        extra=extra,
        namespaces=tuple(sorted({*kept, *requested.namespaces})),
    )


def compare(now: VmClass, wanted: VmClass) -> list[Change]:
    """Return each setting that differs."""
    before, after = project(now), project(wanted)
    changes = [
        Change(name, before.get(name), after.get(name))
        for name in ("exists", *_SETTINGS, "namespaces")
        if before.get(name) != after.get(name)
    ]
    changes += [
        Change(f"extra_config.{key}", now.extra.get(key), wanted.extra.get(key))
        for key in sorted({*now.extra, *wanted.extra})
        if now.extra.get(key) != wanted.extra.get(key)
    ]
    return changes


_SETTINGS = (
    "cpus",
    "memory_mb",
    "description",
    "cpu_reservation",
    "memory_reservation",
    "vgpu_profiles",
    "devices",
    "firmware",
)


def project(state: VmClass) -> dict[str, Any]:
    """A class as a user sees it."""
    if not state.present:
        return {"exists": False, "namespaces": []}
    return {
        "exists": True,
        "cpus": state.cpus,
        "memory_mb": state.memory_mb,
        "description": state.description,
        "cpu_reservation": state.cpu_reservation,
        "memory_reservation": state.memory_reservation,
        "vgpu_profiles": list(state.vgpu_profiles),
        "devices": [str(one) for one in state.devices],
        "firmware": state.firmware,
        "extra_config": dict(state.extra),
        "namespaces": list(state.namespaces),
        "vms": len(state.vms),
    }


def body(now: VmClass, wanted: VmClass, release: tuple[int, ...]) -> dict[str, Any]:
    """Fields of a request that lead from one class to the other, without its name; empty for none."""
    made: dict[str, Any] = {}
    for key, name in (("cpu_count", "cpus"), ("memory_MB", "memory_mb"), ("description", "description")):
        if getattr(now, name) != getattr(wanted, name):
            made[key] = getattr(wanted, name)
    for name in ("cpu_reservation", "memory_reservation"):
        if getattr(now, name) != getattr(wanted, name):
            made[name] = getattr(wanted, name)
    if _of_config(now) != _of_config(wanted):
        if release < CONFIG_SINCE:
            made["devices"] = _older(wanted)
        else:
            made["config_spec"] = _config(now, wanted)
    return made


def _of_config(state: VmClass) -> tuple[object, ...]:
    return state.vgpu_profiles, state.devices, state.firmware, dict(state.extra)


def _older(wanted: VmClass) -> dict[str, Any]:
    """Devices for a vCenter without config_spec."""
    devices: list[dict[str, Any]] = []
    for one in wanted.devices:
        label = {"custom_label": one.label} if one.label else {}
        devices.append({"vendor_id": one.vendor_id, "device_id": one.device_id, **label})
    return {
        "vgpu_devices": [{"profile_name": profile} for profile in wanted.vgpu_profiles],
        "dynamic_direct_path_IO_devices": devices,
    }


def _config(now: VmClass, wanted: VmClass) -> dict[str, Any]:
    """The VirtualMachineConfigSpec in the JSON form of vSphere, with all parts of the old one that stay."""
    made = copy.deepcopy(dict(now.config)) or {"_typeName": "VirtualMachineConfigSpec"}
    if (now.vgpu_profiles, now.devices) != (wanted.vgpu_profiles, wanted.devices):
        kept = [one for one in made.get("deviceChange") or () if not _is_ours(one)]
        backings = [{"_typeName": _VGPU, "vgpu": profile} for profile in wanted.vgpu_profiles]
        backings += [_dynamic(one) for one in wanted.devices]
        made["deviceChange"] = kept + [
            {
                "_typeName": "VirtualDeviceConfigSpec",
                "operation": "add",
                "device": {"_typeName": "VirtualPCIPassthrough", "key": FIRST_KEY - number, "backing": backing},
            }
            for number, backing in enumerate(backings)
        ]
    if dict(now.extra) != dict(wanted.extra):
        made["extraConfig"] = [
            {"_typeName": "OptionValue", "key": key, "value": {"_typeName": "string", "_value": value}}
            for key, value in sorted(wanted.extra.items())
        ]
    for key in ("deviceChange", "extraConfig"):
        if key in made and not made[key]:
            del made[key]
    made.pop("firmware", None)
    return {**made, "firmware": wanted.firmware} if wanted.firmware else made


def _dynamic(one: Device) -> dict[str, Any]:
    allowed = {"_typeName": "VirtualPCIPassthroughAllowedDevice", "vendorId": one.vendor_id, "deviceId": one.device_id}
    return {"_typeName": _DYNAMIC, "deviceName": "", "customLabel": one.label, "allowedDevice": [allowed]}


def _is_ours(change: Mapping[str, Any]) -> bool:
    backing = _backing(change)
    return bool(backing.get("vgpu") or backing.get("allowedDevice"))


def _backing(change: Mapping[str, Any]) -> Mapping[str, Any]:
    return (change.get("device") or {}).get("backing") or {}


def _refuse_used(label: str, namespaces: Sequence[str], vms: Sequence[str], verb: str) -> None:
    if not namespaces and not vms:
        return
    used = [f"the namespaces {', '.join(namespaces)}"] if namespaces else []
    used += [f"{len(vms)} VMs"] if vms else []
    fixes = ["Delete these VMs"] if vms else []
    fixes += ["Name these namespaces in `withdraw_from`"] if namespaces else []
    raise OperatorError(
        label,
        verb,
        f"It is in use by {' and '.join(used)}",
        f"{'. '.join(fixes)}. Then run the task again",
        "vm_class_in_use",
        namespaces=list(namespaces),
        vms=list(vms),
    )


def _device(given: Mapping[str, Any]) -> Device:
    return Device(_number(given["vendor_id"]) or 0, _number(given["device_id"]) or 0, given["label"] or "")


def device_of(text: str) -> dict[str, Any]:
    """The option of a device in the notation of a class."""
    ids, dummy, label = text.partition(" (")
    vendor, dummy, device = ids.partition(":")
    return {"vendor_id": vendor, "device_id": device, **({"label": label[:-1]} if label else {})}


def _number(text: str) -> int | None:
    """A PCI identifier in the notation of lspci, with or without 0x."""
    return int(text, 16) if re.fullmatch(r"(0x)?[0-9a-fA-F]{4}", text) else None


def _plain(value: object) -> object:
    return value.get("_value") if isinstance(value, Mapping) else value


def _text(value: object) -> str:
    return str(value).upper() if isinstance(value, bool) else str(value)


def _given(requested_one: T | None, now: T) -> T:
    return now if requested_one is None else requested_one
