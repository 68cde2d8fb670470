# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Releases of vCenter and ESXi, by the version that they report. Pure."""

from __future__ import annotations

# Newest release that the collection is tested with, on the twin.
NEWEST = "9.1"


def numbers(version: str | None) -> tuple[int, ...]:
    """8.0.3 as (8, 0, 3), for comparisons; an empty tuple for an unknown version."""
    return tuple(int(part) for part in (version or "").split(".") if part.isdecimal())


def is_newer(version: str | None) -> bool:
    """Return whether a release is newer than those that the collection knows."""
    return numbers(version)[:2] > numbers(NEWEST)
