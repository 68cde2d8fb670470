# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Enterprise SONiC (Dell, Broadcom) over its command line: named maps and policies that interfaces refer to."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import lines
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.compare import differing, effect
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import natural
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Edit, Limits, Platform
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.enterprise_sonic import text
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import Lost, Refused
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Port, Switch
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.unread import strange

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence, Set
    from typing import List, Tuple, TypedDict

    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Intent
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Effect
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import Session
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.undo.facts import Facts, Path

    Body = List[Tuple[str, Tuple[str, ...]]]  # lines of an object, each with its sub-lines

    class Raw(TypedDict, total=False):
        """The values for render() and revert(); empty if the switch was not read."""

        ports: dict[str, dict[str, str]]
        objects: dict[str, Body]
        buffers: list[int]


CONFIG, VERSION, STATUS = "show running-configuration", "show version", "show interface status"
QOS, LLDP = "show qos interface Eth all", "show lldp table"
ACTS = "roce_enable_reboot"
YES = ((r"\[[yY]/[nN]\]", "y"),)
BOOT_S, PAUSE_S = 900, 2.0
CABLES = (5, 40, 300)
DETECTION_MS, RECOVERY_MS = 200, 400
# Lines that create lossless buffers; restore calls them by one name.
BUFFERS = ("roce enable", "buffer init lossless")
PRESET = "roce enable"


