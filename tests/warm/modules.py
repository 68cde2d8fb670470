"""Modules on the controller run in a fork of the task's worker instead of a new Python with a zip of their imports.

That each module can be packed and imported from its zip is what a house test, molecule and the rehearsal show.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

IMPORTED = re.compile(rb"from ansible\.module_utils|import ansible\.module_utils|from ansible_collections\.")


class Order(bytes):
    """What is sent to a connection in place of a packed module."""

    name: str
    params: bytes
    profile: str
    environment: dict[str, str]


def preload() -> None:
    """What modules import beside the collection."""
    with contextlib.suppress(ImportError):
        from pyVmomi import vim, vmodl

        for kind in (vim.VirtualMachine, vim.HostSystem, vim.vm.ConfigSpec, vmodl.query.PropertyCollector.FilterSpec):
            assert kind
    for name in ("command", "copy", "file", "stat", "setup", "slurp", "tempfile", "wait_for"):
        __import__(f"ansible.modules.{name}")


def install(cache: Path) -> None:
    """Change how this process and its forks start modules; zips for other machines are made once, in the cache."""
    from ansible.executor import module_common
    from ansible.plugins import action
    from ansible.plugins.connection import local

    cache.mkdir()
    packed, configured, executed = (
        action.modify_module,
        action.ActionBase._configure_module,
        local.Connection.exec_command,
    )
    here = []

    def configure(self, module_name: str, module_args: dict, task_vars: dict) -> Any:
        connection = self._connection
        direct = isinstance(connection, local.Connection) and not self._task.async_val and connection.become is None
        here.append(direct and connection.is_pipelining_enabled())
        try:
            return configured(self, module_name, module_args, task_vars)
        finally:
            here.pop()

    def modify(**how: Any) -> Any:
        source = Path(how["module_path"]).read_bytes()
        if here[-1] and IMPORTED.search(source):
            shebang, interpreter = module_common._get_shebang("/usr/bin/python", how["task_vars"], how["templar"], [])
            if interpreter == sys.executable:
                return _order(module_common, shebang, how)
        _share(cache)
        return packed(**how)

    def execute(self, cmd: str, in_data: bytes | None = None, sudoable: bool = True) -> tuple[int, bytes, bytes]:
        if isinstance(in_data, Order):
            return _run(in_data, self.cwd)
        return executed(self, cmd, in_data=in_data, sudoable=sudoable)

    action.modify_module = modify
    action.ActionBase._configure_module = configure
    local.Connection.exec_command = execute


def _order(module_common: Any, shebang: str, how: dict) -> Any:
    from ansible.module_utils.common.json import Direction, get_module_encoder

    profile = "legacy"
    order = Order(b"a module")
    order.name = module_common._get_ansible_module_fqn(how["module_path"])
    encoder = get_module_encoder(profile, Direction.CONTROLLER_TO_MODULE)
    order.params = json.dumps({"ANSIBLE_MODULE_ARGS": how["module_args"]}, cls=encoder).encode()
    order.profile, order.environment = profile, dict(how["environment"] or {})
    return module_common._BuiltModule(
        b_module_data=order, module_style="new", shebang=shebang, serialization_profile=profile
    )


def _share(cache: Path) -> None:
    """All playbooks of this server find the zips of modules that one of them made."""
    from ansible import constants

    link = Path(constants.DEFAULT_LOCAL_TMP, "ansiballz_cache")
    with contextlib.suppress(FileExistsError):
        link.symlink_to(cache)


def _run(order: Order, folder: bytes | None) -> tuple[int, bytes, bytes]:
    """Exit status, output and errors of a module."""
    from ansible.utils.display import Display

    said = [os.memfd_create(name) for name in ("out", "err")]
    # As Ansible starts workers: no thread holds what the fork would miss, or has written half of something.
    with Display()._lock:
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
    # A worker ends its whole session when it is interrupted; without one, the module gets a session of its own.
    alone = multiprocessing.parent_process() is None
    if child == 0:
        if alone:
            os.setsid()
        _become(order, folder, said)
    try:
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    except BaseException:
        if alone:
            os.killpg(child, signal.SIGTERM)
        raise
    texts = []
    for number in said:
        with os.fdopen(number, "rb") as stream:
            stream.seek(0)
            texts.append(stream.read())
    return status, texts[0], texts[1]


def _become(order: Order, folder: bytes | None, said: list[int]) -> None:
    from ansible.module_utils import _internal
    from ansible.module_utils._internal import _traceback
    from ansible.module_utils._internal._ansiballz import _loader

    from warm.server import forget_folders, leave, redirect

    code = 1
    try:
        forget_folders()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        redirect([os.open(os.devnull, os.O_RDONLY), *said])
        os.chdir(folder or ".")
        os.environ.update(order.environment)
        # It is a module and not the controller, which matters for warnings and tracebacks.
        _internal.is_controller = False
        _traceback._is_traceback_enabled = _traceback._is_module_traceback_enabled
        sys.argv = [order.name]
        path = os.pathsep.join(sys.path)
        _loader.run_module(
            json_params=order.params, profile=order.profile, module_fqn=order.name, modlib_path=path, extensions={}
        )
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        leave(code)
