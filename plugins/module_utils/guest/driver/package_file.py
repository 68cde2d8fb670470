# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""File of a driver: inspected, compared with its checksum, downloaded if it has a URL."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
import tempfile
from typing import TYPE_CHECKING, Iterator

from ansible.module_utils.common.text.converters import to_native
from ansible.module_utils.urls import open_url
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver import read, refusals, source

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver.params import DriverRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver.state import DriverState, Surroundings
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.os_release import Distribution
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.packages import Packages

PIECE = 1 << 20
# A downloaded file has several hundred megabytes; /tmp is often in memory.
FOLDER = "/var/tmp"
SILENT_S = 60


def known(label: str, found: source.Source, manager: Packages, distribution: Distribution) -> source.Source:
    """Return the Source with the data of its file, if the file is already on the guest."""
    if found.kind != source.FILE or not os.path.isfile(found.place):
        return found
    looked = read.look_into(found, found.place, manager, distribution)
    if looked is None:
        raise _no_package(label, found)
    _same_version(label, found, looked)
    return looked


def check(
    label: str,
    requested: DriverRequest,
    found: source.Source,
    path: str,
    now: DriverState,
    around: Surroundings,
    manager: Packages,
) -> None:
    """Refuse a file that does not match the task."""
    wanted = f"cannot install the guest driver {found.version}"
    if not os.path.isfile(path):
        raise OperatorError(
            label,
            wanted,
            f"The file {path} does not exist on the guest",
            "Copy it there first, or set `package` to a URL or to the package of a repository",
            "no_such_file",
            path=path,
        )
    _check_digest(label, wanted, path, requested.checksum)
    looked = read.look_into(found, path, manager, around.distribution)
    if looked is None:
        raise _no_package(label, found)
    _same_version(label, found, looked)
    refusals.refuse(label, now, around, requested, looked)


@contextlib.contextmanager
def at_hand(label: str, found: source.Source, ca_file: str | None) -> Iterator[str]:
    """The path of the driver's file on the guest, downloaded if needed, as long as the context lasts."""
    if found.kind != source.URL:
        yield found.place
        return
    folder = None
    try:
        try:
            folder = tempfile.mkdtemp(prefix=".aiready-", dir=FOLDER)
            path = os.path.join(folder, found.base)
            _fetch(label, found, ca_file, path)
        except OSError as error:
            raise _not_fetched(label, found, error) from error
        # apt gives up its rights before it reads a file.
        os.chmod(folder, 0o755)
        yield path
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def _fetch(label: str, found: source.Source, ca_file: str | None, path: str) -> None:
    answer = open_url(found.place, timeout=SILENT_S, ca_path=ca_file)
    expected = answer.headers.get("Content-Length")
    with contextlib.closing(answer), open(path, "wb") as file:
        shutil.copyfileobj(answer, file, PIECE)
    size = os.path.getsize(path)
    if expected is not None and expected.isdecimal() and int(expected) != size:
        raise OperatorError(
            label,
            f"cannot download {found.base}",
            f"The connection ended after {size} of {expected} bytes",
            "Run the task again",
            "not_fetched",
        )


def _not_fetched(label: str, found: source.Source, error: OSError) -> OperatorError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    # The address may hold a password or a signature of its own.
    reported = to_native(error).replace(found.place, found.base)
    todo = (
        "Free space on the file system of /var/tmp" if full else "Check the URL, the proxy and the clock of the guest"
    )
    return OperatorError(
        label,
        f"cannot download {found.base}",
        "The disk is full" if full else f"The error is: {reported}",
        f"{todo}, then run the task again",
        "disk_full" if full else "not_fetched",
    )


def _check_digest(label: str, wanted: str, path: str, checksum: str | None) -> None:
    if not checksum:
        return
    name, _colon, digest = checksum.partition(":")
    made = hashlib.new(name)
    with open(path, "rb") as file:
        for piece in iter(lambda: file.read(PIECE), b""):
            made.update(piece)
    if made.hexdigest() != digest.lower():
        raise OperatorError(
            label,
            wanted,
            f"The {name} of {os.path.basename(path)} is {made.hexdigest()}, but the task has {digest.lower()}",
            "Copy the file again from its source, or correct `checksum`",
            "wrong_checksum",
        )


def _no_package(label: str, found: source.Source) -> OperatorError:
    return OperatorError(
        label,
        f"cannot install the guest driver from {found.base}",
        f"The file is not a readable .{found.format}. It may be incomplete, or an error page",
        "Copy the file again from its source",
        "not_a_package",
        path=found.place if found.kind == source.FILE else found.base,
    )


def _same_version(label: str, found: source.Source, looked: source.Source) -> None:
    if found.version and looked.version and found.version != looked.version:
        raise OperatorError(
            label,
            f"cannot install the guest driver {found.version}",
            f"{found.base} holds {looked.version}",
            "Correct `version` or the name of the file, or use the correct file",
            "wrong_version",
            version=looked.version,
        )
