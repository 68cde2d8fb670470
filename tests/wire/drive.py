"""Run a module as Ansible would, in this process, against a twin."""

from __future__ import annotations

import contextlib
import functools
import importlib
import io
import json
from pathlib import Path

import yaml
from ansible.module_utils.common import warnings
from ansible.module_utils.testing import patch_module_args

OURS = "aiready.vsphere"
PLUGINS = Path(__file__).parents[2] / "plugins"
# Modules that run on a guest are held to the contract there, where their rows are too.
ON_GUESTS = {path.stem for path in (Path(__file__).parents[1] / "guests" / "rows").glob("*.py")} - {"__init__"}
MODULES = sorted({path.stem for path in (PLUGINS / "modules").glob("*.py")} - {"__init__"} - ON_GUESTS)
# Modules whose work is done by an action plugin, over the connection to a host. vcenter_access_info runs on its own.
ACTIONS = sorted({path.stem for path in (PLUGINS / "action").glob("*.py")} - {"__init__", "vcenter_access_info"})


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
    # A module is a process of its own: it does not return the warnings of the module before it.
    warnings._global_warnings.clear()
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


def bmc_connection(twin, host):
    """The options by which a module of this collection reaches the BMC of a host."""
    return {
        "bmc_address": twin.bmc_endpoints[host],
        "bmc_username": twin.bmc_username,
        "bmc_password": twin.bmc_password,
        "bmc_ca_file": str(twin.ca_file),
    }


@functools.cache
def reaches(module):
    """The names of the fragments by which the documentation of a module says whom it talks to."""
    fragments = yaml.safe_load(load(f"{OURS}.{module}").DOCUMENTATION).get("extends_documentation_fragment", [])
    return {fragment.removeprefix(f"{OURS}.") for fragment in fragments}


class Driver:
    """Calls modules of this collection with the connection filled in, as module_defaults would."""

    def __init__(self, connection, twin=None):
        self.connection = connection
        self.twin = twin
        self._open = contextlib.ExitStack()
        self._switches = {}

    def close(self):
        """End the sessions with switches, which last as in a play."""
        self._open.close()

    def __call__(self, module, /, check=False, at=None, **params):
        if module in ACTIONS:
            return self._act(module, check, at, params)
        reached = reaches(module)
        filled = dict(self.connection) if "vcenter" in reached else {}
        if "bmc" in reached:
            filled.update(bmc_connection(self.twin, at))
        return run(f"{OURS}.{module}", {**filled, **params}, check)

    def _act(self, module, check, at, params):
        from . import drive_action, drive_switch

        if at not in self.twin.switch_endpoints:
            return drive_action.run(self.twin, at, module, params, check)
        if at not in self._switches:
            self._switches[at] = self._open.enter_context(drive_switch.connected(self.twin, at))
        return self._switches[at](module, params, check)
