# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import base64
import contextlib
import json
from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import saml
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.login import Existing, Password, Token
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.rest import Answered, Rest
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter
from pyVmomi import vim

from unit.plugins.module_utils.vcenter.fakes import FakeClock, FakeWire, assertion, opened

TASK = "/api/things?vmw-task=true"


class RestWire(FakeWire):
    """Answers REST requests from a script: answers[(method, path)] holds what comes next, as (status, body)."""

    def __init__(self):
        super().__init__()
        self.asked = []
        self.answers = {
            ("POST", "/api/session"): [(201, "token-1"), (201, "token-2")],
            ("DELETE", "/api/session"): [(204, None)],
        }

    @contextlib.contextmanager
    def exchange(self, method, path, body=None, headers=None):
        self.sent = False
        self.asked.append((method, path, json.loads(body) if body else None, dict(headers or {})))
        answer = self.answers[method, path].pop(0)
        self.sent = True
        if isinstance(answer, Exception):
            raise answer
        status, content = answer
        text = content if isinstance(content, bytes) else b"" if content is None else json.dumps(content).encode()
        yield SimpleNamespace(status=status, reason="as planned", read=lambda: text)


@pytest.fixture
def wire():
    return RestWire()


@pytest.fixture
def rest(wire):
    vcenter, dummy = opened(wire=wire, clock=FakeClock())
    return Rest(vcenter)


def reported(messages, kind="ERROR"):
    return {"error_type": kind, "messages": [{"id": "x", "default_message": text, "args": []} for text in messages]}


def info(status, done=0, text="", **more):
    progress = {"total": 100, "completed": done, "message": {"id": "x", "default_message": text, "args": []}}
    return {"status": status, "progress": progress, **more}


def task(rest, progress=None, timeout_s=60):
    return rest.task("POST", TASK, {"a": 1}, "Cluster gpu", "the image should have changed", timeout_s, progress)


def test_a_session_is_opened_once_with_the_users_words_and_closed_at_the_end(rest, wire):
    wire.answers["GET", "/api/a"] = [(200, {"a": 1}), (200, {"a": 2})]
    assert [rest.call("GET", "/api/a"), rest.call("GET", "/api/a")] == [{"a": 1}, {"a": 2}]
    rest.close()
    rest.close()
    assert [(method, path) for method, path, body, headers in wire.asked] == [
        ("POST", "/api/session"),
        ("GET", "/api/a"),
        ("GET", "/api/a"),
        ("DELETE", "/api/session"),
    ]
    login = base64.b64decode(wire.asked[0][3]["Authorization"].partition(" ")[2]).decode()
    assert login.endswith(":secret")
    assert wire.asked[1][3]["vmware-api-session-id"] == "token-1"
    assert "Authorization" not in wire.asked[1][3]


def test_nothing_is_asked_before_it_is_needed(rest, wire):
    rest.close()
    assert wire.asked == []


def test_a_session_that_ended_is_opened_again_once(rest, wire):
    wire.answers["GET", "/api/a"] = [(401, reported([])), (200, {"a": 1})]
    assert rest.call("GET", "/api/a") == {"a": 1}
    assert wire.asked[-1][3]["vmware-api-session-id"] == "token-2"


def test_a_wrong_password_is_reported_as_such(rest, wire):
    wire.answers["POST", "/api/session"] = [(401, reported(["Authentication required."], "UNAUTHENTICATED"))]
    with pytest.raises(OperatorError) as caught:
        rest.call("GET", "/api/a")
    assert caught.value.code == "rest_refused"
    assert "Check `username` and `password`" in caught.value.message


def test_a_refusal_keeps_its_kind_and_its_words(rest, wire):
    wire.answers["GET", "/api/a"] = [(404, reported(["There is no cluster."], "NOT_FOUND"))]
    with pytest.raises(Answered) as caught:
        rest.call("GET", "/api/a")
    assert (caught.value.status, caught.value.kind, caught.value.messages) == (
        404,
        "NOT_FOUND",
        ["There is no cluster."],
    )


