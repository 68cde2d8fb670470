# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Compute the state of ports from the configuration and the show commands of Dell OS10. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import vlans
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import number, numbers, tree
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.os10 import text
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Oper, Port

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.os10 import shows
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Marking

    class Reported(Port):
        """A Port with queues from the configuration."""

        ecn: dict[int, Marking]
        strict: list[int]
        shares: dict[int, int]


FACTORY_MTU = 1532

# {word of `show interface`: name of the counter on all platforms}
COUNTED = {
    f"{word}_{way}": f"{name}_{way}"
    for way in ("received", "sent")
    for word, name in (("octets", "bytes"), ("discarded", "discards"))
}


def port_of(found: text.Config, name: str, interface: shows.Interface, known: bool) -> Port:
    port = Port(mtu=interface.get("mtu"), pause=interface.get("pause"), speed=interface.get("speed"))
    if not known:
        return port
    here = found.ports.get(name, {})
    port.mtu = int(here.get("mtu", FACTORY_MTU))
    port.pause = "on" in (here.get("receive"), here.get("transmit"))
    # The trust of a port has priority over the trust of the system, for both kinds of trust.
    for slots in (here, found.ports.get(text.SYSTEM, {})):
        if port.trust is None and text.TRUSTS["dscp"] in slots:
            name_of_map = slots[text.TRUSTS["dscp"]]
            groups = found.table(text.TRUSTS["dscp"], name_of_map)
            # A map outside this part of the configuration is unknown.
            known_map = {dscp: groups.get(dscp, 0) for dscp in range(64)}
            port.trust, port.dscp_map = "dscp", None if found.lacks(name_of_map) else known_map
        elif port.trust is None and text.TRUSTS["dot1p"] in slots:
            port.trust = "pcp"
    port.trust = port.trust or "none"
    port.queues = {group: group for group in range(8)}
    port.queues.update(found.table(text.QUEUES, found.slot(name, text.QUEUES)))
    if found.lacks(found.slot(name, text.QUEUES)):
        port.queues = None
    port.pfc_mode = "on" if here.get("pfc") else "off"
    policy = found.slot(name, text.NETWORK) if here.get("pfc") else None
    classes = [(groups, below) for groups, below in found.classes(text.NETWORK, policy) if _pauses(below)]
    pausing = [(groups, _priorities(below)) for groups, below in classes]
    if not found.lacks(policy):
        port.pfc = sorted({one for _groups, priorities in pausing for one in priorities})
        port.lossless = sorted({group for groups, _priorities in pausing for group in groups})
    if not found.lacks(policy) and port.queues is not None:
        for matched, priorities in pausing:
            # One class can contain several priorities. Each priority then pauses the group of the same number.
            own = {one: one if one in matched else matched[0] for one in priorities if matched}
            port.pfc_queues = {**(port.pfc_queues or {}), **{one: port.queues[group] for one, group in own.items()}}
        port.pfc_queues = port.pfc_queues or {}
    port.pfc_sends = True if here.get("pfc") else None
    port.ecn, port.strict, port.shares = {}, [], {}
    for queues, below in found.classes(text.QUEUING, found.slot(name, text.QUEUING)):
        _queue(cast("Reported", port), queues, below, found, found.slot(name, "ets"))
    port.dcbx = {"cee": "cee"}.get(here.get("dcbx", ""), "ieee") if found.switch.get("dcbx") else "off"
    return port


def lans(configuration: str) -> tuple[dict[str, vlans.Switching], set[int] | None]:
    """Return ({port: vlans.Switching}, existing VLANs or None) of a running configuration."""
    heads = [line.text.lower().replace("vlan ", "vlan") for line in tree(configuration).children]
    there = vlans.existing(heads, r"interface vlan(\d+)") if any("interface vlan" in head for head in heads) else None
    ports = r"interface (?:range )?((?:ethernet|port-channel).*)"
    return vlans.by_port(configuration, ports, lambda name: text.port_names(name.lower())), there


def switched(switching: Mapping[str, vlans.Switching], existing: set[int] | None, name: str, port: Port) -> None:
    """Set the VLANs of a port; a member of a port channel has its VLANs. OS10 also writes defaults."""
    one = switching.get(name) or vlans.Switching()
    above = switching.get(f"port-channel{one.member}") if one.member else None
    lines = replace(above, enabled=one.enabled) if above else one
    if one.member and not above:
        lines = replace(one, mode=None)
    elif lines.mode is None and lines.reported:
        lines = replace(lines, mode=vlans.ACCESS)
    vlans.settle(port, replace(lines, native=lines.access), existing, native=vlans.FIRST, every=False)


def _pauses(below: Iterable[str]) -> bool:
    return any(line.split()[0] == "pause" for line in below)


def _priorities(below: Iterable[str]) -> list[int]:
    return [one for line in below if "pfc-cos" in line for one in numbers(line.rpartition("pfc-cos")[2])]


def _queue(port: Reported, queues: Sequence[int], below: Iterable[str], found: text.Config, ets: str | None) -> None:
    for line in below:
        word, _blank, value = line.rpartition(" ")
        if word == "random-detect" and found.marking(value) is not None:
            port.ecn.update(dict.fromkeys(queues, cast("Marking", found.marking(value))))
        elif word == "bandwidth percent" and ets:
            port.shares.update(dict.fromkeys(queues, number(value) or 0))
        elif line == "priority":
            port.strict = sorted({*port.strict, *queues})


def oper_of(interface: shows.Interface, acting: shows.Acting) -> Oper:
    counters = {"pauses_received": acting.get("received"), "pauses_sent": acting.get("sent")}
    pfc = {True: acting.get("pfc"), False: [], None: None}.get(acting.get("acts"))
    return Oper(
        up=interface.get("up"),
        pfc=pfc,
        pfc_sends=True if pfc else None,
        mtu=interface.get("mtu"),
        counters={
            **{key: value for key, value in counters.items() if value},
            **{COUNTED.get(key, key): value for key, value in (interface.get("counters") or {}).items()},
        },
    )


def users(found: text.Config) -> dict[text.Key, list[str]]:
    """Return {(kind, name): ports that use it, also indirectly}."""
    users: dict[text.Key, list[str]] = {key: [] for key in found.objects}
    for port, slots in found.ports.items():
        used = {(slot, value) for slot, value in slots.items() if (slot, value) in users}
        for kind, name in list(used):
            for header, below in found.objects[(kind, name)].items():
                used.add((text.CLASSES.get(kind, ""), header.partition(" ")[2]))
                used |= {(text.WRED, line.partition(" ")[2]) for line in below if line.startswith("random-detect ")}
        for key in used & {*users}:
            users[key].append(port)
    return users


def misnamed(found: text.Config, asked: Collection[str]) -> list[str]:
    """Return sentences about names of the wrong kind, some of which the switch accepts without effect."""
    sentences = []
    for port, slots in found.ports.items():
        for slot, value in slots.items():
            if (
                slot not in text.KINDS
                or (slot, value) in found.objects
                or (asked and port not in (*asked, text.SYSTEM))
            ):
                continue
            others = [kind for kind, name in found.objects if name == value]
            # Names that this part of the configuration does not contain can be in another part.
            if others:
                where = port or "system qos"
                sentences.append(
                    f"{where}: {value} has no effect as {slot}. It is a {others[0]}. Use the name of a {slot}."
                )
    return sentences
