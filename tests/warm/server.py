"""Fork playbooks for the process that started it: python -m warm.server SOCKET; closing its input ends it."""

from __future__ import annotations

import array
import atexit
import contextlib
import fcntl
import gc
import importlib
import json
import os
import resource
import select
import signal
import socket
import sys
import traceback
from pathlib import Path
from typing import NoReturn

from warm import connections, files, headers, inline, lazy, modules, templates, vmomi

PLUGINS = Path(__file__).resolve().parents[2] / "plugins"
OURS = "ansible_collections.aiready.vsphere.plugins"
# Folders of plugins that ansible-playbook itself imports, and what modules import.
FOLDERS = ("action", "callback", "filter", "plugin_utils", "module_utils")
NETWORKS = (
    "arista.eos.eos",
    "cisco.nxos.nxos",
    "dellemc.enterprise_sonic.sonic",
    "aiready.vsphere.onyx",
    "aiready.vsphere.os10",
)
# In the environment of an order: the name of its process, of at most 15 characters, and of all forks of it.
NAME = "WARM_NAME"
# Plugins of Ansible that every run loads, by their kind.
USUAL = {
    "action": ("normal", "command", "copy", "template", "set_fact", "debug", "fail", "assert", "include_vars"),
    "become": ("sudo",),
    "cliconf": NETWORKS,
    "connection": ("local", "ssh", "ansible.netcommon.network_cli", "ansible.netcommon.libssh"),
    "inventory": ("auto", "yaml", "ini", "host_list", "script", "toml", "advanced_host_list"),
    "lookup": ("vars", "env", "file", "first_found", "dict", "password"),
    "shell": ("sh",),
    "strategy": ("linear", "free"),
    "terminal": NETWORKS,
}


def serve(path: str) -> None:
    """Fork a child for each order, until whoever started this is gone."""
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(path)
    listening.listen(16)
    _preload()
    modules.install(Path(path).parent / "ansiballz")
    connections.install()
    templates.install(Path(path).parent / "templates")
    files.install(PLUGINS.parent)
    inline.install()
    lazy.install()
    headers.install()
    vmomi.install()
    vmomi.load_types()
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, lambda *_: None)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        with contextlib.suppress(InterruptedError):
            ready, _writable, _odd = select.select([listening, sys.stdin], [], [])
            if sys.stdin in ready:
                return
            templates.learn(Path(path).parent / "templates")
            _take(listening.accept()[0], listening)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _take(line: socket.socket, listening: socket.socket) -> None:
    data, ancillary, _flags, _sender = line.recvmsg(1 << 16, socket.CMSG_SPACE(4 * array.array("i").itemsize))
    streams = list(array.array("i", ancillary[0][2]))
    if os.fork() == 0:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        listening.close()
        while not data.endswith(b"\n"):
            data += line.recv(1 << 16)
        _watch(line, json.loads(data), streams)
    for number in streams:
        os.close(number)
    line.close()


def _watch(line: socket.socket, order: dict, streams: list[int]) -> NoReturn:
    """Be the parent of the child, and report its number, how it ended and what it used."""
    child = os.fork()
    if child == 0:
        line.close()
        _become(order, streams)
    for number in streams:
        os.close(number)
    status = -signal.SIGKILL
    with contextlib.suppress(OSError):
        line.sendall(f"{child}\n".encode())
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        line.sendall(f"{status} {used.ru_utime + used.ru_stime:.3f}\n".encode())
    os._exit(0)


def _become(order: dict, streams: list[int]) -> NoReturn:
    """Run the program with the environment, folder and streams of the caller; never returns."""
    code = 1
    try:
        if order["program"] == "playbook":
            os.setsid()
        os.environ.clear()
        os.environ.update(order["env"])
        if NAME in os.environ:
            Path("/proc/self/comm").write_text(os.environ[NAME], encoding="utf-8")
        os.chdir(order["folder"])
        redirect(streams)
        sys.argv = order["argv"]
        _refresh()
        PROGRAMS[order["program"]]()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        leave(code)


def redirect(streams: list[int]) -> None:
    """Input, output and errors are these."""
    # Beyond the three first: one of them may be among the others' numbers.
    moved = [fcntl.fcntl(stream, fcntl.F_DUPFD, 3) for stream in streams]
    for stream in set(streams):
        os.close(stream)
    for number, stream in enumerate(moved):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(number, mode, closefd=False) for number, mode in enumerate("rww"))


def forget_folders() -> None:
    """Folders for temporary files that Ansible removes at the end of a process are not those of its forks."""
    from ansible.config.manager import cleanup_tmp_file

    atexit.unregister(cleanup_tmp_file)


def leave(code: int) -> NoReturn:
    """End this process as Python does, without the rest of the server's own program."""
    if (trouble := sys.exception()) is not None:
        traceback.print_exception(trouble)
    with contextlib.suppress(Exception):
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit(code)


def _refresh() -> None:
    """Ansible's configuration as the environment and the configuration file of the caller have it."""
    from ansible import constants
    from ansible.config.manager import find_ini_config_file
    from ansible.plugins import loader

    config = constants.config
    config._parsers.clear()
    config._get_ini_config_value.cache_clear()
    config._config_file = find_ini_config_file(config.WARNINGS)
    if config._config_file:
        config._parse_config_file()
    for setting in config.get_configuration_definitions():
        constants.set_constant(setting, config.get_config_value(setting, variables=vars(constants)))
    for kind in ("callback", "action", "filter", "connection"):
        one = getattr(loader, f"{kind}_loader")
        one.config = getattr(constants, f"DEFAULT_{kind.upper()}_PLUGIN_PATH")
        one._paths = None


def _playbook() -> None:
    from ansible.cli import playbook

    playbook.main()


def _connection() -> None:
    from ansible.cli.scripts import ansible_connection_cli_stub

    ansible_connection_cli_stub.main(sys.argv)


PROGRAMS = {"playbook": _playbook, "connection": _connection}


def _preload() -> None:
    from ansible.cli import playbook  # noqa: F401 - imported for the forks
    from ansible.cli.scripts import ansible_connection_cli_stub  # noqa: F401
    from ansible.plugins import loader

    loader.init_plugin_loader()
    # The paths of collections are the same for all playbooks of a server: the loader is there already.
    loader._configure_collection_loader = lambda *_: None
    for kind, names in USUAL.items():
        for name in names:
            getattr(loader, f"{kind}_loader").get(name, class_only=True)
    for name in ("ansible.builtin.default", "aiready.vsphere.stages", "aiready.vsphere.record"):
        loader.callback_loader.get(name, class_only=True)
    # With their documentation, which says what may be configured.
    list(loader.callback_loader.all(class_only=True))
    list(loader.filter_loader.all())
    list(loader.test_loader.all())
    for folder in FOLDERS:
        for file in sorted((PLUGINS / folder).rglob("*.py")):
            name = ".".join(file.relative_to(PLUGINS).with_suffix("").parts).removesuffix(".__init__")
            importlib.import_module(f"{OURS}.{name}")
    importlib.import_module("ansible.plugins.vars.host_group_vars")
    modules.preload()
    importlib.import_module(f"{OURS}.plugin_utils.site.specification").specification()
    forget_folders()


if __name__ == "__main__":
    serve(sys.argv[1])
