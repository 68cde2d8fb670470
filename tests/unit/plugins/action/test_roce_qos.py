"""The action as Ansible runs it, with a switch of the twin behind its connection."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.action.roce_qos import ActionModule

from unit.plugins.module_utils.fabric.on_switches import Bench
from vsphere_twin.switches.linux import LinuxShell

from .local import action_of

TASK_VARS = {"inventory_hostname": "leaf-01", "ansible_network_os": "sonic"}


@pytest.fixture
def bench():
    return Bench("sonic")


def run(bench, check=False, **arguments):
    """The answer of a task for the first port of a switch."""

    def shell(command, **_options):
        output = LinuxShell.of(bench.switch, "root").run(command, str)
        return output.rc, output.stdout.encode(), output.stderr.encode()

    arguments = {"host_ports": [bench.ports[0]], "verify_timeout_s": 1, **arguments}
    action = action_of(ActionModule, "roce_qos", arguments, check)
    action._connection.exec_command = shell
    return action.run(task_vars=TASK_VARS)


def test_what_the_switch_had_for_qos_is_in_the_backup_file_before_the_first_change(bench, tmp_path):
    backup = tmp_path / "backups" / "leaf-01.cfg"
    announced = run(bench, check=True, backup_file=str(backup))
    assert announced["changed"]
    assert not backup.exists()
    made = run(bench, backup_file=str(backup))
    assert (made.get("failed", False), made["changed"], made["switch"]["outcome"]) == (False, True, "new")
    assert backup.read_text() == announced["switch"]["backup"].rstrip("\n") + "\n"
    assert backup.stat().st_mode & 0o077 == 0
