# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Numbers of autonomous systems in outputs of switches. They identify their owner, so public ones are replaced."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.capture.pseudonyms import Table

_ONE = r"\d{1,5}\.\d{1,5}|\d{1,10}"
# After a keyword, also in brackets and at the end of a sentence. The word AS alone counts in capital letters only,
# since "as" is a word of every sentence.
_KEYWORD = re.compile(
    r"(?P<before>(?<![a-z0-9])(?:(?:bgp|remote-as|local-as|peer-as|autonomous-system|asn|as-number|as number|"
    r"confederation identifier|(?-i:AS))\"?\s{0,80}(?:[:=]\s{0,40}|(?<=\s)|(?=[\[({]))(?:[\[({]\s{0,40})?\"?|"
    r"(?:rd|route-target(?:\s+(?:import|export|both))?(?:\s+(?:evpn|vpn-ipv4|vpn-ipv6))?)\s+(?=[\d.]+:\d)|target:))"
    rf"(?P<number>{_ONE})(?=[\s,:;\"\])}}]|\.(?!\d)|$)",
    re.IGNORECASE,
)
# Lines with several of them: a path, or an expression that filters paths.
_SEVERAL = re.compile(
    r"(?P<before>\b(?:as-path prepend|confederation peers|as-path (?:access-list )?(?:\S{1,64} )?"
    r"(?:seq \d{1,9} )?(?:permit|deny)|as-path \S{1,64}(?= [\"^])) )(?P<numbers>[^;]+)",
    re.IGNORECASE,
)
_NUMBER = re.compile(rf"(?<![\d.])(?:{_ONE})(?![\d.])")
# The tables of `show bgp summary` have a row for each neighbour, with the version of BGP before the number or without.
# A number after the word AS makes the line a row.
_AFTER_VERSION = re.compile(r"\bV\s+AS\b(?!\W{0,40}\d)")
_AFTER_NEIGHBOUR = re.compile(r"\b(?:Neighbor|Peer)\s+AS\b(?!\W{0,40}\d)")
_ROW_VERSION = re.compile(rf"(?P<before>(?:^|\s)4\s+)(?P<number>{_ONE})(?=\s|$)")
_ROW_NEIGHBOUR = re.compile(rf"(?P<before>^\s*\S+\s+)(?P<number>{_ONE})(?=\s|$)")
# The tables of `show bgp` have the path of each route before the code of its origin: i, e or ?.
_PATHS = re.compile(r"\bWeight\s{1,9}Path\s*$")
_ORIGIN = re.compile(r"\s[ie?]\s*$")
KEY = re.compile(
    r"as|asn|as[-_]?(?:number|path)|(?:remote|local|peer|bgp|neighbor)[-_]?as(?:n|[-_]?number)?|autonomous[-_]?system",
    re.IGNORECASE,
)


class Systems:
    """Replaces the numbers of autonomous systems, line by line. The header of a table decides about its rows."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._row: re.Pattern[str] | None = None
        self._paths = False

    def start(self) -> None:
        """Begin another output. A table does not continue there."""
        self._row, self._paths = None, False

    def line(self, line: str) -> str:
        """The line with the pseudonyms of public autonomous systems."""
        header = next((row for found, row in _TABLES if found.search(line)), None)
        paths = bool(_PATHS.search(line))
        if header or paths or not line.strip():
            self._row, self._paths = header, paths
            return line
        if self._row is not None:
            line = self._row.sub(self._replaced, line, count=1)
        if self._paths or line.lstrip().startswith("*"):
            line = self._path(line)
        return _SEVERAL.sub(self._replaced, _KEYWORD.sub(self._replaced, line))

    def _path(self, line: str) -> str:
        """A route with the numbers before the code of its origin replaced, from the last one on."""
        origin = _ORIGIN.search(line[-8:].rstrip())
        words = re.split(r"(\s+)", line.rstrip())
        place = len(words) - 3
        while origin and place > 0 and re.fullmatch(_ONE, words[place]):
            words[place] = self._table.autonomous(words[place])
            place -= 2
        return "".join(words)

    def number(self, text: str) -> str:
        """The text with the pseudonyms of all such numbers in it."""
        return _NUMBER.sub(lambda one: self._table.autonomous(one.group()), text)

    def _replaced(self, found: re.Match[str]) -> str:
        numbers = found.groupdict().get("numbers")
        if numbers is None:
            return found["before"] + self._table.autonomous(found["number"])
        return found["before"] + self.number(numbers)


_TABLES = ((_AFTER_VERSION, _ROW_VERSION), (_AFTER_NEIGHBOUR, _ROW_NEIGHBOUR))
