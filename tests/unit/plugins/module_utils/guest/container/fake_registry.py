# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""A registry's API with a login, checked by itself or by a token service; over HTTP, on a port of its own."""

from __future__ import annotations

import base64
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

USER, PASSWORD = "$oauthtoken", "nvapi-canary"
TOKEN = "a-token"


class FakeRegistry:
    """kind: basic, bearer, open, moved, missing, broken, third_party (a token service without encryption elsewhere)."""

    def __init__(self, kind):
        self.kind = kind
        # (path, what was sent as authorization) of each request.
        self.requests = []
        registry = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                registry.requests.append((self.path, self.headers.get("Authorization")))
                status, headers, body = registry.answer(self.path, self.headers.get("Authorization"))
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_words):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path, authorization):
        basic = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        if path.startswith("/token"):
            query = parse_qs(urlsplit(path).query)
            good = authorization == basic and query["service"] == ["fake"] and query["account"] == [USER]
            return (200, {}, json.dumps({"token": TOKEN}).encode()) if good else (401, {}, b"{}")
        status = {"open": 200, "missing": 404, "broken": 503}.get(self.kind)
        if self.kind == "moved":
            return 307, {"Location": f"http://{self.address}/elsewhere"}, b""
        if status is not None:
            return status, {}, b""
        wanted = basic if self.kind == "basic" else f"Bearer {TOKEN}"
        if authorization == wanted:
            return 200, {}, b"{}"
        realm = "http://token.example/token" if self.kind == "third_party" else f"http://{self.address}/token?x=1"
        challenge = 'Basic realm="fake"' if self.kind == "basic" else f'Bearer realm="{realm}",service="fake"'
        return 401, {"WWW-Authenticate": challenge}, b"{}"
