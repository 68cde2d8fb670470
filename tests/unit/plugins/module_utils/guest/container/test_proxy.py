# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container import proxy
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.proxy import Proxy

NOTHING = {"http": "", "https": "", "no_proxy": [], "username": "", "password": ""}


def requested_one(**said):
    return proxy.from_params({**NOTHING, **said})


@pytest.mark.parametrize(
    "requested",
    [
        pytest.param(requested_one(http="http://p.example:3128"), id="one address for both"),
        pytest.param(requested_one(https="http://p.example:3128/"), id="HTTPS alone"),
        pytest.param(
            requested_one(http="http://p.example:3128", no_proxy=["a.example", "10.0.0.0/8"]), id="with exceptions"
        ),
        pytest.param(
            requested_one(http="http://p.example", username="u", password='p@s:s/w"d %$'), id="every kind of sign"
        ),
        pytest.param(requested_one(http="http://p.example", username="u"), id="a user without a password"),
    ],
)
def test_what_is_written_is_read_again(requested):
    assert proxy.parse(proxy.as_text(requested)) == requested


def test_a_proxy_for_http_is_one_for_https_too():
    assert requested_one(http="http://p.example:3128").https == "http://p.example:3128"


def test_no_address_is_no_file():
    assert proxy.as_text(requested_one(no_proxy=["a.example"])) is None


def test_a_password_is_escaped_in_the_address_and_in_no_text_of_the_object():
    requested = requested_one(http="http://p.example:3128", username="me", password="ca/n@ry")
    assert requested.url == "http://me:ca%2Fn%40ry@p.example:3128"
    assert "ca%2Fn" not in repr(requested)


@pytest.mark.parametrize(
    "said, problem",
    [
        pytest.param({"http": "p.example:3128"}, "proxy.http", id="no scheme"),
        pytest.param({"https": "http://me:secret@p.example"}, "Set credentials with", id="credentials inside"),
        pytest.param({"no_proxy": ["a.example, b.example"]}, "not a single name", id="two names in one"),
        pytest.param({"http": "http://p", "password": "x"}, "needs `proxy.username`", id="a password of nobody"),
    ],
)
def test_what_cannot_be_is_reported_without_the_secret(said, problem):
    (reported,) = proxy.problems({**NOTHING, **said})
    assert problem in reported
    assert "secret" not in reported


def test_a_file_of_somebody_else_says_nothing():
    assert proxy.parse("[Service]\nUser=me\n") == Proxy()
