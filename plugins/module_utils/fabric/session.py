# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What a platform's session offers to its file, and how it fails. Sessions themselves live on the controller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Sequence, TypeVar

if TYPE_CHECKING:
    T = TypeVar("T")


LONGEST = 80  # characters of a command in a sentence


def brief(command: str) -> str:
    """A command as a sentence names it: of one that is a script, its beginning."""
    words = " ".join(str(command).split())
    return words if len(words) <= LONGEST else f"{words[: LONGEST - 20].rstrip()} ..."


class Refused(Exception):
    """The switch did not take a command."""

    def __init__(self, command: str, complaint: str) -> None:
        self.command = command
        self.complaint = " ".join(complaint.split())
        super().__init__(f"`{brief(command)}` was refused: {self.complaint}")


class Lost(Exception):
    """The connection broke; what the last command did is not known."""

    def __init__(self, command: str, reason: str) -> None:
        self.command = command
        self.reason = reason
        super().__init__(f"The connection was lost at `{brief(command)}`: {reason}")


class NoLogin(Lost):
    """The switch was not reached, or did not accept the login; a second attempt could lock the user out."""


def again(session: Session, act: Callable[[], T]) -> T:
    """The result of act(); when the connection is lost, of act() in a new one.

    Only for a read, or for what is harmless when it is done twice: what the first attempt did is not known.
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

        command: a line of the command line, or a command for /bin/sh. answers: pairs of a pattern and what is typed
        when the switch asks that; a command line only.
        """
        raise NotImplementedError

    def reconnect(self) -> None:
        """Log in again after Lost; Lost when that fails too."""
        raise NotImplementedError
