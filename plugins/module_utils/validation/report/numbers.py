# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""How numbers and times are written for people. The exact value is in report.json."""

from __future__ import annotations

from datetime import datetime

NOTHING = "–"


def figure(value: float | None) -> str:
    """A number with as many digits as help."""
    if value is None:
        return NOTHING
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:,.0f}"
    if value == 0:
        return "0"
    if abs(value) >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.2g}"


def unit(word: str) -> str:
    """A unit as people write it."""
    return {"us": "µs"}.get(word, word)


def span(low: float | None, high: float | None) -> str:
    """From the lowest to the highest, or one figure where they look the same."""
    return figure(low) if figure(low) == figure(high) else f"{figure(low)} to {figure(high)}"


def percent(value: float | None) -> str:
    """A change, with its sign."""
    if value is None:
        return NOTHING
    return "0.0 %" if abs(value) < 0.05 else f"{value:+.1f} %".replace("-", "−")


def duration(seconds: float | None) -> str:
    """Seconds in words."""
    if seconds is None:
        return NOTHING
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 and seconds != int(seconds) else f"{seconds:.0f} s"
    minutes, left = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {left:02d} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min"


def moment(told: str) -> str:
    """A moment as it was recorded, without fractions of seconds; what is no moment stays as it is."""
    try:
        when = datetime.fromisoformat(told.replace("Z", "+00:00"))
    except ValueError:
        return told or NOTHING
    zone = "" if when.tzinfo is None else (" UTC" if not when.utcoffset() else f" {when:%z}")
    return f"{when:%Y-%m-%d %H:%M:%S}{zone}"


def shortened(text: str, most: int) -> str:
    """A text of at most so many characters; its middle goes, since names differ at their ends."""
    if len(text) <= most:
        return text
    head = most // 2
    return f"{text[:head]}…{text[len(text) - (most - 1 - head) :]}"


def cut(text: str, most: int) -> str:
    """The same without its end: what says most of a kind or a version stands first."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
