"""The scripts of pair_test on this machine, with programs that stand for those of a guest."""

from __future__ import annotations

import contextlib
import os
import random
import socket
import subprocess
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs import commands, scripts
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs.params import PortsRequest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.training.reach import Guest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.validation.pair_steps import PairSteps

from unit.plugins.module_utils.validation.pairs.ends import request

# A server that listens on a port, reports whom it served, and ends; a client that says what it sees.
SERVER = """#!/usr/bin/env python3
import socket, sys
with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as listening:
    print("listening", flush=True)
    connection, _peer = listening.accept()
    print("served", connection.recv(9).decode(), flush=True)
"""
CLIENT = """#!/usr/bin/env python3
import os, socket, sys
socket.create_connection(("127.0.0.1", int(sys.argv[1]))).sendall(b"a client")
print(sorted(os.environ), sys.argv[2:])
"""
# Heeds the signal at once, however long it takes to start another program.
WAITS = "#!/bin/sh\ntrap 'echo ended; kill $!; exit 3' TERM\necho \"$$\" > {pid}\nwhile :; do sleep 600 & wait; done\n"
STUBBORN = "#!/bin/sh\ntrap '' TERM\necho \"$$\" > {pid}\nwhile :; do sleep 0.1; done\n"
PROGRAMS = {
    "server": SERVER,
    "client": CLIENT,
    "waits": WAITS,
    "stubborn": STUBBORN,
    "dies": "#!/bin/sh\necho no\nexit 7\n",
}
# What has to start within its limit gets more of it where a busy machine did not manage that.
LIMITS_S = (1, 10, 120)
PATIENCE_S = 120


