# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Compute the commands from the current to the requested configuration of Arista EOS. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.compare import differing, effect, ranged
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import natural, tree
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.eos import text

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable, Mapping, Sequence

    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Intent
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Effect
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Marking, Switch

OURS = "AIREADY-ROCE"
PFC = "priority-flow-control"
GUARD = f"{PFC} pause watchdog"
# The keys that a profile sets. The interface itself sets all others.
PROFILE_KEYS = {"pfc_mode", "pfc", "pfc_sends", "lossless", "ecn", "bandwidth_percent", "cnp_strict"}
GUARD_KEYS = {"watchdog", "watchdog_detection_ms", "watchdog_recovery_ms", "watchdog_action"}
MAP_KEYS = {"roce_priority", "cnp_priority"}
ACTIONS = {"drop": "drop", "forward": "no-drop"}
# Default seconds if neither the user nor the switch sets them. The watchdog has no effect without a timeout.
TIMEOUT_S, RECOVERY_S = 0.2, 1.0


def block_of(config: text.Config | None, name: str) -> text.Block:
    """Return the own settings of an interface."""
    return (config.interfaces.get(name) if config else None) or text.Block()


def in_ranges(ports: Mapping[str, Sequence[str]]) -> list[str]:
    """Return {port: its lines} as one list of commands; adjacent ports with the same lines share a range."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, lines in ports.items():
        groups.setdefault(tuple(lines), []).append(name)
    shared = [(one, lines) for lines, names in groups.items() if lines for one in ranged(names).split(", ")]
    shared.sort(key=lambda entry: natural(entry[0]))
    return [line for one, lines in shared for line in (f"interface {one}", *lines, "exit")]


class Renderer:
    """One edit. A configuration session commits all of it at once."""

    def __init__(
        self, switch: Switch, config: text.Config, wanted: Mapping[str, Effect], intent: Intent, exact: bool
    ) -> None:
        self._config, self._wanted, self._intent, self._exact = config, wanted, intent, exact
        self._now = {name: effect(switch.ports[name], intent) for name in wanted}
        self._todo = {name: set(differing(self._now[name], wanted[name], exact)) for name in wanted}
        self._every = set().union(*self._todo.values())
        self._queues = dict(config.queues)
        self._own = dict(switch.own)

    def commands(self) -> list[str]:
        """Return all commands in order."""
        shared = [*self._maps(), *self._sharing(), *self._guard()]
        profiles, ports = {}, {}
        for name in self._todo:
            if not self._todo[name]:
                continue
            profile = self._profile_for(name)
            if profile:
                profiles[profile[0]] = profile[1]
            ports[name] = self._port(name, profile)
        for name in self._todo:
            profile = self._profile(name)
            if profile[0] == block_of(self._config, name).profile:
                profiles.setdefault(*profile)
        made = [line for name in sorted(profiles) for line in self._made(name, profiles[name])]
        return [*shared, *made, *in_ranges(ports), *self._stale({*profiles})]

    def _maps(self) -> list[str]:
        if not self._every & MAP_KEYS:
            return []
        there = self._config.dscp_map
        return [
            f"qos map dscp {dscp} to traffic-class {priority}"
            for dscp, priority in sorted(self._intent.dscp_map.items())
            if there.get(dscp) != priority
        ]

    def _sharing(self) -> list[str]:
        """Give RoCE its own queue: other priorities in its current or future queue return to their own queues."""
        if "roce_queue_shared_with" not in self._every:
            return []
        roce = self._intent.priority
        before = dict(self._queues)
        for priority, queue in before.items():
            if priority == roce or queue in (roce, before[roce]):
                self._queues[priority] = priority
        kind = self._config.keyword
        moved = [priority for priority in before if before[priority] != self._queues[priority]]
        return [f"qos map traffic-class {priority} to {kind} {self._queues[priority]}" for priority in moved]

    def _guard(self) -> list[str]:
        """Return the watchdog settings of the switch, which has no effect without a timeout."""
        if not self._every & GUARD_KEYS or not any(want.get("watchdog") for want in self._wanted.values()):
            return []
        there, requested, lines = self._config.watchdog, self._intent.watchdog, []
        times = {}
        for key, reported, usual in (
            ("timeout", requested.detection_ms, TIMEOUT_S),
            ("recovery-time", requested.recovery_ms, RECOVERY_S),
        ):
            now = float(there.get(key) or 0)
            times[key] = reported / 1000 if reported is not None else now or usual
            if times[key] != now:
                lines.append(f"{GUARD} default {key} {times[key]:g}")
        # The polling interval is at most half of the shorter of both times.
        polling, longest = float(there.get("polling-interval") or 0), min(times.values()) / 2
        if lines and not 0 < polling <= longest:
            lines.append(f"{GUARD} default polling-interval {longest:g}")
        action = self._action()
        if action and there.get("action") != action:
            lines.append(f"{GUARD} action {action}")
        return lines

    def _action(self) -> str | None:
        action = self._intent.watchdog.action
        if action is None or action in ACTIONS:
            return ACTIONS.get(action or "")
        raise OperatorError(
            "watchdog.action",
            f"cannot configure {action}",
            "The watchdog of Arista EOS only drops or forwards the packets of a stuck queue",
            f"Set it to one of {', '.join(ACTIONS)}, or omit it",
            "watchdog_action_not_supported",
            action=action,
        )

    def _profile_for(self, name: str) -> tuple[str, list[str]] | None:
        """Return (name, lines) of the profile that a port needs, or None if its own settings are enough."""
        profile = self._config.profiles.get(block_of(self._config, name).profile or "") or text.Block()
        todo = self._todo[name]
        chosen: object
        chosen = todo & PROFILE_KEYS or "roce_queue_shared_with" in todo
        chosen = chosen or (todo & MAP_KEYS and profile.policy)
        chosen = chosen or (todo & GUARD_KEYS and (profile.timeout or profile.action or profile.watchdog is False))
        return self._profile(name) if chosen else None

    def strays(self) -> dict[str, tuple[str, str]]:
        """Return {own profile: (current content, requested content)} of profiles that ports use."""
        found = {}
        for port in self._wanted:
            name, lines = self._profile(port)
            if name == block_of(self._config, port).profile and self._made(name, lines):
                found[f"qos profile {name}"] = (
                    text.content(self._config.profiles[name]),
                    text.content(_block(name, lines)),
                )
        return found

    def _profile(self, name: str) -> tuple[str, list[str]]:
        """Return (name, lines) of the profile with the requested settings of a port."""
        want, queues = self._wanted[name], self._queues
        priorities = set(want.get("pfc") or ())
        if not self._exact:
            priorities |= set(self._now[name]["lossless"] or ()) - {self._intent.priority}
        return _profile(
            sorted(priorities),
            self._config.keyword,
            queues[self._intent.priority],
            queues[self._intent.cnp_priority],
            want,
        )

    def _made(self, name: str, lines: Sequence[str]) -> list[str]:
        """Return the commands for a profile with exactly these lines."""
        there = self._config.profiles.get(name)
        if there == _block(name, lines):
            return []
        gone = [] if there is None else [f"no qos profile {name}"]
        return [*gone, f"qos profile {name}", *lines, "exit"]

    def _port(self, name: str, profile: tuple[str, list[str]] | None) -> list[str]:
        block, todo, want = block_of(self._config, name), self._todo[name], self._wanted[name]
        lines = []
        if "pause" in todo:
            lines += [f"no flowcontrol {way}" for way in ("send", "receive")]
        if "mtu" in todo:
            lines.append(f"mtu {want['mtu']}")
        if "trust" in todo:
            lines.append("qos trust dscp")
        if todo & MAP_KEYS and block.policy:
            lines.append(f"no service-policy type qos input {block.policy}")
        if "dcbx" in todo:
            lines.append("no dcbx mode" if want["dcbx"] == "off" else f"dcbx mode {want['dcbx']}")
        if profile:
            lines += [f"service-profile {profile[0]}"] if block.profile != profile[0] else []
            lines += self._direct(block, want)
        if todo & GUARD_KEYS:
            lines += _own_timers(block)
            lines.append(GUARD if want["watchdog"] else f"no {GUARD}")
        return lines

    def _direct(self, block: text.Block, want: Effect) -> list[str]:
        """Remove own settings of the interface that contradict its profile."""
        lines, priorities = [], set(want.get("pfc") or ())
        if block.pfc is not None and (block.pfc == "on") != bool(priorities):
            lines.append(f"no {PFC}")
        against = block.drop & priorities
        if self._exact:
            against |= block.no_drop - priorities
        lines += [f"no {PFC} priority {priority}" for priority in sorted(against)]
        kind = self._config.keyword
        roce, cnp = (self._queues[each] for each in (self._intent.priority, self._intent.cnp_priority))
        inside = _against(block.queues.get(roce), want)
        if inside:
            lines += [f"{kind} {roce}", *inside, "exit"]
        if cnp in block.queues and block.queues[cnp].strict is False:
            lines += [f"{kind} {cnp}", "priority strict", "exit"]
        return lines

    def _stale(self, used: Container[str]) -> list[str]:
        """Return the removal of own profiles that no port uses after the edit."""
        moved = {name for name in self._todo if self._todo[name] and self._profile_for(name)}
        return [
            f"no qos profile {name}"
            for name, users in sorted(self._own.items())
            if name not in used and not {*users} - moved
        ]


def _block(name: str, lines: Sequence[str]) -> text.Block:
    """Return the Block of a profile with these lines."""
    return text.block_of(tree("\n".join(_indented([f"qos profile {name}", *lines]))).children[0])


def removal(switch: Switch, config: text.Config, wanted: Collection[str]) -> list[str]:
    """Restore factory defaults on these ports and remove objects that no port uses then."""
    commands = in_ranges({name: _cleared(config, block_of(config, name), switch.own) for name in wanted})
    others = [name for name in config.interfaces if name not in wanted]
    unused = [name for name, users in sorted(switch.own.items()) if not {*users} - {*wanted}]
    commands += [f"no qos profile {name}" for name in unused]
    if any(switch.ports[name].pfc_mode == "on" for name in others if name in switch.ports):
        return commands
    if any(switch.ports[name].pfc_mode == "on" for name in wanted if name in switch.ports):
        times = ("timeout", "recovery-time", "polling-interval")
        commands += [f"no {GUARD} default {key}" for key in times if key in config.watchdog]
        commands += [f"no {GUARD} action"] if "action" in config.watchdog else []
    return commands + _unmapped(config, unused)


def _unmapped(config: text.Config, unused: Iterable[str]) -> list[str]:
    """Remove DSCP mappings to the queues of own profiles that differ from the defaults of EOS."""
    queues = {queue for name in unused for queue in config.profiles[name].queues}
    ours = {priority for priority, queue in config.queues.items() if queue in queues}
    mapped = [dscp for dscp, to in sorted(config.dscp_map.items()) if to in ours]
    return [f"no qos map dscp {dscp}" for dscp in mapped if text.DEFAULT_MAP.get(dscp) != config.dscp_map[dscp]]


def _cleared(config: text.Config, block: text.Block, own: Container[str | None]) -> list[str]:
    profile = config.profiles.get(block.profile or "") or text.Block()
    marks = any(queue.marking for queue in profile.queues.values())
    lines = []
    if block.profile in own or profile.pfc or profile.no_drop or profile.trust or marks:
        lines.append(f"no service-profile {block.profile}")
    lines += [f"no {PFC}"] if block.pfc else []
    lines += [f"no {PFC} priority {priority}" for priority in sorted(block.no_drop | block.drop)]
    lines += [f"default {GUARD}"] if block.watchdog is not None else []
    lines += _own_timers(block)
    lines += ["default qos trust"] if block.trust else []
    lines += ["no dcbx mode"] if block.dcbx else []
    for queue, one in sorted(block.queues.items()):
        inside = [_unmarked(one.marking)] if one.marking else []
        inside += ["priority strict"] if one.strict is False else []
        if inside:
            lines += [f"{config.keyword} {queue}", *inside, "exit"]
    return lines


def _own_timers(block: text.Block) -> list[str]:
    lines = [f"no {GUARD} port timer"] if block.timeout is not None or block.recovery is not None else []
    return lines + ([f"no {GUARD} port action"] if block.action else [])


def _profile(priorities: Sequence[int], keyword: str, roce: int, cnp: int, want: Effect) -> tuple[str, list[str]]:
    """Return (name, lines) of a profile; the name contains its values, so different values have different profiles."""
    share, ecn = want["bandwidth_percent"], want.get("ecn")
    marks = [str(ecn[key]) for key in ("min_kb", "max_kb", "probability")] if ecn else ["OFF"]
    kind = "PFC" + "".join(map(str, priorities)) if priorities else "LOSSY"
    name = "-".join([OURS, kind, f"Q{roce}", str(share), "ECN", *marks, f"CNP{cnp}"])
    lines = [f"{PFC} on"] if priorities else []
    lines += [f"{PFC} priority {priority} no-drop" for priority in priorities]
    lines += [f"{keyword} {roce}", "no priority", f"bandwidth percent {share}"]
    lines += [_marked(ecn)] if ecn else []
    return name, [*lines, "exit", f"{keyword} {cnp}", "priority strict", "exit"]


def _marked(ecn: Mapping[str, int]) -> str:
    return (
        f"random-detect ecn minimum-threshold {ecn['min_kb']} kbytes maximum-threshold {ecn['max_kb']} kbytes "
        f"max-mark-probability {ecn['probability']} weight 0"
    )


def _unmarked(marking: Marking) -> str:
    return "no random-detect ecn minimum-threshold" if marking.mark else "no random-detect drop"


def _against(queue: text.Queue | None, want: Effect) -> list[str]:
    """Return the lines that correct the own settings of an interface for the RoCE queue."""
    if queue is None:
        return []
    lines = ["no priority"] if queue.strict else []
    share, ecn = want["bandwidth_percent"], want.get("ecn")
    lines += [f"bandwidth percent {share}"] if queue.percent not in (None, share) else []
    if queue.marking is None:
        return lines
    if not ecn or not queue.marking.mark:
        lines.append(_unmarked(queue.marking))
    if ecn and (queue.marking.min_bytes, queue.marking.max_bytes) != (ecn["min_kb"] * 1000, ecn["max_kb"] * 1000):
        lines += [_marked(ecn)] if queue.marking.mark else []
    return lines


def _indented(lines: Iterable[str]) -> list[str]:
    """Return commands with the indentation of a configuration."""
    depth, shown = 0, []
    for line in lines:
        if line == "exit":
            depth -= 1
            continue
        shown.append("   " * depth + line)
        depth += line.startswith(("qos profile ", "tx-queue ", "uc-tx-queue "))
    return shown
