# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Cisco NX-OS: classes and policies of three kinds, changed between a checkpoint and its rollback."""

from __future__ import annotations

import contextlib
import re
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import vlans
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import (
    cleaned,
    from_json,
    natural,
    number,
    under,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Edit, Limits, Platform
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.nxos import edit as nxos_edit
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.nxos import owned, peers, show
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.nxos import text as nxos_text
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

# The kind of output of a command, by its prefix.
KINDS = (
    ("show running-config diff", "unsaved"),
    ("show running-config", "config"),
    ("show startup-config", "config"),
    ("show version", "version"),
    ("show interface priority-flow-control", "flow_control"),
    ("show interface", "interfaces"),
    ("show policy-map interface", "policies"),
    ("show queuing pfc-queue", "guards"),
    ("show queuing", "queuing"),
    ("show lldp neighbors", "neighbours"),
)
READS = (
    "show running-config ipqos",
    "show running-config interface",
    "show running-config vlan",
    "show running-config | include priority-flow-control",
    "show version | json",
    "show interface | json",
    "show interface priority-flow-control",
    "show policy-map interface",
    "show queuing pfc-queue",
    "show lldp neighbors detail | json",
    "show running-config diff",
)
TIMES = "The switch keeps its own watchdog times. Their commands differ by release."
# Patterns that identify an output without its command. The most specific pattern is first.
SHOWN_BY = (
    (r"Oper\s*\(VL bmap\)|^Port\s+Mode\s+Oper", "show interface priority-flow-control"),
    (r"(?:Egress|Ingress) Queuing for ", "show queuing interface"),
    (r"Interface PFC watchdog|PFC Watchdog \(VL bmap\)", "show queuing pfc-queue"),
    (r"Service-policy \(", "show policy-map interface"),
    (r"^\s*(?:NXOS|kickstart):\s+version ", "show version"),
    (r"^\s*Local Port id:|^\s*Device ID\s+Local Intf", "show lldp neighbors detail"),
    (r"^\s*(?:Ethernet|port-channel)\S+ is (?:up|down)\b", "show interface"),
    (r"^\s*(?:interface|class-map|policy-map|system qos|priority-flow-control|switchname)\b", "show running-config"),
)
SHOWN_BY_KEYS = (
    ("ROW_pfc_interface", "show interface priority-flow-control | json"),
    ("ROW_nbor", "show lldp neighbors detail | json"),
    ("chassis_id", "show version | json"),
    ("ROW_interface", "show interface | json"),
)
GRAMMAR = undo_text.Grammar(
    keys=(
        "mtu",
        "switchport",
        "service-policy type (?:qos input|queuing output|queuing input|network-qos)",
        "service-policy (?:input|output)",
        "priority-flow-control mode",
        "priority-flow-control watch-dog-interval",
        "flowcontrol (?:send|receive)",
        "lldp dcbx version",
    ),
    objects=("class-map ", "policy-map "),
    removed=(
        (r"mtu .*", "no mtu"),
        (r"no (switchport)", "{0}"),
        (r"(priority-flow-control mode) .*", "{0} auto"),
        (r"(priority-flow-control watch-dog-interval) .*", "{0} off"),
        (r"(flowcontrol \S+) .*", "{0} off"),
        (r"(class-map type \S+)(?: match-\S+)? (\S+)", "no {0} {1}"),
    ),
    leaves="exit",
)
LLDP = "feature lldp"


class Nxos(Platform):
    """Cisco Nexus 9000 and 3000, with 8 queues."""

    name = "nxos"
    title = "Cisco NX-OS"
    limits = Limits(
        modes=("lossless", "lossy"),
        trusts=("dscp",),
        largest_mtu=9216,
        missing={
            "roce_group_shared_with": "",  # A qos-group has its own buffer.
            "watchdog_detection_ms": TIMES,
            "watchdog_recovery_ms": TIMES,
            "watchdog_action": "The watchdog of NX-OS always drops the packets of a stuck queue.",
            "cable_length_m": "NX-OS reserves PFC headroom for 100 m automatically. Longer cables need buffer sizes.",
        },
    )

    counting = ("show interface | json", "show interface priority-flow-control")

    def reads(self, ports: Sequence[str]) -> list[str]:
        return list(READS)

    def command_of(self, text: str) -> str | None:
        reported = from_json(text)
        if reported is not None:
            return next((command for key, command in SHOWN_BY_KEYS if f'"{key}' in text), None)
        lines = cleaned(text)
        for pattern, command in SHOWN_BY:
            if any(re.search(pattern, line) for line in lines):
                return command
        return None

    def parse(self, texts: Mapping[str, str]) -> Switch:
        kinds: dict[str | None, list[str]]
        switch, kinds = Switch(self.name), {}
        for command, text in texts.items():
            kind = next((kind for start, kind in KINDS if command.strip().startswith(start)), None)
            kinds.setdefault(kind, []).append(under(show.port_in(command), text) if kind == "config" else text)
        config = nxos_text.config_of(kinds["config"]) if "config" in kinds else None
        whole = any(command.strip() in ("show running-config", "show running-config vlan") for command in texts)
        if config and not whole and len(config.vlans or ()) == 1:
            config.vlans = None
        expected = set(config.pauses.values()) if config else set()
        for text in kinds.get("flow_control", ()):
            show.flow_control(text, switch.oper, switch.unread, expected)
        for text in kinds.get("policies", ()):
            show.policies(text, switch.oper, switch.unread, config)
        for kind in ("guards", "queuing"):
            for text in kinds.get(kind, ()):
                getattr(show, kind)(text, switch.oper, switch.unread)
        for text in kinds.get("neighbours", ()):
            switch.neighbours.update(peers.neighbours(text, switch.unread))
        for text in kinds.get("unsaved", ()):
            switch.unsaved = any(re.match(r"\s*[+!-]", line) for line in cleaned(text))
        _identity(switch, config, kinds.get("version", ()))
        links: dict[str, dict[str, object]] = {}
        for text in kinds.get("interfaces", ()):
            for name, row in show.links(text, switch.unread).items():
                links[name] = {**links.get(name, {}), **row}
        self._assemble(switch, config, links)
        return switch

    def _assemble(
        self, switch: Switch, config: nxos_text.Config | None, links: Mapping[str, Mapping[str, object]]
    ) -> None:
        for name, row in links.items():
            running = switch.oper.setdefault(name, Oper())
            running.up = show.linked(row.get("state"))
            if row.get("state") and running.up is None:
                switch.unread.append(lacks("show interface", f"the state of {name}, {str(row['state'])!r}"))
            running.mtu = number(row.get("eth_mtu")) or running.mtu
            running.counters.update(show.counted(row))
        names = {**switch.oper, **links, **dict.fromkeys(config.interfaces if config else ())}
        for name in sorted(names, key=natural):
            mode = switch.oper[name].pfc_mode if name in switch.oper else None
            switch.ports[name] = port_of(config, name) if config else Port(pfc_mode=mode)
            kilobits = number((links.get(name) or {}).get("eth_bw"))
            switch.ports[name].speed = (kilobits or 0) // 10**6 or None
            _vlans(config or nxos_text.Config(), name, switch.ports[name], links.get(name) or {})
            counters = switch.oper[name].counters if name in switch.oper else {}
            for group, drops in counters.pop("drops", {}).items():
                if group in (switch.ports[name].lossless or ()):
                    counters["roce_drops"] = drops
        if config is not None:
            switch.raw, switch.config = config, config.text
            switch.unread += config.unread
            switch.own = nxos_edit.owned_by(config)

    def blank(self, switch: Switch, name: str) -> Port:
        config = cast("nxos_text.Config", switch.raw or nxos_text.Config())
        alone = nxos_text.Config(**{**vars(config), "interfaces": {}})
        port = port_of(alone, name)
        # One port cannot return values of the whole switch to factory defaults.
        port.pfc = port.lossless = port.pfc_sends = port.pfc_queues = port.dcbx = None
        port.speed = switch.ports[name].speed if name in switch.ports else None
        return port

    def render(self, switch: Switch, wanted: Mapping[str, Effect], intent: Intent | None, exact: bool = True) -> Edit:
        config = cast("nxos_text.Config", switch.raw or nxos_text.Config())
        replaced: dict[tuple[str, str], str]
        if intent is None:
            commands, replaced = nxos_edit.removal(switch, config, wanted), {}
        else:
            commands, replaced = nxos_edit.Renderer(switch, config, wanted, intent, exact).commands()
        return Edit(commands, "aiready-roce", int(self.options.get("confirm_s") or 300), replaced)

    def facts(self, saved: str) -> Facts:
        return undo_text.facts(saved, GRAMMAR)

    def object_of(self, path: Path) -> str:
        return undo_text.object_of(path, GRAMMAR)

    def lacks(self, path: Path) -> str:
        if path == (LLDP,):
            return "Other features may have started to use LLDP. Run `no feature lldp` if none does."
        return ""

    def undo(self, switch: Switch, then: Facts) -> Edit:
        commands = undo_text.commands(self.facts(switch.config), then, GRAMMAR)
        return Edit(commands, "aiready-roce", int(self.options.get("confirm_s") or 300), {})

    def strays(
        self, switch: Switch, wanted: Mapping[str, Effect], intent: Intent, exact: bool = True
    ) -> dict[str, tuple[str, str]]:
        return owned.strays(cast("nxos_text.Config", switch.raw or nxos_text.Config()), wanted, intent)

    def apply(self, session: Session, edit: Edit) -> None:
        with contextlib.suppress(Refused):
            session.run(f"no checkpoint {edit.name}")  # from a killed run
        session.run(f"checkpoint {edit.name}")
        session.run("configure terminal")
        port = None
        for command in edit.commands:
            port = command[len("interface ") :] if command.startswith("interface ") else port
            try:
                session.run(command)
            except Refused:
                # Some releases accept a new policy only after the old policy is removed.
                gone = (edit.payload or {}).get((port, command))
                if gone is None:
                    raise
                session.run(gone)
                session.run(command)
        session.run("end")

    def confirm(self, session: Session, edit: Edit) -> None:
        with contextlib.suppress(Refused):
            session.run(f"no checkpoint {edit.name}")

    def revert(self, session: Session, edit: Edit, before: Switch) -> None:
        with contextlib.suppress(Refused):
            session.run("end")  # Refused if no configuration is open.
        try:
            session.run(f"rollback running-config checkpoint {edit.name}")
        except Refused as refusal:
            # The checkpoint comes first, so without it nothing was changed.
            if not re.search(
                r"not exist|not found|no such|does ?n.t exist|invalid checkpoint", refusal.complaint, re.I
            ):
                raise
        self.confirm(session, edit)

    def save(self, session: Session) -> None:
        answer = session.run("copy running-config startup-config")
        if re.search(r"error|fail|aborted|no space|not enough", answer, re.IGNORECASE):
            raise Refused("copy running-config startup-config", answer)

    def way_back(self, edit: Edit) -> str:
        return (
            f"The checkpoint {edit.name} contains the previous configuration. Run `rollback running-config checkpoint "
            f"{edit.name}` on the switch to restore it."
        )


def _vlans(config: nxos_text.Config, name: str, port: Port, link: Mapping[str, object]) -> None:
    """Set the VLANs of a port; without a line, the default mode depends on the model, so the reported mode counts."""
    one = config.switching.get(name) or vlans.Switching()
    mode = str(link.get("eth_mode", "")).lower()
    if one.mode is None and (mode in (vlans.ACCESS, vlans.TRUNK, vlans.ROUTED) or one.reported):
        one = replace(one, mode=mode or vlans.ACCESS)
    reported = str(link.get("admin_state", "")).lower()
    enabled = one.enabled if reported not in ("up", "down") else reported == "up"
    vlans.settle(port, replace(one, enabled=enabled), config.vlans)


def _identity(switch: Switch, config: nxos_text.Config | None, texts: Iterable[str]) -> None:
    if config is not None:
        switch.hostname, switch.version = config.hostname, config.version
    for text in texts:
        hostname, version, model = show.identity(text)
        switch.hostname, switch.version = hostname or switch.hostname, version or switch.version
        switch.model = model


def port_of(config: nxos_text.Config, name: str) -> Port:
    """Return the Port of an interface and the policies of the switch."""
    block = config.interfaces.get(name) or nxos_text.Block()
    trust, dscp_map = nxos_text.mapped(config, block.classifier or config.system.get("qos"))
    mode, pauses = block.pfc or "auto", config.pauses
    queuing = config.queuing.get(block.queuing or config.system.get("queuing", ""), {})
    return Port(
        trust=trust,
        dscp_map=dscp_map,
        queues={group: group for group in range(8)},
        pfc_mode=mode,
        pfc=sorted(set(pauses.values())) if mode != "off" else [],
        pfc_queues={cos: group for group, cos in pauses.items()},
        pfc_sends=mode != "off",
        lossless=sorted(pauses) if mode != "off" else [],
        ecn={queue: one.marking for queue, one in queuing.items() if one.marking},
        strict=[queue for queue, one in queuing.items() if one.strict],
        shares={queue: one.share for queue, one in queuing.items() if one.share is not None and not one.strict},
        mtu=block.mtu or 1500,
        watchdog=block.guard and config.guard,
        dcbx=_dcbx(block, mode),
        pause=bool(block.pauses),
    )


def _dcbx(block: nxos_text.Block, mode: str) -> str:
    """Return the DCBX version; with PFC mode on, NX-OS advertises it only with send-tlv."""
    if mode == "auto" or block.sends_tlv:
        return "cee" if block.dcbx == "cee" else "ieee"
    return "off"
