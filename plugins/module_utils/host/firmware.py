# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Parameters in the firmware of network adapters: present and desired values, and pending steps. Pure."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace
from typing import Any, Iterable, Iterator, Mapping, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host import mlxconfig
from ansible_collections.aiready.vsphere.plugins.module_utils.host.pci import normal_address

ALL = "all"
# Truth values in the notation of mlxconfig, in lower case.
_SWITCH = ("true(1)", "false(0)")
NEEDS = {"cold": "cold_power_cycle", "warm": "reboot"}


@dataclass(frozen=True)
class Adapter:
    """One PCI function of an adapter and the parameters of its firmware."""

    device: mlxconfig.MstDevice
    keys: dict[str, mlxconfig.Key]


def meant(devices: Sequence[mlxconfig.MstDevice], requests: Sequence[str]) -> list[mlxconfig.MstDevice]:
    """The devices that a task names, by PCI address, port, mst name, or all; reports all unknown ones at once."""
    if ALL in requests:
        return list(devices)
    found, unknown = [], []
    for requested in requests:
        address = normal_address(requested)
        matching = [
            one
            for one in devices
            if requested in (one.mst, one.mst.rpartition("/")[2], *one.nets) or address == one.pci
        ]
        found += [one for one in matching if one not in found]
        if not matching:
            unknown.append(requested)
    if unknown:
        there = ", ".join(f"{one.mst} ({one.pci}{f', {one.net}' if one.net else ''})" for one in devices)
        raise OperatorError(
            ", ".join(unknown),
            "cannot find the network adapter",
            f"mst lists: {there or 'no adapter'}",
            "Correct `devices`",
            "device_not_found",
            devices=[one.mst for one in devices],
        )
    return found


def want(label: str, now: Adapter, settings: Mapping[str, Any]) -> Adapter:
    """An adapter with the settings for its next start."""
    problems = [problem for name, value in sorted(settings.items()) for problem in _problems(now, name, value)]
    if problems:
        raise OperatorError(
            label,
            f"cannot set the firmware parameters {', '.join(sorted(settings))}",
            " ".join(problems),
            f"Update the firmware of the adapter, or correct `settings`{_hidden(now)}",
            "firmware_parameter_impossible",
            problems=problems,
        )
    keys = {name: _requested_settings(now.keys[name], value) for name, value in settings.items()}
    return replace(now, keys={**now.keys, **keys})


def compare(now: Adapter, wanted: Adapter, names: Iterable[str], needs: str) -> list[Change]:
    """The settings to write; one that runs already needs no restart."""
    return [
        Change(
            name,
            now.keys[name].next,
            wanted.keys[name].next,
            None if mlxconfig.equal(wanted.keys[name].next, now.keys[name].current) else needs,
        )
        for name in names
        if not mlxconfig.equal(now.keys[name].next, wanted.keys[name].next)
    ]


def assignments(changes: Iterable[Change]) -> list[str]:
    """Return KEY=VALUE for each change, the notation of mlxconfig."""
    return [f"{change.path}={mlxconfig.plain(cast(str, change.after))}" for change in changes]


def pending(adapter: Adapter, names: Iterable[str], needs: str) -> list[dict[str, str]]:
    """Return the parameters whose value for the next start differs from the running one."""
    keys = [adapter.keys[name] for name in names if name in adapter.keys]
    # If the firmware does not show a value, a pending change is unknown.
    waiting = [key for key in keys if key.current and not mlxconfig.equal(key.current, key.next)]
    return [{"what": key.name, "needs": needs} for key in waiting]


def project(adapter: Adapter, names: Iterable[str]) -> dict[str, Any]:
    """An adapter in the form of results."""
    keys = [adapter.keys[name] for name in names if name in adapter.keys]
    return {
        "settings": {key.name: {"current": key.current, "next_boot": key.next, "default": key.default} for key in keys}
    }


def _problems(now: Adapter, name: str, value: Any) -> Iterator[str]:
    key = now.keys.get(name)
    if key is None:
        near = difflib.get_close_matches(name, now.keys, n=3, cutoff=0.7)
        yield f"Its firmware has no parameter {name}{f' (near it: {_listed(near)})' if near else ''}."
    elif key.read_only:
        yield f"{name} can only be read."
    elif value is None:
        if not key.default:
            yield f"mlxconfig does not show the default of {name}."
    elif _is_switch(key):
        if not any(mlxconfig.same(shown, value) for shown in _SWITCH):
            yield f"{name} is true or false, which {value} is not."
    elif key.current.isdecimal() and not mlxconfig.request_text(value).isdecimal():
        yield f"{name} is a number, which {value} is not."


def _hidden(now: Adapter) -> str:
    """Firmware shows some parameters only on request (NVIDIA's nic-configuration-operator sets that first)."""
    switch = now.keys.get("ADVANCED_PCI_SETTINGS")
    if switch is None or mlxconfig.same(switch.current, True):
        return ""
    return "; some parameters show only after ADVANCED_PCI_SETTINGS was set and the adapter was started again"


def _requested_settings(key: mlxconfig.Key, value: Any) -> mlxconfig.Key:
    """A key with a new value, spelled as the tool shows it where it shows the same value already."""
    if value is None:
        return replace(key, next=key.default)
    known = next((shown for shown in (key.next, key.current, key.default) if mlxconfig.same(shown, value)), None)
    if known is not None:
        return replace(key, next=known)
    text = mlxconfig.request_text(value)
    word = {"1": "True(1)", "0": "False(0)"}.get(text) if _is_switch(key) else None
    return replace(key, next=word or text)


def _is_switch(key: mlxconfig.Key) -> bool:
    return key.current.lower() in _SWITCH


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
