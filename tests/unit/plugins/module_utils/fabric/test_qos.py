# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""What roce_qos says when it changed a switch, or would have."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import params as parameters
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.edit import not_proved
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import Refused

from unit.plugins.modules import described
from unit.plugins.modules.known_switch import Known, made, port


class Made(Known):
    """A platform that takes every edit, and says with refuses what it does not do."""

    refuses = ""

    def apply(self, session, edit):
        self.reported = self.switch
        self.switch = replace(self.switch, ports={name: port() for name in self.switch.ports}, unsaved=True)
        if self.refuses == "begin":
            self.switch = self.reported
            raise OperatorError(session.name, "a change", "Somebody else is at it", "Wait", "busy")
        if self.refuses == "apply":
            raise Refused("set", "% Invalid input")

    def revert(self, session, edit, before):
        self.switch = before

    def save(self, session):
        if self.refuses == "save":
            raise Refused("save", "% No space")


@pytest.mark.parametrize(
    "refuses, outcome, changed, mtu, code",
    [
        ("", "new", True, 9216, None),
        ("apply", "old", False, 1500, "refused"),
        ("begin", "unchanged", False, 1500, "busy"),
        ("save", "new", True, 9216, "not_saved"),
    ],
)
def test_the_result_says_what_the_switch_is_afterwards(refuses, outcome, changed, mtu, code):
    requested = described.checked({"host_ports": ["swp1"]}, parameters.ARGUMENTS)
    platform = Made({"swp1": port(mtu=1500)}, unsaved=False)
    platform.refuses = refuses
    answer = made(requested, platform)
    result = answer["switch"]
    assert (result["outcome"], result["changed"], result["after"]["ports"]["swp1"]["mtu"]) == (outcome, changed, mtu)
    assert (answer.get("failure") or {}).get("code") == code
    assert result["saved"] is (code is None)
    assert bool(result["pending"]) is (refuses == "save")


def test_without_its_backup_nothing_is_changed():
    def keep(text):
        raise OperatorError("/full", "the backup was to be written", "It could not be", "Name another", "no_backup")

    requested = described.checked({"host_ports": ["swp1"], "backup_file": "/full"}, parameters.ARGUMENTS)
    result = made(requested, Made({"swp1": port(mtu=1500)}), keep)["switch"]
    assert (result["outcome"], result["changed"], result["saved"]) == ("unchanged", False, False)


@pytest.mark.parametrize("count, more", [(5, ""), (7, " and 2 more.")])
def test_of_many_gaps_the_message_reports_some_and_the_result_all(count, more):
    left = [f"swp{number}: the running pfc is none instead of 3." for number in range(count)]
    error = not_proved("leaf-01", "the change is not effective", left)
    assert f"swp4: the running pfc is none instead of 3.{more} Check" in error.message
    assert error.data["left"] == left
    assert (error.subject, error.wanted) == ("leaf-01", "the change is not effective")
