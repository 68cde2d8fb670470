"""A mail server and a webhook on this machine that keep what the simulated controller sends."""

from __future__ import annotations

import contextlib
import email
import email.policy
import http.server
import json
import threading
from collections.abc import Iterator
from typing import Any

from aiosmtpd.controller import Controller


class _Mails:
    def __init__(self) -> None:
        self.seen: list[Any] = []

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:
        self.seen.append(email.message_from_bytes(envelope.content, policy=email.policy.default))
        return "250 OK"


class _MailServer(Controller):
    """Uses a free port. The library connects once after its start, and needs that port."""

    def _trigger_server(self) -> None:
        self.port = self.server.sockets[0].getsockname()[1]  # type: ignore[union-attr]
        super()._trigger_server()


@contextlib.contextmanager
def mails() -> Iterator[tuple[int, list[Any]]]:
    """(port, mails)."""
    handler = _Mails()
    server = _MailServer(handler, hostname="127.0.0.1", port=0)
    server.start()
    try:
        yield server.port, handler.seen
    finally:
        server.stop()


@contextlib.contextmanager
def hook() -> Iterator[tuple[str, list[tuple[str, str, Any]]]]:
    """(URL, [(path, header X-Site, body)])."""
    seen = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            seen.append((self.path, self.headers["X-Site"], json.loads(body)))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_words: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    with server:
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/hook", seen
        finally:
            server.shutdown()
            thread.join()


def mail_settings(port: int) -> dict[str, Any]:
    """The configuration of a notification template for the mail server."""
    settings = {"host": "127.0.0.1", "port": port, "sender": "awx@example.org", "recipients": ["a@example.org"]}
    return {**settings, "username": "", "password": "", "use_tls": False, "use_ssl": False, "timeout": 30}


def webhook_settings(url: str) -> dict[str, Any]:
    """The configuration of a notification template for the webhook."""
    login = {"username": "", "password": "", "disable_ssl_verification": False}
    return {"url": url, "http_method": "POST", "headers": {"X-Site": "training"}, **login}
