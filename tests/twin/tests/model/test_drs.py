"""DRS: rules and automation levels, how they are changed, and what they mean when a VM starts or moves."""

from __future__ import annotations

import pytest
from pyVmomi import vim, vmodl

from vsphere_twin.model import drs, provision, relocation

CLUSTER = vim.cluster
WRONG = vmodl.fault.InvalidArgument


@pytest.fixture
def here(lab):
    def build(level="partiallyAutomated", **more):
        hosts = [{"name": f"esx-{number}"} for number in (1, 2)]
        vms = [{"name": f"vm-{number}", "host": "esx-1"} for number in (1, 2, 3)]
        made = lab(hosts=hosts, vms=vms, drs=level, **more)
        made.cluster = made.hosts[0].compute
        return made

    return build


def reference(here, name):
    return vim.VirtualMachine(here.vm(name).moid)


def rule(here, *names, kind=CLUSTER.AntiAffinityRuleSpec, **more):
    fields = {"name": "apart", "enabled": True, **more}
    return kind(vm=[reference(here, name) for name in names], **fields)


def change(here, modify=True, **fields):
    drs.configure(here.world, here.cluster, CLUSTER.ConfigSpecEx(**fields), modify)


def set_rule(here, info, operation="add", **more):
    change(here, rulesSpec=[CLUSTER.RuleSpec(operation=operation, info=info, **more)])


def override(here, name, operation="add", **fields):
    key = reference(here, name)
    if operation == "remove":
        spec = CLUSTER.DrsVmConfigSpec(operation=operation, removeKey=key)
    else:
        spec = CLUSTER.DrsVmConfigSpec(operation=operation, info=CLUSTER.DrsVmConfigInfo(key=key, **fields))
    change(here, drsVmConfigSpec=[spec])


def hosts_of(here, *names):
    return [here.vm(name).host.name for name in names]


def fault_of(task):
    return type(task.error).__name__.rpartition(".")[2] if task.error is not None else None


def test_a_rule_gets_a_key_that_no_other_rule_gets_again(here):
    made = here()
    set_rule(made, rule(made, "vm-1", "vm-2"))
    first = made.cluster.rules[0]
    assert (first.key, first.userCreated, str(first.status), first.mandatory) == (1, True, "green", False)
    set_rule(made, None, "remove", removeKey=1)
    set_rule(made, rule(made, "vm-1", "vm-3"))
    assert [one.key for one in made.cluster.rules] == [2]


def test_an_edit_changes_what_it_names_and_keeps_the_rest(here):
    made = here()
    set_rule(made, rule(made, "vm-1", "vm-2", mandatory=True))
    set_rule(made, CLUSTER.AntiAffinityRuleSpec(key=1, enabled=False), "edit")
    (kept,) = made.cluster.rules
    assert (kept.name, kept.enabled, kept.mandatory, len(kept.vm)) == ("apart", False, True, 2)


REFUSED = {
    "one VM": (lambda here: set_rule(here, rule(here, "vm-1")), WRONG),
    "one VM twice": (lambda here: set_rule(here, rule(here, "vm-1", "vm-1")), WRONG),
    "no name": (lambda here: set_rule(here, rule(here, "vm-1", "vm-2", name="")), WRONG),
    "a VM that is not there": (
        lambda here: set_rule(
            here,
            CLUSTER.AntiAffinityRuleSpec(name="x", vm=[reference(here, "vm-1"), vim.VirtualMachine("vm-9999")]),
        ),
        WRONG,
    ),
    "a name that a rule has": (
        lambda here: [set_rule(here, rule(here, "vm-1", "vm-2")), set_rule(here, rule(here, "vm-1", "vm-3"))],
        vim.fault.DuplicateName,
    ),
    "the edit of a rule that is not there": (
        lambda here: set_rule(here, rule(here, "vm-1", "vm-2", key=7), "edit"),
        WRONG,
    ),
    "the removal of a rule that is not there": (lambda here: set_rule(here, None, "remove", removeKey=7), WRONG),
    "another kind of rule in an edit": (
        lambda here: [
            set_rule(here, rule(here, "vm-1", "vm-2")),
            set_rule(here, rule(here, "vm-1", "vm-2", kind=CLUSTER.AffinityRuleSpec, key=1), "edit"),
        ],
        WRONG,
    ),
    "a rule on hosts without its groups": (
        lambda here: set_rule(here, CLUSTER.VmHostRuleInfo(name="x", vmGroupName="none", affineHostGroupName="none")),
        WRONG,
    ),
    "a rule on the order of restarts without its groups": (
        lambda here: set_rule(here, CLUSTER.DependencyRuleInfo(name="x", vmGroup="none", dependsOnVmGroup="none")),
        WRONG,
    ),
    "adding an override twice": (
        lambda here: [override(here, "vm-1", behavior="manual"), override(here, "vm-1", behavior="manual")],
        WRONG,
    ),
    "editing an override that is not there": (lambda here: override(here, "vm-1", "edit", behavior="manual"), WRONG),
    "removing an override that is not there": (lambda here: override(here, "vm-1", "remove"), WRONG),
    "removing a group that is not there": (
        lambda here: change(here, groupSpec=[CLUSTER.GroupSpec(operation="remove", removeKey="none")]),
        WRONG,
    ),
}


@pytest.mark.parametrize("work,fault", REFUSED.values(), ids=REFUSED)
def test_a_cluster_refuses(here, work, fault):
    made = here()
    with pytest.raises(fault):
        work(made)


def test_a_refused_change_of_a_cluster_changes_nothing_of_it(here):
    made = here()
    with pytest.raises(WRONG):
        change(
            made,
            drsConfig=CLUSTER.DrsConfigInfo(enabled=False),
            rulesSpec=[CLUSTER.RuleSpec(operation="remove", removeKey=7)],
        )
    assert made.cluster.drs == "partiallyAutomated"


