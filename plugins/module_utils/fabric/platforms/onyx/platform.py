# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""NVIDIA Onyx (MLNX-OS): its RoCE preset if the intent equals the preset, single lines otherwise."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import compare
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import natural, port_in
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Edit, Limits, Platform
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.onyx import plan, state
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.onyx import settings as lines
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.onyx import text as onyx_text
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import Refused
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Port, Switch
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.unread import lacks

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Intent
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Effect
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.onyx.preset import Preset
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import Session
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.undo.facts import Facts, Path

# The command filters the configuration, so the module never reads a password.
QOS_LINES = "roce|traffic|qos |dcb |pfc-wd| mtu |flowcontrol"
VLAN_LINES = "switchport|^ *vlan |shutdown|channel-group"
CONFIG = f'show running-config | include "{QOS_LINES}|{VLAN_LINES}|[Hh]ostname"'
ROCE, VERSION = "show roce", "show version | json-print"
PFC, INTERFACES = "show dcb priority-flow-control | json-print", "show interfaces ethernet | json-print"
PEERS = "show lldp interfaces ethernet remote | json-print"
COUNTERS = "show interfaces ethernet counters | json-print"
QOS = "show qos interface ethernet {} | json-print"
CONGESTION = "show interfaces ethernet {} congestion-control | json-print"
# The output of a command, by the first pattern that matches.
KINDS = (
    (r"show running-config|show configuration", "config"),
    (r"show roce", "roce"),
    (r"show version", "version"),
    (r"show dcb priority", "pfc"),
    (r"show dcb ets", "ets"),
    (r"show qos", "qos"),
    (r"show traffic pool", "pool"),
    (r"show .*congestion-control", "congestion"),
    (r"show lldp.* remote", "remote"),
    (r"show lldp local", "local"),
    (r"show lldp", "lldp"),
    (r"show .*counters", "counters"),
    (r"show interfaces", "interfaces"),
)
PRESETS_SINCE = (3, 8, 2000)
TIMES = "No known Onyx command configures the watchdog times."
# The keys that the preset leaves to the ports.
AT_PORTS = ("mtu", "watchdog", "pause")
# A change of the mode can ask for permission to interrupt ports.
ASKED = ((r"(?i)\(?\[?y(?:es)?/n(?:o)?\]?\)?\s*:?\s*\Z", "yes"),)
EVERYWHERE = "all"  # the port name if only `show roce` is known, which applies to all ports


@dataclass(frozen=True)
class Raw:
    """The values of a read for render() and revert()."""

    settings: lines.Settings
    mode: str | None = None  # of the preset; off, or None if the switch does not support it
    preset: Preset | None = None


ROCE_KEY = ("roce",)


