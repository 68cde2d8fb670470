# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""A host is found by its name and by its id, and each costs the requests that it needs."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("by_id", [False, True], ids=["by name", "by id"])
def test_a_host_is_found(twin, drive, by_id):
    running = twin()
    host = running.world.of_kind("HostSystem")[0]
    call = drive(running)
    call("esxi_host_info", host=host.name)
    before = running.requests["RetrievePropertiesEx"]
    answer = call("esxi_host_info", host=host.moid if by_id else host.name)
    assert (answer["failed"], answer["host"]["name"], answer["host"]["moid"]) == (False, host.name, host.moid)
    # One for the host, one for what is asked of it.
    assert running.requests["RetrievePropertiesEx"] - before == 2
