# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""As much YAML as netplan prints and takes: mappings, lists and plain values in blocks. Pure.

A guest's Python has no YAML library for sure, and netplan itself prints every file in this one form.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Sequence, Tuple, cast

if TYPE_CHECKING:
    Line = Tuple[int, str]  # how deep it stands, and what it says

_PLAIN = re.compile(r"[A-Za-z_][\w./-]*|\d+")
_QUOTED = r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')"""
# A text in quotes, or a comment behind a blank.
_COMMENT = re.compile(rf"({_QUOTED})|(?:^|\s)#.*$")
# What stands between commas, of a list or mapping in one line.
_PART = re.compile(rf"(?:{_QUOTED}|\[[^\]]*\]|\{{[^}}]*\}}|[^,])+")


def parse(text: str | None) -> Any:
    """What a text holds; values are texts, numbers, True, False and None."""
    lines: list[str] | list[Line] = [
        line for line in (_stripped(line) for line in (text or "").splitlines()) if line.strip()
    ]
    lines = [
        (len(line) - len(line.lstrip()), line.strip())
        for line in cast("list[str]", lines)
        if not line.startswith("---")
    ]
    return _block(lines, 0)[0] if lines else {}


def render(value: Any, indent: int = 0) -> str:
    """The text of mappings, lists and plain values."""
    pad = "  " * indent
    if isinstance(value, dict) and value:
        return "".join(f"{pad}{_scalar(key)}:{_below(inner, indent)}" for key, inner in value.items())
    if isinstance(value, list) and value:
        return "".join(f"{pad}- {_item(inner, indent)}" for inner in value)
    return f"{pad}{_scalar(value)}\n"


def _below(value: Any, indent: int) -> str:
    if isinstance(value, (dict, list)) and value:
        return "\n" + render(value, indent + 1)
    return f" {_scalar(value)}\n"


def _item(value: Any, indent: int) -> str:
    if isinstance(value, dict) and value:
        return render(value, indent + 1).lstrip()
    return f"{_scalar(value)}\n"


def _scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, str) and _PLAIN.fullmatch(value) and _value(value) == value:
        return value
    return json.dumps(value)


def _stripped(line: str) -> str:
    """A line without its comment."""
    return _COMMENT.sub(lambda match: match.group(1) or "", line).rstrip()


def _block(lines: Sequence[Line], place: int) -> tuple[Any, int]:
    """(the value that begins at a line, the line behind it)."""
    depth, text = lines[place]
    if text == "-" or text.startswith("- "):
        return _list(lines, place, depth)
    if _key(text) is None:
        return _text(text, lines, place + 1, depth - 1)
    found = {}
    while place < len(lines) and lines[place][0] == depth and _key(lines[place][1]) is not None:
        name, rest = cast("tuple[str, str]", _key(lines[place][1]))
        place += 1
        if rest:
            found[name], place = _text(rest, lines, place, depth)
        elif place < len(lines) and _is_below(lines[place], depth):
            found[name], place = _block(lines, place)
        else:
            found[name] = None
    return found, place


def _text(text: str, lines: Sequence[Line], place: int, depth: int) -> tuple[Any, int]:
    """(the value that begins with a text, the line behind it): what stands deeper belongs to it."""
    while place < len(lines) and lines[place][0] > depth:
        text = f"{text} {lines[place][1]}"
        place += 1
    return _value(text), place


def _is_below(line: Line, depth: int) -> bool:
    """Lists may stand as deep as the key that they belong to."""
    return line[0] > depth or (line[0] == depth and (line[1] == "-" or line[1].startswith("- ")))


def _list(lines: Sequence[Line], place: int, depth: int) -> tuple[list[Any], int]:
    found, lines = [], list(lines)
    while place < len(lines) and lines[place][0] == depth and (lines[place][1] + " ").startswith("- "):
        rest = lines[place][1][1:].strip()
        if not rest:
            value, place = _block(lines, place + 1) if place + 1 < len(lines) else (None, place + 1)
        else:
            # What stands behind the dash is a block of its own, as deep as its first word.
            lines[place] = (depth + lines[place][1].index(rest), rest)
            value, place = _block(lines, place)
        found.append(value)
    return found, place


def _key(text: str) -> tuple[str, str] | None:
    """(key, rest) of 'key: rest'; None for a line that has none."""
    match = re.match(r"""("(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'\[{&*!|>#-][^"']*?):(?:\s+(.*))?$""", text)
    return (str(_value(match.group(1).strip())), (match.group(2) or "").strip()) if match else None


def _value(text: str) -> Any:
    if text[:1] == "'" and text[-1:] == "'" and len(text) > 1:
        return text[1:-1].replace("''", "'")
    if text[:1] == '"' or text in ("{}", "[]"):
        return _json(text)
    if text[:1] + text[-1:] in ("[]", "{}"):
        parts = [one.strip() for one in _PART.findall(text[1:-1]) if one.strip()]
        pairs = [_key(one) or (one, "") for one in parts]
        return [_value(one) for one in parts] if text[0] == "[" else {name: _value(rest) for name, rest in pairs}
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    words = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
    return None if text.lower() in ("null", "~", "") else words.get(text.lower(), text)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text.strip('"')
