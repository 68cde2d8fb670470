# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""What all modules that reconfigure VMs refuse, plan and report, with the vGPUs as an example."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

from ..gpu.worlds import Module, Permissive, planned, ready, requested, vm

PROFILE = "grid_a100-40c"


def names(changes):
    return [change.path for change in changes]


@pytest.mark.parametrize(
    "facts, code",
    [
        ({"template": True}, "template"),
        ({"connection": "inaccessible"}, "vm_inaccessible"),
        ({"power": "suspended"}, "suspended"),
        ({"power": "on"}, "vm_running"),
    ],
    ids=str,
)
def test_a_vm_that_cannot_be_changed_is_refused_only_where_it_would_change(facts, code):
    with pytest.raises(OperatorError) as refused:
        planned(vm(**facts), requested(PROFILE))
    assert (refused.value.code, refused.value.subject) == (code, "VM train-01")
    assert PROFILE in refused.value.message
    _wanted, changes = planned(ready(PROFILE, **facts), requested(PROFILE))
    assert names(changes) == []


@pytest.mark.parametrize(
    "power, cycled", [("on", ["power_cycle"]), ("off", [])], ids=["one that runs", "one that is off"]
)
def test_a_vm_that_runs_is_planned_with_its_power_cycle(power, cycled):
    wanted, changes = planned(vm(power=power), requested(PROFILE, power="cycle"))
    assert [name for name in names(changes) if name.startswith("power")] == cycled
    assert "profiles" in names(changes)
    assert wanted.vm.power == power


@pytest.mark.parametrize(
    "power, requested_one, after",
    [
        ("off", "cycle", ("on", False)),
        # Somebody has to allow that it is switched on.
        ("off", "refuse", ("off", True)),
        ("on", "refuse", ("on", False)),
    ],
)
def test_a_vm_that_an_earlier_run_left_off_is_switched_on_where_that_is_allowed(power, requested_one, after):
    state = ready(PROFILE, power=power, power_on_again=True)
    wanted, _changes = planned(state, requested(PROFILE, power=requested_one))
    assert (wanted.vm.power, wanted.vm.power_on_again) == after


@pytest.mark.parametrize(
    "power, noted, pending",
    [("off", True, [{"what": "power", "needs": "power_on"}]), ("off", False, []), ("on", True, [])],
)
def test_a_vm_that_waits_for_its_power_is_pending(power, noted, pending):
    assert Permissive(Module()).pending(vm(power=power, power_on_again=noted)) == pending


def test_a_vm_that_stays_as_it_is_needs_no_power_cycle():
    state, noun = ready(PROFILE, power="on"), Permissive(Module())
    assert noun.needs_off(state, noun.want(Item("train-01", requested(PROFILE), {"moid": "vm-1"}, now=state))) is False
