# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The progress of long work as lines. Every callback shows them, and callback stages finds them by their prefix."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ansible_collections.aiready.vsphere.plugins.module_utils.core import plain_text

if TYPE_CHECKING:
    from ansible.utils.display import Display

MARK = "... "
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def report(display: Display, text: str) -> None:
    """Show progress from an action plugin. Results cannot show it, since some callbacks write them as JSON."""
    display.display(f"{MARK}{plain_text.shown(text)}", stderr=True)


def reported(written: str) -> str | None:
    """Return the text of a line of progress as written to a terminal, or None for other lines."""
    text = _COLOUR.sub("", written)
    if not text.startswith(MARK) or not text.endswith("\n") or "\n" in text[:-1]:
        return None
    return text[len(MARK) : -1]
