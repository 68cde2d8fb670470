# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import socket
import ssl
import urllib.error

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container import registry
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.registry import Login, Registry

from .fake_registry import PASSWORD, USER, FakeRegistry


@pytest.fixture
def served():
    running = []

    def serve(kind):
        running.append(FakeRegistry(kind))
        return running[-1]

    yield serve
    for one in running:
        one.close()


def taken(fake, username=USER, password=PASSWORD, **options):
    options = {"insecure": True, **options}
    return Registry(fake.address, limit_s=5, **options).takes(Login(fake.address, username, password))


@pytest.mark.parametrize("kind, how", [("basic", "basic"), ("bearer", "token"), ("open", "open")])
def test_login_is_checked_the_way_the_registry_says(served, kind, how):
    assert taken(served(kind)) == how


@pytest.mark.parametrize("kind", ["basic", "bearer"])
@pytest.mark.parametrize("wrong", [{"password": "wrong"}, {"username": "me"}], ids=["password", "user"])
def test_wrong_login_is_refused_without_telling_the_password(served, kind, wrong):
    with pytest.raises(OperatorError) as error:
        taken(served(kind), **wrong)
    assert error.value.code == "login_refused"
    assert PASSWORD not in error.value.message
    assert "wrong" not in error.value.message


@pytest.mark.parametrize("kind", ["missing", "broken", "moved"])
def test_what_is_no_registry_gets_no_login(served, kind):
    fake = served(kind)
    with pytest.raises(OperatorError) as error:
        taken(fake)
    assert error.value.code == "registry_strange"
    assert {authorization for _path, authorization in fake.requests} == {None}
    assert "/elsewhere" not in [path for path, _authorization in fake.requests]


def test_login_is_not_sent_without_encryption_unless_that_is_allowed(served):
    fake = served("basic")
    with pytest.raises(OperatorError) as error:
        taken(fake, insecure=False)
    assert error.value.code == "registry_not_encrypted"
    assert fake.requests == []


def test_token_service_without_encryption_gets_no_login():
    # Without a server: the rule is about what the registry says.
    asked = Registry("images.example")
    with pytest.raises(OperatorError) as error:
        asked._token(Login("images.example", USER, PASSWORD), {"realm": "http://token.example/"})
    assert error.value.code == "token_service_not_encrypted"


def test_nvidias_user_is_named_when_another_one_is_refused():
    with pytest.raises(OperatorError) as error:
        Registry("nvcr.io")._demand(Login("nvcr.io", "me@example.com", "x"), 401)
    assert "literally $oauthtoken" in error.value.message


@pytest.mark.parametrize(
    "reason, code",
    [
        (ssl.SSLCertVerificationError(1, "self-signed certificate"), "registry_untrusted"),
        (ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version number"), "registry_not_encrypted"),
        (socket.gaierror(-2, "Name or service not known"), "registry_unknown"),
        (ConnectionRefusedError(111, "Connection refused"), "registry_unreachable"),
        (TimeoutError("timed out"), "registry_unreachable"),
        (OSError("Tunnel connection failed: 407 Proxy Authentication Required"), "proxy_refused"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_trouble_on_the_way_has_a_cause_and_a_way_out(monkeypatch, reason, code):
    asked = Registry("images.example")

    def fail(*_args, **_options):
        raise urllib.error.URLError(reason)

    monkeypatch.setattr(asked._opener, "open", fail)
    with pytest.raises(OperatorError) as error:
        asked.takes(Login("images.example", USER, PASSWORD))
    assert error.value.code == code
    assert error.value.todo


def test_authority_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "ca.crt").write_text("no certificate")
    with pytest.raises(OperatorError) as error:
        Registry("images.example", ca_files=[str(tmp_path / "ca.crt")])
    assert error.value.code == "authority_unusable"


@pytest.mark.parametrize("no_proxy, reached", [(["127.0.0.1"], True), ([], False)], ids=["left out", "used"])
def test_proxy_is_used_except_where_it_is_left_out(served, no_proxy, reached):
    fake, proxy = served("open"), served("broken")
    address = f"http://{proxy.address}"
    if reached:
        assert taken(fake, proxy=address, no_proxy=no_proxy) == "open"
    else:
        with pytest.raises(OperatorError):
            taken(fake, proxy=address, no_proxy=no_proxy)
    assert bool(fake.requests) is reached


def test_logins_of_dockers_own_registry_have_the_name_that_engines_look_for():
    assert registry.login_key("docker.io") == "https://index.docker.io/v1/"
    assert registry.login_key("nvcr.io") == "nvcr.io"
