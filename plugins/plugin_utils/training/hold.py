# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The hold of a training: its ranks run only under a lock beside the hold file, so that others see when they stopped.

A training takes the lock first and reads the hold file then. An upgrade creates the hold file first and tries the lock
then. Thus no rank runs after the upgrade got the lock. The lock ends with its process, however that ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import os

from ansible.errors import AnsibleFilterError
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

SUFFIX = ".lock"


def held(file: str | None) -> bool:
    """Whether the file on the controller exists that holds the training."""
    return file is not None and os.path.exists(file)


class Running:
    """The lock of one training. It does nothing without a hold file."""

    def __init__(self, file: str | None) -> None:
        self._file = file
        self._lock: int | None = None

    def allowed(self) -> bool:
        """Take the lock. Return False without it while the training is held."""
        if self._file is None:
            return True
        if self._lock is None:
            self._lock = self._locked(self._file)
        if held(self._file):
            self.over()
            return False
        return True

    def over(self) -> None:
        """No rank of this training runs any more."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    @staticmethod
    def _locked(file: str) -> int:
        try:
            os.makedirs(os.path.dirname(file) or ".", exist_ok=True)
            lock = os.open(file + SUFFIX, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                # Several trainings may have the same hold file.
                fcntl.flock(lock, fcntl.LOCK_SH)
            except OSError:
                os.close(lock)
                raise
        except OSError as error:
            raise OperatorError(
                "localhost",
                "cannot run a training that others can hold",
                f"The lock {file}{SUFFIX} cannot be taken: {error}",
                "Correct hold_file or the permissions of its folder",
                "no_hold_lock",
            ) from error
        return lock


def stopped(file: str) -> bool:
    """Whether no training with this hold file has ranks."""
    full = os.path.expanduser(os.path.expandvars(file)) + SUFFIX
    try:
        lock = os.open(full, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    except OSError as error:
        raise _unreadable(full, error) from error
    with contextlib.closing(os.fdopen(lock)):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            raise _unreadable(full, error) from error
    return True


def _unreadable(path: str, error: OSError) -> AnsibleFilterError:
    return AnsibleFilterError(
        f"Cannot read whether the training is held. The lock {path} cannot be tried: {error}. Run the upgrade as the "
        "user who runs the training."
    )
