# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Community SONiC: patches of CONFIG_DB that the switch validates, orders and can roll back."""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import time
from typing import TYPE_CHECKING, Any, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.compare import differing, effect
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import part
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Edit, Limits, Platform
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.sonic import rules, text
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.sonic import tables as meaning
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.sonic.text import command_of
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import Refused
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Port, Switch
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.unread import lacks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Intent
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Effect
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.sonic.rules import Operation
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.sonic.tables import Rows, Tables
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import Session
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.undo.facts import Facts, Path

CONFIG = text.CONFIG
SAVED = "cat /etc/sonic/config_db.json"
SHOWS = (
    "show version",
    "show interfaces status",
    "show pfc priority",
    *("show pfc counters", "show interfaces counters"),
    "show pfcwd config",
    "show pfcwd stats -e",
    text.NAMES,
    text.HARDWARE,
    "show lldp table",
)
# A folder where only root can write and files do not survive a restart.
FILE, LOG = "/run/aiready-roce.json", "/run/aiready-roce.log"
CHECKPOINT = "aiready-roce"
# This command finds a running patch of this module. The brackets keep it from finding itself.
RUNNING, PATCH_S = f"pgrep -f '[a]pply-patch {FILE}'", 300
CHUNK = 60000  # characters per argument; Linux accepts twice as many
RELOAD = "config qos reload --no-delay"
# Older branches reject patches that create an ECN profile, so the module writes it to the database.
PATCHES_WRED = 202511
DETECTION_MS, RECOVERY_MS, ACTION = 200, 200, "drop"
ACTS = "qos_reload"

PROFILES, WATCHDOGS = "WRED_PROFILE", "PFC_WD"


