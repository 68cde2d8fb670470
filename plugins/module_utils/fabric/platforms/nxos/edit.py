# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Compute the commands from the current to the requested configuration of Cisco NX-OS. Pure.

The name of a policy contains its values. For other values, the edit creates a new policy, replaces the old one on the
ports, and then removes the old one. NX-OS sets lossless groups for the whole switch, so the edit extends them in place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.compare import differing, effect, ranged
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import natural
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.nxos import owned, text
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.nxos.owned import OURS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Intent
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Effect
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Switch

NETWORK = f"{OURS}-NQ"
PFC = "priority-flow-control"
GUARD = f"{PFC} watch-dog-interval"
CLASS_KEYS = {"trust", "roce_priority", "cnp_priority"}
QUEUE_KEYS = {"ecn", "bandwidth_percent", "cnp_strict"}
NETWORK_KEYS = {"pfc", "lossless", "roce_pauses_own_queue"}
MODE_KEYS = {"pfc_mode", "pfc_sends", "dcbx"}
# The cable length in metres up to which the switch reserves enough headroom automatically.
NEAR_M = 100


class Renderer:
    """One edit, with the lines that each of its lines replaces."""

    def __init__(
        self, switch: Switch, config: text.Config, wanted: Mapping[str, Effect], intent: Intent, exact: bool
    ) -> None:
        self._config, self._wanted, self._intent, self._exact = config, wanted, intent, exact
        self._now = {name: effect(switch.ports[name], intent) for name in wanted}
        self._todo = {name: set(differing(self._now[name], wanted[name], exact)) for name in wanted}
        self._every = set().union(*self._todo.values())
        self._own = dict(switch.own)
        self._strays = owned.strays(config, wanted, intent)
        # Ports outside the task that use the lossless groups of the switch.
        self._others = [name for name, one in config.interfaces.items() if one.pfc == "on" and name not in wanted]

    def commands(self) -> tuple[list[str], dict[tuple[str, str], str]]:
        """Return (commands in order, {(port, command): command that removes the existing object})."""
        self._check_cable()
        shared = [*self._classifier(), *self._network()] if self._every or self._strays else []
        shared += self._guard()
        if any("dcbx" in todo and self._wanted[name]["dcbx"] != "off" for name, todo in self._todo.items()):
            shared.insert(0, "feature lldp")
        policies, ports = {}, {}
        for name in self._todo:
            if self._todo[name] & QUEUE_KEYS:
                policy = owned.queuing(self._intent, self._wanted[name])
                policies[policy[0]] = policy[1]
            ports[name] = self._port(name)
        for name, lines in owned.queuings(self._intent, self._wanted):
            if f"policy-map {name}" in self._strays:
                policies[name] = lines
        made = [line for name in sorted(policies) for line in self._made(name, policies[name])]
        lines, replaced = in_ranges(ports)
        return [*shared, *made, *lines, *self._network_after(), *self._stale(policies)], replaced

    def _check_cable(self) -> None:
        length = self._intent.cable_length_m or 0
        sized = any("buffer-size" in (line or "") for _group, _cos, line in _attached(self._config).values())
        if length > NEAR_M and self._intent.lossless and not sized:
            raise OperatorError(
                "cable_length_m",
                f"cannot reserve PFC headroom for {length} m",
                f"NX-OS reserves headroom for {NEAR_M} m. Longer cables need buffer sizes that depend on the hardware",
                "Set `pause buffer-size ... pause-threshold ... resume-threshold ... pfc-cos` in the RoCE class of the "
                "network-qos policy, which the module keeps, or omit cable_length_m",
                "cable_too_long",
                cable_length_m=length,
            )

    def _classifier(self) -> list[str]:
        """Return the classes of the code points and the policy that assigns their groups."""
        if not self._every & CLASS_KEYS and not self._strays:
            return []
        lines, policy = [], []
        for dscp, group in self._intent.dscp_map.items():
            name = owned.class_name(dscp)
            matched = self._config.matches.get(name)
            if matched != owned.only(dscp):
                # The switch adds new match lines to the existing ones.
                lines += [f"class-map type qos match-any {name}", f"match dscp {dscp}"]
                lines += [f"no {line}" for line in owned.beside(matched, dscp)]
            policy += [f"class {name}", f"set qos-group {group}"]
        name = owned.classifier_name(self._intent)
        there = self._config.classifiers.get(name)
        expected = owned.classified(self._intent)
        if there == expected or (there is None and not self._every & CLASS_KEYS):
            return lines
        left = [one for one in there or () if one in expected]
        # The first matching class applies. A class that is removed and added again is last.
        gone = [one for one, group in there or () if (one, group) not in expected or left != expected]
        return [*lines, f"policy-map type qos {name}", *(f"no class {one}" for one in gone), *policy]

    def _made(self, name: str, lines: Sequence[str]) -> list[str]:
        there, held = self._config.queuing.get(name), owned.held(name, lines)
        if there == held:
            return []
        gone = [f"no class type queuing {owned.queue_class(queue)}" for queue in owned.beside_queues(there or {}, held)]
        return [f"policy-map type queuing {name}", *gone, *(line.strip() for line in lines)]

    def _lossless(self) -> set[int]:
        """Return the requested lossless groups of all ports of the task."""
        return {priority for want in self._wanted.values() for priority in want.get("pfc") or ()}

    def _network(self) -> list[str]:
        """Return additions to the lossless groups of the switch; removals come when no port needs a group."""
        missing = sorted(group for group in self._lossless() if self._config.pauses.get(group) != group)
        if not missing or not self._every & (NETWORK_KEYS | MODE_KEYS):
            return []
        policy = self._config.system.get("network-qos")
        classes = _attached(self._config)
        lines = [f"policy-map type network-qos {policy or NETWORK}"]
        for group in missing:
            name = next((one for one, reported in classes.items() if reported[0] == group), f"c-8q-nq{group}")
            wrong = classes[name][2] if name in classes else None
            lines += [f"class type network-qos {name}", *([f"no {wrong}"] if wrong else [])]
            lines += [f"pause pfc-cos {group}", f"mtu {self._intent.mtu}"]
        if policy:
            return lines
        lines += ["class type network-qos c-8q-nq-default", f"mtu {self._intent.mtu}"]
        return [*lines, "system qos", f"service-policy type network-qos {NETWORK}"]

    def _network_after(self) -> list[str]:
        extra = {group: reported for group, reported in self._config.pauses.items() if group not in self._lossless()}
        if not self._exact:
            extra = {group: reported for group, reported in extra.items() if group == self._intent.priority}
        if not extra or not self._every:
            return []
        if self._others:
            return self._kept(extra)
        policy = self._config.system["network-qos"]
        if policy == NETWORK and not self._lossless() and len(extra) == len(self._config.pauses):
            return _network_gone()
        lines = [f"policy-map type network-qos {policy}"]
        for name, (group, _cos, pause) in _attached(self._config).items():
            if pause and group in extra:
                lines += [f"class type network-qos {name}", f"no {pause}"]
        return lines

    def _kept(self, extra: Iterable[int]) -> list[str]:
        if not self._lossless():
            return []  # PFC is off on the ports themselves.
        raise OperatorError(
            f"priority {', '.join(map(str, sorted(extra)))}",
            f"cannot remove it and keep only priority {self._intent.priority} lossless",
            f"NX-OS sets lossless priorities for the whole switch, and {ranged(self._others)} use PFC too",
            "Add these ports to the task, or set state to merged, which keeps other lossless priorities",
            "lossless_for_others",
            ports=self._others,
        )

    def _guard(self) -> list[str]:
        if "watchdog" not in self._every or self._config.guard:
            return []
        return [f"{GUARD} on"] if any(want.get("watchdog") for want in self._wanted.values()) else []

    def _port(self, name: str) -> list[tuple[str, str | None]]:
        """Return [(command, command that removes the replaced object, or None)]."""
        block = self._config.interfaces.get(name) or text.Block()
        lines: list[tuple[str, str | None]]
        todo, want, lines = self._todo[name], self._wanted[name], []
        if "pause" in todo:
            lines += [(f"flowcontrol {way} off", None) for way in sorted(block.pauses)]
        if "mtu" in todo:
            lines.append((f"mtu {want['mtu']}", None))
        if todo & CLASS_KEYS:
            lines.append(_attach("qos input", owned.classifier_name(self._intent), block.classifier))
        if todo & QUEUE_KEYS:
            lines.append(_attach("queuing output", owned.queuing(self._intent, want)[0], block.queuing))
        if todo & MODE_KEYS:
            lines += [(line, None) for line in _mode(block, want)]
        if "watchdog" in todo and block.guard != want["watchdog"]:
            lines.append((f"{GUARD} {'on' if want['watchdog'] else 'off'}", None))
        return lines

    def _stale(self, policies: Iterable[str]) -> list[str]:
        """Return the removal of own objects that no port uses after the edit."""
        moved: dict[str, set[str]] = {"IN": set(), "OUT": set()}
        for name, todo in self._todo.items():
            if todo & CLASS_KEYS:
                moved["IN"].add(name)
            if todo & QUEUE_KEYS:
                moved["OUT"].add(name)
        used = {owned.classifier_name(self._intent), *policies}
        gone = []
        for name, users in sorted(self._own.items()):
            kind = "OUT" if name in self._config.queuing else "IN" if name in self._config.classifiers else None
            if kind and name not in used and not {*users} - moved[kind]:
                gone.append(name)
        classes = (
            [owned.class_name(dscp) for dscp in self._intent.dscp_map]
            if self._every & CLASS_KEYS or self._strays
            else []
        )
        return _deleted(self._config, gone, classes)


