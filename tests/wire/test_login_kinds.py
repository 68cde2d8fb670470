"""A SAML token and an existing session open what a password opens, for SOAP and REST alike."""

from __future__ import annotations

import datetime
import json
import ssl

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import session
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.rest import Rest
from pyVim.connect import Disconnect, SmartConnect

from .drive import Driver, connection

SEEDS = ["small", "small-9.1"]
REQUEST = {"name": "train-01", "profiles": ["grid_a100-40c"], "check": True}
HOUR = datetime.timedelta(hours=1)


@pytest.fixture(params=SEEDS)
def running(request, twin):
    return twin(request.param)


class Kinds:
    """Connections to one twin without a password."""

    def __init__(self, running, folder):
        self.running = running
        self.folder = folder
        full = connection(running, folder / "sessions")
        self.bare = {name: value for name, value in full.items() if name not in ("username", "password")}

    def token(self, text=None, **options):
        path = self.folder / "token.xml"
        path.touch(mode=0o600)
        path.write_text(self.running.saml_token(**options) if text is None else text)
        return {**self.bare, "saml_token_file": str(path)}

    def soap_session(self):
        context = ssl.create_default_context(cafile=str(self.running.ca_file))
        instance = SmartConnect(
            host=self.running.host,
            port=self.running.port,
            user=self.running.username,
            pwd=self.running.password,
            sslContext=context,
        )
        return instance, instance._stub.cookie.partition('"')[2].partition('"')[0]

    def connect(self, options):
        usual = {"validate_certs": True, "request_timeout_s": 10, "session": "once"}
        return session.connect({"username": None, "password": None, **usual, **options})


@pytest.fixture
def kinds(running, tmp_path):
    return Kinds(running, tmp_path)


def faces(running):
    """The faces of the open sessions."""
    return sorted(one.face for one in running.sessions)


def test_a_token_opens_a_session_that_later_tasks_use(kinds):
    module = Driver(kinds.token())
    answers = [module("vgpu_profile", **REQUEST) for _again in range(2)]
    assert [answer["failed"] for answer in answers] == [False, False], answers[0].get("msg")
    assert kinds.running.requests["LoginByToken"] == 1
    assert kinds.running.requests["Login"] == 0
    assert faces(kinds.running) == ["sdk"]


def test_the_session_of_a_token_outlives_it_and_is_not_that_of_another_one(kinds):
    module = Driver(kinds.token())
    module("vgpu_profile", **REQUEST)
    kinds.running.requests.clear()
    other = Driver(kinds.token(begins=datetime.datetime.now(datetime.timezone.utc) - HOUR))
    answer = other("vgpu_profile", **REQUEST)
    assert answer["failure"]["code"] == "saml_token_expired"
    assert kinds.running.requests["LoginByToken"] == 1


def test_a_token_opens_the_rest_services_and_both_sessions_end(kinds):
    vcenter = kinds.connect(kinds.token())
    rest = Rest(vcenter)
    assert rest.call("GET", "/api/session")["user"] == kinds.running.username
    assert faces(kinds.running) == ["api", "sdk"]
    rest.close()
    vcenter.close()
    assert kinds.running.sessions == []


def test_existing_sessions_are_used_for_both_and_live_on(kinds):
    instance, key = kinds.soap_session()
    rest_key = _rest_session(kinds)
    before = kinds.running.requests.copy()
    vcenter = kinds.connect({**kinds.bare, "session_id": key, "rest_session_id": rest_key})
    rest = Rest(vcenter)
    assert vcenter.content.sessionManager.currentSession.userName == vcenter.user
    assert rest.call("GET", "/api/session")["user"] == kinds.running.username
    rest.close()
    vcenter.close()
    made = kinds.running.requests - before
    logins = ("Login", "LoginByToken", "Logout", "POST /api/session", "DELETE /api/session")
    assert {name: made[name] for name in logins if made[name]} == {}
    assert faces(kinds.running) == ["api", "sdk"]
    assert instance.content.sessionManager.currentSession is not None
    Disconnect(instance)


def _rest_session(kinds):
    vcenter = kinds.connect(kinds.token())
    rest = Rest(vcenter)
    rest.call("GET", "/api/session")
    vcenter.close()
    return rest._token


def test_a_soap_session_alone_is_not_enough_for_rest(kinds):
    _instance, key = kinds.soap_session()
    vcenter = kinds.connect({**kinds.bare, "session_id": key})
    with pytest.raises(OperatorError) as caught:
        Rest(vcenter).call("GET", "/api/vcenter/cluster")
    assert caught.value.code == "session_unknown"
    assert "`rest_session_id`" in caught.value.message


def test_two_sessions_of_two_users_are_refused(kinds):
    kinds.running.world.users["other@vsphere.local"] = "x"
    _instance, key = kinds.soap_session()
    other = kinds.connect(kinds.token(user="other@vsphere.local"))
    rest = Rest(other)
    rest.call("GET", "/api/session")
    vcenter = kinds.connect({**kinds.bare, "session_id": key, "rest_session_id": rest._token})
    with pytest.raises(OperatorError) as caught:
        Rest(vcenter).call("GET", "/api/vcenter/cluster")
    assert caught.value.code == "session_users_differ"


