# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import login
from pyVmomi import vim, vmodl

from unit.plugins.module_utils.vcenter.fakes import assertion

WORDS = {"username": "ops@vsphere.local", "password": "secret"}
BLANK = {"username": None, "password": None, "saml_token_file": None, "session_id": None, "rest_session_id": None}
SESSION = "0123456789abcdef"
OF_WORDS = {"VMWARE_USER": "awx@vsphere.local", "VMWARE_PASSWORD": "of awx"}


def params(environment=None, **given):
    """Options as a module gets them, with the fallbacks that Ansible fills in."""
    variables = {"username": "VMWARE_USER", "password": "VMWARE_PASSWORD", "saml_token_file": "AIREADY_SAML_TOKEN_FILE"}
    variables.update(session_id="AIREADY_SESSION_ID", rest_session_id="AIREADY_REST_SESSION_ID")
    fallbacks = {name: (environment or {}).get(variable) for name, variable in variables.items()}
    return {**BLANK, **fallbacks, **given}


def problems(environment=None, **given):
    return login.problems(params(environment, **given), environment or {})


def chosen(environment=None, **given):
    return login.chosen(params(environment, **given), environment or {})


def about(version="9.1.0", kind="VirtualCenter"):
    return vim.AboutInfo(version=version, apiType=kind)


@pytest.fixture
def token_file(tmp_path):
    path = tmp_path / "token"
    path.touch(mode=0o600)
    path.write_text(assertion())
    return str(path)


@pytest.mark.parametrize(
    "environment, given",
    [
        ({}, WORDS),
        ({}, {"saml_token_file": "/token"}),
        ({}, {"session_id": SESSION}),
        ({}, {"session_id": f'"{SESSION}"', "rest_session_id": SESSION}),
        (OF_WORDS, {}),
        ({"AIREADY_SAML_TOKEN": "<a/>"}, {}),
        ({"AIREADY_SAML_TOKEN_FILE": "/token"}, {}),
        ({"AIREADY_SESSION_ID": SESSION, "AIREADY_REST_SESSION_ID": SESSION}, {}),
        (OF_WORDS, {"saml_token_file": "/token"}),
        (OF_WORDS, {"session_id": SESSION}),
        ({"AIREADY_SAML_TOKEN_FILE": "/token"}, WORDS),
        ({"AIREADY_SESSION_ID": SESSION, "AIREADY_REST_SESSION_ID": SESSION}, WORDS),
    ],
)
def test_one_login_of_the_task_or_else_of_the_environment_is_enough(environment, given):
    assert problems(environment, **given) == []


@pytest.mark.parametrize(
    "environment, given, named",
    [
        ({}, {**WORDS, "saml_token_file": "/token"}, "`password` and `saml_token_file` are set"),
        ({}, {**WORDS, "session_id": SESSION}, "`password` and `session_id` are set"),
        ({}, {"saml_token_file": "/token", "session_id": SESSION}, "`saml_token_file` and `session_id` are set"),
        ({**OF_WORDS, "AIREADY_SAML_TOKEN_FILE": "/token"}, {}, "`password` and `saml_token_file` are set"),
        ({**OF_WORDS, "AIREADY_SAML_TOKEN": "<a/>"}, {}, "`password` and `AIREADY_SAML_TOKEN` are set"),
        (
            {"AIREADY_SAML_TOKEN_FILE": "/token", "AIREADY_SAML_TOKEN": "<a/>"},
            {},
            "`saml_token_file` and `AIREADY_SAML_TOKEN` are set",
        ),
        ({}, {"username": "ops@vsphere.local", "session_id": SESSION}, "`username` is set beside `session_id`"),
        ({}, {**WORDS, "rest_session_id": SESSION}, "`rest_session_id` is set without `session_id`"),
        ({}, {"session_id": "no\r\nHeader: x"}, "`session_id` is no session ID"),
        ({}, {"session_id": SESSION, "rest_session_id": "short"}, "`rest_session_id` is no session ID"),
        ({}, {"username": "ops@vsphere.local"}, "password is not set"),
        ({"VMWARE_PASSWORD": "x"}, {}, "username is not set"),
    ],
)
def test_contradictions_are_named_without_their_values(environment, given, named):
    (problem,) = problems(environment, **given)
    assert named in problem
    assert "secret" not in problem
    assert SESSION not in problem
    assert "Header" not in problem


