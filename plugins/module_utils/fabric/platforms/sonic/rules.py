# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Compute the tables of SONiC for the requested RoCE QoS, and the patch to them. Pure."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, TypedDict, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import natural
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.sonic import tables as meaning
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.sonic.tables import MAPS, OWN, TABLES
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.sonic.text import numbers

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Intent
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Effect
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.sonic.tables import (
        Reported,
        Row,
        Rows,
        Tables,
    )
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Marking

    class Operation(TypedDict, total=False):
        """An operation of a patch by RFC 6902; remove has no value."""

        op: str
        path: str
        value: object


STOCK = "AZURE"
# Valid weights of a scheduler.
WEIGHTS = range(1, 101)
DROPPED = {"wred_yellow_enable": "false", "wred_red_enable": "false"}


class Target:
    """The requested tables, computed from the current tables port by port."""

    def __init__(self, tables: Tables, intent: Intent | None) -> None:
        self.tables = {name: copy.deepcopy(tables.get(name) or {}) for name in meaning.SHOWN}
        # None if ports are cleared.
        self._intent = cast("Intent", intent)
        # Releases up to 2020 write a reference with its table.
        self._old = any(value[:1] == "[" for table in meaning.USERS for value in _values(self.tables[table]))
        self._dynamic = _dynamic(tables)

    def set_port(self, name: str, want: Effect, exact: bool) -> None:
        """Set one port to the requested effect."""
        requested, use = self._intent, self.tables["PORT_QOS_MAP"].setdefault(name, {})
        now = meaning.port_of(self.tables, name)
        if want.get("mtu") not in (None, now.mtu):
            self.tables["PORT"].setdefault(name, {})["mtu"] = str(want["mtu"])
        if "cable_length_m" in want and want["cable_length_m"] != now.cable_length_m:
            length = f"{want['cable_length_m']}m"
            next(iter(self.tables["CABLE_LENGTH"].values()), self.tables["CABLE_LENGTH"].setdefault(STOCK, {}))[
                name
            ] = length
        self._classify(use, now)
        queues = self._queue(use, now)
        self._group(use, now)
        if requested.lossless:
            self._headroom(name)
            if meaning.mapped(self.tables, use, "pfc_to_queue_map")[requested.priority] != queues[requested.priority]:
                pauses = {**now.pfc_queues, requested.priority: queues[requested.priority]}
                self._use(use, "pfc_to_queue_map", pauses, "AIREADY_PFC")
            elif "pfc_to_queue_map" not in use and STOCK in self.tables[MAPS["pfc_to_queue_map"]]:
                use["pfc_to_queue_map"] = self._reference(MAPS["pfc_to_queue_map"], STOCK)
        kept = set() if exact else {*now.pfc} - {requested.priority}
        paused = ",".join(map(str, sorted({*requested.lossless, *kept})))
        if paused != (use.get("pfc_enable") or ""):
            use["pfc_enable"] = paused
        if paused != (use.get("pfcwd_sw_enable") or ""):
            use["pfcwd_sw_enable"] = paused
        self._serve(name, want, queues)

    def clear_port(self, name: str) -> None:
        """Remove RoCE from a port: stock objects replace own objects if they exist; the MTU stays."""
        use = self.tables["PORT_QOS_MAP"].get(name, {})
        for field, table in MAPS.items():
            if meaning.name_in(use.get(field)).startswith(OWN):
                self._replace(use, field, table, STOCK)
        for field in ("pfc_enable", "pfcwd_sw_enable"):
            if use.get(field):
                use[field] = ""
        self._release(name)

    def _release(self, name: str, kept: Container[int] = ()) -> None:
        """Restore stock settings, if they exist, on queues that RoCE does not use."""
        for queue, row in meaning.rows_of(self.tables, "QUEUE", name).items():
            ours = [field for field in ("scheduler", "wred_profile") if meaning.name_in(row.get(field)).startswith(OWN)]
            if queue not in kept and ours:
                own = self._own_queue(name, queue)
                if meaning.name_in(own.get("scheduler")).startswith(OWN):
                    self._replace(own, "scheduler", "SCHEDULER", "scheduler.0")
                if meaning.name_in(own.get("wred_profile")).startswith(OWN):
                    self._replace(own, "wred_profile", "WRED_PROFILE", None)
                if not own:
                    del self.tables["QUEUE"][f"{name}|{queue}"]

    def tidy(self) -> None:
        """Correct own maps to the intent, and remove unused own objects."""
        for name, given in strays(self.tables, self._intent).items() if self._intent is not None else ():
            self.tables["DSCP_TO_TC_MAP"][name].update(given)
        for table in meaning.OBJECTS:
            for name in [name for name in self.tables[table] if name.startswith(OWN)]:
                if not meaning.users_of(self.tables, table, name):
                    del self.tables[table][name]

    def _classify(self, use: Row, now: Reported) -> None:
        requested = self._intent
        if all(now.dscp_map[dscp] == priority for dscp, priority in requested.dscp_map.items()) and now.trust == "dscp":
            return
        stock = self.tables["DSCP_TO_TC_MAP"].get(STOCK)
        base = now.dscp_map
        if stock and meaning.name_in(use.get("dscp_to_tc_map")).startswith(OWN):
            # The stock map is the base, because an own map contains an earlier intent.
            base = {dscp: stock.get(str(dscp), 0) for dscp in range(64)}
        wanted = {**base, **requested.dscp_map}
        name = _map_name(requested)
        use["dscp_to_tc_map"] = self._reference("DSCP_TO_TC_MAP", self._named("DSCP_TO_TC_MAP", name, wanted))

    def _queue(self, use: Row, now: Reported) -> dict[int, int]:
        """Return the queues of all traffic classes; RoCE has its own queue."""
        requested, queues = self._intent, dict(now.queues)
        if any(queue == queues[requested.priority] for other, queue in queues.items() if other != requested.priority):
            queues.update({other: other for other, queue in queues.items() if queue == queues[requested.priority]})
            self._use(use, "tc_to_queue_map", queues, "AIREADY_QUEUES")
        elif "tc_to_queue_map" not in use and STOCK in self.tables[MAPS["tc_to_queue_map"]]:
            use["tc_to_queue_map"] = self._reference(MAPS["tc_to_queue_map"], STOCK)
        return meaning.mapped(self.tables, use, "tc_to_queue_map")

    def _group(self, use: Row, now: Reported) -> None:
        """Give RoCE its own priority group."""
        requested, groups = self._intent, dict(now.groups)
        shared = [
            other for other, group in groups.items() if group == requested.priority and other != requested.priority
        ]
        if groups[requested.priority] != requested.priority or shared or "tc_to_pg_map" not in use:
            groups.update({other: 0 for other in shared if groups[other] == requested.priority})
            groups[requested.priority] = requested.priority
            if "tc_to_pg_map" not in use:
                # Without a map, each class has its own group. The stock map has one group for all lossy classes.
                groups = {
                    other: group if other in (3, 4, 7, requested.priority) else 0 for other, group in groups.items()
                }
            self._use(use, "tc_to_pg_map", groups, "AIREADY_GROUPS")

    def _headroom(self, name: str) -> None:
        """Give that group headroom for packets that arrive after a pause."""
        requested = self._intent
        if requested.priority in meaning.lossless_groups(self.tables, name):
            return
        rows, key = self.tables["BUFFER_PG"], f"{name}|{requested.priority}"
        for old in [old for old in rows if old.startswith(f"{name}|")]:
            places = numbers(old.partition("|")[2])
            if requested.priority in places:
                row = rows.pop(old)
                rows.update({f"{name}|{place}": dict(row) for place in places if place != requested.priority})
        profile = meaning.DYNAMIC if self._dynamic else self._profile(name)
        if profile:
            # Otherwise the switch creates the group itself when PFC is on, for the speed and cable of the port.
            rows[key] = {
                "profile": profile if profile == meaning.DYNAMIC else self._reference("BUFFER_PROFILE", profile)
            }

    def _profile(self, name: str) -> str | None:
        """Return the profile for the speed and cable of the port, if the switch already created it."""
        speed, length = self.tables["PORT"].get(name, {}).get("speed"), meaning.cable_of(self.tables, name)
        profile = f"pg_lossless_{speed}_{length}m_profile"
        return profile if profile in self.tables["BUFFER_PROFILE"] else None

    def _serve(self, name: str, want: Effect, queues: Mapping[int, int]) -> None:
        """Set the scheduling of the queues for RoCE and CNPs, and the ECN marking."""
        requested = self._intent
        data, notice = queues[requested.priority], queues[requested.cnp_priority]
        self._release(name, (data, notice))
        now = meaning.port_of(self.tables, name)
        if notice not in now.strict and want.get("cnp_strict"):
            plan = self._named("SCHEDULER", "AIREADY_STRICT", {"type": "STRICT"})
            self._own_queue(name, notice)["scheduler"] = self._reference("SCHEDULER", plan)
        now = meaning.port_of(self.tables, name)
        if "bandwidth_percent" in want and now.shares.get(data) != want["bandwidth_percent"]:
            self._share(name, data, notice, want["bandwidth_percent"])
        if "ecn" not in want:
            return
        row = meaning.rows_of(self.tables, "QUEUE", name).get(data, {})
        if want["ecn"]:
            profile = self._named("WRED_PROFILE", *_wred(want["ecn"]))
            marking = now.ecn.get(data)
            if marking is None or not _as_wanted(marking, want["ecn"]):
                self._own_queue(name, data)["wred_profile"] = self._reference("WRED_PROFILE", profile)
        elif row.get("wred_profile"):
            del self._own_queue(name, data)["wred_profile"]

    def _share(self, name: str, data: int, notice: int, percent: int) -> None:
        """Set the weight for a share: with the current weights of other queues, or with new weights for all."""
        others = {queue: self._weight(row) for queue, row in meaning.rows_of(self.tables, "QUEUE", name).items()}
        others = {queue: weight for queue, weight in others.items() if weight and queue not in (data, notice)}
        total = sum(others.values())
        weight = next((one for one in WEIGHTS if total and round(100 * one / (one + total)) == percent), None)
        if weight is None:
            places = list(others) or [0 if data else 1]
            weight, each = next(
                (one, each)
                for each in WEIGHTS
                for one in WEIGHTS
                if round(100 * one / (one + each * len(places))) == percent
            )
            for place in places:
                plan = self._named("SCHEDULER", f"AIREADY_DWRR_{each}", {"type": "DWRR", "weight": str(each)})
                self._own_queue(name, place)["scheduler"] = self._reference("SCHEDULER", plan)
        plan = self._named("SCHEDULER", f"AIREADY_DWRR_{weight}", {"type": "DWRR", "weight": str(weight)})
        self._own_queue(name, data)["scheduler"] = self._reference("SCHEDULER", plan)

    def _weight(self, row: Row) -> int:
        plan = self.tables["SCHEDULER"].get(meaning.name_in(row.get("scheduler")), {})
        return int(plan.get("weight", 1)) if plan and plan.get("type", "").upper() != "STRICT" else 0

    def _own_queue(self, name: str, queue: int) -> Row:
        """Return the row of one queue of one port, split from a range if necessary."""
        rows = self.tables["QUEUE"]
        for key in [key for key in rows if name in key.partition("|")[0].split(",")]:
            ports, _bar, places = key.partition("|")
            if key != f"{name}|{queue}" and queue in numbers(places):
                row = rows.pop(key)
                for port in ports.split(","):
                    for place in numbers(places):
                        rows.setdefault(f"{port}|{place}", dict(row))
        return rows.setdefault(f"{name}|{queue}", {})

    def _use(self, use: Row, field: str, content: Mapping[int, int], name: str) -> None:
        table = MAPS[field]
        use[field] = self._reference(table, self._named(table, name, content))

    def _named(self, table: str, name: str, content: Mapping[int, int] | Mapping[str, int | str]) -> str:
        """Return the name of an object with this content: an existing object, or a new own object."""
        wanted, rows = {str(key): str(value) for key, value in content.items()}, self.tables[table]
        fitting = [one for one, row in rows.items() if row == wanted and (one.startswith(OWN) or one == STOCK)]
        if fitting:
            return fitting[0]
        free = next(one for one in [name, *(f"{name}_{at}" for at in range(2, 1000))] if one not in rows)
        rows[free] = wanted
        return free

    def _reference(self, table: str, name: str) -> str:
        return f"[{table}|{name}]" if self._old else name

    def _replace(self, row: Row, field: str, table: str, name: str | None) -> None:
        if name in self.tables[table]:
            row[field] = self._reference(table, name)
        else:
            row.pop(field)


