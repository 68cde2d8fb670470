# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Files of variables that stop a run before its first task. Since ansible-core 2.19, Ansible's error names no file."""

from __future__ import annotations

import glob
import json
import os
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FOLDERS = ("group_vars", "host_vars")
ENDINGS = (".yml", ".yaml", ".json", "")
VAULT = b"$ANSIBLE_VAULT"


def unreadable(sources: Iterable[object], folders: Iterable[str] = ()) -> list[str]:
    """One sentence for each invalid YAML file of variables beside these inventories, or below these folders."""
    found = [os.path.abspath(source) for source in sources if isinstance(source, str) and "," not in source]
    near = [one if os.path.isdir(one) else os.path.dirname(one) for one in found] + list(folders)
    return [text for file in _files(dict.fromkeys(near)) for text in _problem(file)]


def _files(near: Iterable[str]) -> Iterator[str]:
    for folder in near:
        for name in FOLDERS:
            below = os.path.join(glob.escape(folder), name, "**", "*")
            for file in sorted(glob.glob(below, recursive=True)):
                if os.path.isfile(file) and os.path.splitext(file)[1] in ENDINGS:
                    yield file


def _problem(file: str) -> Iterator[str]:
    try:
        with open(file, "rb") as opened:
            content = opened.read()
    except OSError as error:
        yield f"Cannot read {file}: {error.strerror}."
        return
    if content.startswith(VAULT) or _is_json(content):
        return
    try:
        for _event in yaml.parse(content.decode("utf-8"), Loader=yaml.SafeLoader):
            pass
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        yield f"Cannot read {file}, line {line}. It is not in UTF-8. Save it in UTF-8."
    except yaml.MarkedYAMLError as error:
        text = str(error.problem or error.context)
        # If a colon is missing, YAML reports the following line.
        marks = [error.problem_mark, error.context_mark]
        mark = next(filter(None, reversed(marks) if "expected ':'" in text else marks), None)
        where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        todo = "Indent with spaces, not with tabs." if "\\t" in text else "Correct the YAML in this line."
        yield f"Cannot read {file}{where}: {text}. {todo}"
    except yaml.YAMLError as error:
        yield f"Cannot read {file}: {' '.join(str(error).split())}. Correct it."


def _is_json(content: bytes) -> bool:
    """Whether the text is JSON, which Ansible tries first, and which allows tabs."""
    try:
        json.loads(content)
    except (ValueError, RecursionError):
        return False
    return True
