# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""How guests are asked to shut down: which of them, how often, and how long they have."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.transport import FateUnknown
from ansible_collections.aiready.vsphere.plugins.module_utils.vm import power_cycle
from pyVmomi import vim

from ..gpu.worlds import requested, vm
from .machines import Clock, Machine, Rehearsed

LOST = FateUnknown("vc.example", "ShutdownGuest", "The connection was closed")
UNREACHED = OperatorError("vc.example", "it should answer", "It does not.", "", "unreachable")
NO_TOOLS = vim.fault.ToolsUnavailable(msg="Tools do not run.")


class Guest(Machine):
    """A VM whose guest answers the next requests to shut down like this."""

    def __init__(self, *answers, guest_takes_s=None, tools_running=True):
        clock = Clock()
        clock.time = 1000.0
        super().__init__(vm(power="on", tools_running=tools_running), clock, guest_takes_s=guest_takes_s)
        self.answers = list(answers)
        self.asked_at = []

    def ShutdownGuest(self):
        super().ShutdownGuest()
        self.asked_at.append(self.clock.now())
        if self.answers:
            raise self.answers.pop(0)


def shut_down(machine):
    item = Item("train-01", requested(guest_shutdown_timeout_s=30), {"moid": "vm-1"}, now=machine.state)
    return power_cycle.shut_guests_down(Rehearsed(machine), [item])


def test_a_guest_without_tools_is_not_asked():
    machine = Guest(tools_running=False)
    assert (shut_down(machine), machine.log) == ({}, [])


@pytest.mark.parametrize("takes_s, waited", [(5, (5, 12)), (None, (30, 35))], ids=["goes off", "never goes off"])
def test_a_guest_has_its_time_from_the_moment_that_it_is_asked(takes_s, waited):
    machine = Guest(guest_takes_s=takes_s)
    assert shut_down(machine) == {}
    assert waited[0] <= machine.clock.now() - 1000 < waited[1]
    assert (machine.look().vm.power == "off") is (takes_s is not None)


@pytest.mark.parametrize(
    "fault, words", [(NO_TOOLS, "Tools do not run."), (UNREACHED, "It does not.")], ids=["a fault", "no answer"]
)
def test_a_guest_that_was_not_asked_comes_with_the_reason_and_is_not_waited_for(fault, words):
    machine = Guest(fault)
    found = shut_down(machine)
    assert list(found) == ["vm-1"]
    assert words in found["vm-1"].message
    assert (machine.log, machine.clock.now()) == (["shut down"], 1000)


@pytest.mark.parametrize(
    "answers, asked",
    [([LOST], 2), ([LOST, NO_TOOLS], 2), ([LOST, LOST, LOST], 3)],
    ids=["answers then", "refuses then, as one that is about to go off", "never answers"],
)
def test_a_guest_that_may_have_heard_is_asked_again_and_waited_for(answers, asked):
    machine = Guest(*answers, guest_takes_s=20)
    assert shut_down(machine) == {}
    assert machine.log == ["shut down"] * asked
    assert len(set(machine.asked_at)) == asked, "with pauses in between"
    assert machine.look().vm.power == "off"
