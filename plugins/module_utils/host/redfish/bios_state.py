# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""BIOS of one server as a value: active settings, and settings pending for the next boot."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

PREFIX = "bios."


@dataclass(frozen=True)
class Job:
    """A job in which the BMC applies staged settings at the next boot."""

    path: str
    name: str
    running: bool


@dataclass(frozen=True)
class BiosState:
    """functions and named select the part of it that a task manages."""

    attributes: dict[str, Any]
    # Only values that differ from the active ones.
    staged: dict[str, Any] = field(default_factory=dict)
    # None if the BMC needs no job to apply staged values.
    scheduled: bool | None = None
    jobs: tuple[Job, ...] = ()
    # The words that the active attributes amount to, as {function: word or None}.
    functions: dict[str, str | None] = field(default_factory=dict)
    named: tuple[str, ...] = ()

    @property
    def next(self) -> dict[str, Any]:
        """The values after the next boot."""
        return {**self.attributes, **self.staged}

    @property
    def running(self) -> bool:
        """Return whether the BMC is applying a job now, so that not even the active values are reliable."""
        return any(job.running for job in self.jobs)


def project(state: BiosState) -> dict[str, Any]:
    """A state as the user sees it."""
    return {
        "functions": dict(state.functions),
        "attributes": {name: state.attributes.get(name) for name in state.named},
        "staged": {name: state.staged[name] for name in sorted(state.staged)},
    }


def pending(state: BiosState) -> list[dict[str, str]]:
    """Return the changes pending for the next boot."""
    waiting = [{"what": PREFIX + name, "needs": "reboot"} for name in sorted(state.staged)]
    if state.jobs and not waiting:
        # iDRACs show staged values as active before the job that applies them has ended.
        waiting = [{"what": PREFIX + "job", "needs": "reboot"}]
    return waiting
