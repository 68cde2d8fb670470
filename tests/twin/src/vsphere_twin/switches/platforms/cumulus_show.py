"""nv show: which part of the operational tree a path names, and how it is written."""

from __future__ import annotations

import json

from . import cumulus_oper as oper
from .cumulus_schema import Invalid, interfaces, renamed
from .cumulus_tree import as_yaml, lookup, ordered
from .linux_text import indented, natural, simple, text

MISSING = "The requested item does not exist."
PROFILES = ("pfc", "congestion-control", "egress-queue-mapping", "egress-scheduler", "mapping")
DESCRIPTIONS = {
    "cable-length": "Cable Length (in meters)",
    "port-buffer": "Port Buffer (in bytes)",
    "rx": "PFC Rx State",
    "tx": "PFC Tx State",
    "xoff-threshold": "Xoff Threshold (in bytes)",
    "xon-threshold": "Xon Threshold (in bytes)",
    "switch-priority": "Collection of switch priorities.",
    "congestion-mode": "Congestion config mode",
    "enabled-tc": "Congestion config enabled Traffic Class",
    "max-threshold": "Congestion config max-threshold",
    "min-threshold": "Congestion config min-threshold",
    "pfc-priority": "switch-prio on which PFC is enabled",
    "rx-enabled": "PFC Rx Enabled status",
    "tx-enabled": "PFC Tx Enabled status",
    "trust-mode": "Trust Setting on the port for packet classification",
    "mode": "Roce Mode",
}


def show(device, words, user, form="auto", revision="operational", view=None):
    """Return the output of nv show."""
    path = _path(device, words)
    if revision == "operational" or form == "auto" and revision == "both":
        node = operational(device, path, view)
    else:
        node = lookup(device.revisions.tree_of("applied" if revision == "both" else revision, user), path)
    if node is None:
        raise Invalid(MISSING)
    if form == "json":
        return json.dumps(ordered(node), indent=2) + "\n"
    if form == "yaml":
        return as_yaml(ordered(node))
    return _text(device, path, node, view)


def _path(device, words):
    """The path, with one interface for each in a range: nv show takes single ones only."""
    if words[:1] == ["interface"] and words[1:] and words[1] not in ("lldp", "qos-roce-status", "qos-roce-counters"):
        if len(interfaces(words[1])) != 1:
            raise Invalid(f"Invalid Command: show {' '.join(words)}")
        if words[1] not in device.switch.ports and words[1] not in ("eth0", "lo"):
            raise Invalid(MISSING)
    return tuple(words)


def operational(device, path, view=None):
    """The part of the operational tree at a path, or None."""
    top, rest = path[:1], path[1:]
    if top == ("qos",):
        return _qos(device, rest)
    if top == ("interface",):
        return _interface(device, rest, view)
    if top == ("system",):
        if rest[:1] == ("lldp",) and renamed(device.release):
            return _lldp(device)
        return lookup(_system(device), rest)
    if path == ("service", "lldp") and not renamed(device.release):
        return _lldp(device)
    if path in (("platform",), ("platform", "hardware")):
        return {"manufacturer": "Mellanox", "model": device.model, "product-name": device.model}
    raise Invalid(f"Invalid Command: show {' '.join(path)}")


def _qos(device, rest):
    if not rest:
        return {"roce": oper.roce(device), **{kind: {"default-global": {}} for kind in PROFILES}}
    if rest[0] == "roce":
        return lookup(oper.roce(device), rest[1:])
    if rest[0] == "pfc-watchdog" and device.release >= (5, 0):
        return {"polling-interval": 100, "robustness": 3} | lookup(device.applied, ("qos", "pfc-watchdog"), {})
    if rest[0] in PROFILES:
        known = {"default-global", *lookup(device.applied, ("qos", rest[0]), {})}
        if len(rest) == 1:
            return {name: oper.profile(device, rest[0], name) for name in sorted(known)}
        return lookup(oper.profile(device, rest[0], rest[1]), rest[2:]) if rest[1] in known else None
    if rest[0] == "traffic-pool":
        return lookup(
            {
                name: {"memory-percent": percent, "switch-priority": {str(one): {} for one in priorities}}
                for name, (percent, priorities) in device.qos().pools.items()
            },
            rest[1:],
        )
    raise Invalid(f"Invalid Command: show qos {' '.join(rest)}")


