"""Clean copies of the collection at the path that Ansible's tools insist on."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from gates.running import BUILD, ROOT, GateFailed


def tracked() -> list[Path]:
    """Return the files of the collection: existing files that git tracks or would track."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        raise GateFailed(
            f"Cannot list the files of the tree. git: {listed.stderr.strip()}. Run the gates in a git clone."
        )
    names = sorted(set(filter(None, listed.stdout.split("\0"))))
    return [Path(name) for name in names if (ROOT / name).is_file()]


# Configuration file of ansible-test.
CONFIGURATION = Path("tests/config.yml")


def everything(_path: Path) -> bool:
    """Return True for each file of the collection."""
    return True


def shipped(path: Path) -> bool:
    """Return whether a file is outside the tests, or configures ansible-test."""
    return path.parts[0] != "tests" or path == CONFIGURATION


def clean_copy(name: str, chosen: Callable[[Path], bool] = everything) -> Path:
    """A fresh copy below .build/<name>: ansible-test refuses a plain checkout and follows symlinks to it."""
    copy = BUILD / name / "ansible_collections" / "aiready" / "vsphere"
    shutil.rmtree(copy, ignore_errors=True)
    for path in filter(chosen, tracked()):
        target = copy / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / path, target, follow_symlinks=False)
    # Without a repository of its own the tools find the one above it, which ignores .build: nothing left to check.
    subprocess.run(["git", "init", "--quiet", "."], cwd=copy, check=True)
    return copy


def digest(copy: Path, *more: str) -> str:
    """Return a name for the content of a fresh copy, and for whatever else a check of it depends on."""
    found = hashlib.sha256("\0".join(more).encode())
    for path in sorted(copy.rglob("*")):
        if ".git" in path.relative_to(copy).parts or path.is_dir():
            continue
        content = os.readlink(path).encode() if path.is_symlink() else path.read_bytes()
        found.update(f"{path.relative_to(copy)}\0{path.lstat().st_mode}\0{len(content)}\0".encode() + content)
    return found.hexdigest()
