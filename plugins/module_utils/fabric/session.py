# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Interface and errors of a session with a switch. The sessions themselves run on the controller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Sequence, TypeVar

if TYPE_CHECKING:
    T = TypeVar("T")


LONGEST = 80  # characters of a command in a sentence


def brief(command: str) -> str:
    """A command for a sentence: the beginning, if it is a long script."""
    words = " ".join(str(command).split())
    return words if len(words) <= LONGEST else f"{words[: LONGEST - 20].rstrip()} ..."


class Refused(Exception):
    """The switch rejected a command."""

    def __init__(self, command: str, complaint: str) -> None:
        self.command = command
        self.complaint = " ".join(complaint.split())
        super().__init__(f"The switch rejected `{brief(command)}`: {self.complaint}")


class Lost(Exception):
    """The connection broke; it is unknown what the last command did."""

    def __init__(self, command: str, reason: str) -> None:
        self.command = command
        self.reason = reason
        super().__init__(f"The connection was lost at `{brief(command)}`: {reason}")


class NoLogin(Lost):
    """The switch is unreachable or rejected the login; a second attempt could lock the user."""


def again(session: Session, act: Callable[[], T]) -> T:
    """The result of act(), repeated once in a new connection if the connection was lost.

    Only for reads and for actions that are harmless when repeated, since the effect of the first attempt is unknown.
    """
    try:
        return act()
    except NoLogin:
        raise
    except Lost:
        session.reconnect()
        return act()


class Session:
    """One connection to one switch. A command line and a Linux shell offer the same."""

    name: str

    def run(self, command: str, answers: Sequence[tuple[str, str]] = ()) -> str:
        """The output of one command, without echo and prompt; Refused or Lost.

        command: a line of the command line, or a command for /bin/sh. answers: pairs of a pattern and the text to
        type when the switch prints it; only for a command line.
        """
        raise NotImplementedError

    def reconnect(self) -> None:
        """Log in again after Lost; Lost when that fails too."""
        raise NotImplementedError
