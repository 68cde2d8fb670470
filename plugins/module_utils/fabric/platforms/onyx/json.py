# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Search the JSON of NVIDIA Onyx, because its nesting differs between releases. Pure."""

from __future__ import annotations

import ast
import json
import re
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import cleaned

if TYPE_CHECKING:
    from collections.abc import Iterator

TRIED = 50  # brackets without valid JSON, after which the search stops
PORT = re.compile(r"((?:Eth|Po|Mpo)\d+(?:/\d+)*)(?:\s*\(.*\))?")


def documents(text: str) -> list[object]:
    """Return the JSON in an output, without banners, echoed commands and the wrapper of the JSON API."""
    found: list[object]
    found, position, decoder, failed = [], 0, json.JSONDecoder(), 0
    while True:
        start = re.compile(r"[{\[]").search(text, position)
        if not start or failed == TRIED:
            return [part for document in found for part in _unwrapped(document)]
        try:
            document, position = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            document = _literal(text[start.start() :])
            position, failed = start.start() + 1, failed + 1
            if document is not None:
                position = len(text)
        if document is not None:
            found.append(document)


def tables(value: object) -> Iterator[dict[str, Any]]:
    """Yield every table in nested lists and tables, outer tables first."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from tables(part)


def scalars(value: object) -> dict[str, str]:
    """Return {name: text} of all values that are not tables."""
    return {
        str(key): str(what)
        for table in tables(value)
        for key, what in table.items()
        if not isinstance(what, (dict, list))
    }


def by_port(value: object) -> Iterator[tuple[str, object]]:
    """Yield (port, its values), where the port name is a key or a header."""
    for table in tables(value):
        for key, what in table.items():
            named = PORT.fullmatch(str(key))
            if named:
                yield named.group(1), what
        named = PORT.fullmatch(str(table.get("header", "")))
        if named:
            yield named.group(1), table


def from_text(text: str, port: str | None = None) -> list[dict[str, object]]:
    """Return the same document for text output: tables by port, with a sub-table for each row or traffic class.

    port: the port in the command; some outputs do not print it.
    """
    found: dict[str, dict[str, Any]]
    place: dict[str, str] | None
    columns: list[str]
    found, place, columns = {}, None, []
    at = found.setdefault(port, {}) if port else None
    for line in cleaned(text):
        words = line.strip()
        head = _HEAD.fullmatch(words)
        if head:
            name = head.group(1) or f"{'Po' if head.group(2).lower().startswith('p') else 'Eth'}{head.group(3)}"
            at, place, columns = found.setdefault(name, {}), None, []
            continue
        if at is None:
            continue
        queue = re.fullmatch(r"TC[- ]?(\d)\s*:?", words)
        cells = words.split()
        mapped = re.fullmatch(r"(?:\d\(\d\)\s+)+((?:\d+[ ,]+)*\d+)\s{2,}(\d)", words)
        if queue:
            place = at.setdefault(f"TC-{queue.group(1)}", {"header": f"TC-{queue.group(1)}"})
        elif cells[:2] == ["TC", "S.Mode"]:
            columns = cells
        elif mapped:
            at[f"map {mapped.group(2)}"] = {"DSCP": mapped.group(1), "switch-priority": mapped.group(2)}
        elif columns and re.match(r"\d\s+\S", words):
            at[cells[0]] = dict(zip(columns[1:], cells[1:]))
        elif ":" in words:
            key, _colon, value = (piece.strip() for piece in words.partition(":"))
            (at if place is None else place)[key] = value
    return [{name: table} for name, table in found.items() if table]


# Eth1/1, Eth1/1 (server), Eth1/1:, Interface ethernet: 1/1
_HEAD = re.compile(
    r"((?:Eth|Po|Mpo)\d+(?:/\d+)*)(?:\s*\([^)]*\))?\s*:?|Interface (ethernet|port-channel)\s*:?\s*(\d+(?:/\d+)*)\s*:?",
    re.IGNORECASE,
)


def _literal(text: str) -> object:
    """Return a document with Python quotes, as some tools print it."""
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _unwrapped(document: object) -> list[object]:
    results = document.get("results") if isinstance(document, dict) else None
    if isinstance(results, list):
        return [part for one in results for part in _unwrapped(one)]
    if isinstance(document, dict) and "data" in document and ("status" in document or len(document) == 1):
        return [document["data"]]
    return [document]
