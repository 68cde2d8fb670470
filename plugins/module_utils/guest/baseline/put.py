# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Put a file or a link in its place at once. A kill leaves one temporary file, which the next attempt replaces."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files

ENDING = ".aiready-new"


def back(files: Files, path: str, before: Mapping[str, Any], content: bytes | None) -> None:
    """Put a recorded file or link back."""
    if "link" not in before:
        if content is not None:
            file(files, path, content, before)
        return
    target = files.at(path)
    made = target + ENDING
    try:
        os.makedirs(os.path.dirname(target), mode=0o755, exist_ok=True)
        _gone(made)
        os.symlink(before["link"], made)
        os.lchown(made, before["uid"], before["gid"])
        os.replace(made, target)
    except OSError as error:
        raise _trouble(path, error) from error


def file(files: Files, path: str, content: bytes, entry: Mapping[str, Any]) -> None:
    """Write a whole file with the mode and owner of its entry; it is on the disk before this returns."""
    target = files.at(path)
    made = target + ENDING
    try:
        os.makedirs(os.path.dirname(target), mode=0o755, exist_ok=True)
        _gone(made)
        # Never through a link that a user has placed there.
        handle = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            if "uid" in entry:
                os.fchown(stream.fileno(), entry["uid"], entry["gid"])
            os.fchmod(stream.fileno(), entry["mode"])
            os.fsync(stream.fileno())
        os.replace(made, target)
        _on_disk(os.path.dirname(target))
    except OSError as error:
        raise _trouble(path, error) from error


def _gone(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def _on_disk(folder: str) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _trouble(path: str, error: OSError) -> OperatorError:
    return OperatorError(
        path,
        "cannot write the file",
        f"The guest reports: {error.strerror}",
        "Check the space on that file system and run the task as root, then run it again",
        "file_trouble",
        path=path,
    )
