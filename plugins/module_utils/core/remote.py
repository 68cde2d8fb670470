# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The machine of a task on which an action plugin runs commands, for annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Sequence

if TYPE_CHECKING:
    from typing import Protocol

    class Completed(Protocol):
        """A command that ended."""

        @property
        def rc(self) -> int: ...

        @property
        def stdout(self) -> str: ...

        @property
        def stderr(self) -> str: ...

        @property
        def command(self) -> str: ...

        @property
        def text(self) -> str: ...

    class Remote(Protocol):
        """The host of a task, on which commands run."""

        def run(self, argv: Sequence[str]) -> Completed: ...