@pytest.mark.parametrize("trouble", [ConnectionResetError("reset"), (503, b"busy")])
def test_a_look_is_repeated_after_passing_trouble(rest, wire, trouble):
    wire.answers["GET", "/api/a"] = [trouble, trouble, (200, {"a": 1})]
    assert rest.call("GET", "/api/a") == {"a": 1}


def test_a_request_that_changes_something_is_never_sent_twice(rest, wire):
    wire.answers["PATCH", "/api/a"] = [ConnectionResetError("reset"), (204, None)]
    with pytest.raises(OperatorError) as caught:
        rest.call("PATCH", "/api/a", {"b": 1})
    assert caught.value.code == "fate_unknown"
    assert len([1 for method, *more in wire.asked if method == "PATCH"]) == 1


def test_an_answer_that_is_no_json_is_no_rest_service(rest, wire):
    wire.answers["GET", "/api/a"] = [(200, b"<html>welcome</html>")]
    with pytest.raises(OperatorError) as caught:
        rest.call("GET", "/api/a")
    assert caught.value.code == "not_a_vcenter"


def test_a_task_is_followed_to_its_result_and_its_progress_is_reported_once_per_step(rest, wire):
    wire.answers["POST", TASK] = [(202, "task-1")]
    wire.answers["GET", "/api/cis/tasks/task-1"] = [
        (200, info("PENDING")),
        (200, info("RUNNING", 40, "Rebooting")),
        (200, info("RUNNING", 40, "Rebooting")),
        (200, info("SUCCEEDED", 100, "Done", result={"status": "OK"})),
    ]
    steps = []
    assert task(rest, lambda *step: steps.append(step)) == {"status": "OK"}
    assert steps == [(0, ""), (40, "Rebooting"), (100, "Done")]


def test_a_task_that_fails_reports_every_message_wherever_it_stands(rest, wire):
    wire.answers["POST", TASK] = [(202, "task-1"), (202, "task-2")]
    wire.answers["GET", "/api/cis/tasks/task-1"] = [(200, info("FAILED", error=reported(["No such component."])))]
    inner = {"notifications": {"errors": [{"message": {"id": "x", "default_message": "Not compatible."}}]}}
    wire.answers["GET", "/api/cis/tasks/task-2"] = [(200, info("FAILED", result=inner))]
    found = []
    for _attempt in range(2):
        with pytest.raises(OperatorError) as caught:
            task(rest)
        found.append((caught.value.code, caught.value.data["messages"]))
    assert found == [("rest_task_failed", ["No such component."]), ("rest_task_failed", ["Not compatible."])]


def test_a_task_that_takes_too_long_is_left_running_and_its_last_state_reported(rest, wire):
    wire.answers["POST", TASK] = [(202, "task-1")]
    wire.answers["GET", "/api/cis/tasks/task-1"] = [(200, info("RUNNING", 60, "Rebooting"))] * 100
    with pytest.raises(OperatorError) as caught:
        task(rest, timeout_s=30)
    assert caught.value.code == "task_timeout"
    assert "last seen: 60 % Rebooting" in caught.value.message


@pytest.mark.parametrize(
    "status, answer, managed",
    [(200, {"enabled": True}, True), (200, {"enabled": False}, False), (404, reported(["no"], "NOT_FOUND"), False)],
)
def test_a_cluster_is_managed_by_an_image_when_vcenter_says_so(rest, wire, status, answer, managed):
    wire.answers["GET", "/api/esx/settings/clusters/domain-c1/enablement/software"] = [(status, answer)]
    host = SimpleNamespace(cluster="gpu", cluster_ref=vim.ClusterComputeResource("domain-c1"))
    assert rest.is_image_managed(host) is managed


def test_a_cluster_that_may_not_be_asked_about_is_an_error_and_no_guess(rest, wire):
    path = "/api/esx/settings/clusters/domain-c1/enablement/software"
    wire.answers["GET", path] = [(403, reported(["Not allowed."], "UNAUTHORIZED"))]
    host = SimpleNamespace(cluster="gpu", cluster_ref=vim.ClusterComputeResource("domain-c1"))
    with pytest.raises(OperatorError) as caught:
        rest.is_image_managed(host)
    assert (caught.value.code, caught.value.data["status"]) == ("rest_refused", 403)


