# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The difference between two captures in the terms of the trade. Unknown values are never a difference."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Dict, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.capture import view

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Capture
    from ansible_collections.aiready.vsphere.plugins.module_utils.capture.view import Parse
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Port, Switch

# Facts of an object by their words. None is unknown.
Facts = Mapping[str, Any]
_PORT = {
    "trust": "trust",
    "pfc_mode": "PFC mode",
    "pfc": "PFC priorities",
    "lossless": "lossless priorities",
    "mtu": "MTU",
    "watchdog": "PFC watchdog",
    "pause": "link-level pause",
    "enabled": "enabled",
    "vlan_mode": "VLAN mode",
    "untagged": "untagged VLAN",
    "tagged": "tagged VLANs",
    "dscp_map": "DSCP map",
    "ecn": "ECN",
}


class Part(Dict[str, Any]):
    """The facts of a part of an object, such as a port."""


@dataclass(frozen=True)
class Change:
    """One difference. An object or a part that was added or removed has no `what`."""

    kind: str
    name: str
    part: str
    what: str
    before: Any
    after: Any

    @property
    def text(self) -> str:
        where = " ".join(word for word in (self.kind, self.name, self.part) if word)
        if not self.what:
            return f"{where}: {'added' if self.before is None else 'removed'}"
        return f"{where}: {self.what} {shown(self.before)} -> {shown(self.after)}"


