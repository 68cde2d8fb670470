# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.params import RELATIONS, ids
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.power import params
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.power.guest import Guest, Nic
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.power.noun import Power, PowerState
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import Vm
from ansible_collections.aiready.vsphere.plugins.modules import vm_power

from unit.answers import Module

from .described import LOGIN, assert_as_documented, checked, plan

ADDRESSES = ("192.0.2.14", "fe80::250:56ff:fe8f:1234")
UP = Guest("on", True, (Nic("00:50:56:8f:12:34", "VM Network", ADDRESSES, True),), "192.0.2.14")


def answer(found, /, **options):
    """What the module says in check mode of a VM in this state."""
    asked = checked({**LOGIN, "name": "train-01", **options}, params.ARGUMENTS.spec, RELATIONS)
    assert params.check_params(asked) == []
    (one,) = params.ARGUMENTS.requests(asked)
    return plan(Power(Module(params=asked)), one, found, key="vms", ids={**ids(one.identity), "moid": "vm-42"})


def test_the_result_of_a_vm_that_runs_is_as_documented():
    found = answer(PowerState(Vm(power="off"), UP), state="on")
    found["before"] = answer(PowerState(Vm(power="off"), Guest()), state="off")["after"]
    assert_as_documented(vm_power, found, "vms")


@pytest.mark.parametrize(
    "wrong, says",
    [
        ({"state": "off", "wait_for": "tools"}, "wait_for=tools needs a running guest"),
        ({"state": "on", "force": True}, "force applies only when VMs are powered off"),
        ({"state": "on", "again": True}, "again applies only when VMs are powered off"),
        ({"state": "on", "wait_timeout_s": 0}, "wait_timeout_s is 0; it must be at least 1."),
        ({"state": "off", "guest_shutdown_timeout_s": -1}, "guest_shutdown_timeout_s is -1; it cannot be negative."),
    ],
)
def test_options_that_contradict_each_other_are_refused(wrong, says):
    asked = checked({**LOGIN, "name": "train-01", **wrong}, params.ARGUMENTS.spec, RELATIONS)
    assert says in " ".join(params.check_params(asked))


def test_a_vm_that_goes_off_to_come_back_is_pending():
    state = PowerState(Vm(power="on", tools_running=True), UP)
    found = answer(state, state="off", again=True)
    assert [change["path"] for change in found["changes"]] == ["power", "power_on_again"]
    assert found["pending"] == [{"what": "power", "needs": "power_on"}]
    assert found["after"] == {"power": "off", "power_on_again": True, "address": None, "addresses": []}


def test_a_vm_that_was_off_gets_no_note_to_start_it():
    assert answer(PowerState(Vm(power="off"), Guest()), state="off", again=True)["changes"] == []


@pytest.mark.parametrize(
    "vm, options, code, says",
    [
        (Vm(power="on"), {"state": "off"}, "no_tools", "VMware Tools do not run in the guest"),
        (Vm(power="suspended"), {"state": "off"}, "suspended", "the memory of its guest would be lost"),
        (Vm(power="off", template=True), {"state": "on"}, "template", "The VM is a template. Clone a VM from it."),
        (
            Vm(power="off", connection="inaccessible"),
            {"state": "on"},
            "vm_inaccessible",
            "vCenter reports the VM as inaccessible.",
        ),
    ],
)
def test_a_vm_that_cannot_be_switched_is_refused_with_the_way_out(vm, options, code, says):
    found = answer(PowerState(vm, Guest(vm.power)), **options)
    assert found["failed"]
    assert says in found["msg"]
    assert found["failure"]["code"] == code


@pytest.mark.parametrize("vm", [Vm(power="on"), Vm(power="suspended")])
def test_force_takes_what_cannot_be_asked(vm):
    assert answer(PowerState(vm, Guest(vm.power)), state="off", force=True)["after"]["power"] == "off"
