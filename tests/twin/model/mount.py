"""Makes the collection importable by its full name also where no Ansible has done so."""

from __future__ import annotations

import importlib
import sys
import types
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def mount():
    """Give the packages above this checkout the names that the collection's own imports use."""
    try:
        importlib.import_module("ansible_collections.aiready.vsphere")
    except ImportError:
        for name, path in (("ansible_collections.aiready", None), ("ansible_collections.aiready.vsphere", ROOT)):
            package = types.ModuleType(name)
            package.__path__ = [str(path)] if path else []
            sys.modules[name] = package
