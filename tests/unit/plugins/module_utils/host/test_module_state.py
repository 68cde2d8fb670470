# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host import module_state

ROWS = [
    {"Name": "pfctx", "Type": "int", "Description": "mask"},
    {"Name": "trust_state", "Type": "int", "Description": ""},
    {"Name": "max_vfs", "Type": "array of uint", "Description": ""},
]


def module(options=None, active=None, ports=("vmnic2", "vmnic3"), **more):
    state = {"name": "nmlx5_core", "enabled": True, "loaded": True, **more}
    options = {} if options is None else options
    bare = module_state.Module(options=options, active=active, ports=ports, **state)
    return module_state.with_parameters(bare, ROWS)


def want(now, options=None, state="merged", enabled=None):
    return module_state.want("esx", now, module_state.ModuleRequest(now.name, options, state, enabled))


def plan(now, *requested, **more):
    changes = module_state.compare(now, want(now, *requested, **more))
    return [(change.path, change.before, change.after, change.needs) for change in changes]


def test_an_option_waits_for_the_next_load_of_the_module():
    assert plan(module(active={}), {"pfctx": "0x08"}) == [("nmlx5_core.pfctx", None, "0x08", "reboot")]


def test_going_back_to_what_the_module_was_loaded_with_waits_for_nothing():
    now = module({"pfctx": "0x10"}, active={"pfctx": "8"})
    assert plan(now, {"pfctx": "0x08"}) == [("nmlx5_core.pfctx", "0x10", "0x08", None)]


def test_a_second_run_before_the_restart_changes_nothing_and_reports_what_waits():
    now = module({"pfctx": "0x08"}, active={"trust_state": "2"})
    assert plan(now, {"pfctx": 8}) == []
    assert [entry["what"] for entry in module_state.pending(now)] == ["nmlx5_core.pfctx", "nmlx5_core.trust_state"]


def test_where_nobody_knows_what_was_loaded_nothing_is_made_up():
    now = module({"pfctx": "0x08"}, active=None)
    assert module_state.pending(now) == []
    assert plan(now, {"pfctx": "0x10"})[0][3] == "reboot"
    assert module_state.project(now)["active_options"] is None


def test_replacing_removes_what_is_not_named():
    now = module({"pfctx": "0x08", "trust_state": "2"}, active={})
    assert plan(now, {"pfctx": 8}, state="replaced") == [("nmlx5_core.trust_state", "2", None, None)]


def test_a_module_that_is_to_be_loaded_waits_for_the_boot():
    now = module(active={}, enabled=False, loaded=False)
    assert plan(now, enabled=True) == [("nmlx5_core.enabled", False, True, "reboot")]
    assert module_state.pending(want(now, enabled=True)) == [{"what": "nmlx5_core.enabled", "needs": "reboot"}]
    again = module(active={}, enabled=False, loaded=True)
    assert plan(again, enabled=True) == [("nmlx5_core.enabled", False, True, None)]


@pytest.mark.parametrize(
    "options, words",
    [
        ({"pfctxx": 8}, "no parameter pfctxx (near it: pfctx)"),
        ({"pfctx": "high"}, "type int, which high is not"),
        ({"max_vfs": 4}, "there are 2 (vmnic2, vmnic3); the request has 1. 4,4 fits"),
        ({"max_vfs": [8, 8, 8, 8]}, "the request has 4. 8,8 fits"),
        ({"max_vfs": [4, 129]}, "at most 128"),
        ({"max_vfs": [4, -1]}, "at most 128"),
        ({"max_vfs": "4, 4"}, "The value 4, 4 of max_vfs has spaces"),
    ],
)
def test_what_the_module_does_not_take_is_refused_with_what_would_fit(options, words):
    with pytest.raises(OperatorError) as refused:
        want(module(active={}), options)
    assert words in refused.value.message
    assert "nmlx5_core has max_vfs, pfctx, trust_state." in refused.value.message


def test_a_module_without_ports_yet_is_not_asked_for_their_number():
    assert plan(module(active={}, ports=()), {"max_vfs": "4,4"})[0][2] == "4,4"


@pytest.mark.parametrize(
    "options, doubted",
    [
        ({}, False),
        ({"pfctx": "0x08", "pfcrx": "8"}, False),
        ({"pfctx": "0x08"}, True),
        ({"pfctx": "8", "pfcrx": "16"}, True),
    ],
)
def test_flow_control_in_one_direction_is_a_doubt(options, doubted):
    assert bool(module_state.doubts(module(options, active={}))) is doubted


def test_the_most_functions_that_a_port_can_have_may_be_wanted():
    assert plan(module(active={}), {"max_vfs": [128, 0]})[0][2] == "128,0"


def test_blanks_in_double_quotes_stay_one_value():
    now = replace(module(active={}), parameters={})
    assert plan(now, {"dwords": '"a=1; b=2"'})[0][2] == '"a=1; b=2"'


def test_another_driver_without_flow_control_in_one_direction_is_no_doubt():
    assert module_state.doubts(module({"pfctx": "8"}, active={}, name="igbn")) == []
