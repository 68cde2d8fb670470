# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Results of tasks in the form that the module validation_result reads. Pure."""

from __future__ import annotations

from typing import Any, Iterable, Mapping

KEPT = ("measurements", "outputs", "unreachable", "failed", "msg", "skipped")


def looks(guests: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, dict[str, Any]]]:
    """{guest: {before, after}} of the variables of guests."""
    return {
        own["inventory_hostname"]: {
            phase: {key: value for key, value in (own.get(f"__validation_{phase}") or {}).items() if key in KEPT}
            for phase in ("before", "after")
        }
        for own in guests
    }


def run(result: Mapping[str, Any]) -> dict[str, Any]:
    """The run of one result of a loop."""
    item = result["item"]
    return {
        "check": item.get("check", "cluster.training"),
        "variant": item.get("variant", ""),
        "guests": item["guests"],
        "run": {key: value for key, value in result.items() if key != "item"},
    }
