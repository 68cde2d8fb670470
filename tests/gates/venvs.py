"""Virtual environments beside that of the tools, each from its lock file."""

from __future__ import annotations

import os
from pathlib import Path

from gates.running import BUILD, ROOT, Gate


def of_lock(gate: Gate, python: Path, name: str, lock_name: str) -> Path:
    """Create a virtual environment from its lock file; only a changed lock file costs time."""
    venv, lock = BUILD / name, ROOT / "requirements" / f"{lock_name}.txt"
    stamp = venv / ".ready"
    if not stamp.exists() or stamp.read_text() != lock.read_text():
        bootstrap = str(ROOT / "tests" / "gates" / "bootstrap.py")
        gate.call([str(python), bootstrap, str(venv), str(lock)], env=dict(os.environ))
        stamp.write_text(lock.read_text())
    return venv