class EnterpriseSonic(Platform):
    """Enterprise SONiC. Its command for lossless buffers restarts the switch, so it needs permission in `allow`."""

    name = "enterprise_sonic"
    title = "Enterprise SONiC"
    limits = Limits(
        modes=("lossless", "lossy"),
        lossless=2,
        largest_mtu=9216,
        missing={
            "pfc_sends": "",
            "pause": "",
            "dcbx": "The module does not configure DCBX on Enterprise SONiC. Use dellemc.enterprise_sonic.sonic_dcbx.",
        },
    )

    def reads(self, ports: Sequence[str]) -> list[str]:
        return [CONFIG, VERSION, STATUS, QOS, LLDP]

    def parse(self, texts: Mapping[str, str]) -> Switch:
        switch = Switch(platform=self.name)
        shown = "\n".join(
            lines.under(text.port_in(command), out) for command, out in texts.items() if command.startswith(CONFIG)
        )
        root, ports, objects, buffers = text.read(shown)
        switch.hostname = next(iter(root.rest("hostname")), None)
        switch.ports = {name: text.port_of(here, objects, buffers) for name, here in ports.items()}
        text.switched(shown, switch.ports)
        switch.unread += strange(CONFIG, root, text.FORMS)
        text.running(switch, texts)
        for name in switch.oper:
            switch.ports.setdefault(name, text.port_of({}, objects, buffers) if shown else Port())
        for name in [name for name in objects if text.OWN in name]:
            switch.own[name] = [port for port, here in ports.items() if _uses(here, name)]
        kept = [one.text for one in root.children if one.text.startswith(BUFFERS)]
        kept += [block.render(1) for block in objects.values()]
        kept += [
            "\n".join([f"interface {name}", *(f" {one}" for one in here.values())]) for name, here in ports.items()
        ]
        switch.config = "\n".join(line.rstrip("\n") for line in kept)
        switch.raw = {
            "ports": ports,
            "objects": {name: _body(one) for name, one in objects.items()},
            "buffers": buffers,
        }
        return switch

    def command_of(self, text: str) -> str | None:
        if "Software Version" in text:
            return VERSION
        if "AutoNeg" in text and "Oper" in text:
            return STATUS
        if "pfc-asymmetric:" in text:
            return QOS
        if "ChassisID:" in text:
            return "show lldp neighbor"
        if "LocalPort" in text and "RemoteDevice" in text:
            return LLDP
        return CONFIG if lines.tree(text).find("interface") else None

    def blank(self, switch: Switch, name: str) -> Port:
        return Port(pfc_mode="off", pfc=[], lossless=[], ecn={}, strict=[], queues={}, watchdog=False)

    def render(self, switch: Switch, wanted: Mapping[str, Effect], intent: Intent | None, exact: bool = True) -> Edit:
        raw = cast("Raw", switch.raw or {"ports": {}, "objects": {}, "buffers": []})
        first = self._restart(switch, raw, intent) if intent and intent.lossless else []
        # Without a switch, with factory defaults.
        ports = switch.ports if switch.raw else {name: text.port_of({}, {}, []) for name in wanted}
        objects, after = dict(raw["objects"]), {name: dict(here) for name, here in raw["ports"].items()}
        for name, stray in _strays(raw, wanted, intent).items():
            entries = {**_entries(objects[name]), **dict.fromkeys(stray, 0)}
            objects[name] = _lines_of("dscp-tc", entries)
        for name in sorted(wanted, key=natural):
            here = after.setdefault(name, {})
            if intent is None:
                for key in [key for key in here if key not in ("mtu", "cable-length", text.ASYMMETRIC)]:
                    if not key.startswith(("qos-map tc-d", "qos-map dot1p")):
                        del here[key]
            else:
                keys = differing(effect(ports[name], intent), wanted[name], exact)
                if keys:
                    _set(here, objects, cast("text.Reported", ports[name]), wanted[name], intent, exact, set(keys))
        commands = _commands(raw, after, objects)
        payload = {"first": first, "wanted": wanted, "intent": intent, "exact": exact}
        return Edit(commands=[*first, *commands], name="aiready", payload=payload)

    def strays(
        self, switch: Switch, wanted: Mapping[str, Effect], intent: Intent, exact: bool = True
    ) -> dict[str, tuple[str, str]]:
        found = _strays(cast("Raw", switch.raw or {}), wanted, intent)
        return {
            name: cast(
                "Tuple[str, str]",
                tuple(", ".join(f"DSCP {dscp}: {to}" for dscp in stray) for to in (intent.priority, 0)),
            )
            for name, stray in found.items()
        }

    def facts(self, saved: str) -> Facts:
        root, ports, objects, _buffers = text.read(saved)
        found: Facts = {}
        for one in root.children:
            if one.text.startswith(BUFFERS):
                found[(PRESET,)] = one.text
        found.update({(name,): [[line, *below] for line, below in _body(one)] for name, one in objects.items()})
        for name, here in ports.items():
            found.update({(f"interface {name}", key): line for key, line in here.items()})
        return found

    def object_of(self, path: Path) -> str:
        return path[0].split()[-1] if len(path) == 1 and path != (PRESET,) else ""

    def lacks(self, path: Path) -> str:
        if ACTS in (self.options.get("allow") or ()):
            return ""
        if path == (PRESET,):
            return f"`no roce enable` restarts the switch. Add {ACTS} to allow if it may restart now."
        if len(path) == 1 and text.OWN not in path[0]:
            return "It belongs to `roce enable`, which stays."
        return ""

    def undo(self, switch: Switch, then: Facts) -> Edit:
        raw = cast("Raw", switch.raw)
        first = ["configure terminal", "no roce enable"] if raw["buffers"] and (PRESET,) not in then else []
        objects: dict[str, Body] = {
            path[0]: [(line, tuple(below)) for line, *below in value]
            for path, value in then.items()
            if len(path) == 1 and path != (PRESET,)
        }
        ports: dict[str, dict[str, str]] = {name: {} for name in raw["ports"]}
        for path, value in then.items():
            if len(path) > 1:
                ports.setdefault(path[0].partition(" ")[2], {})[path[1]] = value
        commands = _commands(raw, ports, objects)
        return Edit(commands=[*first, *commands], name="aiready", payload={"first": first, "then": then})

    def apply(self, session: Session, edit: Edit) -> None:
        commands = edit.commands
        if edit.payload["first"]:
            self._restarted(session, edit.payload["first"])
            now = self.parse({CONFIG: session.run(CONFIG)})
            if "then" in edit.payload:
                commands = self.undo(now, edit.payload["then"]).commands
            else:
                wanted, intent, exact = (edit.payload[key] for key in ("wanted", "intent", "exact"))
                commands = self.render(now, wanted, intent, exact).commands
        for command in commands:
            session.run(command)

    def revert(self, session: Session, edit: Edit, before: Switch) -> None:
        with contextlib.suppress(Refused):
            session.run("end")
        now, old = cast("Raw", self.parse({CONFIG: session.run(CONFIG)}).raw), cast("Raw", before.raw)
        if edit.payload["first"] and now["buffers"] != old["buffers"]:
            priorities = ",".join(map(str, old["buffers"]))
            back = f"roce enable pfc-priority {priorities}" if old["buffers"] else "no roce enable"
            self._restarted(session, ["configure terminal", back])
            now = cast("Raw", self.parse({CONFIG: session.run(CONFIG)}).raw)
        for command in _commands(now, {**{name: {} for name in now["ports"]}, **old["ports"]}, old["objects"]):
            session.run(command)

    def save(self, session: Session) -> None:
        session.run("write memory")

    def _restart(self, switch: Switch, raw: Raw, intent: Intent) -> list[str]:
        if intent.priority in raw["buffers"] or not raw["ports"]:
            return []
        if ACTS in (self.options.get("allow") or ()):
            return ["configure terminal", f"roce enable pfc-priority {intent.priority}{_forced(raw)}"]
        there = f"priority {', '.join(map(str, raw['buffers']))}" if raw["buffers"] else "no priority"
        raise OperatorError(
            switch.hostname or "switch",
            f"cannot make priority {intent.priority} lossless",
            f"The switch has lossless buffers for {there}. Only `roce enable` creates them, and it restarts the switch",
            f"Add {ACTS} to allow if the switch may restart now, or use the mode lossy",
            "needs_restart",
        )

    def _restarted(self, session: Session, commands: Iterable[str]) -> None:
        """Run the command that restarts the switch, and wait until it accepts a login again."""
        with contextlib.suppress(Lost):
            for command in commands:
                session.run(command, answers=YES)
        until = time.monotonic() + BOOT_S
        while True:
            try:
                return session.reconnect()
            except Lost:
                if time.monotonic() >= until:
                    raise
            time.sleep(PAUSE_S)


