# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Versions by component, and whether they differ between objects."""

from __future__ import annotations

from typing import Any

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.values import (
    entries,
    in_order,
    text,
    texts,
)


def versions(recorded: Any) -> list[dict[str, Any]]:
    """[{what, uniform, versions: [{version, objects, simulated}]}] by component, the most frequent version first."""
    by_what: dict[str, dict[str, list[str]]]
    fake: set[tuple[str, str]]
    by_what, fake = {}, set()
    for entry in entries(recorded):
        what, version = text(entry.get("what")) or "unnamed", text(entry.get("version"))
        if texts(entry.get("simulated_parts")):
            fake.add((what, version))
        by_what.setdefault(what, {}).setdefault(version, []).append(text(entry.get("object")))
    return [
        {
            "what": what,
            "uniform": len(found) == 1,
            "versions": [
                {
                    "version": version or "not recorded",
                    "objects": in_order(found[version]),
                    "simulated": (what, version) in fake,
                }
                for version in sorted(found, key=lambda one: (-len(found[one]), one))
            ],
        }
        for what, found in by_what.items()
    ]
