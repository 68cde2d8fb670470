# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The files of a results folder, from text to data; what is damaged is refused with its place."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Mapping, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core import plain_text
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

VALIDATION, STAGES = "validation.json", "stages.json"
# The formats of validation.json and stages.json that this release understands.
FORMATS = (1,)
# Names come from guests and switches; vSphere's have at most 80 characters.
LONGEST_NAME, LONGEST_TEXT = 160, 20_000
# Keys whose texts are sentences or outputs, and no names.
SENTENCES = frozenset(
    [
        "after",
        "before",
        "cause",
        "command",
        "evidence",
        "excerpt",
        "fix",
        "found",
        "means",
        "msg",
        "notes",
        "reason",
        "sentence",
        "todo",
        "title",
        "what",
        "why",
    ]
)


def recorded(folder: str, texts: Mapping[str, str | None]) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """(validation, stages) of a folder: dicts, or None for a file that is not there; texts is {file: text or None}."""
    if all(texts.get(name) is None for name in (VALIDATION, STAGES)):
        raise OperatorError(
            folder,
            "the results of a run were wanted",
            f"There is neither {VALIDATION} nor {STAGES}",
            "Name the folder of a run, one below results, or run the validation first",
            "no_results",
        )
    return cast(
        "tuple[dict[str, Any] | None, dict[str, Any] | None]",
        tuple(_parsed(f"{folder}/{name}", texts.get(name)) for name in (VALIDATION, STAGES)),
    )


def _parsed(path: str, text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        # A figure that is none, such as NaN, was not measured.
        found = json.loads(text, parse_constant=lambda name: None)
    except ValueError as error:
        raise OperatorError(
            path,
            "the results of a run were wanted",
            f"It is not JSON: {error}",
            "A run that was killed may leave half a file; run the validation again",
            "results_damaged",
        ) from None
    if isinstance(found, list) and path.endswith(STAGES):
        found = {"stages": found}
    if not isinstance(found, dict):
        raise OperatorError(
            path,
            "the results of a run were wanted",
            "It holds no dictionary",
            "Name the folder of a run, one below results",
            "results_damaged",
        )
    if found.get("format", FORMATS[-1]) not in FORMATS:
        raise OperatorError(
            path,
            f"results of format {', '.join(str(known) for known in FORMATS)} were wanted",
            f"They are of format {found['format']}",
            "Make the report with the release of this collection that made the results",
            "unknown_format",
        )
    return _readable(found)


def _readable(value: Any, key: str = "") -> Any:
    """The same without control characters, and with names that fit a page; two different names stay different."""
    if isinstance(value, dict):
        return {_short(plain_text.shown(name)): _readable(one, name) for name, one in value.items()}
    if isinstance(value, list):
        return [_readable(one, key) for one in value]
    if not isinstance(value, str):
        return value
    text = plain_text.shown(value)
    return text[:LONGEST_TEXT] if key in SENTENCES else _short(text)


def _short(text: str) -> str:
    if len(text) <= LONGEST_NAME:
        return text
    return f"{text[: LONGEST_NAME - 12]}...{hashlib.sha256(text.encode()).hexdigest()[:9]}"