class Machine:
    """A guest that is this machine, with programs of its own."""

    def __init__(self, folder, monkeypatch):
        self.folder, self.runs = folder, f"{folder}/runs/pairs"
        (folder / "bin").mkdir()
        (folder / "runs").mkdir()
        for name, text in PROGRAMS.items():
            path = folder / "bin" / name
            path.write_text(text.replace("{pid}", str(folder / f"{name}.pid")))
            path.chmod(0o755)
        for name in ("LOOK", "SERVE", "CALL", "COLLECT", "STOP"):
            text = getattr(scripts, name).replace("PATH=/usr/local/sbin", f"PATH={folder}/bin:/usr/local/sbin", 1)
            monkeypatch.setattr(scripts, name, text)
        self.request = request(work_dir=self.runs)
        self.guest = Guest("job-01", self._execute)
        self.steps = self.of_run("20260301-081530-6ed2")

    def of_run(self, run):
        return PairSteps(self.request, run)

    @staticmethod
    def _execute(argv, data):
        done = subprocess.run(argv, input=data, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        return {"rc": done.returncode, "stdout": done.stdout, "stderr": done.stderr}

    def began(self, program):
        """Whether a program has come as far as to heed signals, or not to."""
        file = self.folder / f"{program}.pid"
        return file.exists() and bool(file.read_text().strip())

    def alive(self, program):
        """Whether a program runs."""
        file = self.folder / f"{program}.pid"
        awaited(lambda: self.began(program))
        try:
            state = Path(f"/proc/{int(file.read_text())}/stat").read_text().rpartition(") ")[2][0]
        except (FileNotFoundError, ProcessLookupError):
            return False
        return state not in "ZX"


def awaited(moment):
    """Wait until something is so, and fail where it never is."""
    until = time.monotonic() + PATIENCE_S
    while not moment():
        assert time.monotonic() < until, "it never came"
        time.sleep(0.02)


@pytest.fixture
def machine(tmp_path, monkeypatch):
    made = Machine(tmp_path, monkeypatch)
    yield made
    made.steps.stop(made.guest)


def of(*servers, clients=(("client", commands.PORT),), ready=commands.BY_PORT):
    return commands.Test("pair.iperf3", "iperf3", servers, clients, ready, 5)


def test_both_sides_meet_and_nothing_is_left(machine):
    test = of(("server", commands.PORT), clients=(("client", commands.PORT, "a b", "$HOME"),))
    began = machine.steps.serve(machine.guest, test, 20)
    assert (began.ended, began.trouble, len(began.ports)) == (False, "", 1)
    client = machine.steps.call(machine.guest, test, began.ports, 20)
    # Nothing of the environment of whoever runs the task gets there, and words arrive as they are.
    ((status, text),) = client.outputs.values()
    assert status == 0
    assert "['a b', '$HOME']" in text
    assert set(eval(text.split("]")[0] + "]")) <= {"PATH", "HOME", "LC_ALL", "LC_CTYPE", "PWD", "SHLVL", "_", "OLDPWD"}
    server = machine.steps.collect(machine.guest)
    assert server.outputs == {"1": (0, "listening\nserved a client\n")}
    assert not (machine.folder / "runs" / "pairs").exists()


def taken_port():
    """A server on a port that the kernel gives to nobody who asks for any, so that those after it are mostly free."""
    for port in random.sample(range(20000, 30000), 1000):
        with contextlib.suppress(OSError):
            return socket.create_server(("127.0.0.1", port))
    raise AssertionError("all ports are taken")


def test_several_servers_get_ports_of_their_own_that_are_free(machine):
    with taken_port() as taken:
        first = taken.getsockname()[1]
        machine.request = replace(machine.request, ports=PortsRequest(first, 100))
        steps = machine.of_run("20260301-081530-6ed2")
        test = of(
            ("server", commands.PORT),
            ("server", commands.PORT),
            clients=(("client", commands.PORT), ("client", commands.PORT)),
        )
        began = steps.serve(machine.guest, test, 20)
    one, other = began.ports
    assert first < one < other < first + 100
    client = steps.call(machine.guest, test, began.ports, 20)
    assert [status for status, _text in client.outputs.values()] == [0, 0]
    assert [status for status, _text in steps.collect(machine.guest).outputs.values()] == [0, 0]


def test_no_free_port_is_said(machine):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        last = taken.getsockname()[1]
        machine.request = replace(machine.request, ports=PortsRequest(last, 1))
        began = machine.of_run("20260301-081530-6ed2").serve(machine.guest, of(("server", commands.PORT)), 20)
    assert began.trouble == f"all ports up to {last} are in use"


def test_a_server_that_dies_at_once_is_said(machine):
    began = machine.steps.serve(machine.guest, of(("dies",)), 20)
    assert began.ended
    assert machine.steps.collect(machine.guest).outputs == {"1": (7, "no\n")}


@pytest.mark.parametrize("program, status, text", [("waits", 3, "ended\n"), ("stubborn", 137, "")])
def test_a_client_that_does_not_end_is_ended_in_time(machine, program, status, text):
    for limit_s in LIMITS_S:
        done = machine.steps.call(machine.guest, of(clients=((program,),)), (), limit_s)
        if machine.began(program):
            break
    # `timeout` says 124 when its program heeds the signal, 137 when it had to be killed.
    assert {"1": (124 if program == "waits" else status, text)} == done.outputs
    assert done.late
    assert not machine.alive(program)


@pytest.mark.parametrize("program", ["waits", "stubborn"])
def test_a_server_whose_client_is_gone_is_ended_when_it_is_collected(machine, program):
    machine.steps.serve(machine.guest, of((program,), ready=commands.BY_TIME), 60)
    assert machine.alive(program)
    (status, _text) = machine.steps.collect(machine.guest).outputs["1"]
    assert status is None
    assert not machine.alive(program)


def test_a_server_ends_by_itself_when_nobody_comes_back(machine):
    for limit_s in LIMITS_S:
        machine.steps.serve(machine.guest, of(("waits",), ready=commands.BY_TIME), limit_s)
        awaited(lambda: list(Path(machine.runs).glob("*/server/1.status")))
        if machine.began("waits"):
            break
        machine.steps.collect(machine.guest)
    assert not machine.alive("waits")
    # Its time was over; whom collecting ends has no status.
    assert machine.steps.collect(machine.guest).outputs == {"1": (124, "ended\n")}


def test_stopping_ends_clients_and_servers_of_the_run(machine):
    machine.steps.serve(machine.guest, of(("stubborn",), ready=commands.BY_TIME), 60)
    other = Guest("job-01", machine._execute)
    calling = threading.Thread(
        target=machine.steps.call, args=(machine.guest, of(clients=(("waits",),)), (), 60), daemon=True
    )
    calling.start()
    assert machine.alive("stubborn")
    assert machine.alive("waits")
    assert machine.steps.stop(other) == 0
    calling.join(PATIENCE_S)
    assert not calling.is_alive()
    assert not machine.alive("stubborn")
    assert not machine.alive("waits")
    assert not (machine.folder / "runs" / "pairs").exists()


def test_a_look_sees_programs_and_what_a_killed_run_left(machine):
    machine.of_run("20260301-000000-dead").serve(machine.guest, of(("waits",), ready=commands.BY_TIME), 60)
    os.makedirs(f"{machine.runs}/20260301-000001-gone/server")
    seen = machine.steps.look(machine.guest)
    assert set(seen.leftovers) == {("20260301-000000-dead", True), ("20260301-000001-gone", False)}
    assert {"timeout", "setsid"} <= set(seen.tools)
    assert ("127.0.0.1", 8) in seen.network.addresses["lo"]
    for run in ("20260301-000000-dead", "20260301-000001-gone"):
        assert machine.steps.stop(machine.guest, run) == 0
    assert machine.steps.look(machine.guest).leftovers == ()
    assert not machine.alive("waits")
