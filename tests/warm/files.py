"""Playbooks, roles and settings of the collection are parsed once for all playbooks of a server."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

# Of the collection, what playbooks read as YAML.
FOLDERS = ("playbooks", "roles")


def install(root: Path) -> None:
    """Parse what lies below the root as playbooks read it; forks get copies of that while the files are the same."""
    from ansible.parsing import dataloader

    loader = dataloader.DataLoader
    load = loader.load_from_file
    parsed = dict(_parsed(loader(), root))

    def load_from_file(
        self: Any,
        file_name: str,
        cache: str = "all",
        unsafe: bool = False,
        json_only: bool = False,
        trusted_as_template: bool = False,
    ) -> Any:
        path = os.path.realpath(self.path_dwim(file_name))
        # With `unsafe`, the caller says that it changes nothing, and the loader may keep what it got.
        if path in parsed and parsed[path][0] == _state(path) and trusted_as_template and not json_only:
            return _copied(parsed[path][1])
        data = load(self, file_name, cache, True, json_only, trusted_as_template)
        return data if unsafe else _copied(data)

    loader.load_from_file = load_from_file


def _parsed(loader: Any, root: Path) -> Iterable[tuple[str, tuple[tuple[int, ...], Any]]]:
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*.yml")):
            # The playbook that reads a broken file reports it.
            with contextlib.suppress(Exception):
                path = os.path.realpath(file)
                yield (
                    path,
                    (_state(path), loader.load_from_file(path, cache="none", unsafe=True, trusted_as_template=True)),
                )


def _state(path: str) -> tuple[int, ...]:
    """What is another after a change of the file."""
    with contextlib.suppress(OSError):
        found = os.stat(path)
        return found.st_mtime_ns, found.st_size, found.st_ino
    return ()


def _copied(value: Any) -> Any:
    """A copy in which containers are new, with their tags; texts and numbers cannot change."""
    from ansible.module_utils._internal._datatag import AnsibleTagHelper

    if isinstance(value, dict):
        return AnsibleTagHelper.tag_copy(value, {key: _copied(one) for key, one in value.items()})
    if isinstance(value, list):
        return AnsibleTagHelper.tag_copy(value, [_copied(one) for one in value])
    return value
