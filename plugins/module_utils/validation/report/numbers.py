# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Numbers and times as text for people. report.json has the exact values."""

from __future__ import annotations

from datetime import datetime

NOTHING = "–"
NOT_MEASURED = "not measured"


def figure(value: float | None) -> str:
    """A number with three or four significant digits."""
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
    """A unit with its usual sign."""
    return {"us": "µs"}.get(word, word)


def span(low: float | None, high: float | None) -> str:
    """From the lowest to the highest number; one number if both look the same when rounded."""
    return figure(low) if figure(low) == figure(high) else f"{figure(low)} to {figure(high)}"


def percent(value: float | None) -> str:
    """A change in percent with its sign."""
    if value is None:
        return NOTHING
    return "0.0 %" if abs(value) < 0.05 else f"{value:+.1f} %".replace("-", "−")


def duration(seconds: float | None) -> str:
    """Seconds as a duration."""
    if seconds is None:
        return NOTHING
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 and seconds != int(seconds) else f"{seconds:.0f} s"
    minutes, left = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {left:02d} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min"


def moment(recorded: str) -> str:
    """A recorded time without fractions of seconds; a text that is no time stays unchanged."""
    try:
        when = datetime.fromisoformat(recorded.replace("Z", "+00:00"))
    except ValueError:
        return recorded or NOTHING
    zone = "" if when.tzinfo is None else (" UTC" if not when.utcoffset() else f" {when:%z}")
    return f"{when:%Y-%m-%d %H:%M:%S}{zone}"


def shortened(text: str, most: int) -> str:
    """A text of at most so many characters. It loses its middle, because names differ at their ends."""
    if len(text) <= most:
        return text
    head = most // 2
    return f"{text[:head]}…{text[len(text) - (most - 1 - head) :]}"


def cut(text: str, most: int) -> str:
    """A text of at most so many characters without its end, because kinds and versions differ at the start."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
