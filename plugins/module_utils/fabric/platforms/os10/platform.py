# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Dell SmartFabric OS10: own maps, policies and profiles, whose names contain their values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import natural
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Edit, Limits, Platform
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.os10 import plan, shows, state, text
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import Refused
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Port, Switch

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Intent
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Effect
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import Session
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.undo.facts import Facts, Path

CONFIG, VERSION, INTERFACES = "show running-configuration", "show version", "show interface"
PFC, PEERS = "show interface priority-flow-control details", "show lldp neighbors"
WATCHDOG = "No known OS10 command configures a PFC watchdog."
# The slots that state absent removes from a port.
GONE = (text.NETWORK, text.QUEUING, text.QUEUES, "pfc", "ets", "dcbx", *text.TRUSTS.values())
START, COMMIT, DISCARD = "start transaction", "commit", "discard"


class Os10(Platform):
    """OS10 over network_cli with the plugins aiready.vsphere.os10."""

    name = "os10"
    title = "Dell OS10"
    limits = Limits(
        modes=("lossless", "lossy"),
        trusts=("dscp",),
        lossless=2,
        largest_mtu=9216,
        missing={
            "roce_group_shared_with": "",
            "watchdog": WATCHDOG,
            "watchdog_detection_ms": WATCHDOG,
            "watchdog_recovery_ms": WATCHDOG,
            "watchdog_action": WATCHDOG,
            "cable_length_m": "OS10 sizes the PFC headroom of its ports automatically.",
        },
    )

    def __init__(self, options: Mapping[str, Any] | None = None) -> None:
        super().__init__(options)
        self._asked: tuple[str, ...] = ()

    # Read the switch.

    counting = (INTERFACES,)

    def reads(self, ports: Sequence[str]) -> list[str]:
        self._asked = tuple(ports)
        return [CONFIG, VERSION, INTERFACES, PFC, PEERS]

    def command_of(self, text: str) -> str | None:
        for pattern, command in (
            (r"(?i)PFC Priorit|Oper ?status", PFC),
            (r"(?m)LineSpeed|^\s*MTU \d+ bytes", INTERFACES),
            (r"OS Version:", VERSION),
            (r"Rem Host Name|Local Port ID", PEERS),
            (r"(?m)^\s*(?:class-map|policy-map|trust \S+-map|qos-map|wred|system qos|interface |hostname )", CONFIG),
        ):
            if re.search(pattern, text):
                return command
        return None

    def parse(self, texts: Mapping[str, str]) -> Switch:
        kinds: dict[str | None, str] = {}
        for command, output in texts.items():
            kind = _kind(command) or self.command_of(output)
            kinds[kind] = "\n".join([kinds[kind], output] if kind in kinds else [output])
        found, lans = text.config(kinds.get(CONFIG, "")), state.lans(kinds.get(CONFIG, ""))
        version = kinds.get(VERSION, "")
        unread = list(found.unread)
        interfaces = shows.show_interface(kinds.get(INTERFACES, ""), unread)
        acting = shows.show_pfc(kinds.get(PFC, ""), unread)
        switch = Switch(
            platform=self.name,
            hostname=found.hostname,
            version=_found(r"OS Version:\s*(\S+)", version) or self.options.get("version"),
            model=_found(r"System Type:\s*(\S+)", version),
            neighbours=shows.neighbours(kinds.get(PEERS, ""), unread),
            config=text.kept(kinds.get(CONFIG, "")),
            raw=found if CONFIG in kinds else None,
            unread=unread,
        )
        names = {*found.ports, *interfaces, *acting, *switch.neighbours} - {text.SYSTEM}
        for name in sorted(names, key=natural):
            switch.ports[name] = state.port_of(found, name, interfaces.get(name, {}), CONFIG in kinds)
            switch.oper[name] = state.oper_of(interfaces.get(name, {}), acting.get(name, {}))
            state.switched(*lans, name, switch.ports[name])
        if not names and text.SYSTEM in found.ports:
            # A part of a configuration without ports applies to all ports.
            switch.ports["all"] = state.port_of(found, "all", {}, True)
        switch.exceptions = state.misnamed(found, self._asked)
        switch.own = {
            f"{kind} {name}": users for (kind, name), users in state.users(found).items() if name.startswith(plan.OWN)
        }
        return switch

    def blank(self, switch: Switch, name: str) -> Port:
        port = switch.ports.get(name) or Port()
        return Port(
            trust="none",
            queues={group: group for group in range(8)},
            pfc_mode="off",
            pfc=[],
            lossless=[],
            pfc_queues={},
            ecn={},
            strict=[],
            shares={},
            mtu=port.mtu,
            pause=port.pause,
            speed=port.speed,
        )

    # Plan the change.

    def render(self, switch: Switch, wanted: Mapping[str, Effect], intent: Intent | None, exact: bool = True) -> Edit:
        before = cast("text.Config", switch.raw or text.Config())
        after = before.copy()
        for name, want in wanted.items():
            if intent is None:
                for slot in GONE:
                    after.ports.setdefault(name, {}).pop(slot, None)
            else:
                plan.set_port(after, name, switch.ports[name], want, intent, exact)
        if intent is not None:
            after.objects.update(plan.strays(before, switch, wanted, intent, exact))
        between = after.copy()
        if intent is not None and plan.hold_both(between, before, switch, wanted, self.limits.lossless):
            _without_unused(after)
            return Edit(text.commands(before, between) + text.commands(between, after))
        _without_unused(after)
        return Edit(text.commands(before, after))

    def strays(
        self, switch: Switch, wanted: Mapping[str, Effect], intent: Intent, exact: bool = True
    ) -> dict[str, tuple[str, str]]:
        before = cast("text.Config", switch.raw or text.Config())
        found = plan.strays(before, switch, wanted, intent, exact)
        return {" ".join(key): (_body(before.objects[key]), _body(body)) for key, body in found.items()}

    # Restore.

    def facts(self, saved: str) -> Facts:
        return plan.facts(text.config(saved))

    def object_of(self, path: Path) -> str:
        return path[0].split()[-1] if path[0].startswith(text.KINDS) else ""

    def undo(self, switch: Switch, then: Facts) -> Edit:
        before = cast("text.Config", switch.raw)
        return Edit(text.commands(before, plan.with_facts(before, then)))

    # Apply the change.

    def apply(self, session: Session, edit: Edit) -> None:
        self._send(session, edit.commands)

    def revert(self, session: Session, edit: Edit, before: Switch) -> None:
        _quietly(session, DISCARD)
        now = text.config(session.run(CONFIG))
        commands = text.commands(now, cast("text.Config", before.raw or text.Config()))
        if commands:
            self._send(session, commands)

    def save(self, session: Session) -> None:
        session.run("copy running-configuration startup-configuration")

    def way_back(self, edit: Edit) -> str:
        return (
            "OS10 has no timer that rolls a change back. Without a transaction, the commands sent so far stay. Run the "
            "task again when the switch answers. The task continues from the configuration that it finds."
        )

    def _send(self, session: Session, commands: Iterable[str]) -> None:
        """Send all commands in a transaction if the release has transactions, otherwise one by one."""
        together = self.options.get("transaction", "auto") == "auto" and _quietly(session, START)
        try:
            session.run("configure terminal")
            for command in commands:
                session.run(command)
            session.run("end")
            if together:
                session.run(COMMIT)
        except Refused:
            _quietly(session, "end")
            if together:
                _quietly(session, DISCARD)
            raise


def _without_unused(after: text.Config) -> None:
    for key, users in state.users(after).items():
        if key[1].startswith(plan.OWN) and not users:
            del after.objects[key]


def _quietly(session: Session, command: str) -> bool:
    """Return whether the switch accepted a command that it may not support or not need now."""
    try:
        session.run(command)
    except Refused:
        return False
    return True


def _kind(command: str) -> str | None:
    words = " ".join(command.split())
    for pattern, kind in (
        (r"show (?:running|startup|candidate)-config", CONFIG),
        (r"show version", VERSION),
        (r"show interface.* priority-flow-control", PFC),
        (r"show interface(?! status)", INTERFACES),
        (r"show lldp neighbors", PEERS),
    ):
        if re.match(pattern, words):
            return kind
    return None


def _found(pattern: str, output: str) -> str | None:
    match = re.search(pattern, output)
    return match.group(1) if match else None


def _body(lines: text.Body) -> str:
    """Return the content of an object on one line."""
    return ", ".join(" ".join([line, *inner]) for line, inner in lines.items())
