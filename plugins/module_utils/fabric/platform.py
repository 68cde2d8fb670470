# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""A platform of switches: how to read, parse, render and change it, and its limits as data."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.commands import COMMANDS
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import LARGEST_MTU, MODES, TRUSTS
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Port, Switch
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.transcript import spelled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Intent
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import Session
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.undo.facts import Facts, Path

    # The RoCE QoS of a port, actual or desired: {one of compare.KEYS: value}.
    Effect = Mapping[str, Any]

    class PortEffect(TypedDict):
        """The actual Effect of a Port, as compare.effect() computes it; None if unknown."""

        trust: str | None
        roce_priority: int | None
        cnp_priority: int | None
        pfc_mode: str | None
        pfc: list[int] | None
        pfc_sends: bool | None
        lossless: list[int] | None
        roce_queue_shared_with: list[int] | None
        roce_group_shared_with: list[int] | None
        roce_pauses_own_queue: bool | None
        ecn: Mapping[str, int | bool | None] | None
        bandwidth_percent: int | None
        cnp_strict: bool | None
        mtu: int | None
        watchdog: bool | None
        watchdog_detection_ms: int | None
        watchdog_recovery_ms: int | None
        watchdog_action: str | None
        dcbx: str | None
        pause: bool | None
        cable_length_m: int | None


@dataclass(frozen=True)
class Limits:
    """The limits of a platform."""

    modes: tuple[str, ...] = MODES
    trusts: tuple[str, ...] = TRUSTS
    lossless: int = 2  # most lossless priorities of a port
    largest_mtu: int = LARGEST_MTU
    # Keys of compare.KEYS that the platform can neither set nor report, with the reason.
    missing: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Edit:
    """One change of one switch, as render() built it. Plain data, so that check mode can show it."""

    commands: list[str]  # in the order in which they are sent; `commands` of the result
    name: str = "aiready"  # of a session, revision or checkpoint that belongs to it
    confirm_s: int = 300  # time until the switch rolls back by itself, if it can
    payload: Any = None  # sent in place of commands, such as a patch


class Platform:
    """One operating system of switches. Methods that take a session ask or change the switch; all others are pure.

    A platform supplies reads, parse and command_of, and unless it only reads, render, apply, revert and save.
    """

    name = ""
    title = ""
    shell = False  # a Linux shell over ssh, not a command line over network_cli
    reads_only = False  # whether the collection reads it but cannot change it
    management = r"ma(?:nagement)?\d|mgmt"  # names of ports that carry no RoCE
    without_ports = ("show version", "show running-config diff")  # commands whose lines belong to no port
    limits = Limits()

    def __init__(self, options: Mapping[str, Any] | None = None) -> None:
        # version: that of a switch that is not read (rendered, parsed). allow: dangerous actions that the user allows.
        # confirm_s: of the edits that render() makes. transaction: auto or never.
        self.options = options or {}

    @property
    def commands(self) -> tuple[str, ...]:
        """The commands whose outputs parse() understands."""
        return COMMANDS[self.name]

    def check(self, intent: Intent | None, subject: str) -> None:
        """Reject settings that the platform lacks; subject is the switch, intent is None to remove everything."""
        if self.reads_only:
            raise OperatorError(
                subject,
                "cannot configure the switch",
                f"The collection can only read {self.title}",
                "Set state to gathered or parsed, and configure the switch by hand",
                "reads_only",
            )
        if intent is not None and intent.mode not in self.limits.modes:
            raise OperatorError(
                subject,
                f"cannot use the mode {intent.mode}",
                f"{self.title} supports {', '.join(self.limits.modes)}",
                "Set mode to one of these for the whole path",
                "mode_not_supported",
                mode=intent.mode,
            )
        if intent is not None and intent.trust not in self.limits.trusts:
            raise OperatorError(
                subject,
                f"cannot set trust to {intent.trust}",
                f"{self.title} supports {' or '.join(self.limits.trusts)}",
                "Set trust to dscp, as every RoCE v2 packet has a DSCP",
                "trust_not_supported",
                trust=intent.trust,
            )

    # Read.

    # Commands that only a capture sends. parse() ignores their outputs.
    captured: tuple[str, ...] = ()
    # Parts of the commands of reads() that report counters.
    counting: tuple[str, ...] = ()

    def counted(self, texts: Mapping[str, str]) -> dict[str, str]:
        """{command: output} of those that report counters."""
        return {command: text for command, text in texts.items() if any(part in command for part in self.counting)}

    def reads(self, ports: Sequence[str]) -> list[str]:
        """The commands that report the configured and running state of these ports; at most about four."""
        raise NotImplementedError

    def parse(self, texts: Mapping[str, str]) -> Switch:
        """The Switch in {command: output}. Values of missing commands are unknown."""
        raise NotImplementedError

    def apart(self, texts: Mapping[str, str]) -> Mapping[str, str]:
        """{command: output}, with a command that runs several split into its parts, unless these print a table."""
        return texts

    def spelled(self, typed: str) -> str | None:
        """The full command for what an operator typed, followed by its arguments; None if it is not read."""
        return spelled(typed, self.commands)

    def command_of(self, text: str) -> str | None:
        """The command whose output a text is, for texts without a command."""
        raise NotImplementedError

    def blank(self, switch: Switch, name: str) -> Port:
        """A port with factory defaults, which `absent` restores."""
        return Port()

    # Plan.

    def render(self, switch: Switch, wanted: Mapping[str, Effect], intent: Intent | None, exact: bool = True) -> Edit:
        """The Edit from a Switch to {port: desired effect}; intent is None to remove everything.

        exact: whether other lossless priorities of these ports are removed (state present) or kept (merged).

        The order of commands never leaves RoCE traffic of a live port without its lossless class: an object is
        created before its first use and removed after its last use. Objects of others stay.
        """
        raise NotImplementedError

    def strays(
        self, switch: Switch, wanted: Mapping[str, Effect], intent: Intent, exact: bool = True
    ) -> dict[str, tuple[str, str]]:
        """{object of this collection: (its content, the desired content)}, if these differ.

        The ports do not show this: an object may treat other packets as RoCE too.
        """
        return {}

    # Restore.

    def facts(self, saved: str) -> Facts:
        """The settings in Switch.config, the text that the journal keeps."""
        raise NotImplementedError

    def object_of(self, path: Path) -> str:
        """The name of the object that a path of facts() is, or nothing for a setting."""
        return ""

    def lacks(self, path: Path) -> str:
        """Why a setting of facts() cannot be restored, as a sentence; empty if it can."""
        return ""

    def late(self, switch: Switch, path: Path) -> bool:
        """Whether a setting of facts() changes only when the edit is confirmed."""
        return False

    def undo(self, switch: Switch, then: Facts) -> Edit:
        """The Edit from a Switch to these facts. It has no command for settings that are equal."""
        raise NotImplementedError

    # Change.

    def waits(self, session: Session) -> bool:
        """In check mode: whether a killed run left a change that the switch will roll back by itself."""
        return False

    def tidy(self, session: Session) -> None:
        """Before the first read, but not in check mode: end a change that a killed run left pending."""

    def validate(self, session: Session, edit: Edit) -> bool:
        """In check mode: let the switch validate the edit without applying it; returns whether it could."""
        return False

    def apply(self, session: Session, edit: Edit) -> None:
        """Apply the edit, with the rollback timer of the switch if it has one; raises Refused or Lost.

        An OperatorError means that the platform did not start, or stopped.
        """
        raise NotImplementedError

    def confirm(self, session: Session, edit: Edit) -> None:
        """Keep the edit: stop the rollback timer and remove its helper objects.

        Called again if the connection broke meanwhile: an edit that is already confirmed is no error.
        """

    def revert(self, session: Session, edit: Edit, before: Switch) -> None:
        """Restore `before` (a Switch), wherever the edit stopped; idempotent."""
        raise NotImplementedError

    def save(self, session: Session) -> None:
        """Save the running configuration; raises Refused if the switch cannot save it."""
        raise NotImplementedError

    def way_back(self, edit: Edit) -> str:
        """A sentence about a switch that is unreachable after apply(): its state and the fix."""
        return "Run the task again when the switch answers. The task continues from the configuration that it finds."


