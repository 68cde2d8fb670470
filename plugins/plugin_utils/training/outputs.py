# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The files of a run on the controller: its result and its log."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any, Mapping, TextIO, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)


class Outputs:
    """Result and log of a run on the controller. A full disk there does not stop a training."""

    def __init__(self, folder: str | None, run: str) -> None:
        self._folder = Path(os.path.expanduser(folder)) if folder else None
        self._trouble: list[str]
        self._file: TextIO | None
        self._run, self._trouble, self._file = run, [], None
        if self._folder is None:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            # Ranks may print anything, so that both files are for the owner alone.
            self._file = open(self._path("log"), "w", encoding="utf-8", opener=_private)  # noqa: SIM115  (as long as the run)
            os.fchmod(self._file.fileno(), 0o600)
        except OSError as trouble:
            raise OperatorError(
                f"Folder {self._folder}",
                "cannot be used for the result of the run",
                f"It cannot be written: {trouble.strerror}",
                "Set another result_dir",
                "no_result_dir",
            ) from None

    @property
    def log(self) -> str | None:
        return None if self._folder is None else self._path("log")

    def write(self, text: str) -> None:
        """Append to the log."""
        if self._file is None:
            return
        try:
            self._file.write(text)
            self._file.flush()
        except OSError as trouble:
            self._file = None
            self._trouble.append(f"The log on the controller is incomplete: {trouble.strerror}.")

    def names(self) -> dict[str, str]:
        """The paths of both files."""
        return {} if self._folder is None else {"log": self._path("log"), "file": self._path("json")}

    def save(self, reported: Mapping[str, Any]) -> list[str]:
        """Write the result atomically; returns problems as sentences."""
        if self._folder is None:
            return []
        try:
            if self._file is not None:
                self._file.close()
            self._replace(reported)
        except OSError as trouble:
            self._trouble.append(f"The result could not be written on the controller: {trouble.strerror}.")
        return self._trouble

    def _replace(self, reported: Mapping[str, Any]) -> None:
        handle, name = tempfile.mkstemp(dir=self._folder, prefix=".result-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(reported, file, indent=1, allow_nan=False)
                file.write("\n")
            os.replace(name, self._path("json"))
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise

    def _path(self, kind: str) -> str:
        return str(cast(Path, self._folder) / f"training-{self._run}.{kind}")
