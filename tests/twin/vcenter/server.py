"""HTTPS in front of the dispatcher: connections, their faults, and nothing of the API."""

from __future__ import annotations

import gzip
import logging
import select
import socket
import socketserver
import ssl
import struct
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler

from . import types
from .calls import ClientGone

LOG = logging.getLogger(__name__)
COMPRESS_FROM = 2_000  # bytes; less than this is not worth the time
IDLE_S = 120


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

    def do_GET(self):
        if not self._available():
            return
        if self.path == "/sdk/vimServiceVersions.xml":
            self.server.dispatcher.requests["GET vimServiceVersions.xml"] += 1
            self._send(200, service_versions(self.server.dispatcher.newest), "text/xml")
        else:
            self._send(404, b"Not found", "text/plain")

    def do_POST(self):
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if not self._available():
            return
        if self.path.rstrip("/") != "/sdk":
            self._send(404, b"Not found", "text/plain")
            return
        self.user_agent = self.headers.get("User-Agent")
        answered = False
        try:
            reply = self.server.dispatcher.handle(
                data, self.headers.get("Cookie"), self.headers.get("SOAPAction"), client=self
            )
            answered = True
        except ClientGone:
            self.close_connection = answered = True
            return
        finally:
            if not answered:
                self._send(500, self.server.dispatcher.crashed(), "text/xml")
        if reply.body is None:
            self.close_connection = True
            return
        self._send(reply.status, reply.body, "text/xml; charset=utf-8", reply.cookie)

    def hung_up(self):
        """Whether the client has closed its side of the connection."""
        poll = select.poll()
        poll.register(self.request.fileno(), select.POLLRDHUP)
        return bool(poll.poll(0))

    def log_message(self, template, *args):
        LOG.debug("%s %s", self.client_address[0], template % args)

    def _available(self):
        faults = self.server.dispatcher.world.faults
        if faults.latency_s:
            time.sleep(faults.latency_s)
        if faults.take_unavailable():
            self._send(503, b"503 Service Unavailable", "text/plain")
            return False
        return True

    def _send(self, status, body, content_type, cookie=None):
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Cache-Control", "no-cache")
        if cookie:
            self.send_header("Set-Cookie", f'vmware_soap_session="{cookie}"; Path=/; HttpOnly; Secure;')
        if len(body) > COMPRESS_FROM and "gzip" in self.headers.get("Accept-Encoding", ""):
            body = gzip.compress(body, compresslevel=1)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        # Header and body go out in one write, so that no client waits for the second packet.
        self._headers_buffer.append(b"\r\n" + body)
        self.flush_headers()


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """Accepts connections, each on a thread of its own."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 256
    block_on_close = False

    def __init__(self, dispatcher, tls, host="127.0.0.1", port=0):
        self.dispatcher = dispatcher
        self.tls = tls
        self.connections = set()
        super().__init__((host, port), Handler)
        self._thread = threading.Thread(
            target=self.serve_forever, kwargs={"poll_interval": 0.05}, name="twin-vcenter", daemon=True
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

    def verify_request(self, request, client_address):
        return not self.dispatcher.world.faults.refusing

    def shutdown_request(self, request):
        # The socket of a connection that was served is closed already.
        if self.dispatcher.world.faults.refusing and request.fileno() >= 0:
            request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        super().shutdown_request(request)

    def handle_error(self, request, client_address):
        """Called by the base class with the exception at hand."""
        LOG.log(
            logging.DEBUG if _is_trouble_of_the_line() else logging.ERROR,
            "The connection of %s ended with an error.",
            client_address,
            exc_info=True,
        )


def service_versions(newest):
    """The document by which clients choose a version: the newest and all before it."""
    first, *prior = [
        version_id
        for version_id in types.version_ids()
        if version_id[:1].isdigit() and types.knows(newest, types.version_of(version_id))
    ]
    older = "".join(f"<version>{version_id}</version>" for version_id in prior)
    return (
        '<?xml version="1.0" encoding="UTF-8" ?>\n<namespaces version="1.0"><namespace>'
        f"<name>{types.VIM_NAMESPACE}</name><version>{first}</version><priorVersions>{older}</priorVersions>"
        "</namespace></namespaces>\n"
    ).encode()


def _is_trouble_of_the_line():
    return isinstance(sys.exc_info()[1], (ssl.SSLError, ConnectionError, TimeoutError))


def _hang_up(connection):
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        LOG.debug("A connection was closed already.")
