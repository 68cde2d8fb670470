"""A copy of the working tree that mutants are written into."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from mutation.mutant import Mutant, replaced
from supervise.runs import SOURCES

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".build" / "mutation"


class Tree:
    """A copy with a virtual environment and a repository of its own; the working tree is only read."""

    def __init__(self, root: Path) -> None:
        self.root = root
        # Python takes compiled code for a source of the same size and time: each write gets a time of its own.
        self._times = itertools.count(int(time.time()))

    @classmethod
    def copied(cls, name: str) -> Tree:
        root = FOLDER / name
        shutil.rmtree(root, ignore_errors=True)
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
        for file in filter(None, names):
            if (ROOT / file).is_file():
                (root / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / file, root / file)
        (root / ".build").mkdir()
        (root / ".build" / "venv").symlink_to(ROOT / ".build" / "venv")
        # Tests list the files of the repository.
        for command in (["init", "--quiet"], ["add", "--all"]):
            subprocess.run(["git", *command], cwd=root, check=True)
        return cls(root)

    @contextlib.contextmanager
    def having(self, mutant: Mutant) -> Iterator[None]:
        """The tree with the mutant in it; without it afterwards."""
        path = self.root / mutant.file
        original = path.read_text()
        self._write(path, replaced(original, mutant))
        try:
            yield
        finally:
            self._write(path, original)

    def _write(self, path: Path, text: str) -> None:
        path.write_text(text)
        moment = next(self._times)
        os.utime(path, (moment, moment))

    def environment(self) -> dict[str, str]:
        """The environment of tests in this tree."""
        build = self.root / ".build"
        return {
            **os.environ,
            "PATH": f"{build / 'venv' / 'bin'}:{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join(str(self.root / folder) for folder in SOURCES),
            "ANSIBLE_COLLECTIONS_PATH": str(build / "collections"),
            "ANSIBLE_HOME": str(build / "ansible-home"),
        }
