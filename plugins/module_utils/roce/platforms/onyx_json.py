# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""JSON of NVIDIA Onyx: its nesting differs between releases, so it is searched and not indexed. Pure."""

from __future__ import annotations

import ast
import json
import re

TRIED = 50  # brackets that begin nothing, after which a text is given up
PORT = re.compile(r"((?:Eth|Po|Mpo)\d+(?:/\d+)*)(?:\s*\(.*\))?")


def documents(text):
    """The JSON in an output, without banners and echoed commands, unwrapped from what the JSON API adds."""
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


def tables(value):
    """Every table in nested lists and tables, outer ones first."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from tables(part)


def scalars(value):
    """{name: text} of everything that is no table itself."""
    return {
        str(key): str(what)
        for table in tables(value)
        for key, what in table.items()
        if not isinstance(what, (dict, list))
    }


def by_port(value):
    """(port, what is told of it), whether its name is a key or a header."""
    for table in tables(value):
        for key, what in table.items():
            named = PORT.fullmatch(str(key))
            if named:
                yield named.group(1), what
        named = PORT.fullmatch(str(table.get("header", "")))
        if named:
            yield named.group(1), table


def _literal(text):
    """A document with Python's quotes, as some tools print it."""
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _unwrapped(document):
    results = document.get("results") if isinstance(document, dict) else None
    if isinstance(results, list):
        return [part for one in results for part in _unwrapped(one)]
    if isinstance(document, dict) and "data" in document and ("status" in document or len(document) == 1):
        return [document["data"]]
    return [document]
