"""Sessions with switches as modules have them: what is refused, what is lost, and how they come back."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.roce.platform import platform_of
from ansible_collections.aiready.vsphere.plugins.module_utils.roce.session import Lost, Refused
from ansible_collections.aiready.vsphere.plugins.plugin_utils import switch_session

from twin.launch import launch

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
    connection = switch._connection
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


def back(line):
    """Log in again as an edit does: a helper of Ansible that is still ending may take the new one's socket with it."""
    for _attempt in range(5):
        try:
            return line.reconnect()
        except Lost as loss:
            last = loss
    raise last


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
        back(line)
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
        back(line)
        assert "Arista" in line.run("show version")


def test_a_switch_with_an_unknown_key_is_not_talked_to(eos):
    with drive_switch.connected(eos, "leaf-01", strict=True) as switch:
        answer = switch("roce_qos_info", {})
    assert answer["unreachable"]
    assert "authenticity" in answer["msg"]
    assert eos.switch_sessions == {}


def test_the_wrong_kind_of_connection_is_told():
    action = SimpleNamespace(
        _connection=SimpleNamespace(socket_path=None, transport="ssh"), _play_context=SimpleNamespace(connection="ssh")
    )
    with pytest.raises(OperatorError) as error:
        switch_session.session_of(action, "leaf-01", platform_of("eos", None))
    assert error.value.message == (
        "leaf-01: Arista EOS is reached through ansible.netcommon.network_cli. ansible_connection is ssh. "
        "Set ansible_connection to ansible.netcommon.network_cli for this switch."
    )
