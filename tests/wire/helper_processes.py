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

# What Ansible starts instead of its own script: it hands its input, output and environment over, and ends as reported.
# Without a server that answers, it becomes the script.
STUB = """
import array, json, os, socket, sys
line = socket.socket(socket.AF_UNIX)
order = {{"program": "connection", "argv": sys.argv, "folder": os.getcwd(), "env": dict(os.environ)}}
try:
    line.connect({path!r})
    line.sendmsg(
        [json.dumps(order).encode() + b"\\n"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))]
    )
    _pid, ended = line.makefile()
    status = int(ended.split()[0])
except (OSError, ValueError):
    os.execv(sys.executable, [sys.executable, {script!r}, *sys.argv[1:]])
sys.exit(status)
"""


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
    Path(folder.name, "helper.py").write_text(STUB.format(path=client.server().path, script=script))
    return Path(folder.name)
