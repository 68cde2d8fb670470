"""Tokens: what the security token service issues, what opens a session, and what is refused."""

from __future__ import annotations

import base64
import datetime
import gzip
import json
import zlib

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from pyVmomi import SoapAdapter, vim, vmodl

from vsphere_twin.model import seed
from vsphere_twin.model.sso import DSIG, LARGEST, SAML, Rejected, span_of
from vsphere_twin.rest.api import Api
from vsphere_twin.vcenter.dispatch import Dispatcher
from vsphere_twin.vcenter.sts import TRUST, WSSE, WSU, Sts

from .conftest import DATA, PASSWORD, USER, Client

ISSUE, RENEW = f"{TRUST}/RST/Issue", f"{TRUST}/RST/Renew"
NOW = datetime.datetime.now(datetime.timezone.utc)
BOMB = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>'


def moment(seconds):
    now = datetime.datetime.now(datetime.timezone.utc)
    return (now + datetime.timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def request(user=USER, password=PASSWORD, lifetime=600, until=60, inside="", key_type="Bearer"):
    """A request for a token, with the elements of pyVim/sso.py and of GOVC."""
    return (
        '<E:Envelope xmlns:E="http://schemas.xmlsoap.org/soap/envelope/"><E:Header>'
        f'<o:Security xmlns:o="{WSSE}" xmlns:u="{WSU}"><u:Timestamp><u:Created>{moment(0)}</u:Created>'
        f"<u:Expires>{moment(until)}</u:Expires></u:Timestamp><o:UsernameToken><o:Username>{user}</o:Username>"
        f"<o:Password>{password}</o:Password></o:UsernameToken></o:Security></E:Header><E:Body>"
        f'<RequestSecurityToken xmlns="{TRUST}" xmlns:u="{WSU}">'
        f"<Lifetime><u:Created>{moment(0)}</u:Created><u:Expires>{moment(lifetime)}</u:Expires></Lifetime>"
        f"<KeyType>{TRUST}/{key_type}</KeyType>{inside}</RequestSecurityToken></E:Body></E:Envelope>"
    ).encode()


@pytest.fixture
def sts(dispatcher):
    return Sts(dispatcher)


def token_in(answer):
    status, body = answer
    assert status == 200, body
    return span_of(body, f"{SAML} Assertion").raw.decode()


def fault_in(answer):
    status, body = answer
    assert status == 500
    return body.partition(b"<faultcode>ns0:")[2].partition(b"<")[0].decode()


def by_token(connect, token, **options):
    """The user of a session that a pyVmomi client opened with a token."""
    client = connect(login=False, **options)
    client.stub.samlToken = token
    return client.content.sessionManager.LoginByToken().userName


def test_a_token_of_the_service_opens_a_session(connect, sts):
    assert by_token(connect, token_in(sts.handle(request(), ISSUE))) == r"VSPHERE.LOCAL\someone"


def test_a_bearer_token_lives_for_five_minutes_at_most(sts):
    element = span_of(token_in(sts.handle(request(lifetime=3600), ISSUE)), f"{SAML} Assertion")
    conditions = element.attributes(f"{SAML} Conditions")
    begins, ends = (
        datetime.datetime.fromisoformat(conditions[name].replace("Z", "+00:00"))
        for name in ("NotBefore", "NotOnOrAfter")
    )
    assert (ends - begins).total_seconds() == 300


def test_a_token_is_renewed_by_itself(connect, sts):
    old = token_in(sts.handle(request(), ISSUE))
    new = token_in(sts.handle(request(inside=f"<RenewTarget>{old}</RenewTarget>"), RENEW))
    assert new != old
    assert by_token(connect, new) == r"VSPHERE.LOCAL\someone"


@pytest.mark.parametrize(
    "changes, action, code",
    [
        ({"password": "wrong"}, ISSUE, "FailedAuthentication"),
        ({"user": "nobody@vsphere.local"}, ISSUE, "FailedAuthentication"),
        ({"until": -1}, ISSUE, "ExpiredData"),
        ({"lifetime": -1}, ISSUE, "InvalidTimeRange"),
        ({"key_type": "PublicKey"}, ISSUE, "RequestFailed"),
        ({}, RENEW, "InvalidRequest"),
        ({}, f"{TRUST}/RST/Validate", "InvalidRequest"),
    ],
)
def test_a_request_is_refused(sts, changes, action, code):
    assert fault_in(sts.handle(request(**changes), action)) == code


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<a",
        b"<a/>",
        BOMB.encode() + b"<x>&b;</x>",
        b"<a>" * 200 + b"</a>" * 200,
        b"<a>" + b"x" * LARGEST + b"</a>",
    ],
    ids=["empty", "cut", "other", "entities", "deep", "large"],
)
def test_hostile_requests_are_refused(sts, data):
    assert fault_in(sts.handle(data, ISSUE)) == "InvalidRequest"


def other_key():
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


BAD = {
    "expired": {"begins": NOW - datetime.timedelta(hours=1)},
    "not yet valid": {"begins": NOW + datetime.timedelta(hours=1)},
    "another audience": {"audience": "https://elsewhere"},
    "another issuer": {"issuer": "https://elsewhere"},
    "another key": {"key": other_key()},
    "no user": {"user": "nobody@vsphere.local"},
}


@pytest.mark.parametrize("options", BAD.values(), ids=BAD)
def test_a_token_that_is_not_valid_is_a_wrong_login(connect, world, options):
    token = world.sso.issue(**{"user": USER, **options})
    with pytest.raises(vim.fault.InvalidLogin):
        by_token(connect, token)


