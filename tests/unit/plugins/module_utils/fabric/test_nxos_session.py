# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.nxos.platform import Nxos
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import Refused

from .test_nxos import FACTORY, IN, SET, edit


class Line:
    """A session that records its commands, and rejects or answers some."""

    def __init__(self, refused=None, answers=None):
        self.lines = []
        self._refused, self._answers = dict(refused or {}), answers or {}

    def run(self, command, stdin=None, answers=()):
        self.lines.append(command)
        if command in self._refused:
            raise Refused(command, self._refused.pop(command))
        return self._answers.get(command, "")


def test_a_checkpoint_comes_first_and_goes_when_the_change_stays():
    change, line = edit(FACTORY), Line({"no checkpoint aiready-roce": "ERROR: it does not exist"})
    Nxos().apply(line, change)
    assert line.lines[:3] == ["no checkpoint aiready-roce", "checkpoint aiready-roce", "configure terminal"]
    assert line.lines[3:-1] == change.commands
    assert line.lines[-1] == "end"
    Nxos().confirm(line, change)
    assert line.lines[-1] == "no checkpoint aiready-roce"


def test_where_a_policy_has_to_go_before_another_comes_it_goes_at_once():
    attach = f"service-policy type qos input {IN}"
    change = edit(SET.replace(attach, "service-policy type qos input OTHER"))
    line = Line({attach: "ERROR: another policy is attached"})
    Nxos().apply(line, change)
    at = line.lines.index(attach)
    assert line.lines[at : at + 3] == [attach, "no service-policy type qos input OTHER", attach]


def test_a_way_back_that_fails_is_reported_and_one_that_was_not_begun_is_none():
    rollback = "rollback running-config checkpoint aiready-roce"
    line = Line({"end": "% Invalid command", rollback: "ERROR: Checkpoint does not exist"})
    Nxos().revert(line, edit(FACTORY), None)
    with pytest.raises(Refused):
        Nxos().revert(Line({rollback: "ERROR: Rollback failed"}), edit(FACTORY), None)


def test_a_configuration_that_finds_no_room_is_not_saved():
    save = "copy running-config startup-config"
    with pytest.raises(Refused):
        Nxos().save(Line(answers={save: "Configuration update aborted: not enough space"}))
    Nxos().save(
        Line(
            answers={
                save: "[########################################] 100%\nCopy complete, now saving to disk successfully."
            }
        )
    )
