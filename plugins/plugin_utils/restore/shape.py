# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Requests that restore the size, the settings and the GPUs of a VM. Pure.

Each function returns (the parts of the request, the settings that they restore, {setting: why no request restores it}).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape import keys

if TYPE_CHECKING:
    from typing import Mapping

    from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.steps import Net

    Found = tuple[dict[str, Any], dict[str, Net], dict[str, str]]

# Settings that an option of the same name takes as they are.
_SAME = ("cpus", "cores_per_socket", "cpu_reservation_mhz", "latency_sensitivity")
_MMIO = (keys.USE_64BIT_MMIO, keys.MMIO_SIZE)
_GPUDIRECT = (keys.ALLOW_P2P, keys.RELAX_ACS)
_UNIFIED = ".cfg.enable_uvm"
_NODES = (keys.NODE_AFFINITY, "cores_per_numa_node", "numa_devices")
_DEVICE = re.compile(r"(static|dynamic|group|dvx) (.+?)(?: on node (\d+))?\Z")
_STALE = ", recorded for another device"

_HARDWARE = "vSphere does not lower the hardware version of a VM."
_AUTOMATIC = "vSphere picked the value before. No option gives the choice back. Set it in vCenter."
_VIRTUAL_NODES = (
    "The VM had virtual NUMA nodes before. The module computes them from other options. Set them in vCenter."
)
_NOT_WHOLE = "The module sets whole GB of memory only. Set the memory in vCenter."
_WINDOW = "The VM had only one of the two settings of the MMIO window before. Set them in vCenter."
_STALE_DEVICE = "A device before was recorded for another host, so the VM could not start with it."


def devices(settings: Mapping[str, Net]) -> Found:
    """vGPUs with their unified memory, and passthrough devices."""
    parts: dict[str, Any] = {}
    known: dict[str, Net] = {}
    lost: dict[str, str] = {}
    vgpus, direct = settings.get("profiles"), settings.get("devices")
    if vgpus is not None:
        memory = {path: one for path, one in settings.items() if path.endswith(_UNIFIED)}
        known.update(memory, profiles=vgpus)
        if vgpus.back:
            parts["vgpu"] = {"profiles": list(vgpus.back), "unified_memory": _unified(memory)}
        else:
            parts["vgpu"] = {"state": "absent"}
    if direct is not None:
        entries = [_device(text) for text in direct.back or ()]
        if None in entries:
            lost["devices"] = _STALE_DEVICE
        else:
            known["devices"] = direct
            parts["passthrough"] = {"devices": entries} if entries else {"state": "absent"}
    return parts, known, lost


def shape(settings: Mapping[str, Net]) -> Found:
    """Size, reservations, NUMA nodes, MMIO window and keys of the VMX file."""
    args: dict[str, Any] = {}
    known: dict[str, Net] = {}
    lost: dict[str, str] = {}
    advanced: dict[str, Any] = {}
    for path, one in settings.items():
        if path in ("profiles", "devices") or (path.endswith(_UNIFIED) and "profiles" in settings):
            continue
        if path == "hardware_version":
            lost[path] = _HARDWARE
        elif path in _SAME and one.back is None:
            lost[path] = _AUTOMATIC
        elif path in _SAME:
            args[path], known[path] = one.back, one
        elif path == "memory_gb" and not isinstance(one.back, int):
            lost[path] = _NOT_WHOLE
        elif path == "memory_gb":
            args[path], known[path] = one.back, one
        elif path == "memory_reservation":
            args.update(_reservation(str(one.back)))
            known[path] = one
        elif path in _MMIO:
            window = _window(settings)
            if window is None:
                lost[path] = _WINDOW
            else:
                args.update(window)
                known[path] = one
        elif path in _GPUDIRECT:
            args["gpudirect"], known[path] = "enabled" if _is_on(one.back) else "disabled", one
        elif path in _NODES:
            nodes = _affinity(path, one)
            if nodes is None:
                lost[path] = _VIRTUAL_NODES
            else:
                args["numa_nodes"] = args.get("numa_nodes") or nodes
                known[path] = one
        else:
            advanced[path], known[path] = one.back, one
    if args.get("numa_nodes"):
        args["numa_method"] = "affinity"
    if advanced:
        args["advanced"] = advanced
    if not args:
        return {}, known, lost
    # What the journal does not name stays as it is.
    kept = {"memory_reservation": "ignore", "mmio": "ignore"}
    if "cpu_reservation_mhz" not in args:
        kept["cpu_reservation"] = "ignore"
    return {"shape": {**kept, **args}}, known, lost


def _reservation(back: str) -> dict[str, Any]:
    """The options for "all", "2048 MB" or, without a reservation, "partial"."""
    if back == "all":
        return {"memory_reservation": "all"}
    amount = back.partition(" ")[0]
    return {"memory_reservation_mb": int(amount) if amount.isdecimal() else 0}


def _window(settings: Mapping[str, Net]) -> dict[str, Any] | None:
    """The options for the MMIO window before; None if no option sets it."""
    switch, size = settings.get(keys.USE_64BIT_MMIO), settings.get(keys.MMIO_SIZE)
    if switch is None and size is not None and str(size.back or "").isdecimal():
        return {"mmio": "auto", "mmio_size_gb": int(size.back)}
    was_on = switch is None or _is_on(switch.back)
    return {"mmio": "none"} if not was_on and size is not None and size.back is None else None


def _is_on(value: Any) -> bool:
    return str(value or "").lower() in ("1", "true", "yes", "on")


def _affinity(path: str, one: Net) -> list[int] | None:
    """The NUMA nodes of the host before; None for virtual nodes."""
    if not one.back:
        return []
    if path != keys.NODE_AFFINITY:
        return None
    parts = [part.strip() for part in str(one.back).split(",")]
    return [int(part) for part in parts] if all(part.isdecimal() for part in parts) else None


def _unified(memory: Mapping[str, Net]) -> str:
    if not memory:
        return "ignore"
    return "enabled" if any(_is_on(one.back) for one in memory.values()) else "disabled"


def _device(text: str) -> dict[str, Any] | None:
    """The entry of a request for a device as a change names it."""
    found = _DEVICE.match(text)
    if found is None or _STALE in text:
        return None
    kind, name, node = found.groups()
    entry: dict[str, Any] = {"kind": kind}
    if kind == "static":
        entry["id"] = name
    elif kind == "group":
        entry["group"] = name
    elif kind == "dvx":
        entry["device_class"] = name
    else:
        ids, _labelled, label = name.partition(" labelled ")
        entry["allowed"] = ids.split(" or ")
        if label:
            entry["label"] = label
    return entry if node is None else {**entry, "numa_node": int(node)}
