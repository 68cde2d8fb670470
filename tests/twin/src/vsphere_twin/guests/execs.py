"""Programs in containers: how they end, and all that they print."""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import threading
import time
from dataclasses import dataclass

import docker.errors

STDOUT, STDERR = 1, 2
KILLED = 137  # reported by the engine for a program that ended with its container
PIECE = 65536
CHECK_S = 5  # silence after which the engine is asked whether the program still runs
END_S = 30  # between the end of what a program prints and its own end
HEADER = struct.Struct(">BxxxL")


@dataclass(frozen=True)
class Ended:
    """A program that has ended."""

    status: int
    frames: tuple  # ((stream, bytes), ...) in the order in which they were printed

    @property
    def out(self):
        return self._printed(STDOUT)

    @property
    def err(self):
        return self._printed(STDERR)

    @property
    def text(self):
        """Return both, as a terminal shows them."""
        return self._printed(STDOUT, STDERR)

    def _printed(self, *streams):
        return b"".join(data for stream, data in self.frames if stream in streams).decode(errors="replace")


def run(api, container, argv, stdin=None):
    """Run a program as root and wait for its end; stdin are bytes that it reads."""
    call = api.exec_create(container, list(argv), stdin=stdin is not None)["Id"]
    stream = api.exec_start(call, socket=True)
    # The SDK reads the engine's headers through this buffer and the data after it, which loses the data that came with
    # them: docker-py's issue 3332.
    reader = stream._response.raw._fp.fp
    raw = reader.raw._sock
    try:
        raw.setblocking(False)
        early = reader.peek()
        raw.setblocking(True)
        if stdin is not None:
            threading.Thread(target=_feed, args=(raw, stdin), daemon=True).start()
        frames = tuple(_frames(_arriving(raw, early, lambda: _status(api, call) is not None)))
    finally:
        # Closing the stream leaves the connection open until a garbage collection.
        stream._response.close()
        stream.close()
    limit = time.monotonic() + END_S
    while (status := _status(api, call)) is None and time.monotonic() < limit:
        time.sleep(0.02)
    return Ended(status, frames)


def _status(api, call):
    """The exit status of a program, None while it runs."""
    try:
        found = api.exec_inspect(call)
    except docker.errors.NotFound:  # such as for a guest during its power-off
        return KILLED
    return None if found["Running"] else found["ExitCode"]


def _feed(raw, data):
    with contextlib.suppress(OSError):  # it ended without reading all
        raw.sendall(data)
        raw.shutdown(socket.SHUT_WR)


def _arriving(raw, early, ended):
    """All bytes that the engine sends. It may leave the connection of a program open that has ended."""
    yield early
    ready = select.poll()
    ready.register(raw, select.POLLIN)
    while True:
        if not ready.poll(CHECK_S * 1000):
            if ended():
                return
        elif data := raw.recv(PIECE):
            yield data
        else:
            return


def _frames(pieces):
    held = b""
    for piece in pieces:
        held += piece
        while len(held) >= HEADER.size:
            stream, size = HEADER.unpack_from(held)
            if len(held) < HEADER.size + size:
                break
            yield stream, held[HEADER.size : HEADER.size + size]
            held = held[HEADER.size + size :]
    if len(held) > HEADER.size:
        yield HEADER.unpack_from(held)[0], held[HEADER.size :]
