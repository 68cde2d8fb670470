# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Parse configurations and tables of switches with an industry-standard command line. Pure."""

from __future__ import annotations

import json
import re
from typing import Any, Iterator, cast

LARGEST_RANGE = 4096  # larger ranges are typing errors
MOST_PORTS = 1024  # in a range of ports; no line card and no chassis has more
DEEPEST = 50  # levels of a configuration; no switch has so many, and Python limits the depth of calls
_PROMPT = re.compile(r"^[\w.:@()/-]{1,80}[#>]\s*(?=show\s|$)")
# --More--, -- more --, <--- More --->, --More-- (45%), ---(more 12%)---, lines 1-24, (END).
_PAGER = (
    r"(?:<?-+[ \t]*\(?more\b[^-\r\n>]*\)?[ \t]*-*>?(?:[ \t]*\([^)\r\n]*\))?"
    r"|lines \d+-\d+(?:/\d+)?(?: \(END\))?|\(END\))"
)
# A pager is alone on its line, or the next line overwrites it.
_PAGED = re.compile(rf"(?mi)^[ \t]*{_PAGER}(?:[ \t]*\r(?!\r*\n)[ \t]*)*(?:[ \t]*\r*\n)?[ \t]*?")
_COMPLAINT = re.compile(
    r"%\s?\w|error:|syntax error|unknown command|usage: |(?:-?\w*sh: )?.*command not found|cannot find |"
    r"invalid (?:input|command)|ambiguous command|incomplete command|permission denied|no such command",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"\{(?:master|backup|linecard|primary|secondary)(?::[\w-]+)?\}(?:\[edit.*\])?|\[edit.*\]"
)  # of Junos
_REFUSAL = re.compile(
    r"%\s?(?:error|invalid|incomplete|ambiguous|unrecognized|unknown|permission|authorization|not )|syntax error, ",
    re.IGNORECASE,
)
_TOO_LONG = re.compile(r"\d{31,}")  # no value has so many digits, and Python converts no number of more than 4300
_SIGNS = re.compile(r"[\x00\x07\x08\x1b]")
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b\n]*\x07|\x1b[=>()][A-B0]?|[^\n]\x08|[\x00\x07]")


class Line:
    """One line of a configuration and the lines indented below it."""

    def __init__(self, text: str, children: list[Line] | None = None) -> None:
        self.text = text
        self.children = [] if children is None else children

    @property
    def words(self) -> list[str]:
        return self.text.split()

    def get(self, start: str) -> Line | None:
        """The first child that begins with these words, or None."""
        return next(iter(self.find(start)), None)

    def find(self, start: str) -> list[Line]:
        """The children that begin with these words."""
        return [child for child in self.children if _begins(child.text, start)]

    def rest(self, start: str) -> list[str]:
        """The rest of each child that begins with these words."""
        return [child.text[len(start) :].strip() for child in self.find(start)]

    def has(self, text: str) -> bool:
        """Return whether a child has exactly this text."""
        return any(child.text == text for child in self.children)

    def walk(self) -> Iterator[tuple[tuple[Line, ...], Line]]:
        """All lines below, each with those above it: (parents, line)."""
        for child in self.children:
            yield (), child
            for parents, line in child.walk():
                yield (child, *parents), line

    def matching(self, pattern: str | re.Pattern[str]) -> list[tuple[re.Match[str], Line]]:
        """(match, child) of each child that matches the whole pattern."""
        found = ((re.fullmatch(pattern, child.text), child) for child in self.children)
        return [(match, child) for match, child in found if match]

    def render(self, indent: int = 2, depth: int = 0) -> str:
        """This line and those below it as text."""
        own = [] if depth < 0 else [" " * (indent * depth) + self.text]
        return "\n".join(own + [child.render(indent, depth + 1) for child in self.children])


def tree(text: str | None) -> Line:
    """A root Line of a configuration with any indentation, without comments and separators."""
    lines = [line for line in cleaned(text) if not line.lstrip().startswith("!") and line.strip()]
    root = Line("")
    open_lines = [(-1, root)]
    for line in lines:
        depth = _indent(line)
        while open_lines[-1][0] >= depth or len(open_lines) > DEEPEST:
            open_lines.pop()
        entry = Line(" ".join(line.split()))
        open_lines[-1][1].children.append(entry)
        open_lines.append((depth, entry))
    return root


def cleaned(text: str | None) -> list[str]:
    """The lines of an output without carriage returns, pagers, and prompts with echoed commands."""
    lines = without_terminal(text).split("\n")
    return [line for line in lines if not _PROMPT.match(line.strip()) and not _PLACE.fullmatch(line.strip())]


def without_terminal(text: str | None) -> str:
    """A text without carriage returns, pagers and escapes."""
    whole = (text or "").replace("\ufeff", "")
    # The search for one sign is faster than that for an escape, and most outputs have none.
    whole = _ESCAPES.sub("", whole) if _SIGNS.search(whole) else whole
    whole = _TOO_LONG.sub("?", whole)
    whole = re.sub(r"\r+\n", "\n", _PAGED.sub("", whole)).replace("\r", "\n")
    return "\n".join(line.rstrip().expandtabs() for line in whole.split("\n"))


