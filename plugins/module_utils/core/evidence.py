# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Files of evidence in the folder of a run. Their names come from guests, switches and BMCs, which may be hostile."""

from __future__ import annotations

import hashlib
import os
import re

FOLDER = "evidence"
# A name of a file has at most 255 bytes on common file systems; a place has at most four words.
MOST = 48
_PLACE = re.compile(r"evidence/[A-Za-z0-9_-][A-Za-z0-9._-]*", re.ASCII)
# Characters that names of ports and variants have, and that no name of a file may have.
_SEPARATORS = re.compile(r"[/:; ]+")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]", re.ASCII)


def place(*words: object, kind: str = "txt") -> str:
    """Path of a file of evidence, relative to the folder of the run; empty words are left out."""
    return f"{FOLDER}/{'.'.join(_safe(str(word)) for word in words if word)}.{kind}"


def _safe(word: str) -> str:
    """A word that is safe in the name of a file; two different words stay different."""
    plain = _SEPARATORS.sub("-", word).lstrip(".")
    safe = _UNSAFE.sub("_", plain)[:MOST]
    return (
        safe if safe == plain and plain else f"{safe}_{hashlib.sha256(word.encode(errors='replace')).hexdigest()[:8]}"
    )


def write(folder: str, where: str, text: str) -> None:
    """Write one file, which its owner alone can read: output of ranks may hold anything."""
    if not _PLACE.fullmatch(where):
        raise ValueError(f"{where!r} is not the path of a file of evidence.")
    os.makedirs(os.path.join(folder, FOLDER), exist_ok=True)
    handle = os.open(os.path.join(folder, where), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
        os.fchmod(handle, 0o600)
        file.write(text)
