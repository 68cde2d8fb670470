"""Why a file cannot be read as a capture, with the fix."""

from __future__ import annotations

import lzma
import zipfile
import zlib
from pathlib import Path

# Absent, unreadable, cut off or encrypted archives, unknown compressions, and a manifest of another shape.
_OF_DATA = (EOFError, RuntimeError, lzma.LZMAError, zlib.error, zipfile.BadZipFile)
ERRORS = (OSError, ValueError, KeyError, TypeError, *_OF_DATA)
# calibrate compares captures alone: a folder of govc does not say what was asked and refused.
_FIX = "Use the zip file as `capture` wrote it. A folder of `govc object.save` becomes a capture with `import`."
_ZIP = b"PK\x03\x04"


def why(path, error):
    """The failure, its cause and the fix."""
    failed = f"{path}: the capture cannot be read."
    if isinstance(error, FileNotFoundError):
        return f"{failed} It does not exist. Correct the path."
    if isinstance(error, PermissionError):
        return f"{failed} This user has no permission to read it. Run again as the owner of the file."
    # A decompressor raises an OSError without a number for damaged data.
    if isinstance(error, OSError) and error.errno is not None:
        return f"{failed} {error}. Check the file system, and run again."
    if isinstance(error, KeyError):
        return f"{failed} It is no capture: its manifest lacks {error}. {_FIX}"
    if isinstance(error, TypeError):
        return f"{failed} It is no capture: its manifest has another form. {_FIX}"
    if Path(path).is_file() and not _is_zip(path):
        return f"{failed} It is not a zip file. Use the zip file as `capture` wrote it."
    return f"{failed} It is cut off or damaged: {error}. Copy it again, and compare the sizes of both files."


def other_format(path, found, known):
    """The text for a capture of another version."""
    newer = isinstance(found, int) and found > known
    todo = "Install a newer version of vsphere-twin." if newer else "Use the zip file as `capture` wrote it."
    return f"{path}: the capture cannot be read. Its format is {found}, and this twin reads {known}. {todo}"


def changed(path, name):
    """The text for a file that is not the one of the manifest."""
    return (
        f"{path}: the capture cannot be read. {name} differs from the checksum in the manifest. Use the zip file as "
        "`capture` wrote it."
    )


def _is_zip(path):
    try:
        with open(path, "rb") as file:
            return file.read(len(_ZIP)) == _ZIP
    except OSError:
        return False
