# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Files in the folder of a run, replaced as a whole so that no reader sees half of one."""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def locked(folder: str) -> Iterator[None]:
    """Keep other writers of files in a folder out. The lock is on the folder, because the files are replaced."""
    os.makedirs(folder, exist_ok=True)
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def replace(path: str, text: str, durable: bool = False, private: bool = False) -> None:
    """Write a file with the access rights of the user's other files; durable: also after a loss of power.

    private: only the user can read it.
    """
    folder = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    handle, beside = tempfile.mkstemp(prefix=f".{os.path.basename(path)}.", dir=folder)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            # mkstemp creates files that only the user can read.
            if not private:
                os.fchmod(file.fileno(), 0o666 & ~_umask())
            file.write(text)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError:
        os.unlink(beside)
        raise


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
