"""Sessions with switches as modules have them: what is refused, what is lost, and how they come back."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import platform_of
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import Lost, Refused
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote import switch_session

from vsphere_twin.launch import launch

from . import drive_switch


def seed(platform):
    return {
        "users": {"administrator@vsphere.local": "VMware1!"},
        "datacenters": [],
        "fabric": {"switches": [{"name": "leaf-01", "platform": platform, "ports": 4}]},
    }


@pytest.fixture
def eos():
    with launch(seed("eos"), faces=("switches",)) as twin:
        yield twin


def session(switch):
    """The session that an action plugin over this connection has."""
    connection = switch.connection
    task = SimpleNamespace(_uuid="1")
    action = SimpleNamespace(_connection=connection, _play_context=connection._play_context, _task=task)
    return switch_session.session_of(action, "leaf-01", platform_of("eos", None))


def hung_up(switch, line):
    """End all connections of a switch, and wait until that is noticed."""
    switch.hang_up()
    with pytest.raises(Lost):
        _keep_asking(line, time.monotonic() + 10)


def _keep_asking(line, until):
    while time.monotonic() < until:
        line.run("show version")


def helper_of(switch):
    """The number of Ansible's helper process."""
    helper = switch_session.Helper(switch.connection.socket_path, 5)
    helper.get(command="")
    return helper.process


def awaited_end(process):
    """Wait until a process that was killed runs no more."""
    until = time.monotonic() + 120
    while _state(process) not in "ZX":
        assert time.monotonic() < until, "it was not killed"
        time.sleep(0.01)


def _state(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0]
    except (FileNotFoundError, ProcessLookupError):
        return "X"


def test_a_command_line_answers_refuses_gets_lost_and_comes_back(eos):
    with drive_switch.connected(eos, "leaf-01") as switch:
        line = session(switch)
        assert "Arista" in line.run("show version")
        with pytest.raises(Refused) as refusal:
            line.run("show nothing")
        assert refusal.value.command == "show nothing"
        assert refusal.value.complaint == "% Invalid input (at token 1: 'nothing')"
        assert "Arista" in line.run("show version")
        hung_up(eos.world.fabric.switches["leaf-01"], line)
        with pytest.raises(Lost):
            line.run("show version")
        line.reconnect()
        assert "Arista" in line.run("show version")
        assert eos.switch_sessions == {"leaf-01": 2}


def test_a_switch_that_lets_nobody_in_stays_lost_until_it_does(eos):
    with drive_switch.connected(eos, "leaf-01") as switch:
        line = session(switch)
        line.run("show version")
        there = eos.world.fabric.switches["leaf-01"]
        there.refusing = True
        hung_up(there, line)
        with pytest.raises(Lost):
            line.reconnect()
        there.let_in()
        line.reconnect()
        assert "Arista" in line.run("show version")


def killed(switch, there):
    process = helper_of(switch)
    os.kill(process, signal.SIGKILL)
    awaited_end(process)


def cut(switch, there):
    there.hang_up()


def gone(switch, there):
    """As a helper that nobody has asked for long."""
    switch_session.Helper(switch.connection.socket_path, 5).end()


@pytest.mark.parametrize("breaks", [killed, cut, gone])
def test_a_read_is_done_again_when_the_connection_was_lost_before_it(eos, breaks):
    with drive_switch.connected(eos, "leaf-01") as switch:
        assert not switch("roce_qos_info", {})["failed"]
        line = session(switch)
        line.run("show version")
        breaks(switch, eos.world.fabric.switches["leaf-01"])
        answer = switch("roce_qos_info", {})
        assert not answer["failed"], answer
        assert answer["switch"]["platform"] == "eos"
        assert eos.switch_sessions == {"leaf-01": 2}


@pytest.mark.parametrize("breaks", [killed, cut, gone])
def test_a_task_that_sets_reads_again_and_sends_each_line_once(eos, breaks):
    with drive_switch.connected(eos, "leaf-01") as switch:
        session(switch).run("show version")
        breaks(switch, eos.world.fabric.switches["leaf-01"])
        answer = switch("roce_qos", {"host_ports": ["Ethernet1"], "config": {}})
        assert answer["switch"]["outcome"] == "new", answer
    typed = [line for line in eos.switch_commands["leaf-01"] if line.startswith("configure session")]
    assert len(typed) == len(set(typed))


def test_a_helper_that_hangs_is_lost_in_time_and_replaced(eos):
    with drive_switch.connected(eos, "leaf-01") as switch:
        line = session(switch)
        line.run("show version")
        old = helper_of(switch)
        os.kill(old, signal.SIGSTOP)
        line._device.limit_s = 0.5
        with pytest.raises(Lost):
            line.run("show version")
        line.reconnect()
        assert "Arista" in line.run("show version")
        assert helper_of(switch) != old
        awaited_end(old)


def test_an_answer_that_comes_too_late_is_not_the_answer_to_the_next_command(eos):
    with drive_switch.connected(eos, "leaf-01", ansible_command_timeout=2) as switch:
        line = session(switch)
        line.run("show version")
        with eos.world.lock, pytest.raises(Lost):
            line.run("show hostname")
        line.reconnect()
        assert "Arista" in line.run("show version")


def test_a_login_that_is_refused_is_tried_once(eos):
    with drive_switch.connected(eos, "leaf-01", ansible_password="wrong") as switch:
        answer = switch("roce_qos_info", {})
    assert answer["unreachable"]
    assert eos.switch_arrivals == {"leaf-01": 1}


def test_a_switch_with_an_unknown_key_is_not_talked_to(eos):
    with drive_switch.connected(eos, "leaf-01", strict=True) as switch:
        answer = switch("roce_qos_info", {})
    assert answer["unreachable"]
    assert "authenticity" in answer["msg"]
    assert eos.switch_sessions == {}


def test_the_wrong_kind_of_connection_is_reported():
    action = SimpleNamespace(
        _connection=SimpleNamespace(socket_path=None, transport="ssh"), _play_context=SimpleNamespace(connection="ssh")
    )
    with pytest.raises(OperatorError) as error:
        switch_session.session_of(action, "leaf-01", platform_of("eos", None))
    assert error.value.message == (
        "leaf-01: cannot connect to Arista EOS. ansible_connection is ssh, not ansible.netcommon.network_cli. "
        "Set ansible_connection to ansible.netcommon.network_cli for this switch."
    )
