"""Nothing that a program prints is lost, also where it comes together with the engine's headers."""

from __future__ import annotations

import gc
import json
import os
import socketserver
import struct
import tempfile
import threading
from http.server import BaseHTTPRequestHandler

import docker
import pytest

from vsphere_twin.guests import execs

UPGRADED = b"HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\nConnection: Upgrade\r\n\r\n"
STATUS = 3


def frame(stream, data):
    return struct.pack(">BxxxL", stream, len(data)) + data


class Engine(BaseHTTPRequestHandler):
    """What the engine answers to the three questions about a program."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        given = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if not self.path.endswith("/start"):
            self.server.asked = json.loads(given)
            self._report({"Id": "one"})
            return
        self.close_connection = True
        for part in self.server.parts:
            self.connection.sendall(part)
        self.server.closes.wait()
        if self.server.asked["AttachStdin"]:
            self.connection.sendall(frame(1, self.rfile.read()))

    def do_GET(self):
        if self.server.gone:
            self._report({"message": "No such exec instance: one"}, 404)
        else:
            running = self.server.looks.pop() if self.server.looks else False
            self._report({"Running": running, "ExitCode": None if running else STATUS})

    def _report(self, what, code=200):
        body = json.dumps(what).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def address_string(self):
        return "nobody"  # such a socket has no address of the other side

    def log_message(self, *_words):
        pass


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    parts = ()
    gone = False
    looks = ()

    def __init__(self, *words):
        super().__init__(*words)
        self.closes = threading.Event()
        self.closes.set()


@pytest.fixture
def engine():
    """(server whose .parts are sent one by one, client of it)."""
    # The path of a socket may only have about 100 characters.
    with tempfile.TemporaryDirectory(prefix="en-") as folder, Server(f"{folder}/s", Engine) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        client = docker.APIClient(f"unix://{folder}/s", version="1.41")
        yield server, client
        client.close()
        server.shutdown()


OUT, ERR = frame(1, b"first\n"), frame(2, b"oops\n")
PARTS = {
    "with the headers": [UPGRADED + OUT + ERR + OUT],
    "after them": [UPGRADED, OUT, ERR + OUT[:3], OUT[3:]],
    "half of it with them": [UPGRADED + OUT[:10], OUT[10:] + ERR, OUT],
}


@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS)
def test_all_that_is_printed_arrives(engine, parts):
    server, client = engine
    server.parts = parts
    ended = execs.run(client, "guest", ["true"])
    assert (ended.status, ended.out, ended.err) == (STATUS, "first\nfirst\n", "oops\n")
    assert ended.text == "first\noops\nfirst\n"


def test_a_program_that_prints_nothing(engine):
    server, client = engine
    server.parts, server.looks = (UPGRADED,), [True]  # it prints nothing more, and ends a moment later
    ended = execs.run(client, "guest", ["true"])
    assert (ended.status, ended.text) == (STATUS, "")


def test_a_program_that_took_its_container_along(engine):
    server, client = engine
    server.parts, server.gone = (UPGRADED + OUT,), True
    ended = execs.run(client, "guest", ["systemctl", "poweroff"])
    assert (ended.status, ended.out) == (execs.KILLED, "first\n")


def test_a_program_ends_also_where_the_engine_leaves_its_connection_open(engine, monkeypatch):
    server, client = engine
    monkeypatch.setattr(execs, "CHECK_S", 0.02)
    server.parts, server.looks = (UPGRADED + OUT, ERR), [True, True]
    server.closes.clear()
    ended = execs.run(client, "guest", ["true"])
    server.closes.set()
    assert (ended.status, ended.out, ended.err) == (STATUS, "first\n", "oops\n")
    assert server.looks == []


def test_what_arrives_of_a_part_that_was_cut_off_is_kept(engine):
    server, client = engine
    server.parts = (UPGRADED + OUT + ERR[:10],)
    ended = execs.run(client, "guest", ["true"])
    assert (ended.out, ended.err) == ("first\n", "oo")


def test_no_connection_stays_open(engine):
    server, client = engine
    server.parts = (UPGRADED + OUT,)
    execs.run(client, "guest", ["true"])
    gc.disable()
    try:
        before = len(os.listdir("/proc/self/fd"))
        for _time in range(8):
            execs.run(client, "guest", ["cat"], b"")
        assert len(os.listdir("/proc/self/fd")) < before + 8
    finally:
        gc.enable()


def test_a_program_reads_what_it_is_given(engine):
    server, client = engine
    server.parts = (UPGRADED + ERR,)
    given = bytes(range(128)) * 10_000
    ended = execs.run(client, "guest", ["cat"], given)
    assert ended.out.encode() == given
    assert ended.err == "oops\n"
