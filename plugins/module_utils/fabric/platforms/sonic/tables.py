# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Compute the state of a port from the CONFIG_DB tables of SONiC, from DSCP to lossless buffers. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import vlans
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import part
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.sonic.text import listed, number, numbers
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Marking, Port

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Dict

    # CONFIG_DB as JSON: {field: value}, {key: row}, {table: rows}.
    Row = Dict[str, Any]
    Rows = Dict[str, Row]
    Tables = Dict[str, Rows]

    class Reported(Port):
        """A Port with all RoCE values set, as port_of() creates it."""

        dscp_map: dict[int, int]
        queues: dict[int, int]
        groups: dict[int, int]
        pfc: list[int]
        pfc_queues: dict[int, int]
        lossless: list[int]
        ecn: dict[int, Marking]
        strict: list[int]
        shares: dict[int, int]


# RoCE tables in order of dependency: a table refers only to tables before it.
MAPS = {
    "dscp_to_tc_map": "DSCP_TO_TC_MAP",
    "tc_to_queue_map": "TC_TO_QUEUE_MAP",
    "tc_to_pg_map": "TC_TO_PRIORITY_GROUP_MAP",
    "pfc_to_queue_map": "MAP_PFC_PRIORITY_TO_QUEUE",
}
OBJECTS = (*MAPS.values(), "WRED_PROFILE", "SCHEDULER")
USERS = ("PORT", "CABLE_LENGTH", "BUFFER_PG", "QUEUE", "PORT_QOS_MAP")
TABLES = (*OBJECTS, *USERS)
# Tables that are read and stored, but never changed as tables.
SHOWN = (*TABLES, "PFC_WD", "BUFFER_PROFILE")
IDENTITY = {at: at for at in range(8)}
OWN = "AIREADY_"
DYNAMIC = "NULL"  # the profile of a priority group whose headroom the switch computes


# {table: keys of a Port that are unknown without it}
SOURCES = {
    "PORT_QOS_MAP": ("trust", "dscp_map", "queues", "groups", "pfc", "pfc_mode", "pfc_sends", "pfc_queues", "lossless"),
    "QUEUE": ("ecn", "strict", "shares"),
    "BUFFER_PG": ("lossless",),
    "PFC_WD": ("watchdog",),
    "PORT": ("mtu",),
}


def nested(tables: Tables) -> Tables:
    """Return {table: {key: row}}, also for a database dump with keys TABLE|key."""
    found: Tables = {}
    for name, rows in tables.items():
        table, rule, key = name.partition("|")
        if rule:
            found.setdefault(table, {})[key] = part(rows, "value") or rows
        else:
            found.setdefault(table, {}).update((key, row) for key, row in rows.items() if isinstance(row, dict))
    return found


def by_port(tables: Tables) -> Tables:
    """Return the tables with a row for each port; ports can share a row, and a line card puts its name first."""
    local = part(tables, "DEVICE_METADATA", "localhost")
    found = dict(tables)
    for table in ("PORT_QOS_MAP", "BUFFER_PG", "QUEUE", "PFC_WD"):
        if table not in tables:
            continue
        found[table] = {}
        for key, row in tables[table].items():
            *card, names, places = key.split("|") if "|" in key else (key, "")
            if card and local.get("hostname") not in (None, card[0]):
                continue
            for name in names.split(","):
                found[table][f"{name}|{places}" if places else name] = row
    return found


def ports_of(tables: Tables, names: Iterable[str]) -> dict[str, Port]:
    """Return {port: its Port}; in a part of a configuration, values of missing tables are unknown."""
    of_ports = [table for table in ("BUFFER_PG", "QUEUE") if table in tables]
    rows: dict[str, Tables] = {}
    for table in of_ports:
        for key, row in tables[table].items():
            rows.setdefault(key.partition("|")[0], {}).setdefault(table, {})[key] = row
    nothing: Tables = {table: {} for table in of_ports}
    return {name: _reported_of({**tables, **nothing, **rows.get(name, {})}, name) for name in names}


# Readers of fields that affect RoCE: (table, field), or (table, None) for all fields of a map.
READERS: dict[tuple[str, str | None], Callable[[str], object]] = {
    **{(table, None): number for table in MAPS.values()},
    ("PORT_QOS_MAP", "pfc_enable"): listed,
    ("PORT_QOS_MAP", "pfcwd_sw_enable"): listed,
    ("PORT", "mtu"): number,
    ("PORT", "speed"): number,
    ("PORT", "admin_status"): {"up": True, "down": False}.get,
    ("SCHEDULER", "weight"): number,
    ("WRED_PROFILE", "green_min_threshold"): number,
    ("WRED_PROFILE", "green_max_threshold"): number,
    ("WRED_PROFILE", "green_drop_probability"): number,
    ("PFC_WD", "detection_time"): number,
    ("PFC_WD", "restoration_time"): number,
}


