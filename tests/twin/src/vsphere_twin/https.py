"""Servers of the twin: connections on threads, closed on request of the twin. Independent of any API."""

from __future__ import annotations

import base64
import binascii
import errno
import gzip
import logging
import re
import resource
import socket
import socketserver
import ssl
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler

LOG = logging.getLogger(__name__)
COMPRESS_FROM = 2_000  # bytes; less than this is not worth the time
IDLE_S = 120
PIECE = 64 * 1024  # bytes of a body that are read at once
MOST_LINE = 4_096  # bytes of a line between chunks
MOST_MESSAGE = 64 * 1024**2  # bytes of a body that is held in memory; files are stored piece by piece
FULL_S = 1  # time between attempts to accept a connection while too many files are open
_HEX = re.compile(rb"[0-9a-fA-F]{1,16}")
_LENGTH = re.compile(r"[0-9]{1,18}")


class Handler(BaseHTTPRequestHandler):
    """One connection of a client."""

    protocol_version = "HTTP/1.1"
    server_version = "twin"
    disable_nagle_algorithm = True
    timeout = IDLE_S

    def setup(self):
        # The handshake belongs to the worker: a slow client must not hold up the others.
        self.request.settimeout(self.timeout)
        self.request = self.server.tls.wrap_socket(self.request, server_side=True)
        self.server.connections.add(self.request)
        super().setup()
        self.address, self.user_agent = self.client_address[0], None

    def finish(self):
        super().finish()
        self.server.connections.discard(self.request)
        self.request.close()

    def parse_request(self):
        """Refuse HTTP/0.9, which has no headers to answer with, and bodies whose end is unknown (RFC 9112 6.3)."""
        if not super().parse_request():
            return False
        if self.request_version == "HTTP/0.9":
            self.request_version = "HTTP/1.0"
            return self.reject(400)
        coding = ",".join(self.headers.get_all("Transfer-Encoding") or ["chunked"]).strip().casefold()
        if coding not in ("chunked", "identity"):
            return self.reject(501)
        lengths = self.headers.get_all("Content-Length") or ["0"]
        if len(set(lengths)) > 1 or not _LENGTH.fullmatch(lengths[0].strip()):
            return self.reject(400)
        return True

    def reject(self, status):
        """Answer a request that cannot be read, and end the connection."""
        self.close_connection = True
        self.send(status, b"", "text/plain")
        return False

    @property
    def chunked(self):
        """Return whether the body comes in chunks, without a length (RFC 9112 7.1), as Go clients send it."""
        return self.headers.get("Transfer-Encoding", "").strip().casefold() == "chunked"

    def body(self):
        """The body that the client sent; a broken one ends the connection, and so does one that is too large."""
        parts, size = [], 0 if self.chunked else int(self.headers.get("Content-Length") or 0)
        self._require_size(size)
        for part in self.pieces():
            parts.append(part)
            if self.chunked:
                size += len(part)
                self._require_size(size)
        return b"".join(parts)

    def _require_size(self, size):
        if size > MOST_MESSAGE:
            self.reject(413)
            raise ConnectionError(f"The body has more than {MOST_MESSAGE} bytes.")

    def pieces(self):
        """The body in pieces, as it arrives; less than announced where the connection ends before."""
        if self.chunked:
            yield from self._chunks()
        else:
            yield from self._piece(int(self.headers.get("Content-Length") or 0))

    def _chunks(self):
        while True:
            size = self.rfile.readline(MOST_LINE).partition(b";")[0].strip()
            if not _HEX.fullmatch(size):
                self.close_connection = True
                raise ConnectionError(f"{size!r} is not the size of a chunk.")
            length = int(size, 16)
            if length == 0:
                break
            yield from self._piece(length)
            self.rfile.readline(MOST_LINE)
        while self.rfile.readline(MOST_LINE).strip():
            pass  # trailers

    def _piece(self, missing):
        while missing:
            part = self.rfile.read(min(PIECE, missing))
            if not part:
                self.close_connection = True
                raise ConnectionError(f"The body ended {missing} bytes too early.")
            missing -= len(part)
            yield part

    def send(self, status, body, content_type, headers=()):
        """Answer; header and body go out in one write, so that no client waits for the second packet."""
        self.send_response(status)
        if content_type:
            self.send_header("Content-Type", content_type)
        self.send_header("Cache-Control", "no-cache")
        for name, value in dict(headers).items():
            self.send_header(name, value)
        if self.close_connection:
            # Otherwise a client that requested it would try to reuse the connection.
            self.send_header("Connection", "close")
        packable = content_type != "application/octet-stream" and len(body) > COMPRESS_FROM
        if packable and "gzip" in self.headers.get("Accept-Encoding", ""):
            body = gzip.compress(body, compresslevel=1)
            self.send_header("Content-Encoding", "gzip")
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self._headers_buffer.append(b"\r\n" + (b"" if self.command == "HEAD" else body))
        self.flush_headers()

    def log_message(self, template, *args):
        LOG.debug("%s %s", self.client_address[0], template % args)


class Threads(socketserver.ThreadingMixIn):
    """Serves each connection on a thread of its own. Clients that cannot be accepted wait, and the log says why."""

    daemon_threads = True

    def get_request(self):
        try:
            return super().get_request()
        except OSError as problem:
            if problem.errno in (errno.EMFILE, errno.ENFILE):
                LOG.error(
                    "No connection can be accepted: %s. This process may open %d files. Clients wait until it closes "
                    "some; start it with a higher limit (ulimit -n).",
                    problem.strerror,
                    resource.getrlimit(resource.RLIMIT_NOFILE)[0],
                )
                time.sleep(FULL_S)
            raise


class Server(Threads, socketserver.TCPServer):
    """Accepts connections over TLS."""

    allow_reuse_address = True
    request_queue_size = 256
    block_on_close = False

    def __init__(self, tls, handler, host="127.0.0.1", port=0, name="twin-https"):
        self.tls = tls
        self.connections = set()
        super().__init__((host, port), handler)
        self._thread = threading.Thread(
            target=self.serve_forever, kwargs={"poll_interval": 0.05}, name=name, daemon=True
        )

    def start(self):
        """Serve on a thread."""
        self._thread.start()

    def stop(self):
        """Close the door and every connection."""
        self.shutdown()
        self.server_close()
        self._thread.join()
        self.hang_up()

    def hang_up(self):
        """Close every connection, as a server does with idle ones."""
        for connection in list(self.connections):
            _hang_up(connection)

    def handle_error(self, request, client_address):
        """Called by the base class with the exception at hand."""
        LOG.log(
            logging.DEBUG if _is_trouble_of_the_line() else logging.ERROR,
            "The connection of %s ended with an error.",
            client_address,
            exc_info=True,
        )


def _is_trouble_of_the_line():
    return isinstance(sys.exc_info()[1], (ssl.SSLError, ConnectionError, TimeoutError))


def _hang_up(connection):
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        LOG.debug("A connection was closed already.")


def basic_credentials(headers):
    """User and password of a Basic header; empty ones where there is none."""
    scheme, _space, encoded = headers.get("Authorization", "").partition(" ")
    if scheme.casefold() != "basic":
        return "", ""
    try:
        user, _colon, password = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return "", ""
    return user, password
