# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Licence state of a guest: its settings, its token by name only, its service, and the report of the GPUs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.smi_text import Report


@dataclass(frozen=True)
class LicenceState:
    """State that the module manages. It never contains the text of a token."""

    # {key of gridd.conf: value}: the keys that the task manages.
    settings: dict[str, str] = field(default_factory=dict)
    # {name of a file in the folder of tokens: its fingerprint}
    tokens: dict[str, str] = field(default_factory=dict)
    # {name of a file: its mode, as 0744}
    modes: dict[str, str] = field(default_factory=dict)
    # active, inactive, or failed; None where there is no such service.
    service: str | None = None
    # True if the service runs with the present content of its files.
    current: bool = True
    report: Report = field(default_factory=Report)

    @property
    def status(self) -> str | None:
        """Return the worst state of all GPUs that need a licence; None if no GPU reports one."""
        reported = [gpu.licence for gpu in self.report.gpus if gpu.licence]
        return next((one for one in reported if one != "Licensed"), reported[0] if reported else None)

    @property
    def licensed(self) -> bool:
        return self.status == "Licensed"


def project(state: LicenceState) -> dict[str, Any]:
    """A state as the user sees it: no part of a token, and no digits of one."""
    licensed = [gpu for gpu in state.report.gpus if gpu.licence]
    return {
        "settings": dict(sorted(state.settings.items())),
        "tokens": [{"name": name, "mode": state.modes.get(name)} for name in sorted(state.tokens)],
        "service": state.service,
        "status": state.status,
        "product": next((gpu.product for gpu in licensed if gpu.product), None),
        # The licence that ends first decides.
        "expiry": min((gpu.expiry for gpu in licensed if gpu.expiry), default=None),
        "gpus": [
            {"address": gpu.address, "name": gpu.name, "status": gpu.licence, "expiry": gpu.expiry} for gpu in licensed
        ],
    }
