# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""The wire and the clock are replaced; everything between them is real."""

from __future__ import annotations

import socket
import ssl
from http.client import RemoteDisconnected
from urllib.error import URLError

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.address import Address
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.session import ROOT, Bmc
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.trouble import FateUnknown
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.wire import Answer, NotJson

SESSIONS = "/redfish/v1/SessionService/Sessions"
SERVICE = Answer(200, {"RedfishVersion": "1.17.0", "Links": {"Sessions": {"@odata.id": SESSIONS}}})
LOGGED_IN = Answer(201, {}, {"x-auth-token": "t-1", "location": f"https://bmc-01{SESSIONS}/7"})
BUSY = Answer(503, {}, {"retry-after": "3"})
FINE = Answer(200, {"Id": "1"})
LOGIN = ("POST", SESSIONS)


class Time:
    """A clock that only moves when somebody sleeps."""

    def __init__(self):
        self.at = 0.0
        self.pauses = []

    def now(self):
        return self.at

    def sleep(self, seconds):
        self.at += seconds
        self.pauses.append(seconds)


class Wire:
    """Answers what a test has prepared for (method, path), one after the other; the last one stays."""

    address = Address("bmc-01", 443)

    def __init__(self, answers):
        self.answers = {key: list(value) if isinstance(value, list) else [value] for key, value in answers.items()}
        self.sent = []

    def send(self, method, path, body=None, headers=None, basic_auth=None):
        self.sent.append((method, path, dict(headers or {}), body, basic_auth))
        prepared = self.answers[(method, path)]
        answer = prepared.pop(0) if len(prepared) > 1 else prepared[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def calls(self, method):
        return [call for call in self.sent if call[0] == method]


def bmc(answers, timeout_s=60):
    wire = Wire({("GET", ROOT): SERVICE, LOGIN: LOGGED_IN, **answers})
    return Bmc(wire, "root", "secret", timeout_s, Time()), wire


def test_one_login_serves_all_requests_and_is_ended():
    session, wire = bmc({("GET", "/a"): FINE, ("DELETE", f"{SESSIONS}/7"): Answer(204)})
    session.get("/a")
    session.get("/a")
    session.close()
    assert [call[:2] for call in wire.sent] == [
        ("GET", ROOT),
        LOGIN,
        ("GET", "/a"),
        ("GET", "/a"),
        ("DELETE", f"{SESSIONS}/7"),
    ]
    assert wire.sent[1][3] == {"UserName": "root", "Password": "secret"}
    assert {call[2].get("X-Auth-Token") for call in wire.sent[2:]} == {"t-1"}


def test_the_service_is_looked_at_before_the_password_is_sent():
    session, wire = bmc({("GET", ROOT): Answer(404)})
    with pytest.raises(OperatorError) as reported:
        session.get("/a")
    assert reported.value.failure["code"] == "not_redfish"
    assert wire.calls("POST") == []


@pytest.mark.parametrize("refusal", [Answer(404), Answer(405), Answer(400)])
def test_without_sessions_every_request_carries_the_password(refusal):
    session, wire = bmc({LOGIN: refusal, ("GET", "/a"): FINE})
    session.get("/a")
    session.close()
    assert wire.calls("GET")[-1][4] == ("root", "secret")
    assert wire.calls("DELETE") == []


def test_a_wrong_password_is_tried_once_only():
    said = {"error": {"@Message.ExtendedInfo": [{"MessageId": "Base.1.8.NoValidSession", "Message": "No session"}]}}
    session, wire = bmc({LOGIN: Answer(401, said)})
    with pytest.raises(OperatorError) as reported:
        session.get("/a")
    assert reported.value.failure["code"] == "bmc_login_refused"
    assert "The BMC rejects the user or the password. Its message: No session." in reported.value.message
    assert "secret" not in reported.value.message
    assert len(wire.calls("POST")) == 1


def test_a_session_that_ended_is_replaced_once():
    session, wire = bmc({("GET", "/a"): [Answer(401), FINE]})
    assert session.get("/a") == FINE
    assert len(wire.calls("POST")) == 2


def test_a_busy_bmc_is_asked_again_after_the_time_that_it_names():
    session, wire = bmc({("GET", "/a"): [BUSY, BUSY, FINE]})
    assert session.get("/a") == FINE
    assert all(2.4 <= pause <= 3 for pause in session.clock.pauses)


def test_a_change_is_repeated_only_when_the_bmc_did_not_look_at_it():
    session, wire = bmc({("PATCH", "/a"): [BUSY, Answer(200)]})
    session.change("PATCH", "/a", "x", {})
    assert len(wire.calls("PATCH")) == 2


@pytest.mark.parametrize(
    "trouble",
    [RemoteDisconnected("gone"), socket.timeout("timed out"), URLError(ssl.SSLEOFError(8, "EOF")), NotJson("<html>")],
    ids=["cut", "timeout", "tls-cut", "no-json"],
)
def test_a_change_whose_answer_is_lost_is_not_sent_again(trouble):
    session, wire = bmc({("PATCH", "/a"): trouble})
    with pytest.raises(FateUnknown):
        session.change("PATCH", "/a", "x", {})
    assert len(wire.calls("PATCH")) == 1


def test_a_gateway_in_between_leaves_the_fate_of_a_change_open_and_is_not_asked_again():
    session, wire = bmc({("PATCH", "/a"): Answer(504)})
    with pytest.raises(OperatorError) as reported:
        session.change("PATCH", "/a", "x", {})
    assert reported.value.failure["code"] == "bmc_busy"
    assert len(wire.calls("PATCH")) == 1


def test_a_read_that_broke_is_repeated():
    session, wire = bmc({("GET", "/a"): [RemoteDisconnected("gone"), FINE]})
    assert session.get("/a") == FINE


def test_a_bmc_that_stays_busy_ends_the_task_within_its_time():
    session, wire = bmc({("GET", "/a"): BUSY}, timeout_s=5)
    with pytest.raises(OperatorError) as reported:
        session.get("/a")
    assert reported.value.failure["code"] == "bmc_busy"
    assert session.clock.at < 12


@pytest.mark.parametrize(
    "trouble, code",
    [
        (URLError(ConnectionRefusedError(111, "Connection refused")), "bmc_refused"),
        (URLError(socket.gaierror(-2, "Name or service not known")), "bmc_unresolvable"),
    ],
)
def test_a_wrong_address_is_reported_at_once(trouble, code):
    session, wire = bmc({("GET", ROOT): trouble})
    with pytest.raises(OperatorError) as reported:
        session.get("/a")
    assert reported.value.failure["code"] == code
    assert "bmc_address" in reported.value.message
    assert len(wire.sent) == 1


def test_a_weak_etag_is_tried_as_a_strong_one():
    session, wire = bmc({("PATCH", "/a"): [Answer(412), Answer(200)]})
    session.change("PATCH", "/a", "x", {}, etag='W/"1"')
    assert [call[2]["If-Match"] for call in wire.calls("PATCH")] == ['W/"1"', '"1"']


def test_settings_that_somebody_changed_in_between_are_not_overwritten():
    session, wire = bmc({("PATCH", "/a"): Answer(412)})
    with pytest.raises(OperatorError) as reported:
        session.change("PATCH", "/a", "x", {}, etag='"1"')
    assert reported.value.failure["code"] == "bmc_changed_meanwhile"


@pytest.mark.parametrize("place", ["/a/", "https://bmc-01/a/"])
def test_a_redirect_within_the_bmc_is_followed(place):
    session, wire = bmc({("GET", "/a"): Answer(308, {}, {"location": place}), ("GET", "/a/"): FINE})
    assert session.get("/a") == FINE


@pytest.mark.parametrize("place", ["https://elsewhere/a", "//elsewhere/a", "@elsewhere/a", ":444@elsewhere/a"])
def test_the_token_does_not_follow_a_redirect_to_another_machine(place):
    session, wire = bmc({("GET", "/a"): Answer(308, {}, {"location": place})})
    with pytest.raises(OperatorError):
        session.get("/a")
    assert len(wire.calls("GET")) == 2


def test_a_collection_is_read_in_one_request_where_the_bmc_can():
    full = Answer(200, {"Members": [{"@odata.id": "/c/1", "Id": "1"}]})
    session, wire = bmc({("GET", "/c?$expand=.($levels=1)"): full})
    assert session.members("/c") == [{"@odata.id": "/c/1", "Id": "1"}]


def test_a_collection_that_comes_in_parts_is_read_to_its_end():
    first = Answer(200, {"Members": [{"@odata.id": "/c/1"}], "Members@odata.nextLink": "/c?$skip=1"})
    last = Answer(200, {"Members": [{"@odata.id": "/c/2"}]})
    session, wire = bmc({("GET", "/c"): first, ("GET", "/c?$skip=1"): last})
    assert session.links("/c") == ["/c/1", "/c/2"]


@pytest.mark.parametrize("expanded", [Answer(400), Answer(501), Answer(200, {"Members": [{"@odata.id": "/c/1"}]})])
def test_a_collection_is_read_one_by_one_where_the_bmc_cannot_expand_it(expanded):
    links = Answer(200, {"Members": [{"@odata.id": "/c/1"}]})
    session, wire = bmc({("GET", "/c?$expand=.($levels=1)"): expanded, ("GET", "/c"): links, ("GET", "/c/1"): FINE})
    assert session.members("/c") == [{"Id": "1"}]


@pytest.mark.parametrize("trouble", [RemoteDisconnected("gone"), socket.timeout("timed out")])
def test_a_logout_that_fails_does_not_fail_what_was_done(trouble):
    session, wire = bmc({("GET", "/a"): FINE, ("DELETE", f"{SESSIONS}/7"): trouble})
    session.get("/a")
    session.close()
    assert len(wire.calls("DELETE")) == 1


@pytest.mark.parametrize(
    "link",
    [
        "@elsewhere.example/redfish/v1/Systems/1",
        ".elsewhere.example/",
        "https://elsewhere.example/redfish/v1/x",
        "//x/y",
    ],
)
def test_a_link_to_another_machine_gets_neither_token_nor_password(link):
    service, wire = bmc({})
    with pytest.raises(OperatorError) as reported:
        service.get(link)
    assert reported.value.failure["code"] == "bmc_link"
    assert {path for dummy, path, *more in wire.sent} == {ROOT, SESSIONS}


def test_a_whole_address_in_a_link_to_the_same_bmc_is_followed():
    service, wire = bmc({("GET", "/redfish/v1/x?part=2"): FINE})
    assert service.get("https://bmc-01/redfish/v1/x?part=2").body == FINE.body
