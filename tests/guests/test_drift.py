"""Drift inside guests: none in an untouched guest, and a planted change is named with its value."""

from __future__ import annotations

import json

import pytest

from rehearse import playbook

GUESTS, DRIFT = (playbook.ROOT / "playbooks" / f"{name}.yml" for name in ("guests", "drift"))
OTHER = "job-02"
# The stage and two comparisons take some minutes beside other work, so one commit in six runs them.
PLANTED = """
ip link set ens224 mtu 1500
sed -i 's/soft stack .*/soft stack 1024/' /etc/security/limits.d/90-aiready.conf
echo 0 > /sys/kernel/config/rdma_cm/vmw_pvrdma0/ports/1/default_roce_tos
"""

PLACES = {(OTHER, "mtu", "1500"), (OTHER, "limits.* soft stack", "1024"), (OTHER, "limits.root soft stack", "1024")}


@pytest.fixture
def applied(guests, tmp_path):
    """run(playbook, *arguments): the stage guests was applied to both guests."""
    playbook.write_endpoint(guests.twin, tmp_path)
    env = playbook.environment(tmp_path, AIREADY_RESULTS=str(tmp_path / "results"))
    # Without a driver, the stage does not restart the guests.
    requested = {"user": "ops", "address_network": "VM Network", "limits": {"memlock": "as_is", "nofile": 0}}
    only = {"lab_guests": requested, "lab_runtime": {}, "lab_training": {}, "lab_validation": {}}
    extra = ["--extra-vars", json.dumps(only)]

    def run(of, *arguments):
        return playbook.run(of, *extra, *arguments, env=env)

    made = run(GUESTS)
    assert made.status == 0, made.output
    return run


def drift(run, tmp_path):
    made = run(DRIFT, "--tags", "guests")
    folders = sorted((tmp_path / "results" / "drift").iterdir())
    reported = json.loads((folders[-1] / "drift.json").read_text())
    return made, [row for row in reported["rows"] if row["stage"] == "guests"]


@pytest.mark.turn(3, of=6)
def test_an_untouched_guest_has_no_drift_and_planted_changes_are_named(guests, applied, tmp_path):
    made, rows = drift(applied, tmp_path)
    assert made.changed == 0, made.output
    assert [(row["object"], row["state"]) for row in rows] == [("job-01", "as requested"), (OTHER, "as requested")], (
        rows
    )
    status, out, err = guests.guest(OTHER).run(["sh", "-ec", PLANTED])
    assert status == 0, out + err
    made, rows = drift(applied, tmp_path)
    assert {(row["object"], row["setting"], row["found"]) for row in rows} >= PLACES, rows
    assert {row["object"] for row in rows if row["state"] == "not applied"} == {OTHER}
