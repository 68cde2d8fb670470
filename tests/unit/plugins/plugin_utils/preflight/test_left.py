"""VMs that left the site in the table of preflight: a row each, and their names where GPUs are short."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight import hosts
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight import machines as preflight_machines

from .test_preflight import NO_ROOM, SHORT, machines, shown, vm
from .world import FAILED, NOBODY_LEFT, preview

DEPARTED = {
    "name": "job-03",
    "path": "/dc/vm/job-03",
    "host": "esx-01",
    "power": "on",
    "gpus": ["grid_a100-40c"],
    "why": "It is a VM of the site lab and not in site.vms.",
}
RIVAL = {**DEPARTED, "name": "rival", "path": "/dc/vm/rival", "why": "This collection did not create it."}
HOLDING = "VMs that left the site hold GPUs: job-03 (esx-01, grid_a100-40c)."
DEPARTURE = {**NOBODY_LEFT, "left": [DEPARTED], "others": [RIVAL], "holding": HOLDING}
LEAVING = {**NOBODY_LEFT, "running": ["job-03"]}
REMOVED = {"vms": [vm("job-03", changed=True)]}
KEPT = {"vms": [vm("job-03", failed=True, msg="VM job-03: w. It has snapshots. Delete them.", failure={})]}


@pytest.mark.parametrize(
    "seen, reported",
    [
        pytest.param(
            machines(left=DEPARTURE),
            [
                ("gpu", "room for the VMs", "ok"),
                ("/dc/vm/job-03", "VM that left the site", "open"),
                ("/dc/vm/rival", "VM of others with GPUs", "ok"),
            ],
            id="a VM that left, and one of others",
        ),
        pytest.param(
            machines(left=LEAVING, removal=REMOVED),
            [("gpu", "room for the VMs", "ok"), ("/dc/vm/job-03", "removal", "blocks")],
            id="a VM that left and runs, and may not be shut down",
        ),
        pytest.param(
            machines(power="cycle", left=LEAVING, removal=REMOVED),
            [("gpu", "room for the VMs", "ok"), ("/dc/vm/job-03", "removal", "will be changed")],
            id="a VM that left and is shut down and removed",
        ),
        pytest.param(
            machines(removal=KEPT),
            [("gpu", "room for the VMs", "ok"), ("/dc/vm/job-03", "removal", "blocks")],
            id="a VM that left and is not removed",
        ),
        pytest.param(
            machines(left={**NOBODY_LEFT, "problems": [{"found": "Cannot prune.", "todo": "Correct it."}]}),
            [("gpu", "room for the VMs", "ok"), ("VMs", "VMs that left the site", "blocks")],
            id="too many VMs that left",
        ),
    ],
)
def test_vms_that_left_are_reported_as_their_stage_sees_them(seen, reported):
    assert shown(preflight_machines.machines(seen, False)) == reported


def test_where_room_is_missing_the_vms_that_hold_gpus_are_named_before_the_advice():
    short = {
        **NO_ROOM,
        "msg": "Placement: cannot place the VM. vGPUs: 2 requested, 0 free. Add the missing resources.",
    }
    for answer in (SHORT, short):
        room = next(iter(preflight_machines.machines(machines(placement=answer, left=DEPARTURE), False)))
        assert HOLDING in room.found
    assert room.todo == "Add the missing resources."


def test_a_vm_that_only_gets_its_owner_is_not_reported_as_created():
    marked = {**vm("a", changed=True), "before": {"exists": True}, "changes": [{"path": "owner"}]}
    found = list(preflight_machines.machines(machines(clone={"vms": [marked]}), False))
    assert [(one.where, one.found) for one in found[1:]] == [("/dc/vm/a", "These differ: owner.")]


@pytest.mark.parametrize(
    "answer, reported",
    [({}, ("VMs of the site", "will be changed")), (FAILED, ("VMs of the site", "blocks"))],
    ids=["guests that can be asked", "a guest that cannot"],
)
def test_vms_that_are_shut_down_for_the_restart_of_their_host_are_named(answer, reported):
    look = preview(shut=["job-01"], answers={**preview()["answers"], "shutdown": answer})
    rows = [one for one in hosts.hosts({"esx-01": look}) if one.what == "VMs of the site"]
    assert [(one.what, one.state) for one in rows] == [reported]
    assert ("job-01: shut down for the restart" in rows[0].found) is (not answer)