def complaint(text: str | None) -> str | None:
    """The error of a switch that does not know or allow a command; None for an output."""
    reported = [line.strip() for line in cleaned(text) if line.strip(" ^")]
    reported = [line for line in reported if not re.match(r"(?:show|nv)\s", line)]  # echoes
    return reported[0] if reported and len(reported) < 5 and _COMPLAINT.match(reported[0]) else None


def complaints(text: str | None) -> list[str]:
    """The error lines of an output, also between other lines."""
    reported = (line.strip() for line in cleaned(text))
    return list(dict.fromkeys(line for line in reported if _REFUSAL.match(line)))


def from_json(text: str | None) -> Any:
    """The JSON object in an output, also after an echoed command; None without one."""
    start = (text or "").find("{")
    if start < 0:
        return None
    try:
        return json.JSONDecoder().raw_decode(cast("str", text)[start:])[0]
    except (ValueError, RecursionError):
        return None


def part(tree: object, *path: str) -> dict[str, Any]:
    """The table at a JSON path; empty if it is missing or not a table."""
    for key in path:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree if isinstance(tree, dict) else {}


def rows(table: object) -> list[Any]:
    """Rows of a JSON table; a single row may have no list around it."""
    if table is None:
        return []
    return table if isinstance(table, list) else [table]


def numbers(text: str | None) -> list[int]:
    """[0, 1, 2, 5] of '0-2 5', '0,1,2,5'; names of DSCPs count as their numbers."""
    found: list[int] = []
    for part in re.split(r"[\s,]+", (text or "").strip()):
        span = re.fullmatch(r"(\d+)-(\d+)", part)
        if span:
            found.extend(range(int(span.group(1)), min(int(span.group(2)), int(span.group(1)) + LARGEST_RANGE) + 1))
        elif part.isdecimal():
            found.append(int(part))
        elif part.lower() in DSCP_NAMES:
            found.append(DSCP_NAMES[part.lower()])
    return sorted(set(found))


def ports(text: str) -> list[str]:
    """['Ethernet1/1', 'Ethernet1/2'] of 'Ethernet1/1-2' or 'Ethernet 1/1,1/2': port names that may contain ranges."""
    found: list[str]
    found, stem = [], ""
    for part in text.replace(" ", "").split(","):
        name = re.fullmatch(r"([A-Za-z]*)((?:\d+[/:])*)(\d+)(?:-(?:(?:\d+[/:])*)(\d+))?", part)
        if not name:
            found.append(part)
            continue
        kind, slot, first, last = name.groups()
        stem = kind or stem
        end = min(int(last or first), int(first) + MOST_PORTS)
        found += [f"{stem}{slot}{number}" for number in range(int(first), end + 1)]
    return found


def port_in(command: str, kinds: str) -> tuple[str, str] | None:
    """(kind, number) of the port in a command, by a pattern of kinds; None without a port, or with several."""
    found = re.findall(rf"(?<![\w/])({kinds})\s*(\d+(?:[/:]\d+)*)(?![\w,-])", command, re.IGNORECASE)
    return found[0] if len(found) == 1 else None


def under(port: str | None, text: str) -> str:
    """A part of a configuration, below the interface that is named in its command only."""
    rows = [line for line in cleaned(text) if line.strip()]
    if port is None or not rows or any(re.match(r"\s*interface\s", row, re.IGNORECASE) for row in rows):
        return text
    return "\n".join([f"interface {port}", *(f"   {row}" for row in rows)])


def number(text: object, otherwise: int | None = None) -> int | None:
    """The first whole number in a text."""
    found = re.search(r"\d+", str(text if text is not None else ""))
    return int(found.group()) if found else otherwise


def bits(mask: int) -> list[int]:
    """[3] of 8: the priorities in a bit mask."""
    return [priority for priority in range(8) if mask >> priority & 1]


def _begins(text: str, start: str) -> bool:
    return text == start or text.startswith(f"{start} ")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


# Names of code points in RFC 2474, 2597, 3246 and 5865.
DSCP_NAMES = {
    "default": 0,
    "ef": 46,
    "va": 44,
    "voice-admit": 44,
    **{f"cs{kind}": 8 * kind for kind in range(8)},
    **{f"af{kind}{drop}": 8 * kind + 2 * drop for kind in range(1, 5) for drop in range(1, 4)},
}
# A list of code points, as numbers() reads it.
CODES = rf"(?:(?:[\d-]+|{'|'.join(DSCP_NAMES)})(?:[\s,]+|(?=\s|$)))+"


def natural(name: str) -> list[int | str]:
    """A sort key that puts Ethernet2 before Ethernet10."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", name)]
