# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Network adapters of VMs by names that outlast their labels. Pure.

A module reports an added adapter as "new adapter 1", and the same adapter by its label when it removes it. Here both
are "adapter PORTGROUP on SWITCH".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape import keys

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

PREFIX, PRESENT = "adapter ", "present"
# The other settings of a VM whose names have no dot.
_OTHERS = (
    "cores_per_numa_node",
    "cores_per_socket",
    "cpu_reservation_mhz",
    "cpus",
    "devices",
    "hardware_version",
    "latency_sensitivity",
    "memory_gb",
    "memory_reservation",
    "numa_devices",
    "power",
    "power_cycle",
    "power_on_again",
    "profiles",
)
_NEW = re.compile(r"new adapter \d+\Z")
_MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}\Z", re.IGNORECASE)
_PCI = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]\Z", re.IGNORECASE)
_PROTOCOLS = ("rocev1", "rocev2")


def lasting(changes: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The changes of one VM, with added and removed adapters under their lasting names."""
    found: list[dict[str, Any]] = []
    seen: dict[tuple[str, bool], int] = {}
    for change in changes:
        path, before, after = str(change["path"]), change["before"], change["after"]
        added = bool(_NEW.match(path)) and before is None
        removed = not added and is_label(path) and isinstance(before, str) and after is None
        if path.startswith(PREFIX) or not (added or removed):
            found.append(dict(change))
            continue
        text = str(after if added else before)
        seen[text, added] = seen.get((text, added), 0) + 1
        number = seen[text, added]
        name = f"{PREFIX}{text}" if number == 1 else f"{PREFIX}{text} #{number}"
        found.append(dict(change, path=name, before=None if added else PRESENT, after=PRESENT if added else None))
    return found


def is_label(path: str) -> bool:
    """Whether the path is the label of an adapter: no other setting of a VM."""
    return "." not in path and path not in _OTHERS and keys.find(path) is None


def edited(path: str) -> tuple[str, str] | None:
    """(label, field) of a setting of an existing adapter, or None."""
    label, dot, field = path.rpartition(".")
    return (label, field) if dot and is_label(label) and keys.find(path) is None else None


def entry_of(path: str) -> dict[str, Any]:
    """The adapter with a lasting name, as an entry of a request."""
    place, *words = re.sub(r" #\d+\Z", "", path[len(PREFIX) :]).split(", ")
    portgroup, on, switch = place.rpartition(" on ")
    entry: dict[str, Any] = {"portgroup": portgroup, "switch": switch} if on else {"portgroup": place}
    for word in words:
        if word in _PROTOCOLS:
            entry["protocol"] = word
        elif word == "disconnected":
            entry["connected"] = False
        elif _PCI.match(word):
            entry["physical_function"] = word
        elif _MAC.match(word):
            entry["mac"] = word
    return entry


def remaining(requested: Sequence[Mapping[str, Any]], added: Sequence[str]) -> list[Mapping[str, Any]]:
    """The requested adapters without those that were added for the request."""
    left = list(requested)
    for path in added:
        portgroup = entry_of(path)["portgroup"]
        match = next((one for one in left if one.get("portgroup") in (portgroup, path[len(PREFIX) :])), None)
        left = [one for one in left if one is not match]
    return left
