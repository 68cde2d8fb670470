# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import http.server
import json
import socket
import ssl
import threading
import urllib.error

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.environment import look, params

from unit.plugins.modules import described


class Handler(http.server.BaseHTTPRequestHandler):
    """Says what its path asks for; /get knows GET alone."""

    def do_HEAD(self):
        self._say(405 if self.path == "/get" else int(self.path[1:]))

    def do_GET(self):
        if self.path in ("/key", "/404"):
            self._say(200 if self.path == "/key" else 404, b"key")
            return
        wants = self.path.startswith("/v2")
        right = self.headers.get("Authorization") == "Basic dHJhaW5lcjpyaWdodA=="  # trainer:right
        self._say((200 if right else 401) if wants else 200)

    def _say(self, status, content=b""):
        self.send_response(status)
        if status == 401:
            self.send_header("WWW-Authenticate", 'Basic realm="here"')
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_words):
        pass


@pytest.fixture(scope="module")
def server():
    running = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{running.server_address[1]}"
    running.shutdown()
    running.server_close()


@pytest.mark.parametrize(
    "path, expect, reached",
    [
        ("/200", "file", True),
        ("/404", "file", False),
        ("/403", "file", False),
        ("/404", "server", True),
        ("/503", "server", False),
        ("/get", "file", True),
    ],
)
def test_a_file_has_to_be_there_and_a_server_only_has_to_answer(server, path, expect, reached):
    reported = look.address(params.AddressRequest(f"http://{server}{path}", expect, None), 5)
    assert reported["reached"] is reached
    assert bool(reported["why"]) is not reached


@pytest.mark.parametrize(
    "path, most, content, why",
    [
        ("/key", 100, "a2V5", ""),
        ("/404", 100, None, "It answers with HTTP status 404: it does not exist."),
        ("/key", 2, None, "It has more than 1 MiB, which is too large for a key file."),
    ],
    ids=["there", "not there", "too large"],
)
def test_key_is_loaded(server, monkeypatch, path, most, content, why):
    monkeypatch.setattr(look, "LARGEST_KEY", most)
    reported = look.address(params.AddressRequest(f"http://{server}{path}", "key", None), 5)
    assert (reported["reached"], reported["content"], reported["why"]) == (content is not None, content, why)


class Broken:
    """What opens nothing, for a reason."""

    def __init__(self, reason):
        self.reason = reason

    def open(self, request, timeout):
        raise urllib.error.URLError(self.reason)


@pytest.mark.parametrize(
    "reason, reported",
    [
        (socket.gaierror(-2, "Name or service not known"), "Its name cannot be resolved: Name or service not known."),
        (socket.timeout("timed out"), "It does not answer within 5 seconds."),
        (ConnectionRefusedError(111, "Connection refused"), "It is not reachable: [Errno 111] Connection refused."),
        (ssl.SSLCertVerificationError("x"), "Its certificate is not trusted: "),
    ],
    ids=["name", "time", "refused", "certificate"],
)
def test_what_keeps_an_address_away_is_a_sentence(reason, reported):
    if isinstance(reason, ssl.SSLCertVerificationError):
        reason.verify_message = "self-signed certificate"
    requested = params.AddressRequest("https://example.org/a", "file", None)
    assert look.address(requested, 5, Broken(reason))["why"].startswith(reported)


def test_authorities_that_cannot_be_read_are_reported(tmp_path):
    requested = params.AddressRequest("https://example.org/a", "file", str(tmp_path / "none.pem"))
    assert "No such file" in look.address(requested, 5)["why"]


@pytest.mark.parametrize(
    "username, password, login, code",
    [
        ("trainer", "right", "basic", ""),
        ("trainer", "wrong", "refused", "login_refused"),
        ("trainer", "", "none", ""),
        ("", "", "none", ""),
    ],
    ids=["right", "wrong", "no password", "nobody"],
)
def test_a_registry_reports_whether_it_takes_the_login_and_no_secret_is_reported(
    server, username, password, login, code
):
    requested = params.RegistryRequest(server, username, password, None, insecure=True)
    reported = look.registry(requested, 5)
    assert (reported["reached"], reported["login"], reported["code"]) == (True, login, code)
    assert (password or "no such password") not in json.dumps(reported)


def test_a_registry_that_is_away_is_reported():
    requested = params.RegistryRequest("localhost:9", "", "", None, insecure=False)
    reported = look.registry(requested, 5)
    assert (reported["reached"], reported["code"]) == (False, "registry_unreachable")


def test_the_room_for_a_folder_that_is_not_there_is_that_of_the_one_above(tmp_path):
    reported = look.disk(str(tmp_path / "not" / "there"))
    assert reported["free_gb"] > 0
    assert not (tmp_path / "not").exists()


@pytest.mark.parametrize(
    "changes, problem",
    [
        ({"addresses": [{"url": "mirror.example.org/a"}]}, "addresses[0].url: mirror.example.org/a is not a URL."),
        ({"timeout_s": 0}, "timeout_s is 0; it must be between 1 and 300."),
    ],
)
def test_wrong_parameters_are_named(changes, problem):
    (reported,) = params.check_params({"addresses": [], "timeout_s": 10, **changes})
    assert reported.startswith(problem)


def test_request_does_not_show_the_password_of_a_registry():
    entry = {"address": "nvcr.io", "username": "trainer", "password": "canary"}
    shown = repr(params.request_of(described.checked({"registries": [entry]}, params.ARGUMENTS)))
    assert "nvcr.io" in shown
    assert "canary" not in shown