def _interface(device, rest, view):
    ports = device.ports()
    if rest in ((), ("lldp",)):
        if view not in (None, "lldp", "brief", "status"):
            raise Invalid(f"Invalid value for '--view': '{view}'")
        if rest or view == "lldp":
            heard = {near.name for near, _peer in device.switch.neighbours()}
            return {
                port: {**oper.link(device, port), "lldp": oper.neighbour(device, port)}
                for port in ports
                if port in heard
            }
        return {port: oper.link(device, port) for port in ports}
    if rest == ("qos-roce-status",):
        return {port: oper.port_roce(device, port) for port in ports} if device.qos().roce else {}
    if rest == ("qos-roce-counters",):
        return {port: oper.port_counters(device, port) for port in ports} if device.qos().roce else {}
    port = rest[0]
    if port not in ports:
        return lookup(
            {"link": {"mtu": 1500, "oper-status": "up"}, "type": "eth" if port == "eth0" else "loopback"}, rest[1:]
        )
    tree = {
        **oper.link(device, port),
        "lldp": oper.neighbour(device, port),
        "counters": {"qos": oper.port_counters(device, port)},
        "qos": {
            "roce": {"status": oper.port_roce(device, port), "counters": oper.port_counters(device, port)},
            **{
                kind: {"profile": lookup(device.applied, ("interface", port, "qos", kind, "profile"), "default-global")}
                for kind in PROFILES
            },
        },
    }
    if device.release >= (5, 0):
        tree["qos"]["pfc-watchdog"] = oper.watchdog(device, port)
    return lookup(tree, rest[1:])


def _system(device):
    return {
        "build": f"Cumulus Linux {device.version}",
        "config": {"auto-save": {"state": "enabled" if device.revisions.saves_itself() else "disabled"}},
        "hostname": device.hostname(),
        "platform": {"model": device.model},
        "product-name": "Cumulus Linux",
        "product-release": device.version,
        "timezone": lookup(device.applied, ("system", "timezone"), "Etc/UTC"),
        "uptime": "1 day, 2:03:04",
        "version": {"image": f"Cumulus Linux {device.version}", "kernel": "6.1.0-cl-1-amd64"},
    }


def _lldp(device):
    defaults = {"dot1-tlv": "off", "mode": "default", "tx-hold-multiplier": 4, "tx-interval": 30}
    place = ("system", "lldp") if renamed(device.release) else ("service", "lldp")
    if renamed(device.release):
        defaults |= {"dot1-tlv": "disabled", "state": "enabled"}
    return {**defaults, **lookup(device.applied, place, {})}


# -- text ----------------------------------------------------------------------------------------------------------


def _text(device, path, node, view):
    if path == ("qos", "roce"):
        return text(_roce(device, node))
    if path[:1] == ("interface",) and path[2:] == ("qos", "roce", "status"):
        return text(_port_roce(node))
    if path[:1] == ("interface",) and path[2:] == ("qos", "pfc-watchdog"):
        return text(_watchdog(device, path, node))
    if path[:1] == ("interface",) and (len(path) == 1 or path == ("interface", "lldp")):
        return text(_ports(device, node, view == "lldp" or path[1:] == ("lldp",)))
    if path[:2] == ("qos", "congestion-control") and len(path) == 3:
        return text([*_nothing(), "", *_congestion(node)])
    if path[:2] == ("qos", "egress-queue-mapping") and len(path) == 3:
        rows = [(one, part["traffic-class"]) for one, part in node["switch-priority"].items()]
        table = indented(simple(("switch-priority", "traffic-class"), rows), 4)
        return text([*_nothing(), "", "SP->TC mapping configuration", "=" * 31, *table])
    both = path[:2] == ("qos", "pfc") and len(path) == 3
    described = both or path[2:] == ("qos", "roce", "counters")
    return text(_columns(node, lookup(device.applied, path, {}), described, both))


def _nothing():
    return ["    operational  applied  description", "--  -----------  -------  -----------"]


def _columns(node, applied, described=False, both=False):
    """Return names and values side by side; nested values are indented under their name."""
    rows = []

    def walk(tree, own, depth):
        for name in tree:
            value, said = tree[name], own.get(name) if isinstance(own, dict) else None
            words = DESCRIPTIONS.get(name, "")
            if isinstance(value, dict) and value and all(one == {} for one in value.values()):
                inside = ",".join(sorted(value, key=natural))
                rows.append((f"{'  ' * depth}[{name}]", inside, inside if both or said else "", words))
            elif isinstance(value, dict):
                rows.append((f"{'  ' * depth}{name}", "", "", ""))
                walk(value, said or {}, depth + 1)
            else:
                rows.append((f"{'  ' * depth}{name}", value, value if both else "" if said is None else said, words))

    walk(node, applied, 0)
    rows.sort(key=lambda row: row[0].startswith("[")) if both else None
    if described:
        return simple(("", "operational", "applied", "description"), rows)
    return simple(("", "operational", "applied"), [row[:3] for row in rows])


