# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The files of a results folder, from text to data. A damaged file raises an error with its path."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Mapping, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core import plain_text
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

VALIDATION, STAGES = "validation.json", "stages.json"
# The formats of validation.json and stages.json that this release understands.
FORMATS = (1,)
# Names come from guests and switches. Names in vSphere have at most 80 characters.
LONGEST_NAME, LONGEST_TEXT = 160, 20_000
# Keys whose texts are sentences or outputs. All other texts are names.
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
    """(validation, stages) of a folder: dicts, or None for a missing file; texts is {file: text or None}."""
    if all(texts.get(name) is None for name in (VALIDATION, STAGES)):
        raise OperatorError(
            folder,
            "cannot read the results of a run",
            f"The folder contains neither {VALIDATION} nor {STAGES}",
            "Set results or compare_with to the folder of a run, or run aiready.vsphere.validate first",
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
        # NaN and Infinity are no measured values.
        found = json.loads(text, parse_constant=lambda name: None)
    except ValueError as error:
        raise OperatorError(
            path,
            "cannot read the results of a run",
            f"The file is not JSON: {error}. A killed run may leave half a file",
            "Run aiready.vsphere.validate again",
            "results_damaged",
        ) from None
    if isinstance(found, list) and path.endswith(STAGES):
        found = {"stages": found}
    if not isinstance(found, dict):
        raise OperatorError(
            path,
            "cannot read the results of a run",
            "The file contains no JSON object",
            "Set results or compare_with to the folder of a run",
            "results_damaged",
        )
    if found.get("format", FORMATS[-1]) not in FORMATS:
        raise OperatorError(
            path,
            f"unsupported format {found['format']} of the results",
            f"This release reads format {', '.join(str(known) for known in FORMATS)}",
            "Render the report with the release of the collection that wrote the results",
            "unknown_format",
        )
    return _readable(found)


def _readable(value: Any, key: str = "") -> Any:
    """A value without control characters and with shortened names. Different names stay different."""
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
