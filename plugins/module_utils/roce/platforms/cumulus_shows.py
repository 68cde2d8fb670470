# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What `nv show` of Cumulus Linux tells of ports: how they run, and how they are set where nothing else tells. Pure."""

from __future__ import annotations

import re

from ansible_collections.aiready.vsphere.plugins.module_utils.roce.lines import part
from ansible_collections.aiready.vsphere.plugins.module_utils.roce.platforms import cumulus_text as text
from ansible_collections.aiready.vsphere.plugins.module_utils.roce.state import Marking, Neighbour, Oper, Port

ANY = "*"  # the port of outputs that do not say whose they are, or that hold for all
THRESHOLDS = ("min th", "max th", "probability")
# Outputs that come without their command, by what only they have.
MARKS = (
    ("rx-pfc-stats", "nv show interface * qos roce counters"),
    ("RoCE Pool Status", "nv show interface * qos roce status"),
    ("trust-mode", "nv show qos roce"),
    ("PFC WD Status", "nv show interface * qos pfc-watchdog"),
    ("switch-priority]", "nv show qos pfc default-global"),
    ("scheduler-weight", "nv show qos roce"),
    ("SP->TC mapping", "nv show qos egress-queue-mapping default-global"),
    ("DSCP->SP", "nv show qos mapping default-global dscp"),
    ("bw-percent", "nv show qos egress-scheduler default-global"),
    ("ECN Configurations", "nv show qos congestion-control default-global"),
)


def command_of(output):
    """The command that a table is of; None for what is no table of NVUE."""
    return next((command for mark, command in MARKS if mark in output), None)


def ports_of(command, output):
    """The ports that an output tells of."""
    names = []
    for told in text.documents(output):
        names += [name for name in part(told) if name.startswith("swp")]
    names += list(text.by_interface(output))
    found = re.match(r"nv show interface (swp\S+|\*) ", command)
    if not names and (found or command.startswith("nv show qos")):
        names = text.port_names(found.group(1)) if found else [ANY]
    return names


def read(switch, command, output):
    """Put what an output tells into a Switch."""
    for told in text.documents(output):
        for name, tree in part(told).items():
            if name.startswith("swp") and isinstance(tree, dict):
                _port(switch, name, tree)
    shown = text.by_interface(output)
    if not shown and not text.documents(output):
        shown = dict.fromkeys(ports_of(command, output), output)
    for name, own in shown.items():
        tree = _nested(text.tree_of(own))
        if "qos pfc-watchdog" in command:
            _watched(switch, name, tree, own)
        elif command.startswith("nv show interface"):
            _port(switch, name, tree)
        _configured(switch.ports.setdefault(name, Port()), tree, own)
    if command.startswith("nv show qos roce"):
        switch.exceptions += text.exceptions_of(output)


def _port(switch, name, tree):
    """One port of a view, in JSON or from a table."""
    running = switch.oper.setdefault(name, Oper())
    link = part(tree, "link")
    if text.number(link.get("mtu")) is not None:
        running.mtu = text.number(link.get("mtu"))
    state = link.get("oper-status") or link.get("state")
    if state:
        running.up = "up" in state if isinstance(state, dict) else str(state).lower() == "up"
    status = _holding(tree, "trust")
    if "trust-mode" in part(status, "trust"):
        _status(running, status)
    counters = _holding(tree, "rx-pfc-stats"), _holding(tree, "tx-pfc-stats")
    if all(counters):
        _counted(running, *counters)
    peers = part(tree, "lldp", "neighbor")
    for system in peers:
        chassis, port = part(peers, system, "chassis"), part(peers, system, "port")
        switch.neighbours.setdefault(name, []).append(
            Neighbour(
                system=chassis.get("system-name") or system,
                port=port.get("name") or port.get("port-id"),
                chassis=chassis.get("chassis-id"),
                description=port.get("description"),
            )
        )


def _status(running, status):
    running.trust = _trust(status["trust"]["trust-mode"])
    running.pfc, running.pfc_sends = _flow_control(status)
    running.ecn = _marking(status)


def _counted(running, received, sent):
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
    if any(one is not None for one in drops):
        running.counters["roce_drops"] = sum(text.number(one) or 0 for one in drops)


def _watched(switch, name, tree, output):
    running = switch.oper.setdefault(name, Oper())
    if "state" in tree:
        running.watchdog = text.is_on(tree["state"])
        switch.ports.setdefault(name, Port()).watchdog = running.watchdog
    rows = text.rows_of(output, "traffic-class", "deadlock-count")
    if rows:
        running.counters["watchdog_events"] = sum(text.number(row.get("deadlock-count")) or 0 for row in rows)


