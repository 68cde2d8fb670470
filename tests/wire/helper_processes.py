"""Ansible's helper for a command line in a twentieth of its time: the warm server of this process forks it.

Ansible starts a helper for every switch, and that takes seconds before the first byte is sent. A fork runs Ansible's
own code with the environment, input and output that Ansible gave it.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib.util
import os
import tempfile
from pathlib import Path

from warm import client


@contextlib.contextmanager
def quick():
    """Meanwhile helpers of this process are forked, and do not meet those of tests that run side by side."""
    folder = _stub()
    settings = {
        "_ANSIBLE_CONNECTION_PATH": str(folder / "helper.py"),
        "ANSIBLE_PERSISTENT_CONTROL_PATH_DIR": str(folder / "pc"),
    }
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


@functools.cache
def _stub():
    """The folder of the stub, which is gone when this process ends."""
    folder = tempfile.TemporaryDirectory(prefix="pc-")
    atexit.register(folder.cleanup)
    script = importlib.util.find_spec("ansible.cli.scripts.ansible_connection_cli_stub").origin
    client.server().stub(Path(folder.name, "helper.py"), "connection", script, needs={})
    return Path(folder.name)