def _roce(device, node):
    switch, on = ("state", "enabled") if renamed(device.release) and device.release > (5, 16) else ("enable", "on")
    applied = lookup(device.applied, ("qos", "roce"))
    if not node:
        return simple(("", "operational", "applied"), [(switch, "", "off" if switch == "enable" else "disabled")])
    rows = [(switch, "", on), ("mode", node["mode"], applied.get("mode", "lossless"))]
    order = ("pfc", "congestion-control", "trust", "lldp-app-tlv")
    inner = ("pfc-priority", "rx-enabled", "tx-enabled", "cable-length", "congestion-mode", "enabled-tc")
    inner += ("min-threshold", "max-threshold", "probability")
    old = device.release < (5, 9)
    for part in sorted(order) if old else order:
        if part not in node:
            continue
        rows.append((part, "", ""))
        names = (
            sorted(node[part]) if old else sorted(node[part], key=lambda one: inner.index(one) if one in inner else 99)
        )
        rows += [(f"  {name}", node[part][name], "") for name in names if not (old and name == "cable-length")]
    gap = [""] if old else []
    lines = simple(("", "operational", "applied"), rows)
    lines += [*gap, "RoCE PCP/DSCP->SP mapping configurations", "=" * 43, *_rows(node["prio-map"])]
    lines += [*gap, "RoCE SP->TC mapping and ETS configurations", "=" * 45, *_rows(node["tc-map"])]
    lines += [*gap, "RoCE pool config", "=" * 19, *_rows(node["pool-map"])]
    lines += [*gap, "Exception List", "=" * 17]
    return lines + (_rows(node["exception-list"]) if node["exception-list"] else ["No Data"])


def _rows(table):
    """A map as a table whose first column has no name."""
    head = ("", *next(iter(table.values())))
    return indented(simple(head, [(key, *row.values()) for key, row in table.items()]), 4)


def _port_roce(node):
    if not node:
        return simple(("", "operational", "applied", "description"), [])
    rows = []
    for part in ("congestion-control", "lldp-app-tlv", "pfc", "trust"):
        rows.append((part, "", "", ""))
        plain = ("priority", "probability", "protocol-id", "selector")
        rows += [
            (f"  {name}", value, "", "" if name in plain else DESCRIPTIONS[name])
            for name, value in sorted(node[part].items())
        ]
    rows.append(("mode", node["mode"], "", DESCRIPTIONS["mode"]))
    lines = simple(("", "operational", "applied", "description"), rows)
    lines += [" ", " ", "RoCE PCP/DSCP->SP mapping configurations", "=" * 43, *_rows(node["prio-map"])]
    lines += [" ", " ", "RoCE SP->TC mapping and ETS configurations", "=" * 45, *_rows(node["tc-map"])]
    pools = {f"{key} ": row for key, row in node["pool-map"].items()}
    return [*lines, " ", " ", "RoCE Pool Status", "=" * 19, *_rows(pools)]


def _watchdog(device, path, node):
    applied = lookup(device.applied, path)
    said = "" if applied is None else f"{applied.get('state', 'enable')}d"
    lines = simple((" " * 15, "operational", "applied"), [("state", node["state"], said)], after=" ")
    rows = [(number, one["status"], one["deadlock-count"]) for number, one in node["status"].items()]
    table = simple(("traffic-class", "status  ", "deadlock-count"), rows, after=" ")
    lines += ["", "PFC WD Status ", "=" * 27 + " "]
    return [*lines, *indented([*table[:2]], 4), "", *indented(table[2:], 4)] if rows else lines


def _ports(device, node, lldp):
    if lldp:
        rows = [
            (port, one["link"]["speed"], one["type"], system, peer["port"]["name"])
            for port, one in node.items()
            for system, peer in one["lldp"]["neighbor"].items()
        ]
        return simple(("Interface", "Speed", "Type", "Remote Host", "Remote Port"), rows)
    rows = [
        (
            port,
            one["link"]["admin-status"],
            one["link"]["oper-status"],
            one["link"]["speed"],
            one["link"]["mtu"],
            one["type"],
        )
        for port, one in node.items()
    ]
    return simple(("Interface", "Admin Status", "Oper Status", "Speed", "MTU", "Type"), rows)


def _congestion(node):
    rows = [
        (number, one["ecn"], one["red"], one["min-threshold"], one["max-threshold"], one["probability"])
        for number, one in node["traffic-class"].items()
    ]
    heads = ("traffic-class", "ECN", "RED", "Min Th", "Max Th", "Probability")
    return ["ECN Configurations", "=" * 21, *indented(simple(heads, rows), 4)]
