# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import json

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core import logins
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.training.params import SECRET_VALUE
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.evidence import masked
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run.inputs import _open
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run.results import safe, without_secrets

PASSWORDS = [
    "pass",
    "pa/ss",
    "pa@ss",
    "pa:ss",
    "pa#ss",
    "pa?ss",
    "/@:#",
    "12345@x",
    "p%2fss",
    'pa"ss',
    "p\u00e4ss",
    "1/2",
]


@pytest.mark.parametrize("user", ["user", "me@example.org", ""])
@pytest.mark.parametrize("password", PASSWORDS)
def test_every_text_for_a_reader_hides_a_password_in_an_address(user, password):
    address = f"https://{user}:{password}@host:8443/path"
    shown = f"https://{user}:{logins.HIDDEN}@host:8443/path"
    assert logins.is_in(address)
    assert logins.hidden({"a": [address], "b": (address,)}) == {"a": [shown], "b": (shown,)}
    assert without_secrets(f"Cannot read {address}.") == f"Cannot read {shown}."
    assert masked(f"Cannot read {address}.") == f"Cannot read {shown}."
    assert masked(f'{{"a": "{address}", "b": "x@y"}}') == f'{{"a": "{shown}", "b": "x@y"}}'
    assert safe("proxy", address) == logins.HIDDEN
    error = OperatorError("Proxy", f"cannot use {address}", address, "Fix it", "code", message=address)
    assert password not in f"{error.message}{json.dumps(error.failure, ensure_ascii=False)}"
    assert password not in _open(address)
    # The end of this one could be a port and a path.
    assert bool(SECRET_VALUE.search(address)) is (password != "1/2")


@pytest.mark.parametrize(
    "text",
    [
        "https://host:8443/path",
        "https://host/path@v1",
        "oci://host:5000/charts@sha256:12ab",
        "oci://host:30500/charts@sha256:12ab",
        "ssh://user@host/",
        "mail a@b, see https://host:8443/path and c@d",
        '{"a":"https://host:8443/","b":"x@y"}',
    ],
)
def test_an_address_without_a_password_is_shown(text):
    assert logins.hidden(text) == text
    assert not logins.is_in(text)


def test_a_long_word_of_addresses_is_searched_quickly():
    assert len(logins.hidden("://a:" * 4000)) == 20000
