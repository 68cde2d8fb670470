"""Servers that are no vCenter, and a line to one that breaks on demand."""

from __future__ import annotations

import contextlib
import socket
import socketserver
import struct
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer


@contextlib.contextmanager
def serving(server):
    """A socket server on a thread, gone afterwards; yields its port."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def web_server(tls=None, status=404, page=b"<html>Welcome!<br></html>"):
    """Some web server, that has no idea of vSphere."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status)
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *args):
            """Quiet."""

    server = HTTPServer(("127.0.0.1", 0), Page)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    return server


class Line(socketserver.ThreadingTCPServer):
    """Passes bytes on to a server; the next connections can be reset or left without an answer."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, upstream_port):
        super().__init__(("127.0.0.1", 0), _Connection)
        self.upstream_port = upstream_port
        self.resets = 0
        self.silent = False
        self.opened = 0
        self.over = threading.Event()

    def server_close(self):
        self.over.set()
        super().server_close()


class _Connection(socketserver.BaseRequestHandler):
    def handle(self):
        self.server.opened += 1
        if self.server.resets > 0:
            self.server.resets -= 1
            # Closed without lingering, the client sees a reset and no orderly end.
            self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.request.close()
        elif self.server.silent:
            self.server.over.wait()
        else:
            self._pass_on()

    def _pass_on(self):
        with socket.create_connection(("127.0.0.1", self.server.upstream_port)) as upstream:
            back = threading.Thread(target=_copy, args=(upstream, self.request), daemon=True)
            back.start()
            _copy(self.request, upstream)
            back.join()


def _copy(source, target):
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)
