"""The fix for a failed connection to the controller, from the words of awx.awx."""

from __future__ import annotations

import pytest

from unit.roles.variables import value_of


@pytest.mark.parametrize(
    "cause, fix",
    [
        ("Invalid authentication credentials for /api/v2/organizations/ (HTTP 401)", "Set CONTROLLER_OAUTH_TOKEN"),
        ("Failed to get token: HTTP Error 401: Unauthorized", "Set CONTROLLER_OAUTH_TOKEN"),
        ("Failed to get token: HTTP Error 403: Forbidden", "Use a token"),
        ("Failed to get token: <urlopen error [Errno 111] Connection refused>", "Set CONTROLLER_HOST"),
        ("There was an unknown error when trying to connect to https://awx:4010: URLError", "Set CONTROLLER_HOST"),
        ("The requested object could not be found at /api/v2/organizations/", "Set CONTROLLER_HOST"),
        ("The host sent back a server error (/api/v2/organizations/): HTTP Error 502: Bad Gateway", "Read the log"),
        ("Unable to create organization aiready: {'name': ['Too long']}", "Read the log"),
    ],
)
def test_each_failed_connection_has_its_fix(cause, fix):
    assert value_of("awx", "__awx_fix", __awx_cause=cause).startswith(fix)


def test_a_controller_without_an_address_in_the_environment_is_named_by_its_source(monkeypatch):
    monkeypatch.setenv("CONTROLLER_HOST", "https://awx.example.org")
    assert value_of("awx", "__awx_controller") == "the controller https://awx.example.org"
    monkeypatch.delenv("CONTROLLER_HOST")
    monkeypatch.delenv("TOWER_HOST", raising=False)
    assert "configuration of awx.awx" in value_of("awx", "__awx_controller")
