# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Files of the guest on which the module runs. A file has its old or its new content, never a part of it."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from typing import cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError


class Files:
    """Files below a root, which is another folder in tests. Paths are those of the guest."""

    def __init__(self, root: str = "/") -> None:
        self._root = root.rstrip("/")

    def at(self, path: str) -> str:
        """Return the local path of a guest path for this process."""
        return self._root + path

    def exists(self, path: str) -> bool:
        return os.path.exists(self.at(path))

    def text(self, path: str) -> str | None:
        """Return the content of a file; None if it does not exist or cannot be read."""
        try:
            with open(self.at(path), encoding="utf-8", errors="replace") as file:
                return file.read()
        except OSError:
            return None

    def mode(self, path: str) -> int | None:
        """The permissions of a file as a number; None where there is no file."""
        try:
            return stat.S_IMODE(os.stat(self.at(path)).st_mode)
        except OSError:
            return None

    def size(self, path: str) -> int | None:
        """Return the size of a regular file in bytes; None if there is no such file."""
        try:
            found = os.stat(self.at(path))
        except OSError:
            return None
        return found.st_size if stat.S_ISREG(found.st_mode) else None

    def changed_at(self, path: str) -> float | None:
        """Return the time of the last write to a file, in seconds of the wall clock; None if there is no file."""
        try:
            return os.stat(self.at(path)).st_mtime
        except OSError:
            return None

    def came_at(self, path: str) -> float | None:
        """Return the time when a file got its present path, whatever time its package set; None if there is no file."""
        try:
            return os.stat(self.at(path)).st_ctime
        except OSError:
            return None

    def names(self, folder: str) -> list[str]:
        """The sorted names in a folder; none where there is no folder."""
        try:
            return sorted(os.listdir(self.at(folder)))
        except OSError:
            return []

    def write(self, path: str, text: str, mode: int = 0o644) -> None:
        """Write a whole file at once, with its folder; a full disk leaves the old file as it was."""
        target = self.at(path)
        try:
            os.makedirs(os.path.dirname(target), mode=0o755, exist_ok=True)
            handle, made = tempfile.mkstemp(prefix=".aiready-", dir=os.path.dirname(target))
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    file.write(text)
                    file.flush()
                    os.fsync(file.fileno())
                os.chmod(made, mode)
                os.replace(made, target)
            except OSError:
                with contextlib.suppress(OSError):
                    os.unlink(made)
                raise
        except OSError as error:
            raise _trouble(path, "cannot write the file", error) from error

    def set_mode(self, path: str, mode: int) -> None:
        try:
            os.chmod(self.at(path), mode)
        except OSError as error:
            raise _trouble(path, f"cannot set the mode {mode:04o}", error) from error

    def remove(self, path: str) -> None:
        """Remove a file; one that is gone already is fine."""
        try:
            os.unlink(self.at(path))
        except FileNotFoundError:
            pass
        except OSError as error:
            raise _trouble(path, "cannot remove the file", error) from error


def _trouble(path: str, wanted: str, error: OSError) -> OperatorError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    todo = {
        errno.ENOSPC: "Free space on that file system, then run the task again",
        errno.EDQUOT: "Free space on that file system, then run the task again",
        errno.EROFS: "Make that file system writable, then run the task again",
        errno.EACCES: "Run the task as root (`become: true`)",
        errno.EPERM: "Run the task as root (`become: true`)",
    }.get(cast("int", error.errno), "Check that path on the guest, then run the task again")
    found = "The disk is full" if full else f"The guest reports: {error.strerror}"
    return OperatorError(path, wanted, found, todo, "disk_full" if full else "file_trouble", path=path)
