"""Prompts, complaints and pages at the terminals of switches: what ends an output, and what is an error in it."""

from __future__ import annotations

import json

import pytest
from ansible.errors import AnsibleConnectionFailure
from ansible_collections.aiready.vsphere.plugins.terminal.onyx import TerminalModule as Onyx
from ansible_collections.aiready.vsphere.plugins.terminal.os10 import TerminalModule as Os10


def fits(patterns, text):
    return any(pattern.search(text) for pattern in patterns)


@pytest.mark.parametrize(
    "kind, text",
    [
        (Onyx, b"leaf-03 [standalone: master] > "),
        (Onyx, b"\r\nleaf-03 [standalone: master] # "),
        (Onyx, b"\r\nleaf-03 [mlag-1: standby] (config) # "),
        (Onyx, b"\r\nleaf-03 [standalone: master] (config interface ethernet 1/1) # "),
        (Onyx, b"\r\nswitch (config) # "),
        (Os10, b"\r\nOS10# "),
        (Os10, b"\r\nOS10(config)# "),
        (Os10, b"\r\nOS10(conf-if-eth1/1/1)# "),
        (Os10, b"\r\nleaf-04(conf-range-eth1/1/1-1/1/4)#"),
    ],
)
def test_prompts_end_an_output(kind, text):
    assert fits(kind.terminal_stdout_re, text)


@pytest.mark.parametrize(
    "kind, text",
    [
        (Onyx, b"\r\n##\r\n## Running database"),
        (Onyx, b"\r\n# ldap bind-password ********\r\n# "),
        (Onyx, b"\r\nEth1/1   > 100 "),
        (Onyx, b'    "Priority Enabled List": "3"'),
        (Os10, b"\r\n!\r\ninterface ethernet1/1/1\r\n"),
        (Os10, b"\r\nPort            Description     Status "),
    ],
)
def test_what_only_looks_like_a_prompt_does_not(kind, text):
    assert not fits(kind.terminal_stdout_re, text)


@pytest.mark.parametrize(
    "kind, text",
    [
        (Onyx, b'show roce\r\n% Unrecognized command "show ... roce".\r\nType "?" for help.\r\n'),
        (Onyx, b"configuration write\r\n% Failed to save configuration: No space left on device\r\n"),
        (Os10, b"wred X\r\n% Error: Illegal parameter.\r\n"),
        (Os10, b"enable\r\n% Bad secret\r\n"),
    ],
)
def test_complaints_are_errors(kind, text):
    assert fits(kind.terminal_stderr_re, text)


@pytest.mark.parametrize(
    "kind, text",
    [
        (Onyx, b"RoCE used TCs:\r\n  3     3      RoCE     WRR 50%\r\n"),
        (Onyx, b"Pool       Type\r\n%          lossless   3.6M\r\n"),
        (Onyx, b"Usage\r\n% used  |  % free\r\n"),
        (Onyx, b'"Minimum threshold": "9%",\r\n'),
        (Os10, b"Link utilization:  50 % in 30 seconds\r\n"),
    ],
)
def test_percents_of_a_table_are_none(kind, text):
    assert not fits(kind.terminal_stderr_re, text)


class Connection:
    """What network_cli is to a terminal: it sends, and remembers the prompt."""

    def __init__(self, prompts):
        self.sent, self._prompts = [], list(prompts)

    def exec_command(self, command):
        self.sent.append(command)
        if len(self._prompts) > 1:
            self._prompts.pop(0)

    def get_prompt(self):
        return self._prompts[0]


@pytest.mark.parametrize(
    "kind, command", [(Onyx, b"no cli session paging enable"), (Os10, b"terminal length 0")], ids=["onyx", "os10"]
)
def test_pages_are_turned_off(kind, command):
    connection = Connection([b"x# "])
    kind(connection).on_open_shell()
    assert connection.sent == [command]


def test_enable_gives_its_password_only_where_it_is_asked():
    connection = Connection([b"leaf [standalone: master] > ", b"leaf [standalone: master] # "])
    Onyx(connection).on_become("secret")
    (sent,) = connection.sent
    reported = json.loads(sent)
    assert (reported["command"], reported["answer"]) == ("enable", "secret")
    assert reported["prompt_retry_check"]


def test_who_is_in_enable_mode_stays_there():
    connection = Connection([b"leaf [standalone: master] # "])
    Onyx(connection).on_become("secret")
    assert connection.sent == []


def test_a_switch_that_does_not_change_its_prompt_has_refused():
    connection = Connection([b"leaf [standalone: master] > "])
    with pytest.raises(AnsibleConnectionFailure, match="not in enable mode"):
        Onyx(connection).on_become()


@pytest.mark.parametrize(
    "prompts, sent",
    [
        (
            [b"leaf [x: master] (config) # ", b"leaf [x: master] # ", b"leaf [x: master] > "],
            [b"no configure", b"disable"],
        ),
        ([b"leaf [x: master] # ", b"leaf [x: master] > "], [b"disable"]),
        ([b"leaf [x: master] > "], []),
        ([None], []),
    ],
    ids=["config", "enable", "looks", "hangs"],
)
def test_leaving_goes_down_to_the_mode_that_only_looks(prompts, sent):
    connection = Connection(prompts)
    Onyx(connection).on_unbecome()
    assert connection.sent == sent