def _set(
    here: dict[str, str],
    objects: dict[str, Body],
    port: text.Reported,
    want: Effect,
    intent: Intent,
    exact: bool,
    keys: Set[str],
) -> None:
    """Set the lines of one port for the requested effect; create an object if no own object fits."""
    data, notice = port.queues[intent.priority], port.queues[intent.cnp_priority]
    if port.mtu != want["mtu"]:
        here["mtu"] = f"mtu {want['mtu']}"
    if want.get("cable_length_m") not in (None, port.cable_length_m):
        here["cable-length"] = (
            f"cable-length {next((one for one in CABLES if one >= want['cable_length_m']), CABLES[-1])}m"
        )
    if port.trust != "dscp" or any(port.dscp_map[dscp] != priority for dscp, priority in intent.dscp_map.items()):
        others = {dscp: priority for dscp, priority in port.dscp_map.items() if priority not in (0, intent.priority)}
        _use_map(here, objects, "dscp-tc", _map_name(intent), {**others, **intent.dscp_map})
    if want.get("roce_queue_shared_with") == [] and [one for one, at in port.queues.items() if at == data][1:]:
        data, notice = intent.priority, intent.cnp_priority
        _use_map(here, objects, "tc-queue", "AIREADY-QUEUES", {at: at for at in range(8)})
    alone = [one for one, group in port.groups.items() if group == port.groups[intent.priority]] == [intent.priority]
    if not alone or port.groups[intent.priority] != intent.priority:
        groups = {**dict.fromkeys(range(8), text.LOSSY_GROUP), intent.priority: intent.priority}
        _use_map(here, objects, "tc-pg", f"AIREADY-GROUPS-{intent.priority}", groups)
    if intent.lossless and port.pfc_queues[intent.priority] != data:
        pauses = {**port.pfc_queues, intent.priority: data}
        _use_map(here, objects, "pfc-priority-queue", f"AIREADY-PAUSES-{intent.priority}-{data}", pauses)
    for one in port.pfc if exact else [intent.priority]:
        here.pop(f"{text.PFC} {one}", None)
    here.update({f"{text.PFC} {one}": f"{text.PFC} {one}" for one in intent.lossless})
    _watch(here, port, want, exact)
    moved = data != port.queues[intent.priority]
    _serve(here, objects, port, want, data, notice, moved or "ecn" in keys)


def _watch(here: dict[str, str], port: text.Reported, want: Effect, exact: bool) -> None:
    on, action, restore = (f"{text.WATCH} {word}" for word in ("on", "action", "restore-time"))
    if not want.get("watchdog"):
        if exact:
            here.pop(on, None)
        return
    if want.get("watchdog_detection_ms") is not None or not port.watchdog:
        here[on] = f"{on} detect-time {want.get('watchdog_detection_ms') or DETECTION_MS}"
    if want.get("watchdog_recovery_ms") is not None or not port.watchdog:
        here[restore] = f"{restore} {want.get('watchdog_recovery_ms') or RECOVERY_MS}"
    if want.get("watchdog_action") is not None:
        here[action] = f"{action} {want['watchdog_action']}"