@pytest.mark.parametrize(
    "change",
    [
        lambda token: token.replace("someone@", "administrator@"),
        lambda token: token.partition("<ds:Signature")[0] + token.partition("</ds:Signature>")[2],
        lambda token: token.replace("cm:bearer", "cm:holder-of-key"),
        lambda token: token.replace("<ds:SignatureValue>", "<ds:SignatureValue>AAAA"),
        lambda token: "",
        lambda token: "<x/>",
    ],
    ids=["name", "unsigned", "holder of key", "signature", "empty", "no token"],
)
def test_a_token_that_was_changed_is_a_wrong_login(connect, world, change):
    with pytest.raises(vim.fault.InvalidLogin):
        by_token(connect, change(world.sso.issue(USER)))


def test_a_token_for_this_vcenter_is_accepted(connect, world):
    assert by_token(connect, world.sso.issue(USER, audience=world.sso.issuer)) == r"VSPHERE.LOCAL\someone"


def test_a_session_that_is_logged_in_does_not_log_in_again(connect, world):
    client = connect()
    client.stub.samlToken = world.sso.issue(USER)
    with pytest.raises(vim.fault.InvalidLogin):
        client.content.sessionManager.LoginByToken()


def test_a_message_with_a_document_type_is_no_request(dispatcher, connect):
    client = connect(login=False)
    data = client.stub.SerializeRequest(
        client.content.sessionManager, vim.SessionManager.Login.info, [USER, PASSWORD, None]
    )
    head, xml, rest = data.partition(b"?>")
    reply = dispatcher.handle(head + xml + BOMB.encode() + rest)
    answer = SoapAdapter.SoapResponseDeserializer(client.stub).Deserialize(reply.body, None)
    assert isinstance(answer, vmodl.fault.InvalidRequest)


def signed(token):
    return {"Authorization": f'SIGN token="{base64.b64encode(gzip.compress(token.encode())).decode()}"'}


def rest_login(dispatcher, headers):
    answer = Api(dispatcher).handle("POST", "/api/session", headers)
    return answer.status, json.loads(answer.data)


def test_a_token_opens_a_session_of_the_rest_services(dispatcher, world):
    status, key = rest_login(dispatcher, signed(world.sso.issue(USER)))
    assert status == 201
    answer = Api(dispatcher).handle("GET", "/api/session", {"vmware-api-session-id": key})
    assert json.loads(answer.data)["user"] == USER


def bomb():
    packer = zlib.compressobj(wbits=31)
    return packer.compress(b"<a>" + b" " * (LARGEST + 1)) + packer.flush()


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": 'SIGN token="!!"'},
        {"Authorization": 'SIGN token="AAAA"'},
        {"Authorization": f'SIGN token="{base64.b64encode(bomb()).decode()}"'},
        {"Authorization": "SIGN"},
        signed("<x/>"),
        signed(BOMB + "<x>&b;</x>"),
    ],
    ids=["no base64", "no gzip", "grows", "empty", "no token", "entities"],
)
def test_hostile_tokens_open_no_session_of_the_rest_services(dispatcher, headers):
    status, answer = rest_login(dispatcher, headers)
    assert (status, answer["error_type"]) == (401, "UNAUTHENTICATED")


@pytest.mark.parametrize("options", BAD.values(), ids=BAD)
def test_a_token_that_is_not_valid_opens_no_session_of_the_rest_services(dispatcher, world, options):
    status, dummy = rest_login(dispatcher, signed(world.sso.issue(**{"user": USER, **options})))
    assert status == 401


def test_a_signature_around_another_assertion_proves_nothing(world):
    """The signed assertion inside of one that is not (XML signature wrapping)."""
    good = world.sso.issue(USER)
    head, tag, rest = good.replace("someone@", "administrator@").partition("<saml2:Subject>")
    unsigned = head.partition("<ds:Signature")[0].replace('ID="', 'ID="x') + good + tag + rest
    with pytest.raises(Rejected):
        world.sso.user_of(unsigned)
    assert world.sso.user_of(good) == USER
    assert DSIG in good


@pytest.fixture(params=["8.0.3", "9.0.0", "9.1.0"])
def federated(request):
    """A vCenter with a federated domain."""
    users = {USER: PASSWORD, "jo@corp.example": PASSWORD}
    data = {**DATA, "release": request.param, "users": users, "federated_domains": ["corp.example"]}
    world = seed.from_data(data)
    yield world
    world.close()


def test_from_release_9_a_federated_user_logs_in_by_token_alone(federated):
    dispatcher, old = Dispatcher(federated), not federated.release.at_least(9, 0, 0)
    manager = Client(dispatcher, login=False).content.sessionManager
    basic = base64.b64encode(f"jo@corp.example:{PASSWORD}".encode()).decode()
    issued = Sts(dispatcher).handle(request(user="jo@corp.example"), ISSUE)
    assert rest_login(dispatcher, {"Authorization": f"Basic {basic}"})[0] == (201 if old else 401)
    assert issued[0] == (200 if old else 500)
    if old:
        assert manager.Login("jo@corp.example", PASSWORD).userName == r"CORP.EXAMPLE\jo"
    else:
        with pytest.raises(vim.fault.InvalidLogin):
            manager.Login("jo@corp.example", PASSWORD)
    token = federated.sso.issue("jo@corp.example")
    assert by_token(lambda **options: Client(dispatcher, **options), token) == r"CORP.EXAMPLE\jo"
    assert Client(dispatcher).content.sessionManager.currentSession.userName == r"VSPHERE.LOCAL\someone"
