# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The file gridd.conf with the settings of the guest driver's licence service. Pure.

Only the lines of the requested keys change; comments, blanks and all other keys stay unchanged.
"""

from __future__ import annotations

import re
from typing import Mapping

FOLDER = "/etc/nvidia"
FILE, TEMPLATE = f"{FOLDER}/gridd.conf", f"{FOLDER}/gridd.conf.template"
TOKENS = f"{FOLDER}/ClientConfigToken"
FEATURE, TOKEN_FOLDER = "FeatureType", "ClientConfigTokenPath"
# Numbers of FeatureType in the manual: the service takes the type of a vGPU from its profile.
FEATURES = {"unlicensed": "0", "vgpu": "1", "rtx_vws": "2", "compute": "4"}
# Keys of the licence server that NVIDIA has withdrawn; the token names a current server.
WITHDRAWN = ("ServerAddress", "ServerPort", "BackupServerAddress", "BackupServerPort")
_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
_LINE = re.compile(r"\s*([A-Za-z][A-Za-z0-9_]*)\s*=\s*(.*?)\s*\Z")
_COMMENTED = re.compile(r"\s*#+\s*([A-Za-z][A-Za-z0-9_]*)\s*=")


def parse(text: str | None) -> dict[str, str]:
    """Return {key: value} of the file; for a repeated key, the last value."""
    found = {}
    for line in (text or "").splitlines():
        pair = _LINE.match(line)
        if pair is not None:
            found[pair[1]] = _bare(pair[2])
    return found


def with_settings(text: str | None, settings: Mapping[str, str | None]) -> str:
    """The text with these values, None for a key to remove."""
    lines = (text or "").splitlines()
    for key, value in settings.items():
        lines = _with_one(lines, key, value)
    return "\n".join(lines) + "\n" if lines else ""


def is_key(name: str) -> bool:
    return _KEY.match(name) is not None


def _with_one(lines: list[str], key: str, value: str | None) -> list[str]:
    places = [index for index, line in enumerate(lines) if _key_of(line) == key]
    if value is None:
        return [line for index, line in enumerate(lines) if index not in places]
    if parse("\n".join(lines)).get(key) == value and len(places) == 1:
        return lines
    made = f"{key}={value}"
    if places:
        # The last one counted so far; those before it would only mislead the reader.
        return [made if index == places[-1] else line for index, line in enumerate(lines) if index not in places[:-1]]
    # The template has most keys in comments, with their explanation above.
    hints = [index for index, line in enumerate(lines) if _commented_key(line) == key]
    place = hints[-1] + 1 if hints else len(lines)
    return [*lines[:place], made, *lines[place:]]


def _key_of(line: str) -> str | None:
    pair = _LINE.match(line)
    return pair[1] if pair is not None else None


def _commented_key(line: str) -> str | None:
    found = _COMMENTED.match(line)
    return found[1] if found is not None else None


def _bare(value: str) -> str:
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if quoted else value
