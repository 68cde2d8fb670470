# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Arista EOS: QoS profiles on ports, changed in configuration sessions that roll back unless they are confirmed."""

from __future__ import annotations

import contextlib
import re
import time
from typing import TYPE_CHECKING, Any, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import (
    cleaned,
    from_json,
    natural,
    number,
    under,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Edit, Limits, Platform
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.eos import show
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.eos import text as eos_text
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.eos.edit import (
    OURS,
    Renderer,
    block_of,
    removal,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.eos.queues import queues_of
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import Refused
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Oper, Port, Switch
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.undo import text as undo_text
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.unread import lacks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Intent
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Effect
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import Session
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.undo.facts import Facts, Path

CONFIG = "show running-config | section ^hostname|^vlan|^qos|^interface|^class-map|^policy-map|priority-flow-control"
# The kind of output of a command, by its prefix.
KINDS = (
    ("show running-config diffs", "unsaved"),
    ("show running-config", "config"),
    ("show startup-config", "config"),
    ("show active", "config"),
    ("show version", "version"),
    ("show interfaces", "interfaces"),
    ("show priority-flow-control counters watchdog", "stuck"),
    ("show priority-flow-control", "flow_control"),
    ("show qos interfaces", "queues"),
    ("show lldp neighbors", "neighbours"),
)
# Alternative commands of families and releases: (rejected command, replacement).
OTHER_WORDS = (
    (r"tx-queue (\d)", r"uc-tx-queue \1"),
    (r"uc-tx-queue (\d)", r"tx-queue \1"),
    (r"(qos map traffic-class \d to )tx-queue (\d)", r"\1uc-tx-queue \2"),
    (r"priority-flow-control on", "priority-flow-control mode on"),
)
# `no` disables trust and the watchdog of a port, and `default` returns their defaults.
GRAMMAR = undo_text.Grammar(
    keys=(
        "mtu",
        "switchport",
        "qos trust",
        r"qos map dscp \d+",
        r"qos map traffic-class \d+",
        "service-profile",
        "service-policy type qos input",
        r"priority-flow-control priority \d+",
        "priority-flow-control pause watchdog default (?:timeout|recovery-time|polling-interval)",
        "priority-flow-control pause watchdog action",
        "priority-flow-control pause watchdog port (?:timer|action)",
        "priority-flow-control pause watchdog",
        "priority-flow-control all",
        "priority-flow-control",
        "dcbx mode",
        "flowcontrol (?:send|receive)",
        "bandwidth",
        "random-detect (?:ecn|drop)",
        "priority",
    ),
    objects=("class-map ", "policy-map ", "qos profile "),
    removed=(
        (r"(?:no )?(qos trust).*", "default {0}"),
        (r"(?:no )?(priority-flow-control pause watchdog)", "default {0}"),
        (r"(qos map dscp \d+) .*", "no {0}"),
        (r"(qos map traffic-class (\d+) to (?:uc-)?tx-queue) .*", "{0} {1}"),
        (r"(priority-flow-control pause watchdog (?:default \S+|action)) .*", "no {0}"),
        (r"(priority-flow-control pause watchdog port \S+) .*", "no {0}"),
        (r"(?:no )?(priority|bandwidth percent)(?: .*)?", "default {0}"),
        (r"(random-detect (?:ecn|drop)) .*", "no {0}"),
        (r"no (switchport)", "{0}"),
        (r"(mtu) .*", "no {0}"),
    ),
    lists=(
        (r"qos map dscp ([\d ,-]+?) to traffic-class (\d+)", "qos map dscp {0} to traffic-class {2}"),
        (r"qos map traffic-class ([\d ,-]+?) to ((?:uc-)?tx-queue \d+)", "qos map traffic-class {0} to {2}"),
        (r"priority-flow-control priority ([\d ,-]+?) (no-drop|drop)", "priority-flow-control priority {0} {2}"),
    ),
    leaves="exit",
    anew=True,
)


class Eos(Platform):
    """Arista EOS 4.2x and later."""

    name = "eos"
    title = "Arista EOS"
    limits = Limits(
        modes=("lossless", "lossy"),
        trusts=("dscp",),
        largest_mtu=9214,
        missing={
            "roce_group_shared_with": "",  # Each priority has its own ingress buffer,
            "roce_pauses_own_queue": "",  # and a pause stops the queue that carries its priority.
            "cable_length_m": "EOS reserves PFC headroom automatically.",
        },
    )

    counting = ("show interfaces | json", "show priority-flow-control counters")

    def __init__(self, options: Mapping[str, Any] | None = None) -> None:
        super().__init__(options)
        self._armed: str | None = None

    def reads(self, ports: Sequence[str]) -> list[str]:
        return [
            CONFIG,
            "show version | json",
            "show interfaces | json",
            "show priority-flow-control",
            "show priority-flow-control counters",
            "show qos interfaces",
            "show qos interfaces ecn",
            "show lldp neighbors detail | json",
            "show running-config diffs",
        ]

    def command_of(self, text: str) -> str | None:
        reported = from_json(text)
        if reported is not None:
            for key, command in (("lldpNeighbors", 7), ("interfaces", 2), ("modelName", 1), ("version", 1)):
                if key in reported:
                    return self.reads([])[command]
            return None
        lines = cleaned(text)
        for pattern, command in (
            (r"^\s*Software image version:", 1),
            (r"\bline protocol is \w+", 2),
            (r"detected \d+ LLDP neighbors|^\s*Port\s.*Neighbor Port ID", 7),
            (r"^\s*Port\s.*(?:Priorities|RxPfc)|Yes\b.*(?:Yes|No)\b|\bPFC watchdog", 3),
            (r"trust mode|tx-queue.*threshold", 5),
            (r"^\s*(?:interface (?:Eth|Port-)\S+$|(?:qos|priority-flow-control|hostname|class-map|policy-map) )", 0),
        ):
            if any(re.search(pattern, line, re.IGNORECASE) for line in lines):
                return self.reads([])[command] if command else "show running-config interfaces"
        return None

    def parse(self, texts: Mapping[str, str]) -> Switch:
        configs: list[str]
        strict: dict[str, dict[int, bool]]
        links: dict[str, dict[str, object]]
        switch, configs, strict, links, whole = Switch(self.name), [], {}, {}, False
        for command, text in texts.items():
            kind = next((kind for start, kind in KINDS if command.strip().startswith(start)), None)
            port = show.port_in(command)
            if kind == "config":
                configs.append(under(port, text))
                whole = whole or command in (CONFIG, "show running-config", "show startup-config")
            elif kind == "unsaved":
                switch.unsaved = any(re.match(r"[+-](?![+-])", line) for line in cleaned(text))
            elif kind == "version":
                switch.version, switch.model = show.identity(text)
            elif kind == "interfaces":
                for name, link in show.links(text, switch.unread, port).items():
                    links[name] = {**links.get(name, {}), **link}
            elif kind == "flow_control":
                show.flow_control(text, switch.oper, switch.unread)
            elif kind == "stuck":
                show.stuck_queues(text, switch.oper, switch.unread)
            elif kind == "queues":
                queues_of(text, switch.oper, strict, switch.unread, port)
            elif kind == "neighbours":
                switch.neighbours.update(show.neighbours(text, switch.unread))
        config = eos_text.config_of("\n".join(configs)) if configs else None
        if config and not whole and len(config.vlans or ()) == 1:
            config.vlans = None
        self._assemble(switch, config, strict, links)
        return switch

    def _assemble(
        self,
        switch: Switch,
        config: eos_text.Config | None,
        strict: Mapping[str, dict[int, bool]],
        links: Mapping[str, Mapping[str, object]],
    ) -> None:
        for name, link in links.items():
            running = switch.oper.setdefault(name, Oper())
            state = link.get("interfaceStatus", link.get("linkStatus"))
            running.up = show.LINKED.get(str(state))
            if state is not None and running.up is None:
                switch.unread.append(lacks("show interfaces", f"the state of {name}, {str(state)!r}"))
            running.mtu = number(link.get("mtu")) or running.mtu
            running.counters.update(show.counted(link))
        names = {**switch.oper, **links, **dict.fromkeys(config.interfaces if config else ())}
        for name in sorted(names, key=natural):
            running, link = switch.oper.get(name) or Oper(), links.get(name) or {}
            switch.ports[name] = _port(config, name, running, link, strict.get(name)) if config else Port()
            switch.ports[name].speed = (number(link.get("bandwidth")) or 0) // 10**9 or None
            if config:
                eos_text.put_vlans(config, name, switch.ports[name], link)
            if link.get("interfaceStatus"):
                switch.ports[name].enabled = link["interfaceStatus"] != "disabled"
        if config is None:
            return
        switch.raw, switch.config = config, config.text
        switch.unread += config.unread
        switch.hostname = config.hostname
        switch.version, switch.model = switch.version or config.version, switch.model or config.model
        switch.own = {name: [] for name in config.profiles if name.startswith(OURS)}
        for name, block in config.interfaces.items():
            if block.profile in switch.own:
                switch.own[block.profile].append(name)
        if config.off:
            switch.exceptions.append(
                "`priority-flow-control all off` disables PFC on every port. The module does not undo it, because "
                "somebody disabled PFC on purpose. Find the reason, then run `no priority-flow-control all off`."
            )

    def blank(self, switch: Switch, name: str) -> Port:
        block = block_of(cast("eos_text.Config", switch.raw), name)
        link = switch.ports.get(name) or Port()
        return Port(
            trust="dscp" if block.routed else "pcp",
            pfc_mode="off",
            pfc=[],
            pfc_sends=False,
            lossless=[],
            ecn={},
            strict=list(range(8)),
            shares={},
            dcbx="off",
            pause=False,
            speed=link.speed,
        )

    def render(self, switch: Switch, wanted: Mapping[str, Effect], intent: Intent | None, exact: bool = True) -> Edit:
        config = cast("eos_text.Config", switch.raw or eos_text.Config())
        if intent is None:
            commands = removal(switch, config, wanted)
        else:
            commands = Renderer(switch, config, wanted, intent, exact).commands()
        return Edit(commands, "aiready-roce", int(self.options.get("confirm_s") or 300))

    def facts(self, saved: str) -> Facts:
        return undo_text.facts(saved, GRAMMAR)

    def object_of(self, path: Path) -> str:
        return undo_text.object_of(path, GRAMMAR)

    def undo(self, switch: Switch, then: Facts) -> Edit:
        commands = undo_text.commands(self.facts(switch.config), then, GRAMMAR)
        return Edit(commands, "aiready-roce", int(self.options.get("confirm_s") or 300))

    def validate(self, session: Session, edit: Edit) -> bool:
        try:
            self._fill(session, edit, _unique(edit))
            session.run("show session-config diffs")
        finally:
            self.revert(session, edit, None)
        return True

    def strays(
        self, switch: Switch, wanted: Mapping[str, Effect], intent: Intent, exact: bool = True
    ) -> dict[str, tuple[str, str]]:
        return Renderer(
            switch, cast("eos_text.Config", switch.raw or eos_text.Config()), wanted, intent, exact
        ).strays()

    def apply(self, session: Session, edit: Edit) -> None:
        self._fill(session, edit, _unique(edit))
        session.run(f"commit timer {_clock(edit.confirm_s)}")

    def _fill(self, session: Session, edit: Edit, name: str) -> None:
        """Fill a session with the commands of the edit, in the words of the family and the release of the switch."""
        others: list[tuple[str, str]] = []
        while True:
            self._armed = f"{name}{'b' * len(others)}"
            session.run(f"configure session {self._armed}")
            try:
                for command in edit.commands:
                    session.run(_in_words(command, others))
                return
            except Refused as refusal:
                other = next((one for one in OTHER_WORDS if re.fullmatch(one[0], refusal.command)), None)
                if other is None or other in others:
                    raise
                others.append(other)
                session.run("abort")

    def confirm(self, session: Session, edit: Edit) -> None:
        # A session that is not pending was confirmed before the connection broke.
        if self._armed in self._pending(session, [self._armed]):
            session.run(f"configure session {self._armed} commit")

    def revert(self, session: Session, edit: Edit, before: Switch | None) -> None:
        with contextlib.suppress(Refused):
            session.run("end")  # Refused if no configuration is open.
        self.tidy(session)

    def waits(self, session: Session) -> bool:
        return bool(self._pending(session, []))

    def tidy(self, session: Session) -> None:
        """Abort own sessions that wait for commands or for their confirmation, which the switch would roll back."""
        for name in self._pending(session, [self._armed] if self._armed else []):
            session.run(f"configure session {name} abort")

    def _pending(self, session: Session, otherwise: list[str | None]) -> list[str | None]:
        try:
            text = session.run("show configuration sessions")
        except Refused:
            return otherwise
        return re.findall(r"^\W*(aiready-\S+)\s.*pending", text.replace("\r", ""), re.MULTILINE | re.IGNORECASE)

    def save(self, session: Session) -> None:
        answer = session.run("write memory")
        if re.search(r"error|no space|fail", answer, re.IGNORECASE):
            raise Refused("write memory", answer)

    def way_back(self, edit: Edit) -> str:
        return (
            f"If the change was not confirmed, the switch rolls it back within {edit.confirm_s} s. Then check the "
            "switch and run the task again."
        )


def _unique(edit: Edit) -> str:
    """Return a unique name, because EOS remembers the names of completed sessions."""
    return f"{edit.name}-{time.time_ns() // 10**6}"


def _clock(seconds: int) -> str:
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def _in_words(command: str, others: Iterable[tuple[str, str]]) -> str:
    for pattern, instead in others:
        command = re.sub(rf"^(?:{pattern})$", instead, command)
    return command


def _port(
    config: eos_text.Config, name: str, running: Oper, link: Mapping[str, object], strict: Mapping[int, bool] | None
) -> Port:
    """Return the Port of an interface and its profile; own settings of the interface have priority."""
    own = block_of(config, name)
    profile = config.profiles.get(own.profile or "") or eos_text.Block()

    def first(key: str, otherwise: object = None) -> Any:
        found = [getattr(block, key) for block in (own, profile) if getattr(block, key) is not None]
        return found[0] if found else otherwise

    routed = own.routed if own.routed is not None else link.get("forwardingModel") == "routed"
    queues = {queue: _queue(own, profile, queue) for queue in range(8)}
    no_drop = sorted((own.no_drop | profile.no_drop) - own.drop)
    on = first("pfc") == "on" and not config.off
    timeout = first("timeout", eos_text.seconds(config.watchdog.get("timeout")) or 0)
    recovery = first("recovery", eos_text.seconds(config.watchdog.get("recovery-time")) or 0)
    action = first("action", config.watchdog.get("action"))
    goes_first = [queue for queue, one in queues.items() if _strict(one, queue, strict or {})]
    return Port(
        trust=first("trust", "dscp" if routed else "pcp"),
        dscp_map={**config.dscp_map, **config.policies.get(first("policy"), {})},
        queues=dict(config.queues),
        pfc_mode="on" if on else "off",
        pfc=no_drop,
        pfc_sends=on,
        lossless=no_drop if on else [],
        ecn={queue: one.marking for queue, one in queues.items() if one.marking},
        strict=goes_first,
        shares={queue: one.percent for queue, one in queues.items() if one.percent and queue not in goes_first},
        mtu=own.mtu or running.mtu,
        # With a timeout, all ports use the watchdog unless it is disabled there.
        watchdog=timeout > 0 and first("watchdog", True),
        watchdog_detection_ms=round(timeout * 1000) or None,
        watchdog_recovery_ms=round(recovery * 1000) or None,
        watchdog_action=eos_text.ACTIONS.get(action, action),
        dcbx=own.dcbx or "off",
        pause=bool(own.pauses),
    )


def _queue(own: eos_text.Block, profile: eos_text.Block, queue: int) -> eos_text.Queue:
    near, far = own.queues.get(queue) or eos_text.Queue(), profile.queues.get(queue) or eos_text.Queue()
    return eos_text.Queue(
        near.strict if near.strict is not None else far.strict, near.percent or far.percent, near.marking or far.marking
    )


def _strict(one: eos_text.Queue, queue: int, running: Mapping[int, bool]) -> bool:
    """Return whether a queue is strict; without its default (strict without a share), the running value counts."""
    return one.strict if one.strict is not None else running.get(queue, one.percent is None)