def test_a_host_outside_of_clusters_is_not_asked_about(rest, wire):
    assert rest.is_image_managed(SimpleNamespace(cluster=None, cluster_ref=None)) is False
    assert wire.asked == []


def test_a_server_without_rest_is_not_a_user_without_privileges(rest, wire):
    wire.answers["POST", "/api/session"] = [(404, None)]
    with pytest.raises(OperatorError) as caught:
        rest.call("GET", "/api/things")
    assert caught.value.code == "rest_missing"
    assert "Use vCenter 7.0 Update 2 or newer" in caught.value.message
    assert "privileges" not in caught.value.message


def test_a_session_that_is_refused_names_no_other_service(rest, wire):
    wire.answers["POST", "/api/session"] = [(403, reported(["no"]))]
    with pytest.raises(OperatorError, match="privileges for the REST services"):
        rest.call("GET", "/api/things")


def rest_of(chosen, wire, user=None):
    vcenter = VCenter(wire, chosen, clock=FakeClock())
    wire.user, wire.live_cookie = user, chosen.cookie
    vcenter.open()
    return Rest(vcenter)


def test_a_token_opens_the_session_of_the_rest_services(wire):
    rest = rest_of(Token(saml.parsed(assertion().encode(), "/token")), wire)
    wire.answers["GET", "/api/a"] = [(200, {"a": 1})]
    rest.call("GET", "/api/a")
    rest.close()
    assert wire.asked[0][3]["Authorization"].startswith('SIGN token="')
    assert wire.asked[-1][:2] == ("DELETE", "/api/session")


def test_a_token_that_the_rest_services_refuse_is_explained_by_the_token(wire):
    rest = rest_of(Token(saml.parsed(assertion(ends="2026-11-28T13:00:01.000Z").encode(), "/token")), wire)
    wire.answers["POST", "/api/session"] = [(401, reported(["Authentication required."], "UNAUTHENTICATED"))]
    with pytest.raises(OperatorError) as caught:
        rest.call("GET", "/api/a")
    assert caught.value.code.startswith("saml_token_")


def test_a_blocked_federated_user_of_the_rest_services_is_named(wire):
    wire.release = "9.1.0"
    rest = rest_of(Password("jo@corp.example", "secret"), wire)
    wire.answers["POST", "/api/session"] = [(401, reported(["Authentication required."], "UNAUTHENTICATED"))]
    with pytest.raises(OperatorError) as caught:
        rest.call("GET", "/api/a")
    assert caught.value.code == "federated_login"


SESSION = "0123456789"


def test_an_existing_session_of_the_rest_services_is_used_and_not_ended(wire):
    rest = rest_of(Existing(SESSION, "rest-session-1"), wire, user="VSPHERE.LOCAL\\Ops")
    wire.answers["GET", "/api/session"] = [(200, {"user": "ops@vsphere.local"})]
    wire.answers["GET", "/api/a"] = [(200, {"a": 1})]
    assert rest.call("GET", "/api/a") == {"a": 1}
    rest.close()
    assert [(method, path) for method, path, body, headers in wire.asked] == [
        ("GET", "/api/session"),
        ("GET", "/api/a"),
    ]
    assert {headers["vmware-api-session-id"] for method, path, body, headers in wire.asked} == {"rest-session-1"}


@pytest.mark.parametrize(
    "first, second, code",
    [
        ((401, reported([])), None, "session_unknown"),
        ((200, {"user": "other@vsphere.local"}), None, "session_users_differ"),
        ((200, {"user": "ops@vsphere.local"}), (401, reported([])), "session_unknown"),
    ],
)
def test_an_existing_session_that_does_not_fit_is_named(wire, first, second, code):
    rest = rest_of(Existing(SESSION), wire, user="VSPHERE.LOCAL\\Ops")
    wire.answers["GET", "/api/session"], wire.answers["GET", "/api/a"] = [first], [second]
    with pytest.raises(OperatorError) as caught:
        rest.call("GET", "/api/a")
    assert caught.value.code == code
