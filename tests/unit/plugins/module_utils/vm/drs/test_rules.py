# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.drs import rules
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.drs.cluster import Vm
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.drs.params import DrsRequest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.drs.state import Rule
from pyVmomi import vim

from .test_state import apart, cluster, drs, ref


def together(*names, enabled=True):
    return vim.cluster.AffinityRuleSpec(name="pair", key=9, enabled=enabled, vm=[ref(name) for name in names])


def requested(**more):
    usual = {"cluster": "gpu", "name": "apart", "vms": None, "state": "present"}
    return DrsRequest(**{**usual, "anti_affinity": True, "mandatory": True, "automation": "ignore", **more})


def refusal(there, names=("a", "b"), planned=(), **more):
    """The error for a request that cannot be had, or None."""
    try:
        rules.refuse_impossible(there, requested(**more), list(names), set(planned))
    except OperatorError as error:
        return error
    return None


def codes(there, *args, **more):
    """The codes of what speaks against a request."""
    error = refusal(there, *args, **more)
    return [problem["code"] for problem in error.data["problems"]] if error is not None else []


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


def with_vms(*vms):
    """The cluster with these VMs beside its own, each (MoID, name, whether it is a template)."""
    there = cluster()
    more = tuple(Vm(ref(moid), moid, name, "esx-01", template, False) for moid, name, template in vms)
    return replace(there, vms=there.vms + more)


def test_a_template_is_no_vm_that_runs():
    error = refusal(with_vms(("vm-7", "golden", True)), ("a", "golden"))
    assert error.code == "template"
    assert "golden is a template." in error.message
    assert codes(with_vms(("vm-7", "gold", False)), ("a", "gold")) == []


def test_a_name_of_several_vms_is_refused_with_their_moids():
    error = refusal(with_vms(("vm-8", "twin", False), ("vm-7", "twin", False)), ("a", "twin"))
    assert error.code == "vm_ambiguous"
    assert "twin is the name of 2 VMs: vm-7, vm-8." in error.message


def test_names_near_a_missing_one_are_of_vms_and_not_in_the_task():
    there = with_vms(("vm-7", "train-01", False), ("vm-8", "train-02", False), ("vm-9", "train-03", True))
    message = refusal(there, ("train-01", "train-0")).message
    assert "Not in the cluster: train-0; near them: train-02." in message


@pytest.mark.parametrize(
    "there, code, says",
    [
        ([apart("apart", "a", "b")], None, ""),
        ([apart("other", "a", "b")], None, ""),
        (
            [vim.cluster.AffinityRuleSpec(name="apart", key=1, vm=[ref("c")])],
            "rule_of_other_type",
            "is one that keeps VMs together",
        ),
        ([vim.cluster.VmHostRuleInfo(name="apart", key=1)], "rule_of_other_type", "is one between VMs and hosts"),
        ([vim.cluster.DependencyRuleInfo(name="apart", key=1)], "rule_of_other_type", "is one of another type"),
        (
            [apart("apart", "a", "b"), apart("apart", "b", "c", key=8)],
            "rule_ambiguous",
            "There are 2 rules named apart.",
        ),
    ],
    ids=["ours", "other name", "together", "VMs and hosts", "dependency", "two of them"],
)
def test_a_rule_of_the_name_has_to_be_one_that_keeps_vms_apart(there, code, says):
    error = refusal(cluster(there))
    assert (error.code if error is not None else None) == code
    assert says in (error.message if error is not None else "")
    assert refusal(cluster(there), anti_affinity=False) is None


def test_one_vm_alone_cannot_be_kept_apart():
    error = refusal(cluster(), ("a",))
    assert error.code == "too_few_vms"
    assert "All entries of the task are the same VM, a." in error.message


def test_without_drs_nobody_would_obey():
    assert codes(replace(cluster(), drs=False), automation="manual") == ["drs_off"]


def test_a_refusal_says_what_the_task_was_for():
    assert "rule apart cannot keep a, b, x on separate hosts" in refusal(cluster(), ("x", "b", "a")).message
    message = refusal(cluster(), ("x",), anti_affinity=False, automation="manual").message
    assert "the automation of x to manual" in message


@pytest.mark.parametrize(
    "wanted, missing",
    [
        (drs(Rule(("a", "x"), True), a="cluster", x="cluster"), ["x"]),
        (drs(None, a="manual", y="manual", x="disabled"), ["x", "y"]),
        (drs(None, x="cluster"), None),
        (drs(Rule(("a", "b"), True), a="manual", b="cluster"), None),
    ],
    ids=["of the rule", "with a level", "that needs nothing", "none"],
)
def test_vms_that_went_away_since_are_an_error_where_they_are_needed(wanted, missing):
    error = rules.gone(cluster(), wanted)
    if missing is None:
        assert error is None
    else:
        assert (error.code, error.data["vms"]) == ("vm_gone", missing)
        assert f"No longer in the cluster: {', '.join(missing)}" in error.message
