# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.drs import spec, state
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.drs.cluster import Cluster, Vm
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.drs.rules import together
from pyVmomi import vim

VMS = ("a", "b", "c")
LEVELS = ("manual", "partially_automated", "fully_automated", "disabled")


def ref(name):
    return vim.VirtualMachine(f"vm-{name}")


def cluster(rules=(), overrides=None, running=()):
    vms = tuple(Vm(ref(name), f"vm-{name}", name, "esx-01", False, name in running) for name in VMS)
    return Cluster(None, "domain-c1", "gpu", True, True, tuple(rules), overrides or {}, 2, vms)


def apart(name, *vms, key=7):
    return vim.cluster.AntiAffinityRuleSpec(
        name=name, key=key, enabled=True, mandatory=True, vm=[ref(vm) for vm in vms]
    )


def drs(rule=None, **levels):
    return state.Drs(rule, tuple(sorted(levels.items())))


@pytest.mark.parametrize("level", [*LEVELS, "cluster"])
def test_a_level_is_read_as_it_was_written(level):
    entry = None if level == "cluster" else state.override(ref("a"), level)
    assert state.automation_of(entry) == level


@pytest.mark.parametrize("enabled", [True, None])
def test_an_override_without_a_level_follows_the_cluster(enabled):
    assert state.automation_of(vim.cluster.DrsVmConfigInfo(key=ref("a"), enabled=enabled)) == "cluster"


def test_only_what_differs_is_a_change():
    now = drs(state.Rule(("a", "b"), True), a="manual", b="cluster")
    wanted = drs(state.Rule(("a", "b"), False), a="manual", b="manual")
    changes = [(change.path, change.before, change.after) for change in state.compare(now, wanted)]
    assert changes == [("rule.mandatory", True, False), ("automation.b", "cluster", "manual")]


def test_one_reconfiguration_adds_edits_and_removes_what_is_ours():
    there = cluster([apart("ours", "a", "b"), apart("other", "b", "c", key=8)], {"vm-a": object(), "vm-b": object()})
    now = drs(state.Rule(("a", "b"), True), a="manual", b="manual", c="cluster")
    wanted = drs(state.Rule(("a", "c"), True), a="disabled", b="cluster", c="manual")
    made = spec.reconfiguration(there, "ours", now, wanted)
    (rule,) = made.rulesSpec
    assert (rule.operation, rule.info.key, [vm._GetMoId() for vm in rule.info.vm]) == ("edit", 7, ["vm-a", "vm-c"])
    assert [change.operation for change in made.drsVmConfigSpec] == ["edit", "remove", "add"]
    assert made.drsVmConfigSpec[1].removeKey._GetMoId() == "vm-b"
    gone = spec.reconfiguration(there, "ours", now, drs(a="manual", b="manual", c="cluster"))
    assert [(change.operation, change.removeKey) for change in gone.rulesSpec] == [("remove", 7)]
    assert list(gone.drsVmConfigSpec) == []


def test_a_rule_that_is_as_wanted_is_not_sent_again():
    there = cluster([apart("ours", "a", "b")])
    rule = state.Rule(("a", "b"), True)
    made = spec.reconfiguration(there, "ours", drs(rule, a="cluster"), drs(rule, a="manual"))
    assert not made.rulesSpec


def test_only_vms_that_run_are_side_by_side():
    assert together(cluster(running=("a", "b")), VMS) == {"esx-01": ["a", "b"]}
    assert together(cluster(running=("a",)), VMS) == {}
