# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Fields of the user over those of the collection. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def merged(made: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of both; those of more have precedence. Lists are replaced."""
    result = dict(made)
    for key, value in more.items():
        old = result.get(key)
        result[key] = merged(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return result
