# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.drs import rules
from pyVmomi import vim

from .test_state import cluster, ref


def together(*names, enabled=True):
    return vim.cluster.AffinityRuleSpec(name="pair", key=9, enabled=enabled, vm=[ref(name) for name in names])


def wish(**more):
    return {"name": "apart", "anti_affinity": True, "mandatory": True, "automation": "ignore", **more}


def codes(there, names=("a", "b"), planned=(), **more):
    """The codes of what speaks against a wish."""
    try:
        rules.refuse_impossible(there, wish(**more), list(names), set(planned))
    except OperatorError as error:
        return [problem["code"] for problem in error.data["problems"]]
    return []


@pytest.mark.parametrize(
    "rule, code",
    [
        (together("a", "b"), ["conflicting_rule"]),
        (together("a", "b", enabled=False), []),
        (together("a", "c"), []),
    ],
    ids=["both on one host", "disabled", "only one of them"],
)
def test_only_a_rule_in_force_that_keeps_two_of_them_together_contradicts(rule, code):
    assert codes(cluster([rule])) == code


@pytest.mark.parametrize("mandatory, code", [(True, ["too_few_hosts"]), (False, [])])
def test_more_vms_than_hosts_are_too_many_for_a_rule_that_has_to_be_kept(mandatory, code):
    assert codes(cluster(), ("a", "b", "c"), mandatory=mandatory) == code


def test_vms_that_the_play_is_going_to_make_are_not_missed():
    assert codes(cluster(), ("a", "new"), planned=("new",)) == []
    assert codes(cluster(), ("a", "new")) == ["vm_not_in_cluster"]


@pytest.mark.parametrize("automation, code", [("manual", ["overrides_off"]), ("cluster", []), ("ignore", [])])
def test_levels_of_single_vms_need_a_cluster_that_obeys_them(automation, code):
    assert codes(replace(cluster(), overrides_obeyed=False), automation=automation) == code


def test_only_vms_that_run_are_side_by_side():
    assert rules.together(cluster(running=("a", "b")), ["a", "b"]) == {"esx-01": ["a", "b"]}
    assert rules.together(cluster(running=("a",)), ["a", "b"]) == {}