def strays(tables: Tables, intent: Intent) -> Rows:
    """Return {own map: {DSCP: stock class}} of code points that only this map assigns to the RoCE traffic class."""
    rows, found = tables.get("DSCP_TO_TC_MAP") or {}, {}
    stock = {str(dscp): str(priority) for dscp, priority in (rows.get(STOCK) or {}).items()}
    classes = {str(priority) for priority in intent.dscp_map.values()}
    asked = {str(dscp) for dscp in intent.dscp_map}
    for name, row in rows.items():
        # Without the stock map, the previous classes are unknown.
        if not stock or name != _map_name(intent):
            continue
        wrong = [dscp for dscp, to in row.items() if to in classes and dscp not in asked and stock.get(dscp, "0") != to]
        if wrong:
            found[name] = {dscp: stock.get(dscp, "0") for dscp in sorted(wrong, key=int)}
    return found


def reported(tables: Tables, intent: Intent) -> dict[str, tuple[str, str]]:
    """Return {own map: (current content, requested content)} of wrong code points."""
    found, rows = strays(tables, intent), tables.get("DSCP_TO_TC_MAP") or {}
    return {
        f"DSCP_TO_TC_MAP {name}": (_reported(rows[name], given), _reported(given, given))
        for name, given in found.items()
    }


