# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""What reaches a BMC: the login of the task alone, and no other place than its address."""

from __future__ import annotations

import base64
import gzip
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.address import Address
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.wire import NotJson, Wire


class Plain(Address):
    """The address of a server without TLS."""

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"


@pytest.fixture
def server():
    """A server that keeps what it is sent; answers: [(status, headers, text)]."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            length = int(self.headers.get("Content-Length") or 0)
            seen.append((self.command, self.path, dict(self.headers), self.rfile.read(length)))
            status, headers, text = answers.pop(0)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST

        def log_message(self, *_):
            pass

    seen, answers = [], []
    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=running.serve_forever)
    thread.start()
    yield running.server_address[1], answers, seen
    running.shutdown()
    thread.join()
    running.server_close()


def wire(port):
    return Wire(Plain("127.0.0.1", port), validate_certs=True, ca_file=None, timeout_s=30)


def test_login_of_netrc_is_not_sent(server, tmp_path, monkeypatch):
    port, answers, seen = server
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login other password not-for-bmcs")
    (tmp_path / "netrc").chmod(0o600)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    answers.append((200, {}, b"{}"))
    wire(port).send("GET", "/redfish/v1")
    assert "Authorization" not in seen[0][2]


def test_login_and_body_of_the_task_are_sent_as_json(server):
    port, answers, seen = server
    answers.append((201, {"X-Auth-Token": "t-1"}, b'{"Id": "7"}'))
    answer = wire(port).send("POST", "/redfish/v1/Sessions", {"UserName": "root"}, basic_auth=("root", "a-secret"))
    assert (answer.status, answer.body, answer.headers["x-auth-token"]) == (201, {"Id": "7"}, "t-1")
    method, path, headers, body = seen[0]
    assert (method, path, json.loads(body)) == ("POST", "/redfish/v1/Sessions", {"UserName": "root"})
    assert headers["Authorization"] == "Basic " + base64.b64encode(b"root:a-secret").decode()
    assert (headers["Accept"], headers["Odata-Version"]) == ("application/json", "4.0")


def test_redirect_is_an_answer_and_not_followed(server):
    port, answers, seen = server
    answers.append((302, {"Location": "/elsewhere"}, b"moved"))
    assert wire(port).send("GET", "/redfish/v1").status == 302
    assert len(seen) == 1


def test_error_page_has_its_status_and_a_page_of_success_is_refused(server):
    port, answers, seen = server
    answers.extend([(500, {}, b"<html>"), (200, {}, b"<html>"), (204, {}, b""), (200, {}, b"[1]")])
    bmc = wire(port)
    assert (bmc.send("GET", "/a").status, seen[0][2]["User-Agent"]) == (500, "aiready.vsphere")
    with pytest.raises(NotJson, match="6 bytes"):
        bmc.send("GET", "/b")
    assert bmc.send("GET", "/c").body == {}
    assert bmc.send("GET", "/d").body == {"Members": [1]}


def test_packed_answer_is_unpacked(server):
    port, answers, _seen = server
    answers.append((200, {"Content-Encoding": "gzip"}, gzip.compress(b'{"Id": "7"}')))
    assert wire(port).send("GET", "/redfish/v1").body == {"Id": "7"}
