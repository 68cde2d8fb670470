# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Adding one source, such as a switch, to a capture. Several processes may do so at the same time."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator

from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Capture, load, pack, write
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.pseudonyms import Table
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError


@dataclass
class Addition:
    """What one source adds: its files and its part of the coverage. Those that it added before are replaced."""

    source: str
    folders: tuple[str, ...]
    files: dict[str, str] = field(default_factory=dict)
    coverage: dict[str, dict[str, Any]] = field(default_factory=dict)
    texts: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)


def add(dest: str, keep_names: bool, make: Callable[[Table], Addition]) -> Addition:
    """Add what make() returns for the table of the capture. Without an earlier capture, start one."""
    secret = f"{dest}.secret.json"
    try:
        with _alone(dest):
            table = Table.of_data(load(secret)) if os.path.exists(secret) else Table()
            earlier = Capture(dest) if os.path.exists(dest) else None
            manifest: dict[str, Any] = {"anonymised": not keep_names, "coverage": {}}
            if earlier is not None:
                manifest = dict(earlier.manifest)
            if manifest["anonymised"] is keep_names:
                raise OperatorError(
                    dest,
                    "cannot add to the capture",
                    "The capture was written with another value of `keep`.",
                    "Use the same value, or another path",
                    "capture_not_written",
                )
            made = make(table)
            files = {
                name: text
                for name, text in (earlier.files if earlier else {}).items()
                if not name.startswith(made.folders)
            }
            files.update({name: text.encode("utf-8") for name, text in made.files.items()})
            label = f"{made.source}/"
            coverage = {
                name: one
                for name, one in manifest["coverage"].items()
                if name != made.source and not name.startswith(label)
            }
            counts = {"texts": dict(made.texts), "dropped": dict(made.dropped)}
            write(secret, json.dumps(table.as_data(), indent=1, sort_keys=True))
            pack(
                dest,
                dict(
                    manifest,
                    coverage={**coverage, **made.coverage},
                    added={**manifest.get("added", {}), made.source: counts},
                ),
                files,
            )
            return made
    except (OSError, ValueError, KeyError) as error:
        raise OperatorError(
            dest,
            "cannot write the capture",
            f"{error}.",
            "Check that the folder of `dest` exists and is writable",
            "capture_not_written",
        ) from error


@contextlib.contextmanager
def _alone(dest: str) -> Iterator[None]:
    """Only one process at a time: the table and the zip belong together."""
    folder = os.open(os.path.dirname(os.path.abspath(dest)), os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)
