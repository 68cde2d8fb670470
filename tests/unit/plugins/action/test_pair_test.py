"""The action as Ansible runs it, with guests that are this machine."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.action.pair_test import ActionModule

from .local import action_of

VARIABLES = {"ansible_connection": "local"}
TASK_VARS = {"hostvars": dict.fromkeys(("job-01", "job-02"), VARIABLES)}


def run(check=False, **arguments):
    return action_of(ActionModule, "pair_test", arguments, check).run(task_vars=TASK_VARS)


def guests(*addresses):
    return [{"name": f"job-0{number}", "address": address} for number, address in enumerate(addresses, start=1)]


@pytest.mark.parametrize("check", [False, True])
def test_it_looks_over_the_connections_of_the_guests_and_changes_nothing(check, tmp_path):
    reported = run(
        check,
        guests=guests("127.0.0.1", "203.0.113.9"),
        checks=["pair.rping"],
        work_dir=f"{tmp_path}/pairs/x",
        result_dir=str(tmp_path / "results"),
    )
    assert (reported["changed"], reported.get("failed", False)) == (False, False)
    assert list(reported["out"]) == ["job-02"]
    assert reported["planned"][0]["clients"] == ["rping -c -a 203.0.113.9 -p PORT -v -C 5"]
    assert len(reported["measurements"]) == (0 if check else 2)
    for one in reported["measurements"]:
        assert one["status"] == "failed"
        assert one["why"].startswith("No interface of job-02 has the address 203.0.113.9.")
    assert list(tmp_path.iterdir()) == []


def test_parameters_that_cannot_be_meant_are_refused_all_at_once():
    reported = run(guests=guests("127.0.0.1"), seconds=0)
    assert reported["failed"]
    assert reported["failure"]["problems"] == [
        "guests: a pair needs at least two guests.",
        "seconds: 0 is too small. Use at least 1.",
    ]


def test_a_guest_that_the_inventory_does_not_have_is_refused():
    reported = run(guests=[*guests("127.0.0.1"), {"name": "job-07", "address": "127.0.0.2"}])
    assert (reported["failed"], reported["failure"]["code"]) == (True, "unknown_host")
