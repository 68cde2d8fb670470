# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Juniper Junos on QFX switches, read-only. Queue numbers and PFC priorities differ there.

Junos has no internal priority. The priority of a Port is the PFC priority of a forwarding class. Without one, it is the
upper bits of the first code point: a CNP class with DSCP 48 has priority 6, for any queue.
"""

from __future__ import annotations

import fnmatch
import re
from typing import TYPE_CHECKING

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import cleaned
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Limits, Platform
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.junos import text
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Marking, Neighbour, Oper, Port, Switch
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.unread import lacks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

COS = "show configuration class-of-service"
INTERFACES = "show configuration interfaces"
WHOLE = "show configuration"
LLDP = "show lldp neighbors"
VERSION = "show version"
# The default MTU of an interface, including the Ethernet header.
DEFAULT_MTU = 1514
_PHYSICAL = re.compile(r"[a-z]+-\d+/\d+/\d+(:\d+)?")
_THRESHOLDS = "Junos configures ECN thresholds in percent of a full buffer. They cannot be compared with bytes."


class Junos(Platform):
    """Juniper Junos, read-only."""

    name = "junos"
    title = "Juniper Junos"
    reads_only = True
    limits = Limits(
        modes=("lossless", "lossy"),
        missing={
            "ecn": _THRESHOLDS,
            "dcbx": "The module does not read DCBX on Junos.",
            "pause": "The module does not read link-level pause on Junos.",
        },
    )

    def reads(self, ports: Sequence[str]) -> list[str]:
        return [VERSION, COS, INTERFACES, LLDP]

    def command_of(self, text: str) -> str | None:
        first = {one[0] for one in junos_statements(text)}
        if first & {"class-of-service", "forwarding-classes", "classifiers", "congestion-notification-profile"}:
            return COS
        if re.search(r"(?m)^\s*Local Interface\s+(?:Parent Interface|Chassis Id)\b", text):
            return LLDP
        if re.search(r"(?mi)^\s*(Junos:|JUNOS .*\[|Model:)", text):
            return VERSION
        return INTERFACES if any(one == "interfaces" or _PHYSICAL.fullmatch(one) for one in first) else None

    def blank(self, switch: Switch, name: str) -> Port:
        return Port(pfc_mode="off", pfc=[], lossless=[], watchdog=False, ecn={}, strict=[])

    def parse(self, texts: Mapping[str, str]) -> Switch:
        switch = Switch(platform=self.name)
        kinds = _by_kind(self, texts)
        switch.neighbours = _neighbours(kinds.get(LLDP, ""))
        _identity(switch, kinds.get(VERSION, ""))
        interfaces = junos_statements(kinds.get(INTERFACES, ""), "interfaces")
        known = {one[0] for one in interfaces if _PHYSICAL.fullmatch(one[0])}
        known |= {*switch.neighbours}
        if COS in kinds:
            classes = text.ClassOfService(junos_statements(kinds[COS], "class-of-service"))
            switch.ports = {name: _port(classes, name) for name in sorted(_names(classes, known))}
            switch.exceptions = classes.contradictions()
            switch.unread = [lacks(COS, what) for what in classes.strange()]
            switch.config = "\n".join(" ".join(one) for one in classes.statements)
        for name in known:
            port = switch.ports.setdefault(name, Port() if COS not in kinds else self.blank(switch, name))
            if INTERFACES in kinds:
                port.mtu = _mtu(interfaces, name)
                port.enabled = (name, "disable") not in interfaces
        switch.oper = {name: Oper() for name in switch.ports}
        return switch


def _by_kind(platform: Platform, texts: Mapping[str, str]) -> dict[str | None, str]:
    """Return {command: output} with outputs of one kind joined; a whole configuration counts as both parts."""
    found: dict[str | None, str] = {}
    for command, output in texts.items():
        kind = _kind(command) or platform.command_of(output)
        first = {one[0] for one in junos_statements(output)} if kind in (COS, WHOLE) else set()
        kinds = [COS if kind == WHOLE else kind]
        if kind == WHOLE or "class-of-service" in first:
            both = {COS: "class-of-service" in first, INTERFACES: "interfaces" in first}
            kinds = [one for one, there in both.items() if there] or kinds
        for one in kinds:
            found[one] = "\n".join([found[one], output] if one in found else [output])
    return found


def _kind(command: str) -> str | None:
    """Return the command without suffixes that only change the output format, such as `| display set`."""
    words = " ".join(command.partition("|")[0].split())
    known = (one for one in (COS, INTERFACES, WHOLE, LLDP, VERSION) if words.startswith(one))
    return next(known, None)


def junos_statements(output: str, below: str | None = None) -> list[tuple[str, ...]]:
    """Return the statements of a configuration in either form, as words, without the name of the hierarchy."""
    found = text.statements(cleaned(output))
    if below is not None and any(one[0] == below for one in found):
        found = [one[1:] for one in found if one[0] == below and len(one) > 1]
    return found


def _names(classes: text.ClassOfService, known: Iterable[str]) -> set[str]:
    """Return the ports in class-of-service; a pattern represents the known ports that match, or itself."""
    found = set()
    for name in classes.interfaces:
        fit = fnmatch.filter(known, name) if "*" in name else [name]
        found.update(fit or [name])
    return found


def _port(classes: text.ClassOfService, name: str) -> Port:
    own = classes.of_interface(name)
    table, trust = classes.dscp_map(own), classes.trust(own)
    profile = classes.profile(own)
    schedulers = classes.schedulers(own)
    return Port(
        trust=trust,
        dscp_map=table or None,
        queues=dict(classes.queues),
        pfc_mode="on" if profile.pfc else "off",
        pfc=profile.pfc,
        pfc_queues=profile.queues or None,
        pfc_sends=profile.sends if profile.pfc else None,
        lossless=sorted(classes.no_loss),
        ecn={queue: _marking(one) for queue, one in schedulers.items() if one.profile},
        strict=sorted(queue for queue, one in schedulers.items() if one.strict),
        shares={queue: one.share for queue, one in schedulers.items() if one.share is not None},
        watchdog=profile.watchdog if profile.pfc else None,
        watchdog_detection_ms=profile.detection_ms,
        watchdog_recovery_ms=profile.recovery_ms,
        watchdog_action=profile.action,
        cable_length_m=profile.cable_length_m,
    )


def _marking(scheduler: text.Scheduler) -> Marking:
    """Return the marking without thresholds, because Junos does not configure them in bytes."""
    return Marking(0, 0, scheduler.probability, scheduler.ecn)


def _mtu(interfaces: Iterable[tuple[str, ...]], name: str) -> int:
    reported = [one[2] for one in interfaces if one[0] == name and one[1:2] == ("mtu",) and len(one) > 2]
    return int(reported[0]) if reported and reported[0].isdecimal() else DEFAULT_MTU


def _identity(switch: Switch, output: str) -> None:
    for attribute, pattern in (
        ("hostname", r"(?mi)^\s*Hostname:\s*(\S+)"),
        ("model", r"(?mi)^\s*Model:\s*(\S+)"),
        # Parts of the system have their own versions, such as dates.
        ("version", r"(?mi)^\s*JUNOS .*\[(\d{1,2}\.\d+[A-Z][^\]]*)\]"),
        ("version", r"(?mi)^\s*Junos:\s*(\S+)"),
    ):
        found = re.search(pattern, output)
        if found:
            setattr(switch, attribute, found.group(1))


def _neighbours(output: str) -> dict[str, list[Neighbour]]:
    """Read rows of the table: local interface, parent, chassis, port, system name (can contain spaces).

    Older releases have no column for the parent.
    """
    found: dict[str, list[Neighbour]] = {}
    parents = 1
    for line in cleaned(output):
        parts = re.split(r"\s{2,}|\t", line.strip())
        if parts[0].startswith("Local Interface"):
            parents = int("Parent Interface" in line)
        if len(parts) < 3 + parents or not re.fullmatch(r"[a-z]+-?\d\S*", parts[0]):
            continue
        chassis, port, *rest = parts[1 + parents :]
        name = parts[0].partition(".")[0]
        found.setdefault(name, []).append(Neighbour(system="".join(rest[:1]) or None, port=port, chassis=chassis))
    return found
