# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Passwords in addresses such as https://user:password@host. Pure."""

from __future__ import annotations

import re
from typing import TypeVar, cast

T = TypeVar("T")

# People also write passwords with / @ : # that are not encoded, so one ends at the last @ of the word. A port and a
# path with @ look the same and are hidden too. Bounded, because an unbounded search takes minutes in a long word.
# A quotation mark ends a text of JSON.
_PASSWORD = re.compile(r"(://[^\s/:\"]{0,256}:)(?!\d{1,5}/\S*@sha\d+:)(?:[^\s\"]|\"(?![\s,:}\]]|\Z)){1,1024}(?=@)")

HIDDEN = "[not shown]"


def is_in(text: str) -> bool:
    """Whether an address in the text may have a password."""
    return _PASSWORD.search(text) is not None


def hidden(text: T) -> T:
    """A text without the passwords in its addresses, and the same for all texts in a JSON value."""
    if isinstance(text, str):
        return cast("T", _PASSWORD.sub(lambda found: found[1] + HIDDEN, text))
    if isinstance(text, dict):
        return cast("T", {hidden(key): hidden(one) for key, one in text.items()})
    if isinstance(text, (list, tuple)):
        made = [hidden(one) for one in text]
        return cast("T", tuple(made) if isinstance(text, tuple) else made)
    return text
