# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Hosts in quarantine that the playbook health could not put into maintenance mode."""

from __future__ import annotations

import pytest

from unit.playbooks.expressions import entry_of, worked_out


def test_every_host_that_is_not_in_maintenance_mode_is_named():
    entry = entry_of("health", "Report hosts that are not in maintenance mode", "when")
    results = [
        {"item": "esx-01", "msg": "VMs run on it.", "failure": {"code": "running_vms"}},
        {"item": "esx-02", "host": {"changed": True}},
        # An error of the module itself has no code.
        {"item": "esx-03", "msg": "MODULE FAILURE"},
    ]
    given = {"__health_maintenance": {"results": results}}
    reported = worked_out(entry["ansible.builtin.debug"]["msg"], entry["vars"], **given)
    assert reported == ["esx-01: VMs run on it.", "esx-03: MODULE FAILURE"]


@pytest.mark.parametrize("playbook, status", [("drift", "drift"), ("health", "failing")])
def test_an_unknown_status_is_rejected_before_the_first_read(playbook, status):
    entry = entry_of(playbook, "Check which statuses fail", "ansible.builtin.assert")
    that = f"{{{{ {entry['ansible.builtin.assert']['that']} }}}}"
    for value, accepted in ((status, True), ("never", True), ("", True), ("unkown", False)):
        assert worked_out(that, entry["vars"], **{f"{playbook}_fail_on": value}) is accepted
    # Ansible renders the message of each check, also without the variable.
    assert worked_out(that, entry["vars"]) is True
    assert "Use unknown" in worked_out(entry["ansible.builtin.assert"]["fail_msg"], entry["vars"])
