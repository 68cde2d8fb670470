"""Outputs of nvidia-smi that were captured from real GPUs, and some single strings from documents."""

from __future__ import annotations

from pathlib import Path

# The tests of the twin compare what it prints with the same outputs.
DIRECTORY = Path(__file__).parents[6] / "tests" / "twin" / "tests" / "data" / "nvidia_smi"
NAMES = sorted(path.name for path in DIRECTORY.glob("*.txt"))


def read(name):
    return (DIRECTORY / f"{name}.txt").read_text()
