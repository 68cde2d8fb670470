# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Boot-time settings of a host that reports only configured values: noted before the first change.

A note holds the time of its boot. After another boot it does not apply, and the configured values are those of the
boot. A change by another client is not seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Mapping

if TYPE_CHECKING:
    import datetime


def note_name(what: str) -> str:
    """The name of the note about one thing."""
    return f"{what}.at_boot"


def known(notes: Mapping[str, str], what: str, boot_time: datetime.datetime | None, configured: str) -> str | None:
    """Return the value of this boot: from the note, or else the configured one; None if the time of the boot is
    unknown."""
    if boot_time is None:
        return None
    boot, _space, value = notes.get(note_name(what), "").partition(" ")
    return value if boot == _text(boot_time) else configured


def is_noted(notes: Mapping[str, str], what: str, boot_time: datetime.datetime) -> bool:
    """Return whether there is a note of this boot."""
    return notes.get(note_name(what), "").partition(" ")[0] == _text(boot_time)


def note(boot_time: datetime.datetime, value: str) -> str:
    """The text of a note."""
    return f"{_text(boot_time)} {value}"


def _text(boot_time: datetime.datetime) -> str:
    return boot_time.isoformat().replace(" ", "T")
