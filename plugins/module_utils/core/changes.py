# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""A change is a value: the list of changes is the plan, the diff and the record of what was done."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

W = TypeVar("W")
S = TypeVar("S")


@dataclass(frozen=True)
class Change:
    """One setting that differs from the desired state."""

    path: str
    before: object
    after: object
    # What makes the change take effect ('power_cycle', 'reboot', ...); None means at once.
    needs: str | None = None
    # The object of the setting, if several objects share it, such as a switch of many hosts.
    of: str | None = None

    def __str__(self) -> str:
        text = f"{self.path}: {_shown(self.before)} -> {_shown(self.after)}"
        return text if self.needs is None else f"{text} (needs {self.needs.replace('_', ' ')})"

    def as_result(self) -> dict[str, object]:
        reported: dict[str, object] = {
            "path": self.path,
            "before": self.before,
            "after": self.after,
            "needs": self.needs,
        }
        return reported if self.of is None else dict(reported, of=self.of)


@dataclass
class Item(Generic[W, S]):
    """One object that a task manages, from the request to the proof.

    now and wanted are set for every item that has no error when a step receives it.
    """

    label: str
    requested: W
    # Stable ids of the object (moid, uuid, path, ...), known once it was found.
    ids: dict[str, Any] = field(default_factory=dict)
    now: S = None  # type: ignore[assignment]
    wanted: S = None  # type: ignore[assignment]
    changes: list[Change] = field(default_factory=list)
    # Read after apply; set for a failed item too, so that its result has the real state.
    proved: S | None = None
    error: OperatorError | None = None
    # True as soon as a request that changes this object may have reached the server.
    touched: bool = False


def _shown(value: object) -> str:
    if value is None or value == [] or value == "":
        return "none"
    if isinstance(value, (list, tuple)):
        return ", ".join(str(entry) for entry in value)
    return str(value)