class Sonic(Platform):
    """Community SONiC, where a port refers to maps and profiles; the module creates its own beside existing ones."""

    name = "sonic"
    title = "SONiC"
    shell = True
    limits = Limits(
        modes=("lossless", "lossy"),
        lossless=2,
        largest_mtu=9216,
        missing={
            "pfc_sends": "",
            "pause": "",
            "dcbx": "SONiC does not support DCBX. Configure the hosts themselves.",
        },
    )

    def reads(self, ports: Sequence[str]) -> list[str]:
        return [CONFIG, text.joined(SHOWS), SAVED]

    def parse(self, texts: Mapping[str, str]) -> Switch:
        saved = text.tables_of(texts.get(SAVED, ""))
        shown = text.separated({command: output for command, output in texts.items() if command != SAVED})
        switch, tables = Switch(platform=self.name, unread=text.silent(texts)), {}
        for command, output in shown.items():
            if not command.startswith("sonic-db-dump"):
                tables.update(text.tables_of(output))
        tables = meaning.nested(tables)
        switch.unread += [
            lacks("show runningconfiguration all", f"{place}, {field} = {value!r}")
            for place, field, value in meaning.strange(tables)
        ]
        local = part(tables, "DEVICE_METADATA", "localhost")
        switch.hostname, switch.model = local.get("hostname"), local.get("hwsku")
        text.read(switch, shown)
        text.read_hardware(switch, shown)
        kept = {name: tables[name] for name in (*meaning.SHOWN, "BUFFER_POOL") if name in tables}
        if tables:
            single, seen = meaning.by_port(tables), switch.ports
            switch.ports = meaning.ports_of(single, _names(single))
            for name, port in switch.ports.items():
                shown_there = seen.get(name) or port
                port.speed = port.speed or shown_there.speed
                port.pfc_asymmetric = port.pfc_asymmetric or shown_there.pfc_asymmetric
            switch.ports = {**seen, **switch.ports}
            own = meaning.own_objects(tables)
            # Such a profile is removed after the confirmation, because the rollback could not create it again.
            late = () if _branch(switch.version) >= PATCHES_WRED else ("WRED_PROFILE|",)
            switch.own = {name: users for name, users in own.items() if users or not name.startswith(late)}
            switch.config = json.dumps(kept, indent=2, sort_keys=True)
        for name in switch.oper:
            switch.ports.setdefault(name, Port())
        if saved and tables:
            names = (*meaning.TABLES, "PFC_WD")
            switch.unsaved = any((saved.get(name) or {}) != (tables.get(name) or {}) for name in names)
        switch.raw = dict(kept, DEVICE_METADATA={"localhost": {"buffer_model": local.get("buffer_model", "")}})
        return switch

    def apart(self, texts: Mapping[str, str]) -> dict[str, str]:
        parts = text.separated(texts)
        reported = [one for one in parts if one not in texts and not one.startswith("sonic-db-dump")]
        unknown = {one: parts[one] for one in reported if parts[one].strip() and not text.rows(parts[one])}
        return {**texts, **unknown}

    def spelled(self, typed: str) -> str | None:
        words = " ".join(re.sub(r"^\s*sudo\s+", "", typed).split())
        if re.match(r"sonic-cfggen .*--print-data|show runningconfiguration all|sonic-db-dump -n CONFIG_DB", words):
            return CONFIG
        if words.startswith(("sonic-db-dump", "echo '@ ")) or words in (CONFIG, SAVED):
            return words
        return CONFIG if re.match(r"cat \S+\.json$", words) else super().spelled(words)

    def command_of(self, text: str) -> str | None:
        return command_of(text)

    def blank(self, switch: Switch, name: str) -> Port:
        return Port(pfc_mode="off", pfc=[], lossless=[], watchdog=False)

    def render(self, switch: Switch, wanted: Mapping[str, Effect], intent: Intent | None, exact: bool = True) -> Edit:
        first: list[str]
        tables, first = cast("Tables", switch.raw or meaning.stock(list(wanted))), []
        if intent is not None and intent.lossless and switch.raw and not tables.get("BUFFER_POOL"):
            first = self._reloaded(switch)
        target = rules.Target(tables, intent)
        for name in wanted:
            if intent is None:
                target.clear_port(name)
            elif differing(effect(switch.ports[name], intent), wanted[name], exact):
                target.set_port(name, wanted[name], exact)
        target.tidy()
        stops, starts = self._watchdogs(switch, wanted, intent, exact)
        edit = self._edit(switch, tables, target.tables, stops, starts)
        if first:
            payload = {"reload": True, "wanted": wanted, "intent": intent, "exact": exact}
            return Edit([*first, *edit.commands], CHECKPOINT, payload=payload)
        return edit

    def _edit(self, switch: Switch, before: Tables, after: Tables, stops: Sequence[str], starts: Sequence[str]) -> Edit:
        """Return the Edit from one set of tables to another."""
        made: list[str]
        gone: list[str]
        made, gone = [], []
        if _branch(switch.version) < PATCHES_WRED:
            before, made, gone = _by_hand(before, after)
        operations = rules.patch(before, after)
        written = (
            [f"printf %s {shlex.quote(json.dumps(operations))} > {FILE}", f"config apply-patch {FILE}"]
            if operations
            else []
        )
        payload: dict[str, object] = {
            "patch": operations,
            "prepare": made,
            "stops": stops,
            "starts": starts,
            "clean": gone,
        }
        commands = [*made, f"config checkpoint {CHECKPOINT}", *stops, *written, *starts, *gone]
        return Edit(commands=commands, name=CHECKPOINT, payload=payload)

    def facts(self, saved: str) -> Facts:
        tables = json.loads(saved) if saved else {}
        found: Facts = {}
        for table in (*meaning.TABLES, WATCHDOGS):
            for key, row in (tables.get(table) or {}).items():
                found.update({(table, key, field): value for field, value in row.items()})
                if not row:
                    found[(table, key)] = {}
        return found

    def late(self, switch: Switch, path: Path) -> bool:
        return path[0] == PROFILES and _branch(switch.version) < PATCHES_WRED

    def undo(self, switch: Switch, then: Facts) -> Edit:
        before = cast("Tables", switch.raw)
        # Tables that restore does not change stay.
        names = {*meaning.TABLES, WATCHDOGS}
        after: dict[str, Any] = {table: rows for table, rows in before.items() if table not in names}
        for table, key, *field in then:
            row = after.setdefault(table, {}).setdefault(key, {})
            row.update({field[0]: then[(table, key, field[0])]} if field else {})
        commands = _watchdogs_back(before.get(WATCHDOGS) or {}, after.get(WATCHDOGS) or {})
        stops = [one for one in commands if one.startswith("config pfcwd stop")]
        return self._edit(switch, before, after, stops, [one for one in commands if one not in stops])

    def strays(
        self, switch: Switch, wanted: Mapping[str, Effect], intent: Intent, exact: bool = True
    ) -> dict[str, tuple[str, str]]:
        return rules.reported(cast("Tables", switch.raw or {}), intent)

    def validate(self, session: Session, edit: Edit) -> bool:
        if edit.payload.get("reload"):
            return False
        operations = edit.payload["patch"]
        if edit.payload["prepare"]:
            # A dry run is not possible for operations that refer to objects that do not exist yet.
            made = [command.split("|")[1].split("'")[0] for command in edit.payload["prepare"]]
            operations = [one for one in operations if not any(name in json.dumps(one) for name in made)]
        if not operations:
            return False
        try:
            _write(session, operations)
            session.run(f"config apply-patch -d {FILE}")
        finally:
            session.run(f"rm -f {FILE}")
        return not edit.payload["prepare"]

    def apply(self, session: Session, edit: Edit) -> None:
        steps = edit.payload
        with contextlib.suppress(Refused):  # from a killed run
            session.run(f"config delete-checkpoint {edit.name}")
        if steps.get("reload"):
            session.run(f"config checkpoint {edit.name}")
            session.run(RELOAD)
            switch = self.parse({CONFIG: session.run(CONFIG)})
            steps = self.render(switch, steps["wanted"], steps["intent"], steps["exact"]).payload
            self._make(session, steps)
            return
        for command in steps["prepare"]:
            session.run(command)
        session.run(f"config checkpoint {edit.name}")
        self._make(session, steps)

    def confirm(self, session: Session, edit: Edit) -> None:
        for command in (*edit.payload.get("clean", ()), f"config delete-checkpoint {edit.name}", f"rm -f {FILE} {LOG}"):
            # Objects that were removed before the connection broke do not exist any more.
            with contextlib.suppress(Refused):
                session.run(command)

    def tidy(self, session: Session) -> None:
        """Wait for the end of a patch, which continues after the connection broke."""
        for _second in range(PATCH_S):
            try:
                if not session.run(RUNNING).strip():
                    return
            except Refused:
                return
            time.sleep(1)

    def revert(self, session: Session, edit: Edit, before: Switch) -> None:
        self.tidy(session)
        old = cast("Tables", before.raw or {})
        now = self._tables(session)
        for command in _watchdogs_back(now.get("PFC_WD") or {}, old.get("PFC_WD") or {}):
            session.run(command)
        # A patch restores automatic changes of the switch, and values that older releases do not roll back.
        with contextlib.suppress(Refused):
            session.run(f"config rollback {edit.name}")
        now = self._tables(session)
        operations = rules.patch(now, {name: old.get(name) or {} for name in meaning.TABLES})
        if operations:
            self._patch(session, operations)
        for command in (f"config delete-checkpoint {edit.name}", f"rm -f {FILE} {LOG}"):
            with contextlib.suppress(Refused):
                session.run(command)

    def save(self, session: Session) -> None:
        session.run("config save -y")

    def way_back(self, edit: Edit) -> str:
        return (
            f"The checkpoint {edit.name} contains the previous configuration. Run `config rollback {edit.name}` on the "
            "switch to restore it."
        )

    def _make(self, session: Session, steps: Mapping[str, Any]) -> None:
        for command in steps["stops"]:
            session.run(command)
        if steps["patch"]:
            self._patch(session, steps["patch"])
        for command in steps["starts"]:
            session.run(command)

    def _patch(self, session: Session, operations: Sequence[Operation]) -> None:
        _write(session, operations)
        # The switch applies a patch step by step. nohup keeps it running if the connection breaks.
        session.run(f"nohup config apply-patch {FILE} > {LOG} 2>&1 || (cat {LOG}; false)")

    def _tables(self, session: Session) -> Tables:
        return text.tables_of(session.run(CONFIG))

    def _reloaded(self, switch: Switch) -> list[str]:
        if ACTS in (self.options.get("allow") or ()):
            return [RELOAD]
        raise OperatorError(
            switch.hostname or "switch",
            "cannot configure lossless RoCE",
            "The switch has no buffers at all. Only `config qos reload` creates them. It also creates all maps as the "
            "model defines them",
            f"Add {ACTS} to allow, or run the command by hand",
            "needs_qos_reload",
        )

    def _watchdogs(
        self, switch: Switch, wanted: Mapping[str, Effect], intent: Intent | None, exact: bool
    ) -> tuple[list[str], list[str]]:
        """Return (commands to stop, commands to start) the watchdog of ports."""
        stops: list[str]
        starts: dict[tuple[str, int, int], list[str]]
        stops, starts = [], {}
        for name, want in wanted.items():
            port = switch.ports[name]
            on = bool(intent and intent.lossless and want.get("watchdog"))
            times = (want.get("watchdog_action"), want.get("watchdog_detection_ms"), want.get("watchdog_recovery_ms"))
            there = (port.watchdog_action, port.watchdog_detection_ms, port.watchdog_recovery_ms)
            row = (cast("Tables", switch.raw or {}).get("PFC_WD") or {}).get(name)
            if row and not on and (intent is None or exact):
                stops.append(name)
            elif on and (not row or any(one not in (None, now) for one, now in zip(times, there))):
                usual = (ACTION, DETECTION_MS, RECOVERY_MS)
                reported = cast(
                    "tuple[str, int, int]",
                    tuple(next(one for one in three if one is not None) for three in zip(times, there, usual)),
                )
                starts.setdefault(reported, []).append(name)
        found = []
        interval = text.number(
            ((cast("Tables", switch.raw or {}).get("PFC_WD") or {}).get("GLOBAL") or {}).get("POLL_INTERVAL", "")
        )
        for (action, detection, recovery), names in starts.items():
            if interval is not None and interval > min(detection, recovery):
                interval = min(detection, recovery)
                found.append(f"config pfcwd interval {interval}")
            found.append(_start(action, names, detection, recovery))
        return [f"config pfcwd stop {' '.join(stops)}"] if stops else [], found


