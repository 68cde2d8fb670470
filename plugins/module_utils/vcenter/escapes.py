# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Names and paths of vCenter, which escapes %, / and \\ in them. Pure: filters import it too."""

from __future__ import annotations

import re

_ESCAPE = re.compile("%(25|2f|5c)", re.IGNORECASE)
_MEANING = {"25": "%", "2f": "/", "5c": "\\"}


def unescaped(name: str) -> str:
    """A name as people see it: vCenter keeps %, / and \\ in names as %25, %2f and %5c."""
    return _ESCAPE.sub(lambda match: _MEANING[match.group(1).lower()], name)


def same_name(stored: str, requested: str) -> bool:
    """Return whether a stored name is the requested one, which may be written with or without escapes."""
    return stored == requested or unescaped(stored) == unescaped(requested)


def same_path(stored: str, requested: str) -> bool:
    """Component by component, so that an escaped slash is no separator."""
    ours, theirs = stored.strip("/").split("/"), requested.strip("/").split("/")
    return len(ours) == len(theirs) and all(same_name(*pair) for pair in zip(ours, theirs))
