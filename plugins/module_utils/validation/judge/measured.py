# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The format of a measurement, from its producer to the evaluation. Pure."""

from __future__ import annotations

from typing import Any, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.core import plain_text

DONE, FAILED, TIMEOUT, MISSING, SKIPPED = "done", "failed", "timeout", "missing", "skipped"
STATES = (DONE, FAILED, TIMEOUT, MISSING, SKIPPED)
# Keys of parsers besides figures.
APART = ("understood", "why", "error")


def readings(reported: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of a parser result."""
    return {key: value for key, value in reported.items() if key not in APART}


def measurement(
    check: str, subject: Mapping[str, Any], status: str = DONE, why: str = "", **more: Any
) -> dict[str, Any]:
    """A measurement in its format; missing keys are empty."""
    reported = {
        "check": check,
        "subject": subject,
        "command": [],
        "version": "",
        "status": status,
        "why": plain_text.shown(why),
        "readings": {},
        "evidence": "",
        "simulated": False,
        "began": "",
        "seconds": 0.0,
        "variant": "",
    }
    return dict(reported, **more)
