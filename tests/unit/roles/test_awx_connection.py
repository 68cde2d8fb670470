"""The role awx warns about a controller whose certificate is not verified."""

from __future__ import annotations

import pytest

from unit.roles.variables import holds


@pytest.mark.parametrize("given, warned", [(None, False), (True, False), (False, True)])
def test_a_certificate_that_is_not_verified_is_reported(given, warned):
    result = {"invocation": {"module_args": {"controller_host": "https://awx.example.org", "validate_certs": given}}}
    task = "Report a controller whose certificate is not verified"
    assert holds("awx", "objects", task, __awx_organization={"results": [result]}) is warned
