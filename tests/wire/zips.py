"""Places for the captures that rows write. They are gone when the tests end."""

from __future__ import annotations

import os
import tempfile

_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []


def place() -> str:
    """Return the path of a capture in a folder of its own."""
    _FOLDERS.append(tempfile.TemporaryDirectory(prefix="aiready-capture-"))
    return os.path.join(_FOLDERS[-1].name, "site.zip")
