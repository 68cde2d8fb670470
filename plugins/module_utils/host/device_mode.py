# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Modes of PCI devices (vSphere 9.1) as SOAP reports them. Pure; device_mode_rest.py sets them.

Names and answers are those of the types of pyVmomi and of the Python stubs of vCenter, both 9.1.1.0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Iterable, Iterator

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

METHODS = ["auto", "soap", "rest"]
AUTO, SOAP, REST = METHODS
NONE, HOST, DIRECT, ENHANCED = "none", "host", "direct_path", "enhanced_direct_path"
SAME, MIXED, SYSTEM = "vgpu_same_size", "vgpu_mixed_size", "system_select"
# {value of vim.host.PciPassthruInfo.DirectPathDeviceMode: value of a result}.
_SPOKEN = {
    "none": NONE,
    "host": HOST,
    "directPath": DIRECT,
    "enhancedDirectPath": ENHANCED,
    "vGpuSameSize": SAME,
    "vGpuMixedSize": MIXED,
    "systemSelect": SYSTEM,
}
REST_NAMES = {
    NONE: "NONE",
    HOST: "HOST",
    DIRECT: "DIRECTPATH",
    ENHANCED: "ENHANCED_DIRECTPATH",
    SAME: "VGPU_SAME_SIZE",
    MIXED: "VGPU_MIXED_SIZE",
    SYSTEM: "SYSTEM_SELECT",
}
# Modes that a task requests by name. All others follow from other settings.
BY_NAME = [SYSTEM]
# Modes that the host does not change by itself.
FIXED = tuple(mode for mode in REST_NAMES if mode != SYSTEM)


@dataclass(frozen=True)
class Mode:
    """The mode of one device, and the modes that it can be configured to."""

    current: str
    configurable: tuple[str, ...] = ()
    used_memory_mb: int | None = None

    @property
    def of_the_host(self) -> bool:
        """Return whether the host picks the mode at power-on, so that it may change at any time."""
        return self.current == SYSTEM


def mode_of(info: Any) -> Mode | None:
    """The mode in an entry of config.pciPassthruInfo; None from a server or a type library before 9.1."""
    state = getattr(info, "directPathState", None)
    if state is None:
        return None
    return Mode(
        current=_SPOKEN.get(state.mode, state.mode),
        configurable=tuple(_SPOKEN.get(one, one) for one in state.configurableModes or []),
        used_memory_mb=state.usedMemory,
    )


def modes_of(infos: Iterable[Any] | None) -> dict[str, Mode]:
    """{address: Mode} of the devices that have one."""
    found = {info.id: mode_of(info) for info in infos or []}
    return {address: mode for address, mode in found.items() if mode is not None}


def project(mode: Mode | None) -> dict[str, Any] | None:
    """A mode as a user sees it."""
    if mode is None:
        return None
    return {
        "current": mode.current,
        "configurable": list(mode.configurable),
        "used_memory_mb": mode.used_memory_mb,
    }


def over_rest(method: str, mode: Mode | None) -> bool:
    """Return whether the mode of a device is set over REST."""
    return method != SOAP and mode is not None


def obstacles(method: str, name: str, mode: Mode | None, to_host: bool = False) -> Iterator[tuple[str, str]]:
    """What a method cannot do with a device, each with its fix. to_host: the task requests system_select."""
    if to_host and (mode is None or method == SOAP):
        yield (
            f"Only REST of vCenter and ESX 9.1 can set the mode system_select of {name}.",
            "Remove `device_mode`, or set `method` to auto on vSphere 9.1.",
        )
    elif mode is None:
        if method == REST:
            yield (
                f"vCenter reports no device mode of {name}.",
                "Set `method` to auto or soap. Device modes need vCenter and ESX 9.1.",
            )
    elif mode.of_the_host and method == SOAP:
        yield (
            f"The mode of {name} is system_select, and SOAP cannot change it.",
            "Set `method` to auto or rest.",
        )


def refuse_impossible(subject: str, devices: Iterable[tuple[str, Mode, str]]) -> None:
    """Raise an error for devices that cannot be configured to a mode; devices: (name, its mode, requested mode)."""
    found = [(name, mode, target) for name, mode, target in devices if target not in mode.configurable]
    if not found:
        return
    raise OperatorError(
        subject,
        "cannot set the mode of its devices",
        "; ".join(
            f"{name} is in the mode {mode.current} and cannot be configured to {target}. It can be configured to: "
            f"{', '.join(mode.configurable) or 'no mode'}"
            for name, mode, target in found
        ),
        "Request a mode from that list. If a vgpu mode is missing, check that the host driver is loaded and that the "
        "BIOS enables SR-IOV and the IOMMU",
        "device_mode_not_configurable",
        devices=[
            {"device": name, "current": mode.current, "requested": target, "configurable": list(mode.configurable)}
            for name, mode, target in found
        ],
    )


def by_state(passthrough: bool, graphics_type: str = "", vgpu_size: str = "") -> str:
    """The mode that follows from the active settings; graphics_type is empty for a device other than a GPU."""
    if passthrough or graphics_type == "direct":
        return DIRECT
    if graphics_type == "basic":
        return NONE
    return vgpu_mode(vgpu_size) if graphics_type == "sharedDirect" else HOST


def fixed(mode: Mode | None) -> Mode | None:
    """A mode that the host does not pick any more; its name follows from the other settings."""
    return replace(mode, current="") if mode is not None and mode.of_the_host else mode


def of_the_host(mode: Mode | None) -> Mode | None:
    """The mode of a device that the task leaves to the host."""
    return replace(mode, current=SYSTEM) if mode is not None else None


def enters_host(before: Mode | None, after: Mode | None) -> bool:
    """Return whether a change leaves the choice of the mode to the host."""
    return before is not None and not before.of_the_host and after is not None and after.of_the_host


def leaves_host(before: Mode | None, after: Mode | None) -> bool:
    """Return whether a change takes the choice of the mode from the host."""
    return before is not None and before.of_the_host and after is not None and not after.of_the_host


def vgpu_mode(vgpu_size: str) -> str:
    """The mode for vGPUs of a size in the words of the API of graphics."""
    return MIXED if vgpu_size == "mixedSize" else SAME