def shown(value: Any) -> str:
    """A value in a line of text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(shown, value)) or "none"
    if isinstance(value, dict):
        return ", ".join(f"{key}: {shown(one)}" for key, one in sorted(value.items())) or "none"
    return "none" if value in (None, "") else str(value)


def compared(before: Capture, after: Capture, parse: Parse) -> tuple[list[Change], list[str]]:
    """All changes from one capture to a later one, by kind and name, and the kinds that only one of them has.

    Those kinds are not compared.
    """
    unread: list[str] = []
    old, new = view.read(before, parse), view.read(after, parse)
    found: list[Change] = _facts("vCenter", "", {"version": old.release}, {"version": new.release})
    kinds = (
        ("cluster", _clusters(old), _clusters(new)),
        (
            "host",
            {name: host(one) for name, one in old.hosts.items()},
            {name: host(one) for name, one in new.hosts.items()},
        ),
        ("VM", {name: vm(one) for name, one in old.vms.items()}, {name: vm(one) for name, one in new.vms.items()}),
        ("port group", _portgroups(old), _portgroups(new)),
        ("distributed switch", _dvs(old), _dvs(new)),
        ("library item", _items(old), _items(new)),
        ("switch", _of_switches(old), _of_switches(new)),
    )
    for kind, was, now in kinds:
        if not was or not now:
            # A kind that one of the captures does not have was not read there.
            if was or now:
                unread.append(kind)
            continue
        for name in sorted({*was, *now}):
            if kind == "switch" and name in (*old.unreadable, *new.unreadable):
                continue
            if name not in was:
                found.append(Change(kind, name, "", "", None, True))
            elif name not in now:
                found.append(Change(kind, name, "", "", True, None))
            else:
                found += _facts(kind, name, was[name], now[name])
    return found, unread


def share_names(before: Capture, after: Capture) -> bool | None:
    """Whether both captures have one table of pseudonyms, by the identifiers of hosts; None if they do not show it."""
    old, new = (view.uuids(capture) for capture in (before, after))
    return bool(old & new) if old and new else None


def _facts(kind: str, name: str, was: Facts, now: Facts, part: str = "") -> list[Change]:
    found: list[Change] = []
    if not was or not now:
        return found
    for what in {**was, **now}:
        old, new = was.get(what), now.get(what)
        if isinstance(old, Part) and isinstance(new, Part):
            found += _facts(kind, name, old, new, what)
        elif isinstance(old, Part) or isinstance(new, Part):
            found.append(Change(kind, name, what, "", old and True, new and True))
        elif old is not None and new is not None and old != new:
            found.append(Change(kind, name, part, what, old, new))
    return found


def host(one: view.Host) -> Facts:
    """The facts of a host. Without its configuration, nothing is known."""
    if not one.read:
        return {}
    facts: dict[str, Any] = {
        "cluster": one.cluster,
        "ESXi": f"{one.version} build {one.build}" if one.version and one.build else None,
        "driver": one.driver,
        "BIOS": one.bios,
        "model": one.model,
        "memory (GB)": one.memory_gb,
        "cores": one.cores,
        "maintenance mode": one.maintenance,
        "vGPU types": one.vgpu_types,
        "passthrough devices": sorted(one.passthrough),
    }
    for address, gpu in one.gpus.items():
        facts[f"GPU {address}"] = Part(
            {
                "model": gpu.name,
                "graphics type": gpu.graphics_type,
                "configured graphics type": gpu.configured_type,
                "vGPU mode": gpu.vgpu_mode,
            }
        )
    for device, nic in one.nics.items():
        facts[device] = Part(
            {
                "PCI address": nic.address,
                "driver": f"{nic.driver} {nic.driver_version or ''}".strip() if nic.driver else None,
                "firmware": nic.firmware,
                "link (Mbit/s)": nic.speed_mb or 0,
                "switch": nic.switch or "",
                "MTU": nic.mtu,
            }
        )
    for device, port in one.vmknics.items():
        facts[device] = Part({"port group": port.portgroup, "MTU": port.mtu})
    return facts


def vm(one: view.Vm) -> Facts:
    """The facts of a VM. Without its configuration, nothing is known."""
    if not one.read:
        return {}
    facts = {
        "template": one.template,
        "host": one.host,
        "folder": one.folder,
        "power": one.power,
        "CPUs": one.cpus,
        "memory (MB)": one.memory_mb,
        "reserved memory (MB)": one.reserved_mb,
        "firmware": one.firmware,
        "hardware version": one.hardware,
        "GPU profiles": one.gpus,
        "networks": one.networks,
    }
    return {**facts, **one.settings}


def _clusters(site: view.Site) -> dict[str, Facts]:
    return {name: {"DRS": level} for name, level in site.clusters.items()}


def _portgroups(site: view.Site) -> dict[str, Facts]:
    return {name: {"switch": one.switch, "VLAN": one.vlan} for name, one in site.portgroups.items()}


def _dvs(site: view.Site) -> dict[str, Facts]:
    return {name: {"MTU": mtu} for name, mtu in site.dvs_mtu.items()}


def _items(site: view.Site) -> dict[str, Facts]:
    return {
        name: {"type": one.kind, "size (bytes)": one.size, "template": one.template} for name, one in site.items.items()
    }


def _of_switches(site: view.Site) -> dict[str, Facts]:
    return {name: _switch(one) for name, one in site.switches.items()}


def _switch(one: Switch) -> Facts:
    facts: dict[str, Any] = {"model": one.model, "release": one.version}
    for name, port in one.ports.items():
        heard = one.neighbours.get(name)
        neighbours = None if heard is None else [f"{peer.system or '?'} {peer.port or ''}".strip() for peer in heard]
        facts[name] = Part(_of_port(port), neighbour=neighbours)
    return facts


def _of_port(port: Port) -> dict[str, Any]:
    values = asdict(port)
    return {_PORT[one.name]: values[one.name] for one in fields(port) if one.name in _PORT}


def named(text: str, table: Mapping[str, Any]) -> str:
    """A text with the original names, by the data of the secret table."""
    return renamed(text, originals(table))


def renamed(text: str, names: Mapping[str, str]) -> str:
    """A text with other names for its pseudonyms."""
    return re.sub(r"\b[a-z]+-\d{3,}\b", lambda one: names.get(one[0], one[0]), text)


def originals(table: Mapping[str, Any]) -> dict[str, str]:
    """The original names by their pseudonyms."""
    spelled = table.get("spelled", {})
    return {made: spelled.get(name, name) for names in table["names"].values() for name, made in names.items()}
