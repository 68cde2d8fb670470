"""Programs of two guests as real processes: each asks its VM's socket, and they meet over this machine's loopback."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from twin_labs.guest_lab import kept_port, listens
from vsphere_twin.guests.answers import Line
from vsphere_twin.guests.programs import layout

ADDRESS = "127.0.0.1"


@pytest.fixture
def started(pair_of, tmp_path):
    """start(which guest, argv) -> Popen; the guests' sockets are served as a lab does it."""
    pair = pair_of(addresses=(f"{ADDRESS}/8", f"{ADDRESS}/8"))
    lines, processes = [], []
    with tempfile.TemporaryDirectory() as short:  # the path of a socket is never long
        for number, guest in enumerate(pair.guests):
            home = tmp_path / str(number)
            (home / "bin").mkdir(parents=True)
            rows = [_row(one) for one in guest.state["interfaces"]]
            (home / "bin/ip").write_text(f"#!/bin/sh\ncat <<'END'\n{json.dumps(rows)}\nEND\n")
            (home / "bin/ip").chmod(0o755)
            (home / "state").mkdir()
            (home / "state/loaded").write_text(" ".join(guest.state["loaded"]))
            lines.append(Line(Path(short) / str(number), pair.world, guest.vm, lambda _reported: None))

        def start(number, *argv):
            home = tmp_path / str(number)
            program = home / "bin" / argv[0]
            if not program.is_symlink():
                program.symlink_to(layout.FOLDER / "ask")
            places = {"LAB_SOCKET": f"{short}/{number}", "LAB_ROOT": str(home), "LAB_STATE": str(home / "state")}
            path = f"{home / 'bin'}:{os.environ['PATH']}"
            environment = {**os.environ, **places, "LAB_HOME": str(home), "PATH": path}
            process = subprocess.Popen(
                [sys.executable, str(program), *argv[1:]],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                env=environment,
            )
            processes.append(process)
            return process

        try:
            yield start
        finally:
            for one in processes:
                one.kill()
                one.communicate()
            for one in lines:
                one.stop()


@pytest.fixture
def port():
    with kept_port() as found:
        yield str(found)


def test_bandwidth(started, port):
    options = ("-p", port, "--report_gbits", "-F", "-n", "500")
    server = started(1, "ib_write_bw", *options)
    listens(port)
    client = started(0, "ib_write_bw", *options, ADDRESS)
    shown, heard = client.communicate(timeout=60)[0], server.communicate(timeout=60)[0]
    assert (client.returncode, server.returncode) == (0, 0), shown + heard
    assert re.search(r"(?m)^ 65536      500              8\d\.\d\d ", shown)
    assert re.search(r"(?m)^ 65536      500              0\.00 ", heard)


def test_pings(started, port):
    server = started(1, "rping", "-s", "-p", port)
    listens(port)
    client = started(0, "rping", "-c", "-v", "-C", "2", "-p", port, "-a", ADDRESS)
    assert client.communicate(timeout=60)[0].count("ping data: ") == 2
    assert "server DISCONNECT EVENT...\n" in server.communicate(timeout=60)[0]
    assert (client.returncode, server.returncode) == (0, 0)


def test_a_client_without_a_server_is_refused_by_the_network(started, port):
    client = started(0, "ib_write_bw", "-p", port, ADDRESS)
    assert f"Couldn't connect to {ADDRESS}:{port}\n" in client.communicate(timeout=60)[0]
    assert client.returncode == 1


def test_a_server_whose_client_is_killed_ends_without_a_result(started, port):
    options = ("-p", port, "-D", "20")
    server = started(1, "ib_write_bw", *options)
    listens(port)
    client = started(0, "ib_write_bw", *options, ADDRESS)
    for line in client.stdout:
        if "#bytes" in line:
            break
    client.kill()
    server.wait(timeout=60)
    assert server.returncode == 1


def _row(one):
    address, _slash, prefix = one["addresses"][0].partition("/")
    found = {"ifname": one["name"], "address": one["mac"], "mtu": one["mtu"], "flags": ["UP", "LOWER_UP"]}
    return {**found, "addr_info": [{"local": address, "prefixlen": int(prefix)}]}
