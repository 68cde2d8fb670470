"""The parts of a login to vCenter that preflight asks for."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight import questions as preflight_questions

SITE = {"gpu": {"mode": "vgpu", "profile": "grid_a100-40c"}, "vms": [{"name": "a"}]}


@pytest.mark.parametrize(
    "vcenter, given, environment, expected",
    [
        ({"saml_token_file": "/token"}, {}, {}, {"SAML token": True}),
        ({}, {"site_vcenter_session_id": True}, {}, {"session": True}),
        ({}, {}, {"AIREADY_SAML_TOKEN": "<a/>"}, {}),
        ({}, {}, {"AIREADY_SESSION_ID": "x"}, {}),
        ({}, {"site_vcenter_password": True}, {"AIREADY_SESSION_ID": "x"}, {"user": False, "password": True}),
        ({}, {}, {}, {"user": False, "password": False}),
    ],
)
def test_a_token_or_a_session_needs_no_user_and_no_password(vcenter, given, environment, expected):
    reported = preflight_questions.secrets({**SITE, "vcenter": vcenter}, given, environment)
    assert {what: there for where, what, there, dummy in reported if where == "vCenter"} == expected