def known() -> tuple[str, ...]:
    """The names of all platforms."""
    return tuple(sorted(_PLATFORMS))


def parsed(name: str, texts: Mapping[str, str]) -> Switch:
    """What the collection reads of the outputs of a platform, such as those in a capture."""
    return platform_of(name, None).parse(dict(texts))


def platform_of(name: str | None, network_os: str | None, options: Mapping[str, Any] | None = None) -> Platform:
    """The platform of a switch, from the option platform or else from ansible_network_os."""
    if name is None:
        name = next((key for key, (_class, words) in _PLATFORMS.items() if network_os in words), None)
    # A capture can name anything, and the name becomes the name of a Python module.
    if name not in _PLATFORMS:
        words = sorted(word for _class, words in _PLATFORMS.values() for word in words)
        raise OperatorError(
            "platform",
            "cannot find the platform of the switch",
            f"ansible_network_os is {network_os}" if network_os else "ansible_network_os is not set",
            f"Set ansible_network_os to one of {', '.join(words)}, or set platform to one of {', '.join(known())}",
            "unknown_platform",
            network_os=network_os or "",
        )
    package = __name__.rsplit(".", 1)[0] + ".platforms"
    kind = getattr(importlib.import_module(f"{package}.{name}.platform"), _PLATFORMS[name][0])
    return kind(options)


# {folder in platforms/: (class, values of ansible_network_os)}. See "A new platform" in docs/switches.md.
_PLATFORMS: dict[str, tuple[str, tuple[str, ...]]] = {
    "cumulus": ("Cumulus", ("nvidia.nvue.nvue", "nvidia.nvue.cumulus", "cumulus", "nvue")),
    "enterprise_sonic": ("EnterpriseSonic", ("dellemc.enterprise_sonic.sonic",)),
    "eos": ("Eos", ("arista.eos.eos", "eos")),
    "junos": ("Junos", ("junipernetworks.junos.junos", "junos")),
    "nxos": ("Nxos", ("cisco.nxos.nxos", "nxos")),
    "onyx": ("Onyx", ("aiready.vsphere.onyx", "mellanox.onyx.onyx", "onyx")),
    "os10": ("Os10", ("aiready.vsphere.os10", "dellemc.os10.os10", "os10")),
    "sonic": ("Sonic", ("sonic", "sonic_net.sonic")),
}


def unknown_switch(platform: Platform) -> Switch:
    """A Switch without known values, as the base of a rendering."""
    return Switch(platform=platform.name)
