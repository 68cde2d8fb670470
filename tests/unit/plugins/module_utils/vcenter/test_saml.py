# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import base64
import datetime
import gzip
import os

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import saml

from unit.plugins.module_utils.vcenter.fakes import assertion

AT = datetime.datetime(2026, 11, 28, 13, 2, tzinfo=datetime.timezone.utc)
BOMB = b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]><x>&b;</x>'
OUTSIDE = b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x>&a;</x>'


def parsed(text):
    return saml.parsed(text if isinstance(text, bytes) else text.encode(), "/token")


def refused(now=AT, **changes):
    error = parsed(assertion(**changes)).refused("vc.example", "vCenter answered InvalidLogin", now)
    return error.code, error.message


def test_the_parts_of_an_assertion():
    found = parsed(assertion(audience="https://vc"))
    assert (found.user, found.issuer, found.audiences) == ("Ops@VSPHERE.LOCAL", "https://sso.example", ("https://vc",))
    assert found.not_before == datetime.datetime(2026, 11, 28, 13, 0, tzinfo=datetime.timezone.utc)
    assert found.not_on_or_after == datetime.datetime(2026, 11, 28, 13, 5, tzinfo=datetime.timezone.utc)
    assert found.signed


def test_the_declaration_and_space_around_the_assertion_stay_out_of_the_message():
    text = assertion()
    assert parsed(f'<?xml version="1.0" encoding="UTF-8"?>\n<!-- a --> {text}\n').xml == text


def test_the_token_is_not_shown():
    found = parsed(assertion())
    assert "Assertion" not in repr(found).replace("Assertion(", "", 1)
    assert "saml2" not in found.identity


def test_the_header_has_the_assertion_gzipped_in_base64():
    found = parsed(assertion())
    scheme, text = found.authorization.split(" ", 1)
    assert scheme == "SIGN"
    packed = text.removeprefix('token="').removesuffix('"')
    assert gzip.decompress(base64.b64decode(packed)).decode() == found.xml


@pytest.mark.parametrize(
    "text, words",
    [
        (b"", "not a SAML 2.0 assertion"),
        (b"eyJhbGciOi.J9", "not a SAML 2.0 assertion"),
        (b"<html/>", "its root element is html"),
        (assertion().replace("SAML:2.0:assertion", "SAML:1.0:assertion"), "its root element is Assertion"),
        (assertion()[:-5], "not a SAML 2.0 assertion"),
        (assertion() + assertion(), "not a SAML 2.0 assertion"),
        (BOMB, "declares a document type or entities"),
        (OUTSIDE, "declares a document type or entities"),
        (assertion().encode("utf-16"), "not UTF-8"),
        (b"<a>" + b"x" * saml.LARGEST, f"more than {saml.LARGEST} bytes"),
        (assertion(more="<a>" * 100 + "</a>" * 100), "nested too deep"),
        (assertion(user=""), "has no NameID"),
        (assertion(method="holder-of-key"), "no bearer token"),
    ],
)
def test_what_is_no_bearer_assertion_is_rejected(text, words):
    with pytest.raises(OperatorError) as caught:
        parsed(text)
    assert caught.value.code == "saml_token_invalid"
    assert words in caught.value.message
    assert "root:" not in caught.value.message


def test_a_name_of_another_element_is_not_that_of_the_user():
    assert parsed(assertion(more="<saml2:Advice><saml2:NameID>root</saml2:NameID></saml2:Advice>")).user == (
        "Ops@VSPHERE.LOCAL"
    )


@pytest.mark.parametrize(
    "moment, code, words",
    [
        ("13:05:00", "saml_token_expired", "expired at 2026-11-28 13:05:00 UTC"),
        ("12:59:59", "saml_token_not_yet_valid", "valid from 2026-11-28 13:00:00 UTC"),
        ("13:00:00", "saml_token_rejected", "issuer https://sso.example, audience not restricted"),
    ],
)
def test_a_refusal_is_explained_by_the_lifetime(moment, code, words):
    now = datetime.datetime.fromisoformat(f"2026-11-28T{moment}+00:00")
    found, message = refused(now)
    assert found == code
    assert words in message
    assert "Ops@VSPHERE.LOCAL" in message


def test_a_refusal_within_the_lifetime_names_issuer_audience_and_signature():
    dummy, message = refused(audience="https://elsewhere", signature="")
    assert "audience https://elsewhere" in message
    assert "It has no signature." in message


def test_a_lifetime_that_cannot_be_read_is_no_reason():
    assert refused(begins="soon", ends="2026-02-30T00:00:00Z")[0] == "saml_token_rejected"


def test_a_file_of_the_owner_is_read(tmp_path):
    path = tmp_path / "token"
    path.write_text(assertion())
    path.chmod(0o600)
    assert saml.read(str(path)).user == "Ops@VSPHERE.LOCAL"


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660])
def test_a_file_that_others_can_access_is_rejected(tmp_path, mode):
    path = tmp_path / "token"
    path.write_text(assertion())
    path.chmod(mode)
    with pytest.raises(OperatorError) as caught:
        saml.read(str(path))
    assert caught.value.code == "saml_token_file_mode"
    assert f"its mode is {mode:04o}" in caught.value.message
    assert f"chmod 0600 {path}" in caught.value.message


def test_a_pipe_is_no_file_and_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "token", 0o600)
    with pytest.raises(OperatorError) as caught:
        saml.read(str(tmp_path / "token"))
    assert caught.value.code == "saml_token_file_mode"


@pytest.mark.parametrize("name, words", [("nothing", "No such file"), ("", "Is a directory")])
def test_a_file_that_cannot_be_read_is_named(tmp_path, name, words):
    with pytest.raises(OperatorError) as caught:
        saml.read(str(tmp_path / name))
    assert caught.value.code == "saml_token_unreadable"
    assert caught.value.todo.endswith(f"write it there ({tmp_path / name})")
    assert words in caught.value.message
