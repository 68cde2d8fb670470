# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Saved configuration of an adapter in a guest's files, for the next start, and its change by a service."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Commands, Done
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network.adapter import Link


@dataclass
class Kept:
    """The saved settings of one adapter."""

    where: str = ""  # the file or profile that contains it; empty if there is none
    mtu: int | None = None  # None: not configured, so that the driver's own value applies, 1500
    addresses: list[str] = field(default_factory=list)
    ours: list[str] = field(default_factory=list)  # those of them that this module put there
    # Data that the service needs again when it writes.
    detail: dict[str, Any] = field(default_factory=dict)


class Service:
    """A service that sets up adapters when the guest starts. One task is about one adapter."""

    NAME = ""

    def __init__(self, commands: Commands, files: Files) -> None:
        self.commands = commands
        self.files = files
        # {path: (text, mode)} of files before this task wrote them; None for a text that was not there.
        self._before: dict[str, tuple[str, int] | None] = {}

    def claims(self, link: Link) -> str | None:
        """'owner' where it sets up this adapter, 'able' where it could, None where it cannot."""
        raise NotImplementedError

    def read(self, link: Link) -> Kept:
        """Return the saved configuration."""
        raise NotImplementedError

    def write(self, link: Link, kept: Kept, mtu: int | None, address: str | None) -> None:
        """Save an MTU and an address (None: unchanged) beside all other saved settings."""
        raise NotImplementedError

    def activate(self, link: Link) -> Done | None:
        """Let the service apply now its saved configuration, as far as no other adapter is affected: a Done."""
        raise NotImplementedError

    def undo(self) -> None:
        """Put everything back that write() wrote."""
        for path, before in self._before.items():
            if before is None:
                self.files.remove(path)
            else:
                self.files.write(path, before[0], before[1])
        self._before = {}

    def put(self, path: str, text: str, mode: int = 0o644) -> None:
        """Write a file in a way that undo() can take back."""
        old = self.files.text(path)
        if path not in self._before:
            self._before[path] = None if old is None else (old, cast("int", self.files.mode(path)))
        if old != text:
            self.files.write(path, text, cast("int", self.files.mode(path)) if old is not None else mode)

    def refused(self, link: Link, wanted: str, done: Done) -> OperatorError:
        """Return the error for a service that rejects its settings; wanted is the failure."""
        return OperatorError(
            f"Adapter {link.name}",
            wanted,
            f"{self.NAME} rejects them. {done.outcome}",
            "Correct the network settings of the guest that the output names, then run the task again",
            "service_refused",
            service=self.NAME,
            command=list(done.argv),
        )


def our_addresses(kept: Kept, address: str | None) -> list[str]:
    """The addresses to save: the requested one unless another file has it; without a request, as before."""
    if address is None:
        return list(kept.ours)
    return [] if address in [one for one in kept.addresses if one not in kept.ours] else [address]