class Onyx(Platform):
    """Onyx over network_cli with the plugins aiready.vsphere.onyx."""

    name = "onyx"
    title = "NVIDIA Onyx"
    limits = Limits(
        lossless=2,
        largest_mtu=9612,
        missing={
            "roce_group_shared_with": "",
            "roce_pauses_own_queue": "",
            "probability": "Onyx marks all packets above the upper threshold. No known command marks fewer.",
            "watchdog_detection_ms": TIMES,
            "watchdog_recovery_ms": TIMES,
            "watchdog_action": "The watchdog of Onyx has only one action.",
            "dcbx": "Onyx advertises its settings to hosts by LLDP. No known command selects the kind of DCBX.",
            "cable_length_m": "Onyx sizes its buffers automatically.",
        },
    )

    counting = (COUNTERS, "congestion-control")

    def reads(self, ports: Sequence[str]) -> list[str]:
        spans = lines.spans(ports)
        by_port = [form.format(span) for form in (QOS, CONGESTION) for span in spans]
        return [CONFIG, VERSION, ROCE, PFC, INTERFACES, *by_port, COUNTERS, PEERS]

    def spelled(self, typed: str) -> str | None:
        pool = re.match(r"\s*sh\w*\s+traffic\s+pool\s+(\S+)\s*(?:\||$)", typed)
        return f"show traffic pool {pool.group(1)}" if pool else super().spelled(typed)

    def command_of(self, text: str) -> str | None:
        return onyx_text.likely_command(text)

    # Read the switch.

    def parse(self, texts: Mapping[str, str]) -> Switch:
        found = onyx_text.Reading()
        for command, output in texts.items():
            kind = _kind(command) or _kind(onyx_text.likely_command(output) or "")
            port = port_in(command, "ethernet|eth|port-channel|po")
            named = port and f"{'Po' if port[0].lower().startswith('p') else 'Eth'}{port[1]}"
            if kind:
                onyx_text.read(output, kind, found, named)
        return self._switch(found, texts)

    def _switch(self, found: onyx_text.Reading, texts: Mapping[str, str]) -> Switch:
        config = found.settings or {}
        reported = config.get(("roce",))
        preset, mode = found.preset, None if found.preset is None else found.preset.mode
        if preset is None and reported is not None:
            mode = (reported.split() + ["lossless"])[1].replace("-", "_")
        switch = Switch(
            platform=self.name,
            hostname=found.hostname,
            version=found.version or self.options.get("version"),
            model=found.model,
            neighbours=found.neighbours,
            config=_kept(texts),
            raw=Raw(config, mode, preset),
        )
        switch.exceptions = [
            f"{one}: this contradicts the preset `roce`. Remove it, or turn the preset off with `no roce`."
            for one in [*(preset.exceptions if preset else []), *found.exceptions]
        ]
        for name in sorted(state.ports(found), key=natural):
            switch.ports[name] = state.port_of(found, name, preset)
            switch.oper[name] = state.oper_of(found, name, preset)
            link = found.interfaces.get(name, {}).get("Operational state", "")
            if link and switch.oper[name].up is None:
                found.unread.append(lacks("show interfaces ethernet", f"the state of {name}, {link!r}"))
            state.switched(found, name, switch.ports[name])
        if not switch.ports and preset is not None and preset.mode != "off":
            switch.ports[EVERYWHERE] = state.port_of(found, EVERYWHERE, preset)
            switch.oper[EVERYWHERE] = state.oper_of(found, EVERYWHERE, preset)
        switch.unread = [*found.unread, *(preset.unread if preset else [])]
        if not switch.ports:
            switch.unread += _without_ports(preset, found)
        pools = {key[1] for key in config if key[0] == "pool" and key[1].startswith(plan.POOL)}
        users = sorted(name for name, port in switch.ports.items() if port.pfc_mode != "off")
        switch.own = {f"traffic pool {name}": users for name in sorted(pools)}
        return switch

    def blank(self, switch: Switch, name: str) -> Port:
        port = switch.ports.get(name) or Port()
        return Port(
            trust="pcp",
            dscp_map={dscp: dscp >> 3 for dscp in range(64)},
            queues={priority: priority for priority in range(8)},
            pfc_mode="off",
            pfc=[],
            lossless=[],
            ecn={},
            strict=[],
            shares=dict(lines.FACTORY_WEIGHTS),
            mtu=port.mtu,
            watchdog=False,
            pause=port.pause,
            speed=port.speed,
        )

    # Plan the change.

    def render(self, switch: Switch, wanted: Mapping[str, Effect], intent: Intent | None, exact: bool = True) -> Edit:
        raw = cast("Raw", switch.raw or Raw({}))
        before = dict(raw.settings)
        if intent is None:
            return Edit(self._removal(switch, raw, before, wanted))
        own = lines.roce_settings(before)
        preset = intent.is_preset and self._has_presets(switch, raw) and (raw.mode not in (None, "off") or not own)
        if intent.mode == "semi_lossless" and not preset:
            preset = self._forced_preset(switch, raw, intent, wanted, own)
        if preset:
            return Edit(self._preset(switch, raw, before, wanted, intent, exact))
        commands = []
        if raw.mode not in (None, "off"):
            # Lines beside the preset contradicted it and are removed with it.
            commands = [*lines.commands(own, {}), "no roce"]
            before = {key: value for key, value in before.items() if key not in own}
            blank = {name: self.blank(switch, name) for name in switch.ports}
            switch = Switch(self.name, ports=blank, oper=switch.oper, raw=Raw(before, "off"))
        after = dict(before)
        for name, want in wanted.items():
            plan.set_port(after, name, switch.ports[name], want, intent, exact)
        plan.set_switch(after, before, switch, wanted, intent, exact)
        return Edit(commands + lines.commands(before, after))

    def strays(
        self, switch: Switch, wanted: Mapping[str, Effect], intent: Intent, exact: bool = True
    ) -> dict[str, tuple[str, str]]:
        raw = cast("Raw", switch.raw or Raw({}))
        # The pools of the preset belong to the switch.
        pool, stray = plan.strays(raw.settings, intent) if raw.mode in (None, "off") else ("", [])
        held = ", ".join(map(str, sorted([intent.priority, *stray])))
        return {f"traffic pool {pool}": (f"priorities {held}", f"priority {intent.priority}")} if stray else {}

    def _has_presets(self, switch: Switch, raw: Raw) -> bool:
        known = re.findall(r"\d+", switch.version or self.options.get("version") or "")
        if known:
            return tuple(int(part) for part in known[:3]) >= PRESETS_SINCE
        return raw.mode is not None or switch.raw is None

    def _forced_preset(
        self, switch: Switch, raw: Raw, intent: Intent, wanted: Iterable[str], own: lines.Settings
    ) -> bool:
        """Return True if the preset is possible; semi_lossless exists only as a preset."""
        strange = sorted({key[1] for key in own if key[0] in lines.PER_PORT} - {*wanted})
        why = None
        if not intent.is_preset:
            why = "The requested values differ from those of the preset"
        elif not self._has_presets(switch, raw):
            why = f"Release {switch.version} does not have this preset"
        elif strange:
            why = f"The QoS lines of {compare.ranged(strange)} would contradict the preset"
        if why is None:
            return True
        raise OperatorError(
            switch.hostname or self.title,
            "cannot use the mode semi_lossless",
            f"On Onyx, this mode is a preset for the whole switch. {why}",
            "Set mode to lossless or lossy, or remove this obstacle",
            "mode_not_possible",
            mode=intent.mode,
        )

    def _preset(
        self,
        switch: Switch,
        raw: Raw,
        before: lines.Settings,
        wanted: Mapping[str, Effect],
        intent: Intent,
        exact: bool,
    ) -> list[str]:
        mode = intent.mode.replace("_", "-")
        after = dict(before)
        if raw.mode in (None, "off"):
            after = {key: value for key, value in before.items() if key[0] not in (*lines.PER_PORT, *lines.GLOBAL)}
        commands = lines.commands(before, after)
        commands += [] if raw.mode == intent.mode else [f"roce {mode}"]
        before, after = after, dict(after)
        for name, want in wanted.items():
            # The preset keeps its own values, except values that a port line overrides.
            others = {key[0] for key in before if key[1:2] == (name,)}
            mine = {key: what for key, what in want.items() if key in AT_PORTS or others & plan.OF.get(key, set())}
            plan.set_port(after, name, switch.ports[name], mine, intent, exact)
        for key in [key for key in after if key[0] == "watchdog" and key[1] in wanted and not intent.lossless]:
            del after[key]
        return commands + lines.commands(before, after)

    def _removal(self, switch: Switch, raw: Raw, before: lines.Settings, wanted: Collection[str]) -> list[str]:
        live = [name for name, oper in switch.oper.items() if oper.up and name not in wanted]
        preset = raw.mode not in (None, "off")
        if preset and live:
            raise OperatorError(
                switch.hostname or self.title,
                f"cannot remove RoCE QoS from {compare.ranged(wanted)} only",
                f"The preset `roce` applies to the whole switch, and {compare.ranged(live)} are up too",
                "List all ports that are in use, or keep RoCE QoS there",
                "whole_switch",
                ports=sorted(live),
            )
        after = {key: what for key, what in before.items() if key[0] not in lines.PER_PORT or key[1] not in wanted}
        if not plan.flow_control(after, switch, wanted):
            after = {key: what for key, what in after.items() if key[0] not in ("pfc_enabled", "pfc_priority")}
            plan.drop_pools(after, set())
        else:
            after.update({("pfc", name): "off" for name in wanted if switch.ports[name].pfc_mode != "off"})
        return lines.commands(before, after) + (["no roce"] if preset else [])

    # Apply the change.

    def apply(self, session: Session, edit: Edit) -> None:
        self._send(session, edit.commands)

    def facts(self, saved: str) -> Facts:
        return {tuple(map(str, key)): value for key, value in lines.settings(saved).items()}

    def object_of(self, path: Path) -> str:
        return path[-1] if path[0] == "pool" else ""

    def undo(self, switch: Switch, then: Facts) -> Edit:
        now = cast("Raw", switch.raw).settings
        after = {tuple(int(part) if part.isdecimal() else part for part in path): value for path, value in then.items()}
        return Edit(_with_preset(lines.commands(now, after), now.get(ROCE_KEY), after.get(ROCE_KEY)))

    def revert(self, session: Session, edit: Edit, before: Switch) -> None:
        now = cast("Raw", self.parse({command: _run_if_known(session, command) for command in (CONFIG, ROCE)}).raw)
        then = cast("Raw", before.raw)
        presets = [now.mode or "off", then.mode or "off"]
        commands = lines.commands(now.settings, then.settings)
        if presets[0] != presets[1]:
            back = "no roce" if presets[1] == "off" else f"roce {presets[1].replace('_', '-')}"
            # Single lines are added after the preset is off, and removed before it is on.
            commands = [back, *commands] if presets[1] == "off" else [*commands, back]
        if commands:
            self._send(session, commands)

    def save(self, session: Session) -> None:
        self._send(session, ["configuration write"])

    def way_back(self, edit: Edit) -> str:
        return (
            "Onyx has no timer that rolls a change back. The commands sent so far stay. Run the task again when the "
            "switch answers. The task continues from the configuration that it finds."
        )

    def _send(self, session: Session, commands: Iterable[str]) -> None:
        session.run("configure terminal")
        try:
            for command in commands:
                session.run(command, answers=ASKED if "roce" in command.split()[:2] else ())
        except Refused:
            session.run("exit")
            raise
        session.run("exit")