def in_ranges(ports: Mapping[str, Sequence[tuple[str, str | None]]]) -> tuple[list[str], dict[tuple[str, str], str]]:
    """Return (commands, {(port, command): removal}); adjacent ports with the same commands share a range."""
    groups: dict[tuple[tuple[str, str | None], ...], list[str]] = {}
    for name, lines in ports.items():
        groups.setdefault(tuple(lines), []).append(name)
    shared = [(one, lines) for lines, names in groups.items() if lines for one in ranged(names).split(", ")]
    commands, replaced = [], {}
    for one, lines in sorted(shared, key=lambda entry: natural(entry[0])):
        commands += [f"interface {one}", *(line for line, _before in lines)]
        replaced.update({(one, line): before for line, before in lines if before})
    return commands, replaced


def _attach(kind: str, policy: str, there: str | None) -> tuple[str, str | None]:
    return f"service-policy type {kind} {policy}", f"no service-policy type {kind} {there}" if there else None


def _mode(block: text.Block, want: Effect) -> list[str]:
    """Return the PFC mode of a port and its DCBX advertisement."""
    reported = want.get("dcbx")
    if want["pfc_mode"] == "off":
        if reported in (None, "off"):
            return [f"{PFC} mode off"]
        raise OperatorError(
            "dcbx",
            "cannot advertise the settings to hosts in the mode lossy",
            "NX-OS advertises them by DCBX only while PFC is on",
            "Set dcbx to off or ignore",
            "dcbx_needs_flow_control",
        )
    reports = reported not in (None, "off") or (reported is None and block.sends_tlv)
    lines = ["lldp dcbx version ieee"] if reports and block.dcbx == "cee" else []
    return [*lines, f"{PFC} mode on{' send-tlv' if reports else ''}"]


