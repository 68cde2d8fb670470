# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""What is done once more after a connection was lost, and what is not."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import (
    Lost,
    NoLogin,
    Refused,
    Session,
    again,
)


class Line(Session):
    """A connection that fails as planned before it answers."""

    name = "leaf-01"

    def __init__(self, *failures):
        self.failures = list(failures)
        self.done = []

    def run(self, command, answers=()):
        self.done.append(command)
        if self.failures:
            raise self.failures.pop(0)
        return "an answer"

    def reconnect(self):
        self.done.append("login")


def ask(line):
    return again(line, lambda: line.run("show version"))


def test_a_lost_connection_is_opened_anew_and_the_command_is_sent_again():
    line = Line(Lost("show version", "cut"))
    assert ask(line) == "an answer"
    assert line.done == ["show version", "login", "show version"]


@pytest.mark.parametrize(
    "failures, done",
    [
        ([NoLogin("show version", "Permission denied")], ["show version"]),
        ([Refused("show version", "% Invalid input")], ["show version"]),
        ([Lost("show version", "cut"), Lost("show version", "cut")], ["show version", "login", "show version"]),
    ],
    ids=["login", "refused", "twice"],
)
def test_what_a_new_connection_does_not_mend_is_reported(failures, done):
    line = Line(*failures)
    with pytest.raises(type(failures[-1])):
        ask(line)
    assert line.done == done


@pytest.mark.parametrize("kind", [Refused, Lost, NoLogin])
def test_an_error_of_a_session_keeps_the_whole_command_and_prints_its_beginning(kind):
    command = "x" * 5000
    error = kind(command, "% Invalid input")
    assert (error.command, getattr(error, "reason", "% Invalid input")) == (command, "% Invalid input")
    assert hasattr(error, "reason") is (kind is not Refused)
    assert ("% Invalid input" in str(error), len(str(error)) < 1000) == (True, True)
