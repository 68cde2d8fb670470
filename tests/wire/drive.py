"""Run a module as Ansible would, in this process, against a twin."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
from pathlib import Path

from ansible.module_utils.testing import patch_module_args

OURS = "aiready.vsphere"
MODULES = sorted(
    path.stem for path in (Path(__file__).parents[2] / "plugins" / "modules").glob("*.py") if path.stem != "__init__"
)


def load(module):
    """The Python module of an Ansible module, given by its full name."""
    collection, _dot, name = module.rpartition(".")
    return importlib.import_module(f"ansible_collections.{collection}.plugins.modules.{name}")


def run(module, arguments, check=False):
    """The answer of a module to its arguments."""
    internal = {"_ansible_check_mode": check, "_ansible_diff": True, "_ansible_remote_tmp": "/nonexistent"}
    main = load(module).main
    printed = io.StringIO()
    status = None
    with patch_module_args({**arguments, **internal}), contextlib.redirect_stdout(printed):
        try:
            main()
        except SystemExit as end:
            status = end.code
    answer = json.loads(printed.getvalue())
    answer.setdefault("failed", status != 0)
    return answer


def connection(twin, session_dir):
    """The options by which a module of this collection reaches a twin."""
    return {
        "hostname": twin.host,
        "port": twin.port,
        "username": twin.username,
        "password": twin.password,
        "ca_file": str(twin.ca_file),
        "session_dir": str(session_dir),
    }


class Driver:
    """Calls modules of this collection with the connection filled in, as module_defaults would."""

    def __init__(self, connection):
        self.connection = connection

    def __call__(self, module, check=False, **params):
        return run(f"{OURS}.{module}", {**self.connection, **params}, check)
