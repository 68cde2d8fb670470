"""Run a module of the collection as Ansible would, in this process, against a twin."""

from __future__ import annotations

import contextlib
import importlib
import io
import json

import pytest
from ansible.module_utils.testing import patch_module_args

MODULES = "ansible_collections.aiready.vsphere.plugins.modules"


def connection(twin, session_dir):
    """The options by which a module reaches a twin."""
    return {
        "hostname": twin.host,
        "port": twin.port,
        "username": twin.username,
        "password": twin.password,
        "ca_file": str(twin.ca_file),
        "session_dir": str(session_dir),
    }


class Driver:
    """Calls modules with the connection filled in, as module_defaults would."""

    def __init__(self, connection):
        self.connection = connection

    def __call__(self, module, check=False, **params):
        arguments = {
            **self.connection,
            **params,
            "_ansible_check_mode": check,
            "_ansible_diff": True,
            "_ansible_remote_tmp": "/nonexistent",
        }
        main = importlib.import_module(f"{MODULES}.{module}").main
        printed = io.StringIO()
        with patch_module_args(arguments), contextlib.redirect_stdout(printed), pytest.raises(SystemExit) as end:
            main()
        answer = json.loads(printed.getvalue())
        answer.setdefault("failed", end.value.code != 0)
        return answer
