"""What vcenter_access_info reports where something is wrong: clocks, hosts that are away, names, the login."""

from __future__ import annotations

import pytest

from .lab import lab


@pytest.fixture
def access(twin, drive):
    """A data centre, and vcenter_access_info on it."""
    other = {"name": "esx-02", "connection": "notResponding"}
    running = twin(seed=lab({}, others=[other]))
    module = drive(running)
    return running, lambda **params: module("vcenter_access_info", **params)


def test_clocks_that_differ_are_reported_and_one_of_a_host_that_is_away_is_not_known(access):
    running, look = access
    running.world.clocks.set_ahead("", 90)
    running.world.clocks.set_ahead("esx-01", -3600)
    answer = look()
    assert 80 < answer["vcenter"]["clock_ahead_s"] <= 90
    near, away = answer["hosts"]
    assert -3600 <= near["clock_ahead_s"] < -3590
    assert (away["clock_ahead_s"], away["why_no_clock"]) == (None, "The host is notResponding.")


def test_clocks_that_agree_differ_by_nothing(access):
    _running, look = access
    answer = look(hosts=["esx-01"])
    assert (answer["vcenter"]["clock_ahead_s"], answer["hosts"][0]["clock_ahead_s"]) == (0.0, 0.0)


def test_what_is_not_there_is_reported_and_fails_nothing(access):
    _running, look = access
    objects = [
        {"kind": "vm", "name": "no-template", "privileges": ["VirtualMachine.Provisioning.DeployTemplate"]},
        {"kind": "folder", "name": "training/new", "privileges": ["Folder.Create"]},
    ]
    answer = look(hosts=["esx-01", "esx-99"], objects=objects)
    assert not answer["failed"], answer["msg"]
    assert answer["strangers"] == ["esx-99"]
    # A folder that is missing is made below that of all VMs.
    assert [(one["found"], one["missing"]) for one in answer["objects"]] == [(False, []), (True, [])]


def test_all_of_a_data_centre_is_asked_for_with_few_requests(access):
    running, look = access
    running.requests.clear()
    look(objects=[{"kind": kind, "privileges": ["System.View"]} for kind in ("host", "cluster", "vcenter")])
    asked = {name: running.requests[name] for name in ("RetrievePropertiesEx", "HasPrivilegeOnEntities")}
    assert asked == {"RetrievePropertiesEx": 1, "HasPrivilegeOnEntities": 1}


def test_an_object_without_a_name_that_needs_one_is_refused(access):
    _running, look = access
    answer = look(objects=[{"kind": "datastore", "privileges": ["Datastore.Browse"]}])
    assert answer["failed"]
    assert "objects[0]: a datastore has no name; set it." in answer["msg"]
