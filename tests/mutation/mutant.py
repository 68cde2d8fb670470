"""One mutant: the bytes of a file to replace, and their replacement."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """One change of one file."""

    file: str
    line: int
    begin: int
    end: int
    kind: str
    after: str
    # The function around it, as in the record of calls; empty at the top of a file and in YAML.
    function: str = ""

    @property
    def name(self) -> str:
        """The same change has the same name in each run."""
        words = f"{self.file}:{self.begin}:{self.end}:{self.after}"
        return hashlib.sha256(words.encode()).hexdigest()[:10]


def replaced(text: str, mutant: Mutant) -> str:
    """The text of the file with the mutant in it."""
    content = text.encode()
    return (content[: mutant.begin] + mutant.after.encode() + content[mutant.end :]).decode()
