"""The role awx warns about a controller whose certificate is not verified."""

from __future__ import annotations

import pytest

from unit.roles.variables import holds, tasks_of


@pytest.mark.parametrize("given, warned", [(None, False), (True, False), (False, True)])
def test_a_certificate_that_is_not_verified_is_reported(given, warned):
    result = {"invocation": {"module_args": {"controller_host": "https://awx.example.org", "validate_certs": given}}}
    task = "Report a controller whose certificate is not verified"
    assert holds("awx", "objects", task, __awx_organization={"results": [result]}) is warned


def test_the_token_of_a_lookup_does_not_replace_the_fact_of_the_play():
    """The module sets controller_token, with which a play may connect itself."""
    (task,) = (one for one in tasks_of("awx", "read") if one["name"] == "Create the token of the lookup")
    assert task["delegate_facts"] is True
    assert task["delegate_to"] not in ("localhost", "{{ inventory_hostname }}")
