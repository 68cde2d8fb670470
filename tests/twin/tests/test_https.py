"""Servers of the twin where the machine is short of something."""

from __future__ import annotations

import errno
import os
import socketserver
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

from vsphere_twin import https


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_words):
        pass


def test_where_too_many_files_are_open_clients_wait_and_the_log_says_why(monkeypatch, caplog):
    accept, full = socketserver.TCPServer.get_request, [errno.EMFILE, errno.ENFILE]

    def get_request(self):
        if full:
            number = full.pop()
            raise OSError(number, os.strerror(number))
        return accept(self)

    monkeypatch.setattr(socketserver.TCPServer, "get_request", get_request)
    monkeypatch.setattr(https, "FULL_S", 0.01)

    class Server(https.Threads, HTTPServer):
        pass

    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/") as answer:
            assert answer.status == 204
        server.shutdown()
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 2
    assert all("No connection can be accepted: Too many open files" in one and "ulimit -n" in one for one in said)