def strange(tables: Tables) -> list[tuple[str, str, object]]:
    """Return [(TABLE|row, field, value)] of values with an unknown form."""
    found = []
    for (table, named), reader in READERS.items():
        for name in tables.get(table) or {}:
            reported = part(tables, table, name).items() if name != "NULL" else ()
            found += [
                (f"{table}|{name}", field, value)
                for field, value in reported
                if (field == named or (named is None and field != "NULL"))
                and (reader(str(value)) is None or (named is None and number(field) is None))
            ]
    return found


def switched(tables: Tables, name: str, port: Port) -> None:
    """Set the VLANs of a port or its port channel from a whole configuration; a port without VLANs is routed."""
    shown = part(tables, "PORT", name)
    if "admin_status" in shown:
        port.enabled = {"up": True, "down": False}.get(str(shown["admin_status"]))
    if "DEVICE_METADATA" not in tables:
        return
    above = [key.partition("|")[0] for key in tables.get("PORTCHANNEL_MEMBER") or {} if key.partition("|")[2] == name]
    untagged, tagged, there = None, set(), tables.get("VLAN") or {}
    for key, row in (tables.get("VLAN_MEMBER") or {}).items():
        vlan, _rule, member = key.partition("|")
        if member in (name, *above) and vlan in there:
            if str(row.get("tagging_mode")) == "untagged":
                untagged = number(vlan[4:])
            else:
                tagged.add(cast("int", number(vlan[4:])))
    vlans.put(port, vlans.TRUNK if tagged else vlans.ACCESS if untagged else vlans.ROUTED, untagged, frozenset(tagged))


def _reported_of(tables: Tables, name: str) -> Port:
    missing = () if "DEVICE_METADATA" in tables else [table for table in SOURCES if table not in tables]
    port = replace(port_of(tables, name), **{field: None for table in missing for field in SOURCES[table]})
    switched(tables, name, port)
    return port


def name_in(reference: object) -> str:
    """Return 'AZURE' for 'AZURE', or for '[DSCP_TO_TC_MAP|AZURE]' of releases up to 2020."""
    return str(reference or "").strip("[]").rpartition("|")[2]


def stock(names: Sequence[str]) -> Tables:
    """Return the QoS tables of the templates of SONiC, which render() assumes for a switch that was not read."""
    uses = dict.fromkeys(MAPS, "AZURE")
    maps = {
        "DSCP_TO_TC_MAP": {**dict.fromkeys(range(64), 1), 3: 3, 4: 4, 5: 2, 8: 0, 46: 5, 48: 6},
        "TC_TO_QUEUE_MAP": IDENTITY,
        "TC_TO_PRIORITY_GROUP_MAP": {**dict.fromkeys(range(8), 0), 3: 3, 4: 4, 7: 7},
        "MAP_PFC_PRIORITY_TO_QUEUE": IDENTITY,
    }
    tables = {name: {"AZURE": {str(key): str(value) for key, value in one.items()}} for name, one in maps.items()}
    plans = {"scheduler.0": {"type": "DWRR", "weight": "14"}, "scheduler.1": {"type": "DWRR", "weight": "15"}}
    queues = {at: "scheduler.1" if at in (3, 4) else "scheduler.0" for at in range(7)}
    return dict(
        tables,
        SCHEDULER=plans,
        WRED_PROFILE={},
        QUEUE={f"{name}|{at}": {"scheduler": plan} for name in names for at, plan in queues.items()},
        PORT={name: {} for name in names},
        BUFFER_PG={f"{name}|3-4": {"profile": DYNAMIC} for name in names},
        PORT_QOS_MAP={name: {**uses, "pfc_enable": "3,4", "pfcwd_sw_enable": "3,4"} for name in names},
    )


def port_of(tables: Tables, name: str) -> Reported:
    """Return the Port that the tables configure."""
    use = part(tables, "PORT_QOS_MAP", name)
    whole = part(tables, "PORT_QOS_MAP", "global")
    port, shown = cast("Reported", Port()), part(tables, "PORT", name)
    scheme = use.get("dscp_to_tc_map") or whole.get("dscp_to_tc_map")
    port.trust = "dscp" if scheme else "pcp" if use.get("dot1p_to_tc_map") else "none"
    reported = part(tables, "DSCP_TO_TC_MAP", name_in(scheme)) if scheme else {}
    mapping = {dscp: number(reported.get(str(dscp), 0)) for dscp in range(64)}
    port.dscp_map = {dscp: priority for dscp, priority in mapping.items() if priority is not None}
    port.queues = mapped(tables, use, "tc_to_queue_map")
    port.groups = mapped(tables, use, "tc_to_pg_map")
    port.pfc_queues = mapped(tables, use, "pfc_to_queue_map")
    port.pfc = numbers(use.get("pfc_enable"))
    port.pfc_mode = "on" if port.pfc else "off"
    port.pfc_sends = True if port.pfc else None
    headroom = lossless_groups(tables, name)
    # The switch sends pauses of a priority for the group of the same number.
    port.lossless = [one for one in port.pfc if port.groups.get(one) == one and one in headroom]
    queues = rows_of(tables, "QUEUE", name)
    port.ecn = {queue: found for queue, found in ((at, _marking(tables, one)) for at, one in queues.items()) if found}
    _scheduled(port, tables, queues)
    port.mtu = number(shown.get("mtu", "")) or 9100
    port.pfc_asymmetric = {"on": True, "off": False}.get(str(shown.get("pfc_asym", "")).lower())
    speed = number(shown.get("speed", ""))
    port.speed = speed // 1000 if speed else None
    port.cable_length_m = cable_of(tables, name)
    watch = part(tables, "PFC_WD", name)
    guarded = numbers(use["pfcwd_sw_enable"]) if "pfcwd_sw_enable" in use else port.pfc
    port.watchdog = bool(watch) and set(port.pfc) <= set(guarded)
    port.watchdog_detection_ms = number(watch.get("detection_time", ""))
    port.watchdog_recovery_ms = number(watch.get("restoration_time", ""))
    port.watchdog_action = watch.get("action", "drop") if watch else None
    return port