def _configured(port, tree, output):
    """What tables tell of the settings, for those that nothing else told."""
    told = {}
    if "trust-mode" in part(tree, "trust"):
        pfc, sends = _flow_control(tree)
        told.update(trust=_trust(tree["trust"]["trust-mode"]), ecn=_marking(tree), pfc=pfc, pfc_sends=sends)
        told["lossless"] = pfc if str(tree.get("mode", "")).startswith("lossless") else []
        told["cable_length_m"] = text.number(part(tree, "pfc").get("cable-length"))
    elif "tx" in tree and "switch-priority" in tree:
        told.update(pfc=text.numbers(tree["switch-priority"]), pfc_sends=text.is_on(tree["tx"]))
        told["cable_length_m"] = text.number(tree.get("cable-length"))
    if "pfc" in told:
        told["pfc_mode"] = "on" if told["pfc"] else "off"
    for column in ("switch-prio", "switch-priority"):
        rows = text.rows_of(output, "dscp", column)
        if rows:
            numbered = [(text.number(row.get(column)), text.numbers(row.get("dscp"))) for row in rows]
            told["dscp_map"] = {one: to for to, dscps in numbered if to is not None for one in dscps}
    rows = text.rows_of(output, "switch-prio", "traffic-class") or text.rows_of(
        output, "switch-priority", "traffic-class"
    )
    if rows:
        _queues(told, rows)
    rows = _by_class(text.rows_of(output, "traffic-class", "mode", "bw-percent"))
    if rows:
        told["strict"] = [queue for queue, row in rows if row.get("mode") == "strict"]
        weighted = [(queue, row) for queue, row in rows if row.get("mode") == "dwrr"]
        told["shares"] = {queue: text.number(row.get("bw-percent")) or 0 for queue, row in weighted}
    rows = _by_class(text.rows_of(output, "traffic-class", "ecn", "min th"))
    if rows:
        sizes = [(queue, row, [text.number(row.get(name)) for name in THRESHOLDS]) for queue, row in rows]
        told["ecn"] = {
            queue: Marking(low, high, part, text.is_on(row.get("ecn")))
            for queue, row, (low, high, part) in sizes
            if None not in (low, high)
        }
    for key, value in told.items():
        if getattr(port, key) is None:
            setattr(port, key, value)


def _by_class(rows):
    """[(traffic class, row)] of the rows that name one."""
    found = [(text.number(row.get("traffic-class")), row) for row in rows]
    return [(queue, row) for queue, row in found if queue is not None]


def _queues(told, rows):
    told["queues"], strict, shares = {}, set(), {}
    for queue, row in _by_class(rows):
        priority = text.number(row.get("switch-prio") or row.get("switch-priority"))
        if priority is None:
            continue
        told["queues"][priority] = queue
        weight = row.get("scheduler-weight", "").lower()
        if weight.startswith("strict"):
            strict.add(queue)
        elif weight:
            shares[queue] = int(re.sub(r"\D", "", weight) or 0)
    if strict or shares:
        told.update(strict=sorted(strict), shares=shares)


def _flow_control(tree):
    flow = part(tree, "pfc")
    sends, obeys = (text.is_on(flow.get(key, "no")) for key in ("tx-enabled", "rx-enabled"))
    priorities = text.numbers(flow.get("pfc-priority") or ()) if sends or obeys else []
    return priorities, sends if priorities else None


def _marking(tree):
    told = part(tree, "congestion-control")
    if "ecn" not in str(told.get("congestion-mode", "")).lower():
        return {}
    low, high = text.number(told.get("min-threshold")), text.number(told.get("max-threshold"))
    if low is None or high is None:
        return {}
    marking = Marking(low, high, text.number(told.get("probability")))
    return dict.fromkeys(text.numbers(told.get("enabled-tc") or ()), marking)


def _trust(words):
    kinds = {word.strip().lower() for word in str(words).split(",")}
    if {"pcp", "dscp"} <= kinds:
        return "both"
    return next((kind for kind in ("dscp", "pcp") if kind in kinds), "none")


def _holding(tree, key):
    """The part of a tree, at whatever depth, that has a key."""
    if not isinstance(tree, dict) or key in tree:
        return tree if isinstance(tree, dict) else None
    return next((found for found in (_holding(below, key) for below in tree.values()) if found), None)


def _nested(paths):
    tree = {}
    for path, value in paths.items():
        place = tree
        for key in path[:-1]:
            place = place.setdefault(key, {}) if isinstance(place.get(key, {}), dict) else {}
        place[path[-1]] = value
    return tree
