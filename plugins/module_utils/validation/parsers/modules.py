# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Parse the output of `lsmod` and /proc/modules. Pure."""

from __future__ import annotations

import re
from typing import Any, Iterable

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import text as texts

# Name, size in bytes, users. A kernel that cannot unload modules reports no users.
_LINE = re.compile(r"(\w+)\s+\d{4,}\s+(?:-?\d+|-)(?:\s+\S+.*)?$")


@texts.reader("lsmod")
def parse(text: str) -> dict[str, Any]:
    """The names of all modules. The kernel uses underscores, also if the package name has hyphens."""
    found = [match.group(1) for match in map(_LINE.match, texts.lines(text)) if match]
    return texts.figures(modules=sorted(found)) if found else texts.not_understood("lsmod", text)


def has(modules: Iterable[str], name: str) -> bool:
    """Whether a module is loaded, with hyphens or underscores in its name."""
    return name.replace("-", "_") in modules
