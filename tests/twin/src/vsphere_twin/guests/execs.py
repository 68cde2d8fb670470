"""Programs in containers: how they end, and all that they print."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from dataclasses import dataclass

import docker.errors

STDOUT, STDERR = 1, 2
KILLED = 137  # reported by the engine for a program that ended with its container
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
    raw.settimeout(None)
    try:
        if stdin is not None:
            threading.Thread(target=_feed, args=(raw, stdin), daemon=True).start()
        frames = tuple(_frames(reader))
    finally:
        # Closing the stream leaves the connection open until a garbage collection.
        stream._response.close()
        stream.close()
    try:
        return Ended(api.exec_inspect(call)["ExitCode"], frames)
    except docker.errors.NotFound:  # such as for a guest during its power-off
        return Ended(KILLED, frames)


def _feed(raw, data):
    with contextlib.suppress(OSError):  # it ended without reading all
        raw.sendall(data)
        raw.shutdown(socket.SHUT_WR)


def _frames(reader):
    while len(header := reader.read(HEADER.size)) == HEADER.size:
        stream, size = HEADER.unpack(header)
        yield stream, reader.read(size)
