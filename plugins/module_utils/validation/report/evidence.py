# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What of a raw output is shown in the report: a few lines, without what sounds like a secret."""

from __future__ import annotations

import re
from typing import Any, Mapping, Sequence

# How much of one file is shown: what decides stands at the end of an output, what ran at its beginning.
HEAD_LINES, TAIL_LINES, LINE_LENGTH = 6, 24, 220
# Bounded: a search without bounds takes minutes in a word of 5,000 letters.
_WORDS = r"pass(?:word|wd|phrase)|secret|token|api_?key|access_?key|credential|private_?key"
_NAMES = rf"[\w.-]{{0,32}}(?:{_WORDS})[\w.-]{{0,32}}"
# Nearly no line has one of these, and looking for them is quick.
_MAYBE = re.compile(rf"{_WORDS}|@|authorization", re.I)
_SECRETS = (
    # NAME=value, NAME: value, "name": "value", --name=value
    re.compile(rf"({_NAMES}[\"']?\s*[=:]\s*[\"']?)([^\s\"',;]+)", re.I),
    # https://user:password@host
    re.compile(r"(://[^\s/:@]{1,256}:)([^\s/@]{1,256})(?=@)"),
    re.compile(r"(\bauthorization:\s*\w+\s+)(\S+)", re.I),
)
_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.S)
HIDDEN = "[not shown]"


def masked(line: str) -> str:
    """The same without values of what sounds like a secret."""
    if not _MAYBE.search(line):
        return line
    for secret in _SECRETS:
        line = secret.sub(lambda found: found[1] + HIDDEN, line)
    return line


def excerpt(raw: str) -> str:
    """The beginning and the end of an output."""
    lines = [_plain(line) for line in masked(_KEY.sub(HIDDEN, raw)).splitlines()]
    if len(lines) > HEAD_LINES + TAIL_LINES + 1:
        left_out = len(lines) - HEAD_LINES - TAIL_LINES
        lines = [*lines[:HEAD_LINES], f"[... {left_out} lines ...]", *lines[-TAIL_LINES:]]
    return "\n".join(lines).strip("\n")


def _plain(line: str) -> str:
    """A line that does nothing but be read: no colours and no movements of a cursor."""
    line = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line).expandtabs()
    line = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in line.rstrip())
    return line if len(line) <= LINE_LENGTH else f"{line[:LINE_LENGTH]} [...]"


def places(row_list: Sequence[Mapping[str, Any]], most: int) -> list[str]:
    """The files to be shown, those of the worst rows first: what did not pass has to explain itself."""
    wanted = [row for verdict in ("fail", "warn") for row in row_list if row["verdict"] == verdict and row["evidence"]]
    return list(dict.fromkeys(row["evidence"] for row in wanted))[:most]
