"""Which Pythons of this machine really run: a file named python3.9 may be a shim that only prints an error."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

MINORS = range(8, 15)


@cache
def find(minor: int) -> Path | None:
    """The real interpreter of Python 3.<minor>, or None."""
    for candidate in candidates(f"python3.{minor}"):
        probe = "import sys, ssl, venv; print(sys.version_info[1], sys.executable)"
        try:
            ran = subprocess.run([candidate, "-c", probe], capture_output=True, text=True, timeout=120, check=False)
        except (OSError, subprocess.TimeoutExpired):
            continue
        found = ran.stdout.strip().split(" ", maxsplit=1)
        if ran.returncode == 0 and found[0] == str(minor):
            return Path(found[1]).resolve()
    return None


def candidates(name: str) -> Iterator[str]:
    """Yield possible paths of this interpreter: on PATH, and below the roots of pyenv and uv."""
    roots = [Path.home() / ".pyenv"]
    if "PYENV_ROOT" in os.environ:
        roots.insert(0, Path(os.environ["PYENV_ROOT"]))
    for entry in filter(None, os.environ.get("PATH", "").split(os.pathsep)):
        path = Path(entry)
        if path.name == "shims":
            roots.append(path.parent)
        elif (path / name).exists():
            yield str(path / name)
    version = name.removeprefix("python")
    for root in roots:
        yield from sorted(str(path) for path in root.glob(f"versions/{version}.*/bin/{name}"))
    yield from sorted(str(path) for path in Path.home().glob(f".local/share/uv/python/cpython-{version}.*/bin/{name}"))


def linked(folder: Path) -> str:
    """A PATH on which the running ones are found first, and no shim."""
    folder.mkdir(parents=True, exist_ok=True)
    for minor in MINORS:
        link = folder / f"python3.{minor}"
        link.unlink(missing_ok=True)
        python = find(minor)
        if python is not None:
            link.symlink_to(python)
    others = [entry for entry in os.environ.get("PATH", os.defpath).split(os.pathsep) if Path(entry).name != "shims"]
    return os.pathsep.join([str(folder), *others])
