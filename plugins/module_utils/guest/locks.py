# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Find the process that holds the lock of a package manager, such as the unattended upgrades of a new guest."""

from __future__ import annotations

import fcntl
import os
import struct
from typing import TYPE_CHECKING

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.clock import Clock, wait

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files


# Files that dpkg, apt and rpm lock for as long as they work.
LOCKED = {
    "debian": ("/var/lib/dpkg/lock-frontend", "/var/lib/dpkg/lock", "/var/lib/apt/lists/lock"),
    "redhat": ("/var/lib/rpm/.rpm.lock", "/usr/lib/sysimage/rpm/.rpm.lock"),
}
# Files in which dnf writes its process id.
NUMBERED = {
    "debian": (),
    "redhat": ("/var/lib/dnf/rpmdb_lock.pid", "/var/cache/dnf/metadata_lock.pid", "/var/cache/dnf/download_lock.pid"),
}
# struct flock of 64-bit Linux: type, whence, start, length, process.
_FLOCK = "hhqqi4x"


def holder(files: Files, family: str) -> str | None:
    """Return the process that holds a lock of the package manager, as `name (process id)`; None if there is none."""
    for path in LOCKED.get(family, ()):
        pid = _locking(files.at(path))
        if pid:
            return _named(files, pid)
    for path in NUMBERED.get(family, ()):
        text = (files.text(path) or "").strip()
        if text.isdecimal() and files.exists(f"/proc/{text}"):
            return _named(files, int(text))
    return None


def wait_until_free(files: Files, family: str, wait_s: float, subject: str, clock: Clock | type[Clock] = Clock) -> None:
    """Wait until no other process uses the package manager."""
    seen: list[str | None] = []

    def free() -> bool:
        seen.append(holder(files, family))
        return seen[-1] is None

    done, seconds = wait(free, wait_s, clock)
    if not done:
        raise OperatorError(
            subject,
            "cannot change packages",
            f"The package manager was in use by {seen[-1]} for {seconds:.0f} s",
            "Wait until it ends, or increase `lock_wait_s`. Shortly after a boot, it is often the unattended upgrade",
            "packages_locked",
            holder=seen[-1],
        )


def _locking(path: str) -> int | None:
    """Return the process that holds a lock on a file; the query needs no write access, and takes no lock."""
    try:
        with open(path, "rb") as file:
            answer = fcntl.fcntl(file, fcntl.F_GETLK, struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
    except OSError:
        return None
    kind, _whence, _start, _length, pid = struct.unpack(_FLOCK, answer)
    return pid if kind != fcntl.F_UNLCK else None


def _named(files: Files, pid: int) -> str:
    name = (files.text(f"/proc/{pid}/comm") or "").strip()
    return f"{name} (process {pid})" if name else f"process {pid}"