def _write(session: Session, operations: Sequence[Operation]) -> None:
    """Write a patch to its file in pieces that fit into a command, because sudo allows no other input."""
    whole = json.dumps(operations)
    for at in range(0, len(whole), CHUNK):
        session.run(f"printf %s {shlex.quote(whole[at : at + CHUNK])} {'>>' if at else '>'} {FILE}")


def _start(action: str, names: Iterable[str], detection: int | str, recovery: int | str) -> str:
    return f"config pfcwd start --action {action} {' '.join(names)} {detection} --restoration-time {recovery}"


def _watchdogs_back(now: Rows, old: Rows) -> list[str]:
    ports = {*now, *old} - {"GLOBAL"}
    gone = sorted(name for name in ports if name not in old)
    found = [f"config pfcwd stop {' '.join(gone)}"] if gone else []
    for name in sorted(name for name in ports if name in old and now.get(name) != old[name]):
        row = old[name]
        detection, recovery = row.get("detection_time", DETECTION_MS), row.get("restoration_time", RECOVERY_MS)
        found.append(_start(row.get("action", ACTION), [name], detection, recovery))
    interval = (old.get("GLOBAL") or {}).get("POLL_INTERVAL")
    if interval and interval != (now.get("GLOBAL") or {}).get("POLL_INTERVAL"):
        found.append(f"config pfcwd interval {interval}")
    return found