def test_a_change_that_does_not_modify_takes_away_what_it_does_not_name(here):
    made = here()
    set_rule(made, rule(made, "vm-1", "vm-2"))
    change(made, modify=False, drsConfig=CLUSTER.DrsConfigInfo(enabled=True, defaultVmBehavior="manual"))
    assert (made.cluster.rules, made.cluster.drs) == ([], "manual")


def test_drs_starts_vms_apart_where_a_rule_says_so(here):
    made = here()
    set_rule(made, rule(made, "vm-1", "vm-2"))
    for name in ("vm-1", "vm-2"):
        assert made.power_on(name).state == "success"
    assert hosts_of(made, "vm-1", "vm-2") == ["esx-1", "esx-2"]
    assert drs.complies(made.cluster, made.cluster.rules[0])


def test_drs_starts_vms_together_where_a_rule_says_so(here):
    made = here()
    made.power_on("vm-3")
    relocation.relocate(made.world, made.vm("vm-1"), vim.vm.RelocateSpec(host=vim.HostSystem(made.hosts[1].moid)))
    made.power_on("vm-1")
    set_rule(made, rule(made, "vm-1", "vm-2", kind=CLUSTER.AffinityRuleSpec))
    assert made.power_on("vm-2").state == "success"
    assert hosts_of(made, "vm-1", "vm-2") == ["esx-2", "esx-2"]


@pytest.mark.parametrize("mandatory,third", [(False, None), (True, "RuleViolation")])
def test_only_a_mandatory_rule_keeps_a_vm_from_starting(here, mandatory, third):
    made = here()
    set_rule(made, rule(made, "vm-1", "vm-2", "vm-3", mandatory=mandatory))
    made.power_on("vm-1")
    made.power_on("vm-2")
    task = made.power_on("vm-3")
    assert fault_of(task) == third
    if mandatory:
        assert "would violate the rule 'apart'" in task.error.msg


def test_with_manual_drs_a_vm_starts_where_it_is_and_only_mandatory_rules_hold(here):
    made = here("manual")
    set_rule(made, rule(made, "vm-1", "vm-2"))
    made.power_on("vm-1")
    assert made.power_on("vm-2").state == "success"
    assert hosts_of(made, "vm-1", "vm-2") == ["esx-1", "esx-1"]
    assert not drs.complies(made.cluster, made.cluster.rules[0])
    made.power_off("vm-2")
    set_rule(made, CLUSTER.AntiAffinityRuleSpec(key=1, mandatory=True), "edit")
    assert fault_of(made.power_on("vm-2")) == "RuleViolation"


@pytest.mark.parametrize("level", ["off", "disabled rule"])
def test_rules_sleep_without_drs_and_when_they_are_not_enabled(here, level):
    made = here("off" if level == "off" else "manual")
    set_rule(made, rule(made, "vm-1", "vm-2", mandatory=True, enabled=level == "off"))
    made.power_on("vm-1")
    assert made.power_on("vm-2").state == "success"


def test_a_mandatory_rule_holds_for_vmotion_as_well(here):
    made = here()
    set_rule(made, rule(made, "vm-1", "vm-2", mandatory=True))
    made.power_on("vm-1")
    made.power_on("vm-2")
    spec = vim.vm.RelocateSpec(host=vim.HostSystem(made.hosts[0].moid))
    with pytest.raises(vim.fault.RuleViolation):
        relocation.relocate(made.world, made.vm("vm-2"), spec)


def test_a_rule_on_hosts_places_and_refuses(here):
    made = here()
    groups = [
        CLUSTER.VmGroup(name="jobs", vm=[reference(made, "vm-1")]),
        CLUSTER.HostGroup(name="fast", host=[vim.HostSystem(made.hosts[1].moid)]),
    ]
    change(made, groupSpec=[CLUSTER.GroupSpec(operation="add", info=one) for one in groups])
    on_hosts = CLUSTER.VmHostRuleInfo(
        name="must", enabled=True, mandatory=True, vmGroupName="jobs", affineHostGroupName="fast"
    )
    set_rule(made, on_hosts)
    set_rule(made, CLUSTER.DependencyRuleInfo(name="later", enabled=True, vmGroup="jobs", dependsOnVmGroup="jobs"))
    assert made.power_on("vm-1").state == "success"
    assert hosts_of(made, "vm-1") == ["esx-2"]


@pytest.mark.parametrize(
    "fields,where",
    [({"behavior": "manual"}, "refused"), ({"enabled": False}, "refused"), ({"behavior": "fullyAutomated"}, "esx-2")],
)
def test_an_override_decides_whether_drs_may_place_a_vm(here, fields, where):
    made = here()
    made.hosts[0].maintenance = True
    override(made, "vm-1", **fields)
    task = made.power_on("vm-1")
    assert (made.vm("vm-1").host.name if task.state == "success" else "refused") == where


def test_overrides_count_only_while_the_cluster_lets_them(here):
    made = here()
    made.hosts[0].maintenance = True
    override(made, "vm-1", behavior="manual")
    change(made, drsConfig=CLUSTER.DrsConfigInfo(enableVmBehaviorOverrides=False))
    assert made.power_on("vm-1").state == "success"


def test_a_vm_that_goes_leaves_its_rules_and_overrides(here):
    made = here()
    set_rule(made, rule(made, "vm-1", "vm-2", "vm-3"))
    override(made, "vm-3", behavior="manual")
    provision.destroy(made.world, made.vm("vm-3"))
    assert len(made.cluster.rules[0].vm) == 2
    assert made.cluster.vm_overrides == {}
