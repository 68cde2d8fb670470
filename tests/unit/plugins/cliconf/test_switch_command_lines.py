"""What modules of other collections may ask of our switches over network_cli."""

from __future__ import annotations

import json

import pytest
from ansible.errors import AnsibleConnectionFailure
from ansible_collections.aiready.vsphere.plugins.cliconf.onyx import Cliconf as Onyx
from ansible_collections.aiready.vsphere.plugins.cliconf.os10 import Cliconf as Os10

ONYX_VERSION = "Product name:      Onyx\nProduct release:   3.10.4006\nProduct model:     x86onie\n"
OS10_VERSION = "OS Version: 10.5.4.4\nBuild Version: 10.5.4.4.268\nSystem Type: S5248F-ON\n"


class Connection:
    """A connection of network_cli that answers from a table."""

    def __init__(self, answers=None, prompt=b"leaf-03 [standalone: master] # ", refuses=()):
        self.sent, self._answers, self._prompt, self._refuses = [], answers or {}, prompt, refuses

    def send(self, command, **options):
        line = command.decode()
        self.sent.append(line)
        if line in self._refuses:
            raise AnsibleConnectionFailure("% Unrecognized command")
        return self._answers.get(line, "")

    def get_prompt(self):
        return self._prompt


@pytest.mark.parametrize(
    "kind, version, prompt, expected",
    [
        (
            Onyx,
            ONYX_VERSION,
            b"leaf-03 [standalone: master] # ",
            ("aiready.vsphere.onyx", "3.10.4006", "x86onie", "leaf-03"),
        ),
        (Os10, OS10_VERSION, b"leaf-04# ", ("aiready.vsphere.os10", "10.5.4.4", "S5248F-ON", "leaf-04")),
    ],
    ids=["onyx", "os10"],
)
def test_the_switch_is_described_from_one_question(kind, version, prompt, expected):
    connection = Connection({"show version": version}, prompt)
    cliconf = kind(connection)
    reported = cliconf.get_device_info()
    keys = ("network_os", "network_os_version", "network_os_model", "network_os_hostname")
    assert tuple(reported[key] for key in keys) == expected
    assert cliconf.get_device_info() == reported
    assert connection.sent == ["show version"]


@pytest.mark.parametrize("kind", [Onyx, Os10])
def test_what_cannot_be_done_is_reported(kind):
    reported = json.loads(kind(Connection({"show version": ONYX_VERSION})).get_capabilities())
    assert set(reported["device_operations"].values()) == {False}
    assert "run_commands" in reported["rpc"]
    assert reported["network_api"] == "cliconf"


@pytest.mark.parametrize("kind, leave", [(Onyx, "exit"), (Os10, "end")], ids=["onyx", "os10"])
def test_configuration_mode_is_left_even_when_a_line_is_refused(kind, leave):
    connection = Connection(refuses=("bad",))
    with pytest.raises(AnsibleConnectionFailure):
        kind(connection).edit_config(["good", "bad", "never"])
    assert connection.sent == ["configure terminal", "good", "bad", leave]


def test_lines_come_back_with_their_answers():
    reported = Onyx(Connection({"lldp": "fine"})).edit_config(["lldp", {"command": "roce"}])
    assert reported == {"request": ["lldp", "roce"], "response": ["fine", ""]}


@pytest.mark.parametrize("options", [{"commit": False}, {"replace": "running"}], ids=["no commit", "replace"])
def test_what_needs_a_candidate_is_refused_before_anything_is_sent(options):
    connection = Connection()
    with pytest.raises(ValueError, match="candidate"):
        Onyx(connection).edit_config(["lldp"], **options)
    assert connection.sent == []


@pytest.mark.parametrize(
    "kind, source, sent",
    [
        (Onyx, "running", "show running-config"),
        (Onyx, "startup", "show configuration"),
        (Os10, "running", "show running-configuration"),
        (Os10, "startup", "show startup-configuration"),
    ],
)
def test_configurations_are_asked_for_by_the_words_of_the_switch(kind, source, sent):
    connection = Connection({sent: "text"})
    assert kind(connection).get_config(source) == "text"
    with pytest.raises(ValueError, match="candidate"):
        kind(connection).get_config("candidate")


def test_outputs_may_be_json_where_there_is_json():
    connection = Connection()
    Onyx(connection).run_commands(["show roce", {"command": "show version", "output": "json"}])
    assert connection.sent == ["show roce", "show version | json-print"]
    with pytest.raises(ValueError, match="output as json"):
        Os10(Connection()).get("show version", output="json")


def test_what_was_refused_may_be_wanted_as_an_output():
    connection = Connection({"b": "2"}, refuses=("a",))
    assert Onyx(connection).run_commands(["a", "b"], check_rc=False) == ["% Unrecognized command", "2"]
    with pytest.raises(AnsibleConnectionFailure):
        Onyx(connection).run_commands(["a"])