def removal(switch: Switch, config: text.Config, wanted: Collection[str]) -> list[str]:
    """Restore factory defaults on these ports and remove objects that no port uses then."""
    ports = {}
    for name in wanted:
        block = config.interfaces.get(name) or text.Block()
        lines = [f"{PFC} mode auto"] if block.pfc not in (None, "auto") else []
        lines += [f"{GUARD} off"] if block.guard else []
        lines += [f"no service-policy type qos input {block.classifier}"] if block.classifier else []
        lines += [f"no service-policy type queuing output {block.queuing}"] if block.queuing else []
        ports[name] = [(line, None) for line in lines]
    commands, _replaced = in_ranges(ports)
    unused = [name for name, users in switch.own.items() if not {*users} - {*wanted}]
    if NETWORK in unused:
        attached = config.system.get("network-qos") == NETWORK
        commands += _network_gone() if attached else [f"no policy-map type network-qos {NETWORK}"]
    others = [one for name, one in config.interfaces.items() if name not in wanted]
    if config.guard and not any(one.guard for one in others):
        commands.append(f"{GUARD} off")
    return commands + _deleted(config, [name for name in unused if name != NETWORK], [])


def owned_by(config: text.Config) -> dict[str, list[str]]:
    """Return {own object: ports that use it}."""
    found = {}
    for policies, attribute in ((config.classifiers, "classifier"), (config.queuing, "queuing")):
        for policy in policies:
            users = [name for name, one in config.interfaces.items() if getattr(one, attribute) == policy]
            found[policy] = users
    for name in config.matches:
        using = [
            policy for policy, reported in config.classifiers.items() if any(one == name for one, _group in reported)
        ]
        found[name] = [user for policy in using for user in found[policy]]
    if NETWORK in config.networks:
        attached = config.system.get("network-qos") == NETWORK
        found[NETWORK] = [name for name, one in config.interfaces.items() if attached and one.pfc == "on"]
    return {name: sorted(set(users), key=natural) for name, users in found.items() if name.startswith(OURS)}


def _deleted(config: text.Config, gone: Collection[str], kept: Iterable[str]) -> list[str]:
    """Remove own policies and the classes that only they used."""
    lines = [f"no policy-map type queuing {name}" for name in gone if name in config.queuing]
    lines += [f"no policy-map type qos {name}" for name in gone if name in config.classifiers]
    left = {one for name, reported in config.classifiers.items() if name not in gone for one, _group in reported}
    classes = [name for name in sorted(config.matches) if name.startswith(OURS) and name not in {*left, *kept}]
    return lines + ([f"no class-map type qos {name}" for name in classes] if gone else [])


def _network_gone() -> list[str]:
    return [
        "system qos",
        f"no service-policy type network-qos {NETWORK}",
        f"no policy-map type network-qos {NETWORK}",
    ]


def _attached(config: text.Config) -> dict[str, text.NoDrop]:
    """Return the classes of the running network-qos policy."""
    return config.networks.get(config.system.get("network-qos", ""), {})
