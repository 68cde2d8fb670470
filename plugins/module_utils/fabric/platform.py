# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""A platform of switches: how it is read, parsed, rendered and changed, and what it cannot do as data."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.commands import COMMANDS
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import LARGEST_MTU, MODES, TRUSTS
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Port, Switch
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.transcript import spelled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Intent
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import Session

    # What a port does, or shall do, to RoCE: {one of compare.KEYS: value}.
    Effect = Mapping[str, Any]


@dataclass(frozen=True)
class Limits:
    """What a platform can do."""

    modes: tuple[str, ...] = MODES
    trusts: tuple[str, ...] = TRUSTS
    lossless: int = 2  # priorities that a port can keep lossless at once
    largest_mtu: int = LARGEST_MTU
    # Keys of compare.KEYS that the platform can neither set nor tell, with the reason.
    missing: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Edit:
    """One change of one switch, as render() made it. Plain data, so that check mode can show it."""

    commands: list[str]  # in the order in which they are sent; what `commands` of the result holds
    name: str = "aiready"  # of a session, revision or checkpoint that belongs to it
    confirm_s: int = 300  # after which the switch shall go back by itself, where it can
    payload: Any = None  # what is sent in place of commands, such as a patch


class Platform:
    """One operating system of switches. Methods that take a session ask or change the switch; all others are pure.

    A platform supplies reads, parse and command_of, and unless it only reads, render, apply, revert and save.
    """

    name = ""
    title = ""
    shell = False  # a Linux shell over ssh, and no command line over network_cli
    reads_only = False  # whether it can be looked at, and not changed
    management = r"ma(?:nagement)?\d|mgmt"  # names of ports that carry no RoCE
    without_ports = ("show version", "show running-config diff")  # commands whose lines belong to no port
    limits = Limits()

    def __init__(self, options: Mapping[str, Any] | None = None) -> None:
        # version: that of a switch that is not asked (rendered, parsed). allow: dangerous acts that the user named.
        # confirm_s: of the edits that render() makes. transaction: auto or never.
        self.options = options or {}

    @property
    def commands(self) -> tuple[str, ...]:
        """The commands whose outputs parse() understands."""
        return COMMANDS[self.name]

    def check(self, intent: Intent | None, subject: str) -> None:
        """Refuse what a platform does not have at all; subject is the switch, intent is None to remove everything."""
        if self.reads_only:
            raise OperatorError(
                subject,
                "a switch was to be set",
                f"{self.title} is only read",
                "Use state gathered or parsed, and set the switch by hand",
                "reads_only",
            )
        if intent is not None and intent.mode not in self.limits.modes:
            raise OperatorError(
                subject,
                f"the mode {intent.mode} was wanted",
                f"{self.title} has {', '.join(self.limits.modes)}",
                "Choose one of these for the whole path",
                "mode_not_supported",
                mode=intent.mode,
            )
        if intent is not None and intent.trust not in self.limits.trusts:
            raise OperatorError(
                subject,
                f"{intent.trust} was to be trusted",
                f"On {self.title}, ports get {' or '.join(self.limits.trusts)}",
                "Use trust dscp, which every packet of RoCE v2 carries",
                "trust_not_supported",
                trust=intent.trust,
            )

    # What is there.

    # Parts of the commands of reads() that tell counters.
    counting: tuple[str, ...] = ()

    def counted(self, texts: Mapping[str, str]) -> dict[str, str]:
        """{command: output} of those that tell counters."""
        return {command: text for command, text in texts.items() if any(part in command for part in self.counting)}

    def reads(self, ports: Sequence[str]) -> list[str]:
        """The commands that tell everything about these ports, configured and running; at most about four."""
        raise NotImplementedError

    def parse(self, texts: Mapping[str, str]) -> Switch:
        """The Switch that texts tell of: {command: output}. Commands that are missing are things not known."""
        raise NotImplementedError

    def apart(self, texts: Mapping[str, str]) -> Mapping[str, str]:
        """{command: output}, where one command that runs several is told apart as far as its parts print no table."""
        return texts

    def spelled(self, typed: str) -> str | None:
        """The whole command of what an operator typed, with its arguments behind it; None for what is not read."""
        return spelled(typed, self.commands)

    def command_of(self, text: str) -> str | None:
        """Which command of a switch a text is the output of, for texts that come without a switch."""
        raise NotImplementedError

    def blank(self, switch: Switch, name: str) -> Port:
        """A port as the factory made it, which is what `absent` goes back to."""
        return Port()

    # What is to be done.

    def render(self, switch: Switch, wanted: Mapping[str, Effect], intent: Intent | None, exact: bool = True) -> Edit:
        """The Edit that leads from a Switch to {port: wanted effect}; intent is None to remove everything.

        exact: whether other lossless priorities of these ports go (state present) or stay (merged).

        Commands are in an order that never leaves RoCE traffic of a live port without its lossless class: what
        carries it is made before what uses it, and taken away after. Objects that others made stay.
        """
        raise NotImplementedError

    def strays(
        self, switch: Switch, wanted: Mapping[str, Effect], intent: Intent, exact: bool = True
    ) -> dict[str, tuple[str, str]]:
        """{object of ours: (what it holds, what the intent asks for)}, of those that hold something else.

        Ports alone do not show it: an object may treat other packets as RoCE too.
        """
        return {}

    # How it is done.

    def waits(self, session: Session) -> bool:
        """In check mode: whether a run that was killed left a change that the switch will undo by itself."""
        return False

    def tidy(self, session: Session) -> None:
        """Before the first look, but not in check mode: end what a run that was killed left pending."""

    def validate(self, session: Session, edit: Edit) -> bool:
        """In check mode: let the switch judge the edit without making it; whether it could."""
        return False

    def apply(self, session: Session, edit: Edit) -> None:
        """Make the edit, with the switch's own way back armed where it has one; Refused or Lost.

        An OperatorError means that the platform would not begin, or not go on.
        """
        raise NotImplementedError

    def confirm(self, session: Session, edit: Edit) -> None:
        """The edit stays: disarm the way back, remove what only served it.

        Called again where the connection broke meanwhile: what was confirmed then is no error.
        """

    def revert(self, session: Session, edit: Edit, before: Switch) -> None:
        """Back to `before` (a Switch), from wherever an edit stopped, as often as it is called."""
        raise NotImplementedError

    def save(self, session: Session) -> None:
        """What runs is what a restart comes back with; Refused when the switch cannot keep it."""
        raise NotImplementedError

    def way_back(self, edit: Edit) -> str:
        """A sentence: what becomes of a switch that cannot be reached any more after apply()."""
        return "Run the task again once the switch answers: it goes on from what is there."


def known() -> tuple[str, ...]:
    """The names of all platforms."""
    return tuple(sorted(_PLATFORMS))


def platform_of(name: str | None, network_os: str | None, options: Mapping[str, Any] | None = None) -> Platform:
    """The platform of a switch: by the name the user gives, else by ansible_network_os."""
    if name is None:
        name = next((key for key, (_class, words) in _PLATFORMS.items() if network_os in words), None)
    if name is None:
        words = sorted(word for _class, words in _PLATFORMS.values() for word in words)
        raise OperatorError(
            "platform",
            "the operating system of the switch was wanted",
            f"ansible_network_os is {network_os}" if network_os else "ansible_network_os is not set",
            f"Set it to one of {', '.join(words)}, or name the platform: {', '.join(known())}",
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
    """A switch of which nothing is known, to render from."""
    return Switch(platform=platform.name)