def _reported(row: Row, codes: Iterable[str]) -> str:
    return ", ".join(f"DSCP {dscp}: {row[dscp]}" for dscp in codes)


def _map_name(requested: Intent) -> str:
    return f"AIREADY_ROCE_{requested.dscp}_{requested.priority}_{requested.cnp_dscp}_{requested.cnp_priority}"


def patch(before: Tables, after: Tables, tables: Iterable[str] = TABLES) -> list[Operation]:
    """Return the operations of RFC 6902 from one set of tables to another; referenced objects come first."""
    made: list[Operation]
    gone: list[Operation]
    made, gone = [], []
    for table in tables:
        old, new = before.get(table) or {}, after.get(table) or {}
        if new and table not in before:
            made.append({"op": "add", "path": _path(table), "value": new})
            continue
        if not new and table in before:
            if old:
                gone.append({"op": "remove", "path": _path(table)})
            continue
        for key in sorted({*old, *new}, key=natural):
            if key not in new:
                gone.append({"op": "remove", "path": _path(table, key)})
            elif key not in old:
                made.append({"op": "add", "path": _path(table, key), "value": new[key]})
            else:
                made += _fields(table, key, old[key], new[key])
    return made + gone[::-1]


def _fields(table: str, key: str, old: Row, new: Row) -> Iterator[Operation]:
    for field in sorted({*old, *new}):
        if field not in new:
            yield {"op": "remove", "path": _path(table, key, field)}
        elif field not in old:
            yield {"op": "add", "path": _path(table, key, field), "value": new[field]}
        elif old[field] != new[field]:
            yield {"op": "replace", "path": _path(table, key, field), "value": new[field]}


def _path(*parts: str) -> str:
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in parts)


def _values(rows: Rows) -> list[str]:
    return [str(value) for row in rows.values() for value in row.values()]


def _dynamic(tables: Tables) -> bool:
    data = (tables.get("DEVICE_METADATA") or {}).get("localhost") or {}
    return data.get("buffer_model") == "dynamic"


def _wred(limits: Mapping[str, int]) -> tuple[str, dict[str, int | str]]:
    name = f"AIREADY_ROCE_{limits['min_kb']}_{limits['max_kb']}_{limits['probability']}"
    return name, {
        "ecn": "ecn_all",
        "wred_green_enable": "true",
        "green_min_threshold": limits["min_kb"] * 1000,
        "green_max_threshold": limits["max_kb"] * 1000,
        "green_drop_probability": limits["probability"],
        **DROPPED,
    }


def _as_wanted(marking: Marking, limits: Mapping[str, int]) -> bool:
    same = (marking.min_bytes // 1000, marking.max_bytes // 1000, marking.probability)
    return marking.mark and same == (limits["min_kb"], limits["max_kb"], limits["probability"])
