# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import compare
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.eos.platform import Eos
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import Refused

from .test_eos import FACTORY, INTENT, switch


class Line:
    """A session that records its commands, and rejects or answers some."""

    def __init__(self, refused=(), answers=None):
        self.lines = []
        self._refused, self._answers = refused, answers or {}

    def run(self, command, stdin=None, answers=()):
        self.lines.append(command)
        if command in self._refused:
            raise Refused(command, "% Invalid input")
        return self._answers.get(command, "")


def edit():
    platform, there = Eos({"confirm_s": 90}), switch(FACTORY)
    return platform, platform.render(there, {"Ethernet1": compare.wanted(INTENT, platform)}, INTENT)


def test_an_edit_goes_back_by_itself_unless_it_is_confirmed():
    platform, change = edit()
    line = Line()
    platform.apply(line, change)
    assert line.lines[0].startswith("configure session aiready-roce-")
    assert line.lines[1:-1] == change.commands
    assert line.lines[-1] == "commit timer 00:01:30"
    name = line.lines[0].split()[-1]
    waiting = Line(answers={"show configuration sessions": f"  {name}   pendingCommitTimer  admin\n"})
    platform.confirm(waiting, change)
    assert waiting.lines[-1] == f"configure session {name} commit"
    confirmed = Line(answers={"show configuration sessions": f"  {name}   completed  admin\n"})
    platform.confirm(confirmed, change)
    assert confirmed.lines == ["show configuration sessions"]


def test_the_other_keyword_for_queues_is_tried_when_a_family_refuses_one():
    platform, change = edit()
    line = Line(refused=["tx-queue 3"])
    platform.apply(line, change)
    assert "uc-tx-queue 3" in line.lines
    assert "uc-tx-queue 6" in line.lines
    assert line.lines[-1] == "commit timer 00:01:30"


def test_check_mode_lets_the_switch_judge_and_leaves_nothing():
    platform, change = edit()
    line = Line(answers={"show configuration sessions": " aiready-roce-1  pending \n other  pending\n"})
    assert platform.validate(line, change) is True
    assert "show session-config diffs" in line.lines
    assert line.lines[-1] == "configure session aiready-roce-1 abort"
    assert not any(command.startswith("commit") for command in line.lines)


def test_sessions_of_killed_runs_are_ended_and_those_of_others_stay():
    table = "  aiready-roce-17  pending  admin\n* aiready-roce-18  pendingCommitTimer\n  mine  pending\n"
    table += "  aiready-roce-19  completed\n"
    line = Line(refused=["end"], answers={"show configuration sessions": table})
    Eos().revert(line, edit()[1], None)
    aborted = [command for command in line.lines if command.endswith(" abort")]
    assert aborted == ["configure session aiready-roce-17 abort", "configure session aiready-roce-18 abort"]


def test_a_configuration_that_finds_no_room_is_not_saved():
    full = Line(answers={"write memory": "% Error copying system:/running-config (No space left on device)"})
    with pytest.raises(Refused):
        Eos().save(full)
    Eos().save(Line(answers={"write memory": "Copy completed successfully."}))
