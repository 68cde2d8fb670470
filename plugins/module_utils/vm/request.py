# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The request for one VM: its identity and its power, which all modules share, and the settings of the module."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, Mapping, TypeVar

R = TypeVar("R")


@dataclass(frozen=True)
class VmRequest(Generic[R]):
    """One VM as a task describes it."""

    # {option: value} of the options that name a VM; one of them is set.
    identity: Mapping[str, str | None]
    settings: R
    guest_shutdown_timeout_s: int
    # Handling of a change that needs a running VM off: refuse or cycle.
    power: str = "refuse"
    # {option: value}, in check mode: how earlier tasks of the play create the VM.
    planned: Mapping[str, Any] = field(default_factory=dict)