def _serve(
    here: dict[str, str],
    objects: dict[str, Body],
    port: text.Reported,
    want: Effect,
    data: int,
    notice: int,
    marks: bool,
) -> None:
    mine = f"queue {data} wred-policy"
    for key in [key for key in here if key.startswith("queue ") and text.OWN in here[key] and key != mine]:
        del here[key]
    if marks and want["ecn"]:
        low, high, part = (want["ecn"][key] for key in ("min_kb", "max_kb", "probability"))
        name = f"AIREADY-{low}-{high}-{part}"
        body = (f"green minimum-threshold {low} maximum-threshold {high} drop-probability {part}", "ecn all")
        objects[f"qos wred-policy {name}"] = [(line, ()) for line in body]
        here[mine] = f"{mine} {name}"
    elif marks:
        here.pop(mine, None)
    percent = want["bandwidth_percent"]
    if port.shares.get(data) != percent or notice not in port.strict:
        other = 0 if data else 1
        name = f"AIREADY-{percent}-{data}-{notice}"
        objects[f"qos scheduler-policy {name}"] = [
            (f"queue {other}", ("type dwrr", f"weight {100 - percent}")),
            (f"queue {data}", ("type dwrr", f"weight {percent}")),
            (f"queue {notice}", ("type strict",)),
        ]
        here["scheduler-policy"] = f"scheduler-policy {name}"


def _strays(raw: Raw, wanted: Iterable[str], intent: Intent | None) -> dict[str, list[int]]:
    """Return {own map of these ports: other DSCPs that it maps to the RoCE traffic class}."""
    found: dict[str, list[int]] = {}
    if intent is None:
        return found
    for port in wanted:
        name = raw.get("ports", {}).get(port, {}).get("qos-map dscp-tc", "").rpartition(" ")[2]
        whole = f"qos map dscp-tc {name}"
        if name.startswith(_map_name(intent)) and whole in raw["objects"]:
            reported = _entries(raw["objects"][whole])
            stray = sorted(
                dscp for dscp, to in reported.items() if to == intent.priority and dscp not in intent.dscp_map
            )
            found.update({whole: stray} if stray else {})
    return found


def _map_name(intent: Intent) -> str:
    return f"AIREADY-ROCE-{intent.dscp}-{intent.priority}-{intent.cnp_dscp}-{intent.cnp_priority}"


def _entries(body: Body) -> dict[int, int]:
    return text.entries(line for line, _below in body)


def _use_map(here: dict[str, str], objects: dict[str, Body], kind: str, name: str, entries: Mapping[int, int]) -> None:
    body, whole = _lines_of(kind, entries), f"qos map {kind} {name}"
    if whole in objects and objects[whole] != body:
        name = f"{name}-{len(objects)}"
    objects[f"qos map {kind} {name}"] = body
    here[f"qos-map {kind}"] = f"qos-map {kind} {name}"


def _lines_of(kind: str, entries: Mapping[int, int]) -> Body:
    """Return the lines of a map with these entries."""
    left, right = {
        "dscp-tc": ("dscp", "traffic-class"),
        "tc-queue": ("traffic-class", "queue"),
        "tc-pg": ("traffic-class", "priority-group"),
        "pfc-priority-queue": ("pfc-priority", "queue"),
    }[kind]
    grouped: dict[int, list[str]] = {}
    for key, value in sorted(entries.items()):
        grouped.setdefault(value, []).append(str(key))
    return [(f"{left} {','.join(keys)} {right} {value}", ()) for value, keys in sorted(grouped.items())]


def _commands(before: Raw, after: Mapping[str, Mapping[str, str]], objects: Mapping[str, Body]) -> list[str]:
    """Return commands between two states: objects, then their users, then removal of unused own objects."""
    used = {name for name in objects if any(_uses(here, name) for here in after.values())}
    found = []
    for name, body in objects.items():
        if before["objects"].get(name) != body and (name in used or text.OWN not in name):
            found.append(name)
            for line, below in body:
                found += [line, *below, *(["exit"] if below else [])]
            found.append("exit")
    for name, here in after.items():
        now = before["ports"].get(name, {})
        changed = [line for key, line in here.items() if now.get(key) != line]
        changed += [f"no {key}" for key in now if key not in here]
        found += [f"interface {name}", *changed, "exit"] if changed else []
    gone = [name for name in before["objects"] if text.OWN in name and name not in used]
    found += [f"no {name}" for name in gone]
    return ["configure terminal", *found, "end"] if found else []


def _forced(raw: Raw) -> str:
    """Return the keyword that overrides existing QoS of ports, if all their objects belong to this module."""
    there = [line for here in raw["ports"].values() for key, line in here.items() if key not in ("mtu", "cable-length")]
    named = [line for line in there if "-policy " in line or line.startswith("qos-map ")]
    return " force-defaults" if named and all(text.OWN in line for line in named) else ""


def _uses(here: Mapping[str, str], name: str) -> bool:
    """Return whether lines of a port refer to an object, such as qos map dscp-tc NAME."""
    kind, _blank, own = name.rpartition(" ")
    return any(line.endswith(f" {own}") and f"{kind.split()[-1]} " in line for line in here.values())


def _body(block: lines.Line) -> Body:
    return [(child.text, tuple(below.text for below in child.children)) for child in block.children]
