"""Import this first where no Ansible and no pytest has made the collection importable by its full name."""

from __future__ import annotations

import importlib
import sys
import types
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = {
    "ansible_collections": [],
    "ansible_collections.aiready": [],
    "ansible_collections.aiready.vsphere": [str(ROOT)],
}


def _mount() -> None:
    """Give the packages above this checkout the names that the collection's own imports use."""
    try:
        importlib.import_module("ansible_collections.aiready.vsphere")
    except ImportError:
        for name, path in PACKAGES.items():
            if name not in sys.modules:
                sys.modules[name] = types.ModuleType(name)
                sys.modules[name].__path__ = path


_mount()