def test_without_a_login_user_and_password_are_missing():
    assert [text.partition(" ")[0] for text in problems()] == ["username", "password"]


def test_options_that_a_module_lacks_are_not_missing():
    assert login.problems({"port": 443}, {}) == []


def test_the_login_of_the_task_has_precedence(token_file):
    assert isinstance(chosen(OF_WORDS, saml_token_file=token_file), login.Token)
    assert isinstance(chosen(OF_WORDS, session_id=SESSION), login.Existing)
    assert isinstance(chosen({"AIREADY_SAML_TOKEN": assertion()}, **WORDS), login.Password)


def test_a_token_can_be_in_the_environment_itself():
    found = chosen({"AIREADY_SAML_TOKEN": f"\n{assertion()}\n"})
    assert (found.user, found.token) == ("Ops@VSPHERE.LOCAL", assertion())


def test_users_and_tokens_do_not_share_a_session(token_file):
    other = {"AIREADY_SAML_TOKEN": assertion(user="Other@VSPHERE.LOCAL")}
    found = [chosen(**WORDS), chosen(saml_token_file=token_file), chosen(other)]
    assert len({one.identity for one in found}) == 3
    assert chosen({"AIREADY_SAML_TOKEN": assertion()}).identity == found[1].identity


@pytest.mark.parametrize(
    "user, version, kind, code",
    [
        ("jo@corp.example", "9.0.0", "VirtualCenter", "federated_login"),
        ("CORP\\jo", "9.1.0.0", "VirtualCenter", "federated_login"),
        ("jo@corp.example", "8.0.3", "VirtualCenter", "wrong_password"),
        ("jo@vsphere.local", "9.1.0", "VirtualCenter", "wrong_password"),
        ("VSPHERE.LOCAL\\jo", "9.1.0", "VirtualCenter", "wrong_password"),
        ("jo", "9.1.0", "VirtualCenter", "wrong_password"),
        ("jo@corp.example", "9.1.0", "HostAgent", "wrong_password"),
        ("jo@corp.example", "", "VirtualCenter", "wrong_password"),
    ],
)
def test_a_blocked_federated_user_is_reported_from_a_wrong_password_where_that_is_possible(user, version, kind, code):
    error = login.Password(user, "secret").explain(vim.fault.InvalidLogin(msg="Wrong."), "vc", about(version, kind))
    assert error.code == code
    assert "secret" not in error.message


def test_the_message_of_a_federated_user_names_both_causes_and_both_fixes():
    error = login.Password("jo@corp.example", "x").explain(vim.fault.InvalidLogin(msg="Wrong."), "vc", about())
    for words in ("password is wrong", "blocks it", "corp.example is not vsphere.local", "[unsure"):
        assert words in error.found
    for words in ("`password`", "service account of the SSO domain", "`saml_token_file`"):
        assert words in error.todo


def test_another_fault_keeps_its_own_words():
    fault = vmodl.fault.SystemError(reason="full")
    assert login.Password("jo@corp.example", "x").explain(fault, "vc", about()).code == "vendor_error"


def test_two_sessions_of_one_user_are_of_one_user():
    session = login.Existing(SESSION)
    session.check_rest_user("vc", "anybody@corp.example")
    session._user = "VSPHERE.LOCAL\\Ops"
    session.check_rest_user("vc", "ops@vsphere.local")
    with pytest.raises(OperatorError) as caught:
        session.check_rest_user("vc", "other@vsphere.local")
    assert caught.value.code == "session_users_differ"


def test_the_missing_rest_session_is_asked_for():
    assert "rest_session_id" in login.Existing(SESSION).unknown_to_rest("vc").todo
    assert "has expired" in login.Existing(SESSION, SESSION).unknown_to_rest("vc").found
