# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Configuration files of container engines: parse, compare, and replace as a whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Iterator, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container import toml_text

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files


def read(files: Files, path: str) -> str | None:
    """The text of a file, or None when there is no such file."""
    text = files.text(path)
    if text is None and files.exists(path):
        raise OperatorError(
            path,
            "cannot be read",
            "The path exists, but this user cannot read it as a file.",
            "Run the task as root (`become: true`), and check that the path is a file.",
            "configuration_unreadable",
            path=path,
        )
    return text


def tree(path: str, text: str | None, kind: str) -> dict[str, Any]:
    """Return the content of a text, {} for a missing or empty file."""
    if text is None or not text.strip():
        return {}
    try:
        said = json.loads(text) if kind == "json" else toml_text.parse(text)
    except ValueError as error:
        raise _broken(path, kind, str(error)) from None
    if not isinstance(said, dict):
        raise _broken(path, kind, "it holds no names with values")
    return said


def _broken(path: str, kind: str, why: str) -> OperatorError:
    return OperatorError(
        path,
        f"is not valid {kind.upper()}",
        f"The error is: {why}. The engine cannot start with it either. The module changed nothing.",
        "Correct the file, or move it away, then run the task again.",
        "configuration_broken",
        path=path,
    )


def differences(name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """Return one change for each value that differs between two trees."""
    old, new = dict(_leaves(before)), dict(_leaves(after))
    return [
        Change(f"{name}: {'.'.join(path)}", old.get(path), new.get(path))
        for path in sorted(set(old) | set(new))
        if path not in old or path not in new or old[path] != new[path]
    ]


def _leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, dict) and value:
        for key, below in value.items():
            yield from _leaves(below, (*path, str(key)))
    elif path:
        yield path, value


def put(files: Files, path: str, text: str | None) -> None:
    """Replace a file as a whole, with its present permissions; None removes it."""
    if text is None:
        files.remove(path)
        return
    files.write(path, text, mode=files.mode(path) or 0o644)
