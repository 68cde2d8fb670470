# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host import kernel


def rows(configured="FALSE", runtime="FALSE"):
    return [
        {"Name": "atsSupport", "Type": "Bool", "Configured": configured, "Runtime": runtime, "Default": "FALSE"},
        {"Name": "maxVmnics", "Type": "uint8", "Configured": "32", "Runtime": "32", "Default": "32"},
        {"Name": "logPort", "Type": "String", "Configured": "none", "Runtime": "none", "Default": "none"},
    ]


def plan(requests, **now):
    settings = kernel.settings_of(rows(**now))
    return [
        (one.path, one.after, one.needs) for one in kernel.compare(settings, kernel.want("esx", settings, requests))
    ]


@pytest.mark.parametrize("value", [True, "true", "TRUE", "yes", 1, "1"])
def test_every_way_to_say_yes_is_the_same_request(value):
    assert plan({"atsSupport": value}) == [("kernel.atsSupport", "TRUE", "reboot")]


def test_what_is_configured_already_is_no_change_even_while_it_waits():
    assert plan({"atsSupport": True}, configured="TRUE") == []
    assert kernel.pending(kernel.settings_of(rows(configured="TRUE"))) == [
        {"what": "kernel.atsSupport", "needs": "reboot"}
    ]


@pytest.mark.parametrize("configured, runtime", [("true", "TRUE"), ("false", "FALSE")])
def test_a_value_that_somebody_spelled_in_his_own_way_waits_for_nothing(configured, runtime):
    assert kernel.pending(kernel.settings_of(rows(configured, runtime))) == []
    assert plan({"atsSupport": configured}, configured=configured, runtime=runtime) == []


def test_going_back_to_what_runs_waits_for_nothing():
    assert plan({"atsSupport": False}, configured="TRUE") == [("kernel.atsSupport", "FALSE", None)]


def test_null_is_the_default_of_the_setting():
    assert plan({"atsSupport": None}, configured="TRUE", runtime="TRUE") == [("kernel.atsSupport", "FALSE", "reboot")]


def test_numbers_are_compared_as_numbers():
    assert plan({"maxVmnics": "0x20"}) == []
    assert plan({"maxVmnics": 64}) == [("kernel.maxVmnics", "64", "reboot")]


@pytest.mark.parametrize(
    "requests, words",
    [
        ({"atsSuport": True}, "no kernel setting atsSuport (near it: atsSupport)"),
        ({"atsSupport": "maybe"}, "type Bool, which 'maybe' is not"),
        ({"maxVmnics": -1}, "type uint8, which -1 is not"),
        ({"/VMFS3/UseATSForHBOnVMFS5": 1}, "PCIe ATS is atsSupport"),
        ({"HardwareAcceleratedLocking": 1}, "atomic test and set"),
    ],
)
def test_an_impossible_request_is_refused_with_what_is_there(requests, words):
    with pytest.raises(OperatorError) as refused:
        plan(requests)
    assert words in refused.value.message


def test_all_wrong_requests_are_reported_at_once():
    with pytest.raises(OperatorError) as refused:
        plan({"atsSupport": "maybe", "nothing": 1})
    assert len(refused.value.failure["problems"]) == 2


def test_a_setting_that_is_not_at_its_default_and_runs_so_waits_for_nothing():
    assert kernel.pending(kernel.settings_of(rows(configured="TRUE", runtime="TRUE"))) == []


def test_a_signed_number_may_be_negative():
    row = {"Name": "offset", "Type": "int32", "Configured": "0", "Runtime": "0", "Default": "0"}
    settings = kernel.settings_of([row])
    assert kernel.want("esx", settings, {"offset": -1})["offset"].configured == "-1"