def mapped(tables: Tables, use: Row, field: str) -> dict[int, int]:
    """Return {number: number} of a map that a port uses; the default is the identity."""
    reported = part(tables, MAPS[field], name_in(use.get(field))) if use.get(field) else {}
    found = dict(IDENTITY)
    if field == "tc_to_pg_map" and reported:
        found = dict.fromkeys(range(8), 0)
    entries = [(number(key), number(value)) for key, value in reported.items()]
    found.update((key, value) for key, value in entries if key is not None and value is not None)
    return found


def rows_of(tables: Tables, table: str, name: str) -> dict[int, Row]:
    """Return {number: row} of a table with keys of a port and a number or range: Ethernet0|3-4."""
    found = {}
    for key, row in (tables.get(table) or {}).items():
        port, rule, places = key.partition("|")
        if rule and name in port.split(","):
            found.update(dict.fromkeys(numbers(places), row))
    return found


def lossless_groups(tables: Tables, name: str) -> list[int]:
    """Return the priority groups of a port with headroom."""
    return [at for at, row in rows_of(tables, "BUFFER_PG", name).items() if is_lossless(tables, row.get("profile"))]


def is_lossless(tables: Tables, reference: object) -> bool:
    """Return whether a profile of a priority group has headroom for packets after a pause."""
    profile = name_in(reference)
    reported = part(tables, "BUFFER_PROFILE", profile)
    if reported:
        return (number(reported.get("xoff", "")) or 0) > 0 or reported.get("headroom_type") == "dynamic"
    return profile == DYNAMIC or profile.startswith("pg_lossless_")


def cable_of(tables: Tables, name: str) -> int | None:
    """Return the cable length of a port in metres."""
    lengths = [
        rows[name] for rows in (tables.get("CABLE_LENGTH") or {}).values() if isinstance(rows, dict) and name in rows
    ]
    return number(str(lengths[0]).rstrip("m ")) if lengths else None


def own_objects(tables: Tables) -> dict[str, list[str]]:
    """Return {'TABLE|NAME' of an own object: ports that use it}."""
    found = {}
    for table in OBJECTS:
        for name in tables.get(table) or {}:
            if name.startswith(OWN):
                found[f"{table}|{name}"] = sorted(users_of(tables, table, name))
    return found


def users_of(tables: Tables, table: str, name: str) -> set[str]:
    """Return the ports, or 'global', that use an object."""
    found = set()
    for field in [field for field, of in MAPS.items() if of == table]:
        used = tables.get("PORT_QOS_MAP") or {}
        found |= {port for port, row in used.items() if name_in(row.get(field)) == name}
    refers = {"WRED_PROFILE": "wred_profile", "SCHEDULER": "scheduler"}.get(table, "")
    for key, row in (tables.get("QUEUE") or {}).items() if refers else ():
        if name_in(row.get(refers)) == name:
            found.update(key.partition("|")[0].split(","))
    return found


def _scheduled(port: Reported, tables: Tables, queues: Mapping[int, Row]) -> None:
    port.strict, weights = [], {}
    for queue, row in queues.items():
        plan = part(tables, "SCHEDULER", name_in(row.get("scheduler"))) if row.get("scheduler") else {}
        if str(plan.get("type")).upper() == "STRICT":
            port.strict.append(queue)
        elif plan:
            weights[queue] = number(plan.get("weight", "")) or 1
    port.strict.sort()
    port.shares = {queue: round(100 * weight / sum(weights.values())) for queue, weight in weights.items()}


def _marking(tables: Tables, row: Row) -> Marking | None:
    profile = part(tables, "WRED_PROFILE", name_in(row.get("wred_profile"))) if row.get("wred_profile") else {}
    marks = profile.get("ecn") == "ecn_all" or "green" in str(profile.get("ecn"))
    drops = str(profile.get("wred_green_enable")).lower() == "true"
    low, high = (number(profile.get(f"green_{end}_threshold", "")) for end in ("min", "max"))
    if not (marks or drops) or low is None or high is None:
        return None
    return Marking(low, high, number(profile.get("green_drop_probability", "")), marks)