def test_an_existing_session_that_was_dropped_is_named_and_not_replaced(kinds):
    _instance, key = kinds.soap_session()
    module = Driver({**kinds.bare, "session_id": key})
    assert not module("vgpu_profile", **REQUEST)["failed"]
    kinds.running.control.drop_sessions()
    answer = module("vgpu_profile", **REQUEST)
    assert answer["failure"]["code"] == "session_unknown"
    assert key not in json.dumps(answer)
    assert kinds.running.sessions == []


NOW = datetime.datetime.now(datetime.timezone.utc)
REFUSED = {
    "expired": ({"begins": NOW - HOUR}, "saml_token_expired", "The token expired at"),
    "not yet valid": ({"begins": NOW + HOUR}, "saml_token_not_yet_valid", "The token is valid from"),
    "another audience": ({"audience": "https://elsewhere"}, "saml_token_rejected", "audience https://elsewhere"),
    "another issuer": ({"issuer": "https://elsewhere"}, "saml_token_rejected", "issuer https://elsewhere"),
    "no user": ({"user": "nobody@vsphere.local"}, "saml_token_rejected", "does not know the user"),
    "html": ({"text": "<html/>"}, "saml_token_invalid", "It is not a SAML 2.0 assertion"),
    "entities": (
        {"text": '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>'},
        "saml_token_invalid",
        "It is not a SAML 2.0 assertion",
    ),
}


@pytest.mark.parametrize("options, code, says", REFUSED.values(), ids=REFUSED)
def test_a_token_that_is_not_accepted_is_explained(kinds, options, code, says):
    answer = Driver(kinds.token(**options))("vgpu_profile", **REQUEST)
    assert answer["failure"]["code"] == code
    assert says in answer["msg"]
    assert "saml2" not in json.dumps(answer)


def test_a_token_that_others_can_read_is_refused_before_a_request(kinds):
    options = kinds.token()
    (kinds.folder / "token.xml").chmod(0o644)
    answer = Driver(options)("vgpu_profile", **REQUEST)
    assert answer["failure"]["code"] == "saml_token_file_mode"
    assert "Run `chmod 0600" in answer["msg"]
    assert kinds.running.requests.total() == 0


def test_a_password_beside_a_token_is_refused(kinds):
    words = {"username": kinds.running.username, "password": kinds.running.password}
    answer = Driver({**kinds.token(), **words})("vgpu_profile", **REQUEST)
    assert answer["failure"]["code"] == "invalid_parameters"
    assert "`password` and `saml_token_file` are set" in answer["msg"]


def test_a_token_in_the_environment_is_used(kinds, monkeypatch):
    monkeypatch.setenv("AIREADY_SAML_TOKEN", kinds.running.saml_token())
    answer = Driver(kinds.bare)("vgpu_profile", **REQUEST)
    assert not answer["failed"], answer["msg"]
    assert kinds.running.requests["LoginByToken"] == 1


@pytest.mark.parametrize("seed, code", [("small", "wrong_password"), ("small-9.1", "federated_login")])
def test_a_blocked_federated_user_is_named_beside_a_wrong_password(twin, tmp_path, seed, code):
    running = twin(seed)
    running.world.users["jo@corp.example"] = "Sesame-0pen"
    running.world.sso.federated.add("corp.example")
    options = {**connection(running, tmp_path / "sessions"), "username": "jo@corp.example"}
    wrong = Driver({**options, "password": "Sesame-wr0ng"})("vgpu_profile", **REQUEST)
    assert wrong["failure"]["code"] == code
    right = Driver({**options, "password": "Sesame-0pen"})("vgpu_profile", **REQUEST)
    assert right.get("failure", {}).get("code") == (None if seed == "small" else code)
    kinds = Kinds(running, tmp_path)
    token = Driver(kinds.token(user="jo@corp.example"))("vgpu_profile", **REQUEST)
    assert not token["failed"], token["msg"]


def test_pyvmomis_own_client_of_the_token_service_gets_a_token_that_is_accepted(kinds):
    """pyVim.sso needs lxml, which is in the extra pyvmomi[sso] alone."""
    from pyVim import sso

    context = ssl.create_default_context(cafile=str(kinds.running.ca_file))
    service = sso.SsoAuthenticator(kinds.running.sts_url)
    words = (kinds.running.username, kinds.running.password)
    text = service.get_bearer_saml_assertion(*words, ssl_context=context)
    instance = SmartConnect(
        host=kinds.running.host, port=kinds.running.port, token=text, tokenType="saml", sslContext=context
    )
    assert instance.content.sessionManager.currentSession.userName == r"VSPHERE.LOCAL\Administrator"
    Disconnect(instance)
    assert not Driver(kinds.token(text))("vgpu_profile", **REQUEST)["failed"]
    with pytest.raises(sso.SoapException, match="FailedAuthentication"):
        service.get_bearer_saml_assertion(words[0], "Sesame-wr0ng", ssl_context=context)