def _without_ports(preset: Preset | None, found: onyx_text.Reading) -> list[str]:
    """Return sentences about known values without a port."""
    reported = []
    if preset is not None and preset.mode == "off":
        reported.append(
            "Cannot assign the output of `show roce` to a port. The preset is off. Provide `show running-config` too."
        )
    if found.pools is not None:
        reported.append(
            "Cannot assign the output of `show traffic pool` to a port. The output names no port. Provide `show dcb "
            "priority-flow-control` too."
        )
    return reported


def _kind(command: str) -> str | None:
    line = " ".join(command.split())
    return next((kind for pattern, kind in KINDS if re.match(pattern, line)), None)


def _kept(texts: Mapping[str, str]) -> str:
    """Return the QoS lines of the running configuration."""
    found = [output for command, output in texts.items() if _kind(command) == "config"]
    at_ports = "interface .*(?:qos|traffic-class|dcb|pfc-wd|mtu|flowcontrol)"
    words = re.compile(rf"^(?:no )?(?:{at_ports}|traffic pool|dcb|roce|lldp)\b")
    return "\n".join(line.strip() for output in found for line in output.splitlines() if words.match(line.strip()))


def _run_if_known(session: Session, command: str) -> str:
    try:
        return session.run(command)
    except Refused:
        return ""


def _with_preset(commands: Sequence[str], now: str | None, then: str | None) -> list[str]:
    """Return the commands with that of the preset: `no roce` before all others, or `roce` after them."""
    if now == then:
        return list(commands)
    return ["no roce", *commands] if then is None else [*commands, then]
