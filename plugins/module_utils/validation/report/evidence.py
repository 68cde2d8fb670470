# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Excerpts of raw output for the report: a few lines, without values that look like secrets."""

from __future__ import annotations

import re
from typing import Any, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core import logins

# Lines of one file in the report: the command is at the start of an output, the result at its end.
HEAD_LINES, TAIL_LINES, LINE_LENGTH = 6, 24, 220
# Bounded, because an unbounded search takes minutes in a word of 5,000 letters.
_WORDS = r"pass(?:word|wd|phrase)|secret|token|api_?key|access_?key|credential|private_?key"
_NAMES = rf"[\w.-]{{0,32}}(?:{_WORDS})[\w.-]{{0,32}}"
# A quick search first, because few lines contain one of these.
_MAYBE = re.compile(rf"{_WORDS}|@|authorization", re.I)
_SECRETS = (
    # NAME=value, NAME: value, "name": "value", --name=value
    re.compile(rf"({_NAMES}[\"']?\s*[=:]\s*[\"']?)([^\s\"',;]+)", re.I),
    re.compile(r"(\bauthorization:\s*\w+\s+)(\S+)", re.I),
)
_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.S)
HIDDEN = logins.HIDDEN


def masked(line: str) -> str:
    """A line without values that look like secrets."""
    if not _MAYBE.search(line):
        return line
    for secret in _SECRETS:
        line = secret.sub(lambda found: found[1] + HIDDEN, line)
    return logins.hidden(line)


def excerpt(raw: str) -> str:
    """The beginning and the end of an output."""
    lines = [_plain(line) for line in masked(_KEY.sub(HIDDEN, raw)).splitlines()]
    if len(lines) > HEAD_LINES + TAIL_LINES + 1:
        left_out = len(lines) - HEAD_LINES - TAIL_LINES
        lines = [*lines[:HEAD_LINES], f"[... {left_out} lines ...]", *lines[-TAIL_LINES:]]
    return "\n".join(lines).strip("\n")


def _plain(line: str) -> str:
    """A line without colours and cursor movements."""
    line = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line).expandtabs()
    line = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in line.rstrip())
    return line if len(line) <= LINE_LENGTH else f"{line[:LINE_LENGTH]} [...]"


def places(row_list: Sequence[Mapping[str, Any]], most: int) -> list[str]:
    """The files of evidence to quote: of failed rows first, then of rows that warned."""
    wanted = [row for verdict in ("fail", "warn") for row in row_list if row["verdict"] == verdict and row["evidence"]]
    return list(dict.fromkeys(row["evidence"] for row in wanted))[:most]
