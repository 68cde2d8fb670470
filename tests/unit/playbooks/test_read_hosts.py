# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The task that reads all hosts, and a host whose variables cannot be evaluated."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import yaml

from unit.playbooks.expressions import PLAYBOOKS, entry_of, worked_out

BROKEN = "{{ lookup('ansible.builtin.file', '/nonexistent') }}"


def test_a_name_that_cannot_be_evaluated_fails_its_own_host(tmp_path):
    hosts = {"esx-01": {}, "esx-02": {"esxi_host_name": BROKEN}, "esx-03": {"esxi_host_name": "esx-03.example"}}
    inventory, play = tmp_path / "hosts.yml", tmp_path / "play.yml"
    inventory.write_text(yaml.safe_dump({"esxi_hosts": {"hosts": hosts}}))
    # No vCenter answers there. The module says so for the hosts that it would read.
    vcenter = {"hostname": "127.0.0.1", "port": 1, "username": "u", "password": "p"}
    block = [
        {"ansible.builtin.import_tasks": str(PLAYBOOKS / "tasks" / "read_hosts.yml")},
        {"ansible.builtin.debug": {"msg": "{{ inventory_hostname }}: {{ __hosts_read.msg }}"}},
    ]
    rescue = [{"ansible.builtin.debug": {"msg": "{{ ansible_failed_result.msg }}"}}]
    whole = {
        "hosts": "esxi_hosts",
        "gather_facts": False,
        "connection": "local",
        "module_defaults": {"group/aiready.vsphere.vcenter": vcenter},
        "tasks": [{"block": block, "rescue": rescue}],
    }
    play.write_text(yaml.safe_dump([whole]))
    program = Path(sys.executable).with_name("ansible-playbook")
    run = subprocess.run(
        [program, "-i", inventory, play],
        env={**os.environ, "ANSIBLE_NOCOLOR": "1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    for name in ("esx-01", "esx-03"):
        assert f"{name}: 127.0.0.1:1: cannot connect to vCenter." in run.stdout
    assert "esx-02: esxi_host_name cannot be evaluated. " in run.stdout
    assert "/nonexistent" in run.stdout
    assert "Correct esxi_host_name of this host in the inventory." in run.stdout


def test_all_hosts_with_a_name_are_read():
    entry = entry_of("tasks/read_hosts", "Read all hosts", "run_once")
    named = {"esx-01": {"__read_name": "esx-01"}, "esx-02": {}, "esx-03": {"__read_name": "esx-03.example"}}
    given = {"ansible_play_hosts": list(named), "hostvars": named}
    asked = entry["aiready.vsphere.esxi_host_info"]["hosts"]
    assert worked_out(asked, entry["vars"], **given) == ["esx-01", "esx-03.example"]
