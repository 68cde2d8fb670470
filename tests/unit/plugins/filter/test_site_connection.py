"""How the modules reach the vCenter of a site."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.filter.filters import FilterModule
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.args import CONNECTION
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.specification import specification

site_connection = FilterModule().filters()["site_connection"]


def test_only_what_is_set_is_given_so_that_the_environment_has_the_rest():
    site = {"vcenter": {"hostname": "vc", "port": None, "username": "", "validate_certs": False}}
    assert site_connection(site) == {"hostname": "vc", "validate_certs": False}


def test_password_comes_from_beside_the_site():
    assert site_connection({"vcenter": {"hostname": "vc"}}, "secret") == {"hostname": "vc", "password": "secret"}
    assert site_connection({}, "secret") == {"password": "secret"}


def test_sessions_come_from_beside_the_site():
    assert site_connection({}, "", "one", "two") == {"session_id": "one", "rest_session_id": "two"}


@pytest.mark.parametrize("site", [{}, {"vcenter": None}, {"vcenter": "vc"}, "vc", None], ids=repr)
def test_wrong_site_is_left_to_the_task_that_says_what_is_wrong(site):
    assert site_connection(site) == {}


SECRET = {"password", "session_id", "rest_session_id"}


def test_site_takes_every_connection_option_but_the_secret_ones():
    options = specification()["site"]["options"]["vcenter"]["options"]
    assert set(options) == set(CONNECTION) - SECRET
    assert {name: option["type"] for name, option in options.items()} == {
        name: option["type"] for name, option in CONNECTION.items() if name not in SECRET
    }
