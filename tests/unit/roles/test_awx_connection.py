"""The role awx warns about its connection, and reads lists of the controller."""

from __future__ import annotations

import pytest

from unit.roles.variables import holds, tasks_of, value_of


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


@pytest.mark.parametrize("reads, created", [("token", True), ("environment", False)])
def test_a_lookup_gets_a_token_only_if_it_has_none(reads, created):
    assert holds("awx", "read", "Create the token of the lookup", __connection={"reads": reads}) is created


@pytest.mark.parametrize("token, deleted", [({"id": 7}, True), ({}, False)])
def test_only_a_token_that_the_role_created_is_deleted(token, deleted):
    assert holds("awx", "read", "Delete the token of the lookup", __token=token) is deleted


def schedules(*ids_of_enabled):
    """Results of the module for an enabled schedule of each ID, and for one that is not enabled."""
    rows = [{"id": number, "changed": False, "item": {"enabled": True}} for number in ids_of_enabled]
    return {"results": [*rows, {"id": 99, "changed": False, "item": {"enabled": False}}]}


@pytest.mark.parametrize("ids, read, warned", [([7], [7], ["nightly"]), ([], [], [])])
def test_only_enabled_schedules_are_reported_without_a_next_run(ids, read, warned):
    given = {"__awx_schedule": schedules(*ids), "__awx_found": [{"name": "nightly", "next_run": None}]}
    assert value_of("awx", "__awx_saved | map(attribute='id') | list", **given) == read
    (task,) = (one for one in tasks_of("awx", "ended_schedules") if one["name"] == "Warn about the schedules")
    # Without an enabled schedule, the list is still that of the tasks before.
    assert value_of("awx", task["vars"]["__ended"].strip("{} "), **given) == warned
