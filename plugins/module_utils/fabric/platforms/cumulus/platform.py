# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""NVIDIA Cumulus Linux through NVUE: a preset for the whole switch, settings that differ from it, confirmed commits."""

from __future__ import annotations

import contextlib
import json
import re
from typing import TYPE_CHECKING, Any, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Edit, Limits, Platform
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.cumulus import rules, state, text
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import Refused
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Switch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Intent
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Effect
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.cumulus.text import Tree
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import Session
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Port
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.undo.facts import Facts

CONFIG = "nv config show -o json"
PORTS, LLDP = "nv show interface -o json", "nv show interface lldp -o json"
STATUS, COUNTERS = "nv show interface qos-roce-status -o json", "nv show interface qos-roce-counters -o json"
# State of the whole switch. No source has the form of its JSON.
WHOLE = "nv show qos roce -o json 2>/dev/null || true"

# This mark means that the pending apply belongs to this module. A restart removes both the mark and the pending apply.
MARK = "/run/aiready-roce.apply"
OTHER_WAITS = r"\bwaiting\b[^.]*\bconfirm|\bpending confirm"
NOTHING_WAITS = r"\bno(?:thing|t| \w+)?\b[^.]*(?:\bwaiting\b|\bpending\b|\bto confirm\b)"


class Cumulus(Platform):
    """Cumulus Linux, which sets RoCE QoS for the whole switch; only MTU, watchdog and profiles belong to a port."""

    name = "cumulus"
    title = "NVIDIA Cumulus Linux"
    shell = True
    management = r"(?:eth|mgmt)\d?"
    limits = Limits(
        lossless=2,
        largest_mtu=9216,
        missing={
            "roce_group_shared_with": "",
            "roce_pauses_own_queue": "",
            "watchdog_recovery_ms": "Cumulus Linux itself decides when it restores a queue after a PFC storm.",
            "watchdog_action": "Cumulus Linux always drops the packets of a queue in a PFC storm.",
        },
    )

    def __init__(self, options: Mapping[str, Any] | None = None) -> None:
        super().__init__(options)
        # Whether an apply of another user waits for its confirmation; the module must not roll that back.
        self._others = False

    counting = ("counters",)
    captured = (WHOLE,)

    def reads(self, ports: Sequence[str]) -> list[str]:
        # These commands fail on a switch without RoCE. That is not an error.
        shown = " ".join(f"{command} 2>/dev/null;" for command in (STATUS, COUNTERS))
        return [CONFIG, PORTS, f"{LLDP} 2>/dev/null || true", f"{shown} true"]

    def parse(self, texts: Mapping[str, str]) -> Switch:
        read = {command: one for command, one in texts.items() if command not in self.captured}
        return state.switch_of(Switch(platform=self.name), read)

    def spelled(self, typed: str) -> str | None:
        file = re.fullmatch(r"(?:(?:sudo\s+)?(?:cat|less|more)\s+)?(/\S+\.conf)", typed.strip())
        if file:
            return file.group(1)
        known = super().spelled(typed)
        # The view of one port has the name of the port inside the command.
        port = re.search(r"\s(swp\S+)", known or "")
        return (
            known
            if not port or known is None
            else known.replace(port.group(0), "").replace("interface", f"interface{port.group(0)}")
        )

    def command_of(self, text: str) -> str | None:
        return state.command_of(text)

    def strays(
        self, switch: Switch, wanted: Mapping[str, Effect], intent: Intent, exact: bool = True
    ) -> dict[str, tuple[str, str]]:
        return rules.strays(cast("Tree", switch.raw or {}).get("settings") or {})

    def blank(self, switch: Switch, name: str) -> Port:
        return state.port_of({}, name)

    def render(self, switch: Switch, wanted: Mapping[str, Effect], intent: Intent | None, exact: bool = True) -> Edit:
        commands = rules.commands(switch, wanted, intent, exact)
        minutes = max(1, -(-int(self.options.get("confirm_s") or 300) // 60))
        return Edit(commands=commands, name="aiready", confirm_s=minutes * 60)

    def facts(self, saved: str) -> Facts:
        return rules.facts(json.loads(saved) if saved else {})

    def undo(self, switch: Switch, then: Facts) -> Edit:
        minutes = max(1, -(-int(self.options.get("confirm_s") or 300) // 60))
        settings = cast("Tree", switch.raw or {}).get("settings") or {}
        commands = rules.between(self.facts(switch.config), then, settings)
        return Edit(commands=commands, name="aiready", confirm_s=minutes * 60)

    def validate(self, session: Session, edit: Edit) -> bool:
        self._stage(session, edit)
        session.run("nv config diff -o commands")
        session.run("nv config detach")
        return True

    def apply(self, session: Session, edit: Edit) -> None:
        self._stage(session, edit)
        command = f"nv config apply -y --confirm {edit.confirm_s // 60}"
        session.run(f"echo {edit.name} > {MARK}")
        try:
            reported = session.run(command)
        except Refused as refusal:
            if not re.search(OTHER_WAITS, refusal.complaint, re.IGNORECASE):
                raise
            self._others = True
            session.run(f"rm -f {MARK}")
            raise _other_waits(session, refusal) from refusal
        # Some failures return exit status 0.
        complaint = next((line for line in reported.splitlines() if line.strip().lower().startswith("error")), None)
        if complaint:
            raise Refused(command, complaint)

    def confirm(self, session: Session, edit: Edit) -> None:
        try:
            session.run("nv config apply --confirm-yes")
        except Refused as refusal:
            # The apply was confirmed before the connection broke.
            if not re.search(NOTHING_WAITS, refusal.complaint, re.IGNORECASE):
                raise
        session.run(f"rm -f {MARK}")

    def waits(self, session: Session) -> bool:
        reported = ""
        try:
            session.run(f"test -e {MARK}")
            reported = session.run("nv config apply --confirm-status")
        except Refused as refusal:
            # Without the mark, no apply of this module is pending. With it, one is, unless the switch reports none.
            reported = refusal.complaint
            if refusal.command.startswith("test "):
                return False
        return not re.search(NOTHING_WAITS, reported, re.IGNORECASE)

    def tidy(self, session: Session) -> None:
        """Reject a pending apply of a killed run; otherwise the switch rolls it back after the verification."""
        with contextlib.suppress(Refused):
            session.run(f"test -e {MARK}")
            self._take_back(session)

    def _take_back(self, session: Session) -> None:
        with contextlib.suppress(Refused):
            session.run("nv config apply --confirm-no")
        session.run(f"rm -f {MARK}")

    def revert(self, session: Session, edit: Edit, before: Switch) -> None:
        # One of the two exists: an edit that waits for its confirmation, or one that was not applied yet.
        if not self._others:
            self._take_back(session)
        with contextlib.suppress(Refused):
            session.run("nv config detach")
        if self._others:
            return
        _header, now = text.config_of(session.run(CONFIG))
        commands = rules.way_back(now, cast("Tree", before.raw or {}).get("settings") or {})
        if commands:
            for command in commands:
                session.run(command)
            session.run("nv config apply -y")

    def save(self, session: Session) -> None:
        session.run("nv config save")

    def way_back(self, edit: Edit) -> str:
        return (
            f"If the change was not confirmed, the switch rolls it back within {edit.confirm_s // 60} minutes. Then "
            "run the task again."
        )

    def _stage(self, session: Session, edit: Edit) -> None:
        """Stage the edit in its own revision; a revision of another user is never applied with it."""
        pending = [line.strip() for line in session.run("nv config diff -o commands").splitlines() if line.strip()]
        pending = [line for line in pending if line.startswith("nv ")]
        strange = [
            line for line in pending if not _spelled(line) <= {one for own in edit.commands for one in _spelled(own)}
        ]
        if pending and strange:
            raise OperatorError(
                getattr(session, "name", "switch"),
                "cannot start the change",
                f"Another change is staged and not applied: {'; '.join(strange[:3])}",
                "Apply it or discard it with `nv config detach`, as the user that Ansible becomes. Then run the task "
                "again",
                "pending_revision",
                pending=pending,
            )
        if pending:
            session.run("nv config detach")
        try:
            for command in edit.commands:
                session.run(command)
        except Refused:
            with contextlib.suppress(Refused):
                session.run("nv config detach")
            raise


def _other_waits(session: Session, refusal: Refused) -> OperatorError:
    return OperatorError(
        getattr(session, "name", "switch"),
        "cannot apply the change",
        f"Another change waits for its confirmation: {refusal.complaint}",
        "Confirm or reject that change, or wait until the switch rolls it back. Then run the task again",
        "pending_confirmation",
    )


def _spelled(line: str) -> set[str]:
    """Return a line once for each of its ports, because the switch groups ports in its own way."""
    words = line.split()
    if words[2:3] != ["interface"]:
        return {line}
    return {" ".join([*words[:3], name, *words[4:]]) for name in text.port_names(words[3])}
