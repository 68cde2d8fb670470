"""Outputs of trainings, launchers and NCCL."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.aiready.vsphere.plugins.module_utils.training.progress import Progress

DIRECTORY = Path(__file__).parents[5] / "tests" / "data" / "training"


def read(name):
    return (DIRECTORY / f"{name}.txt").read_text()


def progress(text, hosts=("job-01", "job-02"), cut=None):
    """What is known after this output, which came in pieces of so many characters."""
    seen = Progress(list(hosts))
    size = cut or max(1, len(text))
    for start in range(0, len(text), size):
        seen.feed(hosts[0], 0, text[start : start + size])
    seen.end()
    return seen
