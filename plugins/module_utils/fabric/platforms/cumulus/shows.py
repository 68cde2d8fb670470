# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Read `nv show` of Cumulus Linux: running values of ports, and configured values that no other source has. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import lldpctl
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import part
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.cumulus import text
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.cumulus.tables import (
    configured,
    flow_control,
    marking,
    misread,
    misread_rows,
    reported_of,
    rows_of,
    trust_of,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Neighbour, Oper, Port
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.unread import lacks

if TYPE_CHECKING:
    from collections.abc import Mapping, Set

    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.cumulus.text import Tree
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Switch

ANY = "*"  # the port of outputs that name no port or apply to all ports
# Unique patterns of outputs that come without their command.
MARKS = (
    ("LLDP neighbors:", "nv show interface lldp-detail"),
    ("rx-pfc-stats", "nv show interface * qos roce counters"),
    ("RoCE Pool Status", "nv show interface * qos roce status"),
    ("trust-mode", "nv show qos roce"),
    ("PFC WD Status", "nv show interface * qos pfc-watchdog"),
    ("switch-priority]", "nv show qos pfc default-global"),
    ("scheduler-weight", "nv show qos roce"),
    ("SP->TC mapping", "nv show qos egress-queue-mapping default-global"),
    ("DSCP->SP", "nv show qos mapping default-global dscp"),
    ("bw-percent", "nv show qos egress-scheduler default-global"),
    ("Remote Host", "nv show interface"),
    ("ECN Configurations", "nv show qos congestion-control default-global"),
)


def command_of(output: str) -> str | None:
    """Return the command of a table; None if it is not a table of NVUE."""
    return next((command for mark, command in MARKS if mark in output), None)


def ports_of(command: str, output: str) -> list[str]:
    """Return the ports in an output."""
    names = []
    for reported in text.documents(output):
        names += [name for name in part(reported) if name.startswith("swp")]
    names += [*text.by_interface(output), *_listed(output)]
    found = re.match(r"nv show interface (swp\S+|\*)(?: |$)", command)
    if not names and (found or command.startswith("nv show qos")):
        names = text.port_names(found.group(1)) if found else [ANY]
    return names


def read(switch: Switch, command: str, output: str, default: Mapping[str, Set[str]]) -> None:
    """Add the values of an output to a Switch.

    default: {port: kinds of profiles where it uses the profile of all ports}, as far as the settings contain them.
    """
    whole, listed = [], _listed(output)
    for reported in text.documents(output):
        ports = {
            name: tree for name, tree in part(reported).items() if name.startswith("swp") and isinstance(tree, dict)
        }
        for name, tree in ports.items():
            _port(switch, name, tree)
        if part(reported) and not ports:
            whole.append(reported)
    parts = [(name, _nested(text.tree_of(own)), own) for name, own in text.by_interface(output).items()]
    if not parts and not text.documents(output):
        tree = _nested(text.tree_of(output))
        parts = [(name, tree, output) for name in ports_of(command, output) if name not in listed]
    parts += [(name, tree, "") for tree in whole for name in ports_of(command, output)]
    for name, tree, own in parts:
        if "qos" in command:
            more = ("state",) if "pfc-watchdog" in command else ("tx", "rx") if "qos pfc " in command else ()
            switch.unread += [
                f"Cannot read {label} of {name} in `{command}`. The value {value!r} is unknown. Check it on the switch."
                for label, value in [*misread(tree, more), *misread_rows(own)]
            ]
        if name == ANY and command.startswith("nv show qos"):
            _of_all(switch, tree, own, default)
            continue
        if "qos pfc-watchdog" in command:
            _watched(switch, name, tree, own)
        elif command.startswith("nv show interface"):
            _port(switch, name, {"link": tree} if command.split()[4:5] == ["link"] else tree)
        configured(switch.ports.setdefault(name, Port()), reported_of(tree, own))
    if "LLDP neighbors:" in output:
        lldpctl.neighbours(switch, output)
    for name, row in listed.items():
        _row(switch, name, row)
    if command.startswith("nv show qos roce"):
        switch.exceptions += text.exceptions_of(output)


# {key of a Port: the kind of profile that sets it}
DECIDED_BY = {
    "trust": "mapping",
    "dscp_map": "mapping",
    "queues": "egress-queue-mapping",
    "strict": "egress-scheduler",
    "shares": "egress-scheduler",
    "ecn": "congestion-control",
}


def _of_all(switch: Switch, tree: Tree, own: str, default: Mapping[str, Set[str]]) -> None:
    """Apply values of the whole switch to all ports, except ports with their own profile."""
    names = [name for name in switch.ports if name.startswith("swp")] or [ANY]
    reported = reported_of(tree, own)
    shown = _nested(text.tree_of(own, 1)) if own else tree
    acts = _running(shown) if "trust-mode" in part(shown, "trust") else {}
    for name in names:
        usual = default.get(name)
        keys = {key for key in reported if usual is None or DECIDED_BY.get(key, "pfc") in usual}
        configured(switch.ports.setdefault(name, Port()), reported, keys)
        running = switch.oper.setdefault(name, Oper()) if acts else Oper()
        for key, value in acts.items():
            if getattr(running, key) is None and key in keys:
                setattr(running, key, value)


def _listed(output: str) -> dict[str, dict[str, str]]:
    """Return {port: row} of a table with a row for each port."""
    # Early releases put a plus before each port with a configuration.
    rows = [(str(row.get("interface", "")).lstrip("+ "), row) for row in text.rows_of(output, "interface")]
    return {name: row for name, row in rows if name.startswith("swp")}


def _row(switch: Switch, name: str, row: Mapping[str, str]) -> None:
    running, port = switch.oper.setdefault(name, Oper()), switch.ports.setdefault(name, Port())
    state = row.get("oper status") or row.get("oper") or row.get("state") or ""
    running.up = {"up": True, "down": False}.get(state.lower(), running.up)
    if state and state.lower() not in ("up", "down"):
        switch.unread.append(lacks("nv show interface", f"the state of {name}, {state!r}"))
    running.mtu = text.number(row.get("mtu")) or running.mtu
    port.speed = text.gigabits(row.get("speed")) or port.speed
    if row.get("remote host"):
        peer = Neighbour(system=row["remote host"], port=row.get("remote port") or None)
        switch.neighbours.setdefault(name, []).append(peer)


def _port(switch: Switch, name: str, tree: Tree) -> None:
    """Read one port of a view, in JSON or from a table."""
    running = switch.oper.setdefault(name, Oper())
    link = part(tree, "link")
    if text.number(link.get("mtu")) is not None:
        running.mtu = text.number(link.get("mtu"))
    admin = str(link.get("admin-status", "")).lower()
    if admin in ("up", "down"):
        switch.ports.setdefault(name, Port()).enabled = admin == "up"
    state = link.get("oper-status") or link.get("state")
    if state:
        words = [word.lower() for word in (state if isinstance(state, dict) else [str(state)])]
        known = {"up": True, "down": False, "lowerlayerdown": False, "notpresent": False, "dormant": False}
        running.up = next((known[word] for word in words if word in known), None)
        if running.up is None:
            switch.unread.append(lacks("nv show interface", f"the state of {name}, {', '.join(words)!r}"))
    speed = text.gigabits(link.get("speed"))
    if speed:
        port = switch.ports.setdefault(name, Port())
        port.speed = port.speed or speed
    status = _holding(tree, "trust")
    if "trust-mode" in part(status, "trust"):
        for key, value in _running(cast("Tree", status)).items():
            setattr(running, key, value)
    watch = part(_holding(tree, "pfc-watchdog"), "pfc-watchdog")
    if watch:
        _watched(switch, name, watch, "")
    counters = _holding(tree, "rx-pfc-stats"), _holding(tree, "tx-pfc-stats")
    if all(counters):
        _counted(running, *cast("tuple[Tree, Tree]", counters))
    peers = part(tree, "lldp", "neighbor")
    for system in peers:
        chassis, place = part(peers, system, "chassis"), part(peers, system, "port")
        switch.neighbours.setdefault(name, []).append(
            Neighbour(
                system=chassis.get("system-name") or system,
                port=place.get("name") or place.get("port-id"),
                chassis=chassis.get("chassis-id"),
                description=place.get("description"),
            )
        )


def _running(status: Tree) -> dict[str, object]:
    """Return the effective values that a status contains."""
    pfc, sends = flow_control(status)
    return {"trust": trust_of(status["trust"]["trust-mode"]), "pfc": pfc, "pfc_sends": sends, "ecn": marking(status)}


def _counted(running: Oper, received: Tree, sent: Tree) -> None:
    roce_in, roce_out = part(received, "rx-roce-stats"), part(sent, "tx-roce-stats")
    drops = (roce_in.get("no-buffer-discard"), roce_out.get("unicast-no-buffer-discard"))
    counted = {
        "pauses_received": part(received, "rx-pfc-stats").get("pause-packets"),
        "pauses_sent": part(sent, "tx-pfc-stats").get("pause-packets"),
        "roce_packets_received": roce_in.get("roce-packets"),
        "roce_packets_sent": roce_out.get("roce-packets"),
        "ecn_marked": part(sent, "tx-ecn-stats").get("ecn-marked-packets"),
        "cnp_packets_sent": part(sent, "tx-cnp-stats").get("cnp-packets"),
    }
    running.counters.update({key: text.number(one) for key, one in counted.items() if one is not None})
    dropped = [text.number(one) for one in drops]
    # Some drop counters alone would look like the total.
    if None not in dropped:
        running.counters["roce_drops"] = sum(cast("list[int]", dropped))


def _watched(switch: Switch, name: str, tree: Tree, output: str) -> None:
    running = switch.oper.setdefault(name, Oper())
    if "state" in tree:
        running.watchdog = text.switched(tree["state"])
        switch.ports.setdefault(name, Port()).watchdog = running.watchdog
    rows = rows_of(tree, output, "traffic-class", "deadlock-count")
    if rows:
        events = [text.number(row.get("deadlock-count")) for row in rows]
        if None not in events:
            running.counters["watchdog_events"] = sum(cast("list[int]", events))
        states = [(text.number(row["traffic-class"]), str(row.get("status")).lower()) for row in rows]
        stuck = [queue for queue, state in states if "deadlock" in state]
        if None not in stuck and all("deadlock" in state or state == "ok" for _queue, state in states):
            running.storms = sorted(cast("list[int]", stuck))


def _holding(tree: object, key: str) -> Tree | None:
    """Return the part of a tree, at any depth, that contains a key."""
    if not isinstance(tree, dict) or key in tree:
        return tree if isinstance(tree, dict) else None
    return next((found for found in (_holding(below, key) for below in tree.values()) if found), None)


def _nested(paths: Mapping[tuple[str, ...], str]) -> Tree:
    tree: Tree = {}
    for path, value in paths.items():
        place = tree
        for key in path[:-1]:
            place = place.setdefault(key, {}) if isinstance(place.get(key, {}), dict) else {}
        place[path[-1]] = value
    return tree
