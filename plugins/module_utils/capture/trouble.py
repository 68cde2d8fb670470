# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Files of a capture that cannot be read or written, as errors with cause and fix."""

from __future__ import annotations

import contextlib
import errno
import os
import tarfile
import zipfile
import zlib
from typing import Iterator

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

try:
    from lzma import LZMAError
except ImportError:  # a Python that was built without liblzma
    LZMAError = zlib.error  # type: ignore[misc, assignment]

# Archives that are cut off, damaged or encrypted, or compressed with an unknown method (NotImplementedError).
ARCHIVE = (OSError, ValueError, EOFError, RuntimeError, LZMAError, zlib.error, tarfile.TarError, zipfile.BadZipFile)
CAPTURE, TABLE, FOLDER = "the capture", "the table of pseudonyms", "the folder"
_USE = {
    CAPTURE: "Use the zip file as `capture` wrote it",
    TABLE: "Use the file `.secret.json` that is beside the capture",
    FOLDER: "Use a folder, a zip file or a tgz of `govc object.save`, of a Redfish mockup or of a Batfish snapshot, "
    "or a vm-support bundle",
}
_FULL = (errno.ENOSPC, errno.EDQUOT)
_ZIP = b"PK\x03\x04"
# The first bytes of zip, gzip, bzip2 and xz.
_PACKED = (_ZIP, b"\x1f\x8b", b"BZh", b"\xfd7zXZ")


def damaged(path: str, found: str, todo: str = "", what: str = CAPTURE) -> OperatorError:
    """A file that is not what its reader needs."""
    return OperatorError(path, f"cannot read {what}", found, todo or _USE[what], "capture_damaged")


def unread(path: str, error: Exception, what: str = CAPTURE) -> OperatorError:
    """An error of a read. Each cause has its own fix."""
    if isinstance(error, FileNotFoundError):
        return damaged(path, "It does not exist.", "Correct the path", what)
    if isinstance(error, PermissionError):
        return damaged(
            error.filename or path,
            "This user has no permission to read it.",
            "Run again as the owner of the file",
            what,
        )
    if isinstance(error, IsADirectoryError):
        return damaged(path, "It is a folder.", "", what)
    if isinstance(error, NotADirectoryError):
        return damaged(path, "It is not a folder.", "", what)
    # A decompressor raises an OSError without a number for damaged data.
    if isinstance(error, OSError) and error.errno is not None:
        return damaged(path, f"{error}.", "Check the file system, and run again", what)
    if what == CAPTURE and not _begins(path, _ZIP):
        return damaged(path, "It is not a zip file.")
    if what == CAPTURE and isinstance(error, KeyError):
        return damaged(path, f"It is a zip file without the manifest of a capture: {error}.")
    if what == CAPTURE and isinstance(error, TypeError):
        return damaged(path, "It is no capture: its manifest has another form.")
    if what == CAPTURE:
        return damaged(
            path, f"The zip file is cut off or damaged: {error}.", "Copy it again, and compare the sizes of both files"
        )
    return damaged(path, f"Its content is damaged: {error}.", "", what)


def unpacked(path: str, error: Exception) -> OperatorError:
    """An error of a read of an archive that is imported."""
    if isinstance(error, OSError) and error.errno is not None:
        return unread(path, error, FOLDER)
    if not any(_begins(path, start) for start in _PACKED):
        return unread(path, NotADirectoryError(path), FOLDER)
    # zipfile raises this for a password and for an unknown compression.
    if isinstance(error, RuntimeError):
        todo = "Unpack it with another program, and use the folder"
        return damaged(path, f"The archive is encrypted, or its compression is unknown: {error}.", todo, FOLDER)
    # tarfile adds a line for each compression that it tried.
    found = str(error).partition(":\n")[0]
    return damaged(
        path,
        f"The archive is cut off or damaged: {found}.",
        "Copy it again, and compare the sizes of both files",
        FOLDER,
    )


def unknown_format(path: str, found: object, known: int) -> OperatorError:
    """A capture of another version."""
    newer = isinstance(found, int) and found > known
    return damaged(
        path,
        f"Its format is {found}, and this version reads {known}.",
        "Install a newer version of the collection or build the command again" if newer else "",
    )


def unwritten(dest: str, error: Exception, wanted: str = "cannot write the capture") -> OperatorError:
    """An error of a write. Each cause has its own fix."""
    found, todo = f"{error}.", "Check that the folder of the path exists and is writable. Then run again"
    folder = os.path.dirname(os.path.abspath(dest))
    if isinstance(error, OSError) and error.errno in _FULL:
        found = f"The file system is full: {error.strerror}."
        todo = "Free space, or use another path. Then run again: the next run continues"
    elif isinstance(error, PermissionError) or (isinstance(error, OSError) and error.errno == errno.EROFS):
        found = f"This user has no permission to write to {error.filename or folder}."
        todo = "Use a folder that this user can write to"
    elif isinstance(error, FileNotFoundError):
        found, todo = f"{error.filename or folder} does not exist.", "Create the folder, or correct the path"
    elif isinstance(error, (NotADirectoryError, FileExistsError)):
        found, todo = f"A part of the path is a file: {error.filename or folder}.", "Correct the path"
    return OperatorError(dest, wanted, found, todo, "capture_not_written")


@contextlib.contextmanager
def written(dest: str, wanted: str = "cannot write the capture") -> Iterator[None]:
    """A file that cannot be written is an error with the fix."""
    try:
        yield
    except (OSError, ValueError, KeyError) as error:
        raise unwritten(dest, error, wanted) from error


def _begins(path: str, start: bytes) -> bool:
    with contextlib.suppress(OSError), open(path, "rb") as file:
        return file.read(len(start)) == start
    return False
