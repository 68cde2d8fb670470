# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The progress of long work: lines that every callback shows, and that callback stages knows by their mark."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ansible_collections.aiready.vsphere.plugins.module_utils.core import plain_text

if TYPE_CHECKING:
    from ansible.utils.display import Display

MARK = "... "
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def tell(display: Display, text: str) -> None:
    """For action plugins, at any time: not among the results, since some callbacks write those as JSON."""
    display.display(f"{MARK}{plain_text.shown(text)}", stderr=True)


def told(written: str) -> str | None:
    """The text where this is a line of tell, as it is written to a terminal; else None."""
    text = _COLOUR.sub("", written)
    if not text.startswith(MARK) or not text.endswith("\n") or "\n" in text[:-1]:
        return None
    return text[len(MARK) : -1]
