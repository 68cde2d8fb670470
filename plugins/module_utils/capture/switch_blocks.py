# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Blocks of a switch's output that have no words of a switch: banners, certificates, keys and comments."""

from __future__ import annotations

import re
from typing import Callable, Iterator, Sequence

_BANNER = re.compile(
    r"\s*banner(?:\s+(?:motd|login|exec|incoming|post-login|pre-login))?\s*(?P<rest>.*)$", re.IGNORECASE
)
_CERTIFICATE = re.compile(r"\s*certificate\s+\S", re.IGNORECASE)
# A line of a certificate or key: groups of eight hexadecimal digits. Counters have no letters.
_HEX = re.compile(r"(?=.*[A-Fa-f])(?:(?:[0-9A-Fa-f]{8}\s+){2,}[0-9A-Fa-f]{2,8}|[0-9A-Fa-f]{40,})")
# Lines of a block. Without a limit, many starts without an end take quadratic time.
_LONGEST = 500
_COMMENT, _COMMENT_END = "/*", "*/"


def inside(lines: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it is inside of such a block. The first line of a banner is not."""
    end: int = -1
    for number, line in enumerate(lines):
        if number <= end:
            yield line, True
            continue
        ends = _end_of(line)
        if ends is not None:
            end = next(
                (place for place in range(number + 1, min(len(lines), number + _LONGEST)) if ends(lines[place])), -1
            )
        yield line, bool(_HEX.fullmatch(line.strip())) or line.lstrip().startswith(_COMMENT)


def _end_of(line: str) -> Callable[[str], bool] | None:
    """The test for the last line of a block that starts here, or None."""
    banner = _BANNER.match(line)
    if banner:
        return _end_of_banner(banner["rest"].strip())
    if _CERTIFICATE.match(line):
        return lambda one: one.strip() == "quit"
    if "-----BEGIN " in line:
        return lambda one: "-----END " in one
    if line.lstrip().startswith(_COMMENT) and _COMMENT_END not in line:
        return lambda one: _COMMENT_END in one
    return None


def _end_of_banner(rest: str) -> Callable[[str], bool] | None:
    """EOS ends a banner with EOF. Others repeat the sign with which it starts."""
    if not rest:
        return lambda one: one.strip() == "EOF"
    sign = rest[:2] if rest.startswith("^") else rest[0]
    if sign[0].isalnum() or sign in rest[len(sign) :]:
        return None
    return lambda one: sign in one