def _branch(version: str | None) -> int:
    """Return 202311 for 20231110.12 or SONiC.202311; builds of the head count as the newest, with any date."""
    found = re.match(r"(?!.*(?:master|HEAD)).*?(20\d{4})", version or "")
    return int(found.group(1)) if found else 999999


def _by_hand(before: Tables, after: Tables) -> tuple[Tables, list[str], list[str]]:
    """Return (tables with the new profiles, commands to create them, commands to remove old ones afterwards)."""
    old, new = before.get("WRED_PROFILE") or {}, after.get("WRED_PROFILE") or {}
    made = [
        f"sonic-db-cli CONFIG_DB HSET 'WRED_PROFILE|{name}' " + " ".join(f"{key} {value}" for key, value in row.items())
        for name, row in new.items()
        if name not in old
    ]
    gone = [f"sonic-db-cli CONFIG_DB DEL 'WRED_PROFILE|{name}'" for name in old if name not in new]
    if not made and not gone:
        return before, [], []
    # Both tables contain them during the patch.
    whole = {**old, **new}
    after["WRED_PROFILE"] = whole
    return dict(before, WRED_PROFILE=whole), made, gone


def _names(tables: Tables) -> list[str]:
    """Return the ports in the tables; without the table PORT, those of the other tables."""
    found = dict.fromkeys(tables.get("PORT") or {})
    for table in ("PORT_QOS_MAP", "BUFFER_PG", "QUEUE", "PFC_WD"):
        for key in tables.get(table) or {}:
            found.update(dict.fromkeys(key.partition("|")[0].split(",")))
    for lengths in () if "PORT" in tables else (tables.get("CABLE_LENGTH") or {}).values():
        found.update(dict.fromkeys(lengths))
    return [name for name in found if name not in ("global", "GLOBAL")]
