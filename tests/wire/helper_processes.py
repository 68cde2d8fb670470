"""Ansible's helper for a command line in a twentieth of its time: its process is forked from one that has all imports.

Ansible starts a helper for every switch, and that takes seconds before the first byte is sent. Here one process per
test run has read everything beforehand; each helper is a fork of it and runs Ansible's own code with the environment,
input and output that Ansible gave it.
"""

from __future__ import annotations

import array
import atexit
import contextlib
import functools
import importlib.util
import json
import os
import select
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

# What Ansible starts instead of its own script: it hands its input, output and environment over, and ends as told.
# Where nobody takes them, it becomes the script.
STUB = """
import array, json, os, socket, sys
line = socket.socket(socket.AF_UNIX)
try:
    line.connect({path!r})
    order = json.dumps([sys.argv, os.getcwd(), dict(os.environ)]).encode()
    line.sendmsg([order + b"\\n"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))])
    status = int(line.recv(16))
except (OSError, ValueError):
    os.execv(sys.executable, [sys.executable, {script!r}, *sys.argv[1:]])
sys.exit(status)
"""
PRELOADED = ("arista.eos.eos", "cisco.nxos.nxos", "dellemc.enterprise_sonic.sonic")


@contextlib.contextmanager
def quick():
    """Meanwhile helpers of this process are forked, and do not meet those of tests that run side by side."""
    folder = _nursery()
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
def _nursery():
    """The folder of the process that forks helpers; both are gone when this process ends."""
    folder = tempfile.TemporaryDirectory(prefix="pc-")
    path = str(Path(folder.name, "s"))
    nursery = subprocess.Popen([sys.executable, __file__, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    atexit.register(_end, nursery, folder)
    nursery.stdout.readline()  # it listens
    Path(folder.name, "helper.py").write_text(STUB.format(path=path, script=_script()))
    return Path(folder.name)


def _script():
    """Ansible's own script, which needs none of its imports to be found."""
    return importlib.util.find_spec("ansible.cli.scripts.ansible_connection_cli_stub").origin


def _end(nursery, folder):
    nursery.stdin.close()
    nursery.wait(timeout=10)
    folder.cleanup()


def serve(path):
    """Fork a helper for each order, until whoever started this is gone."""
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen(16)
    _preload()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        ready, _writable, _odd = select.select([server, sys.stdin], [], [])
        if sys.stdin in ready:
            return
        line = server.accept()[0]
        order, streams = _order(line)
        if os.fork() == 0:
            server.close()
            _wait_for(line, order, streams)
        for number in streams:
            os.close(number)
        line.close()
        while True:  # those that ended meanwhile
            try:
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    break
            except ChildProcessError:
                break


def _order(line):
    data, ancillary, _flags, _sender = line.recvmsg(1 << 16, socket.CMSG_SPACE(3 * array.array("i").itemsize))
    streams = array.array("i", ancillary[0][2])
    while not data.endswith(b"\n"):
        data += line.recv(1 << 16)
    return json.loads(data), list(streams)


def _wait_for(line, order, streams):
    """Be the helper's starter, and tell how it ended; the helper itself is a grandchild and goes on."""
    child = os.fork()
    if child == 0:
        line.close()
        _become(order, streams)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    line.sendall(str(status).encode())
    os._exit(0)


def _become(order, streams):
    from ansible import constants
    from ansible.cli.scripts import ansible_connection_cli_stub

    argv, folder, environment = order
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115 - the process's own
    constants.PERSISTENT_CONTROL_PATH_DIR = constants.config.get_config_value("PERSISTENT_CONTROL_PATH_DIR")
    code = 1
    try:
        ansible_connection_cli_stub.main(argv)
    except SystemExit as end:
        code = end.code or 0
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _preload():
    from ansible.cli.scripts import ansible_connection_cli_stub  # noqa: F401 - it is there when it is needed
    from ansible.plugins import loader

    loader.init_plugin_loader()
    loader.connection_loader.get("ssh", class_only=True)
    loader.connection_loader.get("ansible.netcommon.network_cli", class_only=True)
    loader.connection_loader.get("ansible.netcommon.libssh", class_only=True)
    for name in PRELOADED:
        loader.cliconf_loader.get(name, None, class_only=True)
        loader.terminal_loader.get(name, None, class_only=True)


if __name__ == "__main__":
    serve(sys.argv[1])
