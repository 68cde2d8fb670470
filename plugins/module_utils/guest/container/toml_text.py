# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""TOML as containerd and CRI-O write it. The standard library reads it from Python 3.11 on, the reader below before."""

from __future__ import annotations

import re
import sys
from typing import Any, Sequence, cast

try:
    import tomllib  # novermin
except ImportError:
    tomllib = None  # type: ignore[assignment]

HEXADECIMAL = re.compile(r"[0-9A-Fa-f]*")
BARE = re.compile(r"[A-Za-z0-9_-]+")
NUMBER = re.compile(r"[+-]?(0x[0-9A-Fa-f_]+|0o[0-7_]+|0b[01_]+|[0-9][0-9_]*(\.[0-9_]+)?([eE][+-]?[0-9_]+)?|inf|nan)")
DATE = re.compile(r"\d{4}-\d{2}-\d{2}([Tt ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?([Zz]|[+-]\d{2}:\d{2})?)?")
ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "\\": "\\", "e": "\x1b"}
BLANKS, LINES = " \t", " \t\r\n"


class TomlError(ValueError):
    """Syntax error in a text, with its line."""


def parse(text: str) -> dict[str, Any]:
    """The tree of a TOML text, as dictionaries, lists and plain values; a ValueError names the line that is wrong."""
    return tomllib.loads(text) if tomllib else read(text)


def read(text: str) -> dict[str, Any]:
    """The same without the standard library."""
    return _Reader(text).document()


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def document(self) -> dict[str, Any]:
        tree: dict[str, Any] = {}
        table = tree
        while True:
            self._skip(LINES)
            if self.at >= len(self.text):
                return tree
            if self._take("[["):
                table = self._table(tree, self._keys("]]"), listed=True)
            elif self._take("["):
                table = self._table(tree, self._keys("]"), listed=False)
            else:
                self._pair(table)
            self._end_of_line()

    def _table(self, tree: dict[str, Any], keys: Sequence[str], listed: bool) -> dict[str, Any]:
        place = tree
        for key in keys[:-1]:
            place = self._step(place, key)
        last = keys[-1]
        if listed:
            rows = place.setdefault(last, [])
            if not isinstance(rows, list):
                raise self._error(f"{last} is no list of tables")
            rows.append({})
            return rows[-1]
        return self._step(place, last)

    def _step(self, place: dict[str, Any], key: str) -> dict[str, Any]:
        below = place.setdefault(key, {})
        if isinstance(below, list) and below:
            below = below[-1]
        if not isinstance(below, dict):
            raise self._error(f"{key} is a value and no table")
        return below

    def _pair(self, table: dict[str, Any]) -> None:
        keys = self._keys("=")
        place = table
        for key in keys[:-1]:
            place = self._step(place, key)
        self._skip(BLANKS)
        if keys[-1] in place:
            raise self._error(f"{keys[-1]} is set twice")
        place[keys[-1]] = self._value()

    def _keys(self, end: str) -> list[str]:
        keys: list[str] = []
        while True:
            self._skip(BLANKS)
            keys.append(self._key())
            self._skip(BLANKS)
            if self._take(end):
                return keys
            if not self._take("."):
                raise self._error(f"{end!r} is missing")

    def _key(self) -> str:
        if self._peek() in ('"', "'"):
            return self._string()
        found = BARE.match(self.text, self.at)
        if found is None:
            raise self._error("a name is missing")
        self.at = found.end()
        return found[0]

    def _value(self) -> Any:
        sign = self._peek()
        if sign in ('"', "'"):
            return self._string()
        if sign == "[":
            return self._array()
        if sign == "{":
            return self._inline()
        for word, value in (("true", True), ("false", False)):
            if self._take(word):
                return value
        date = DATE.match(self.text, self.at)
        if date is not None:
            self.at = date.end()
            return date[0]
        number = NUMBER.match(self.text, self.at)
        if number is None:
            raise self._error("a value is missing")
        self.at = number.end()
        digits = number[0].replace("_", "")
        if re.fullmatch(r"[+-]?\d+", digits):
            return int(digits)
        if digits[:2] in ("0x", "0o", "0b"):
            return int(digits, 0)
        return float(digits)

    def _array(self) -> list[Any]:
        self.at += 1
        values: list[Any] = []
        while True:
            self._skip(LINES)
            if self._take("]"):
                return values
            values.append(self._value())
            self._skip(LINES)
            if not self._take(",") and self._peek() != "]":
                raise self._error("',' or ']' is missing")

    def _inline(self) -> dict[str, Any]:
        self.at += 1
        table: dict[str, Any] = {}
        self._skip(BLANKS)
        if self._take("}"):
            return table
        while True:
            self._pair(table)
            self._skip(BLANKS)
            if self._take("}"):
                return table
            if not self._take(","):
                raise self._error("',' or '}' is missing")

    def _string(self) -> str:
        for quote in ('"""', "'''", '"', "'"):
            if self._take(quote):
                break
        several = len(quote) == 3
        if several and self._take("\r\n") is False:
            self._take("\n")
        out: list[str] = []
        while not self._take(quote):
            sign = self._peek()
            if sign == "" or (sign == "\n" and not several):
                raise self._error("the text has no end")
            self.at += 1
            out.append(self._escape() if sign == "\\" and quote[0] == '"' else sign)
        return "".join(out)

    def _escape(self) -> str:
        sign = self._peek()
        self.at += 1
        if sign in ESCAPES:
            return ESCAPES[sign]
        if sign in ("u", "U"):
            length = 4 if sign == "u" else 8
            digits = cast("re.Match[str]", HEXADECIMAL.match(self.text, self.at))[0][:length]
            self.at += len(digits)
            # A half of a surrogate pair is no character of its own.
            if len(digits) < length or int(digits, 16) > sys.maxunicode or 0xD800 <= int(digits, 16) <= 0xDFFF:
                raise self._error(f"\\{sign}{digits} is no character")
            return chr(int(digits, 16))
        if sign in LINES and sign:
            self._skip(LINES, comments=False)
            return ""
        raise self._error(f"\\{sign} has no meaning")

    def _skip(self, signs: str, comments: bool = True) -> None:
        while self.at < len(self.text):
            sign = self.text[self.at]
            if sign == "#" and comments:
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            elif sign in signs:
                self.at += 1
            else:
                return

    def _end_of_line(self) -> None:
        self._skip(BLANKS)
        if self._peek() not in ("", "\n") and not self._take("\r\n"):
            raise self._error("the line does not end here")

    def _peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def _take(self, word: str) -> bool:
        if self.text.startswith(word, self.at):
            self.at += len(word)
            return True
        return False

    def _error(self, what: str) -> TomlError:
        line = self.text.count("\n", 0, self.at) + 1
        return TomlError(f"line {line}: {what}")
