"""Settings of a machine for guests: folders and a recipe, each by an environment variable."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

STATE = "VSPHERE_TWIN_STATE"  # folder for data kept between labs
RECIPE = "VSPHERE_TWIN_TRAINING_IMAGE"  # the folder with the Dockerfile of the image that the registry holds
LABS = "VSPHERE_TWIN_LABS"  # a file that exists once this machine has containers of a lab


def state():
    """Return the folder for data kept between labs; labs with the same folder are removed together."""
    chosen = os.environ.get(STATE)
    if chosen:
        return Path(chosen).resolve()
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache, "vsphere-twin").resolve()


def recipe():
    """The folder with the recipe of the training image, or None: then the registry is empty."""
    chosen = os.environ.get(RECIPE)
    return Path(chosen).resolve() if chosen else None


def note_lab():
    """Leave a marker for the cleanup after a killed process."""
    if os.environ.get(LABS):
        with contextlib.suppress(OSError):
            Path(os.environ[LABS]).touch()
