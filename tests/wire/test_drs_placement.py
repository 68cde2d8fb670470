"""DRS does with the VMs of a task what is asked, with those of others what it did, and nothing that cannot be."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from pyVmomi import vim

from vsphere_twin.model.drs import configure as configure_model

from .meanwhile import meanwhile
from .nth import Nth
from .observe import client, warned
from .rows.drs_placement import APART, NAMES, drs, state, world

pytestmark = pytest.mark.usefixtures("brisk")

CALL = {"cluster": "gpu", "name": "apart", "vms": NAMES[:2]}


def configure(running, **spec):
    """Change the cluster as an administrator would."""
    with client(running) as service:
        content = service.RetrieveContent()
        kinds = [vim.ClusterComputeResource, vim.VirtualMachine, vim.HostSystem]
        view = content.viewManager.CreateContainerView(content.rootFolder, kinds, True)
        found = {entry.name: entry for entry in view.view}
        made = {key: value(found) for key, value in spec.items()}
        task = found["gpu"].ReconfigureComputeResource_Task(spec=vim.cluster.ConfigSpecEx(**made), modify=True)
        while task.info.state not in ("success", "error"):
            pass
        assert task.info.error is None, task.info.error.msg


def rule(kind, name, *vms, mandatory=False):
    def made(found):
        info = kind(name=name, enabled=True, mandatory=mandatory, vm=[found[vm] for vm in vms])
        return [vim.cluster.RuleSpec(operation="add", info=info)]

    return made


def together(name, *vms):
    return lambda running: configure(running, rulesSpec=rule(vim.cluster.AffinityRuleSpec, name, *vms))


def level(vm, behaviour):
    def made(found):
        info = vim.cluster.DrsVmConfigInfo(key=found[vm], enabled=True, behavior=behaviour)
        return [vim.cluster.DrsVmConfigSpec(operation="add", info=info)]

    return made


def no_overrides(running):
    configure(running, drsConfig=lambda found: vim.cluster.DrsConfigInfo(enableVmBehaviorOverrides=False))


def drs_off(running):
    configure(running, drsConfig=lambda found: vim.cluster.DrsConfigInfo(enabled=False))


class Case(NamedTuple):
    name: str
    options: dict
    code: str
    says: str
    change: object = None


CASES = [
    Case(
        "DRS is off",
        {},
        "drs_off",
        "Cluster gpu: rule apart cannot keep train-01, train-02 on separate hosts. DRS is off, so rules and "
        "automation levels have no effect. VMs stay on their hosts",
        drs_off,
    ),
    Case(
        "levels of single VMs are not obeyed",
        {"automation": "manual"},
        "overrides_off",
        "The cluster ignores automation levels of single VMs. Switch VM automation on in the cluster's DRS settings.",
        no_overrides,
    ),
    Case(
        "cluster of another name",
        {"cluster": "gpus"},
        "cluster_not_found",
        "Cluster gpus: cannot be found. There is no cluster of this name that this user may see; there are: gpu.",
    ),
    Case(
        "VMs that are not there",
        {"vms": ["train-01", "trian-02", "x"], "mandatory": False},
        "vm_not_in_cluster",
        "Not in the cluster: trian-02, x; near them: train-02, train-03, train-04. Correct the names, or",
    ),
    Case(
        "more VMs than hosts",
        {"vms": NAMES[:4]},
        "too_few_hosts",
        "4 VMs need one host each, and the cluster has 3 hosts. List fewer VMs, add hosts, or set",
    ),
    Case(
        "a rule of this name that keeps together",
        {},
        "rule_of_other_type",
        "Rule apart exists, and is one that keeps VMs together. Choose another name, or remove that rule.",
        together("apart", "train-03", "train-04"),
    ),
    Case(
        "removal of a rule that keeps together",
        {"state": "absent", "vms": None},
        "rule_of_other_type",
        "The rule of this name has another type. Correct `name`; this module removes only rules that keep VMs",
        together("apart", "train-03", "train-04"),
    ),
    Case(
        "a rule that contradicts",
        {},
        "conflicting_rule",
        "Rule pair keeps train-01, train-02 on one host. If two rules contradict each other, DRS may ignore",
        together("pair", "train-01", "train-02"),
    ),
    Case("a template", {"vms": ["train-01", "ubuntu-template"]}, "template", "ubuntu-template is a template."),
    Case(
        "two VMs of one name",
        {"vms": ["train-01", "twin"]},
        "vm_ambiguous",
        "twin is the name of 2 VMs: vm-",
    ),
]


def seeded(**more):
    seed = world(vms=4, **more)
    center = seed["datacenters"][0]
    center["vm_folders"] = ["a", "b"]
    center["vms"] += [
        {"name": "ubuntu-template", "template": True, "host": "esx-02"},
        {"name": "twin", "folder": "a", "host": "esx-02"},
        {"name": "twin", "folder": "b", "host": "esx-02"},
    ]
    return seed


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_what_drs_could_not_do_is_refused(twin, drive, case):
    running = twin(seed=seeded())
    if case.change is not None:
        case.change(running)
    before = drs(running)
    running.requests.clear()
    answer = drive(running)("drs_placement", **{**CALL, **case.options})
    assert answer["failed"]
    assert case.says in answer["msg"]
    assert case.code == answer["failure"]["code"]
    assert drs(running) == before
    assert running.requests["ReconfigureComputeResource_Task"] == 0


def test_vms_of_one_name_are_reported_apart_by_their_moids(twin, drive):
    running = twin(seed=seeded())
    with client(running) as service:
        content = service.RetrieveContent()
        view = content.viewManager.CreateContainerView(content.rootFolder, [vim.VirtualMachine], True)
        twins = sorted(entry._GetMoId() for entry in view.view if entry.name == "twin")
    module = drive(running)
    call = {"cluster": "gpu", "name": "apart", "vms": twins}
    answer = module("drs_placement", **call)
    assert answer["changed"], answer["msg"]
    assert answer["cluster"]["after"]["rule"]["vms"] == twins
    again = module("drs_placement", **call)
    assert not again["failed"]
    assert not again["changed"]


def test_a_vm_that_is_named_twice_in_two_ways_is_one_vm(twin, drive):
    running = twin(seed=seeded())
    module = drive(running)
    with client(running) as service:
        content = service.RetrieveContent()
        view = content.viewManager.CreateContainerView(content.rootFolder, [vim.VirtualMachine], True)
        (moid,) = [entry._GetMoId() for entry in view.view if entry.name == "train-01"]
    answer = module("drs_placement", cluster="gpu", name="apart", vms=["train-01", moid])
    assert answer["failure"]["code"] == "too_few_vms"
    assert "All entries of the task are the same VM, train-01. Name at least two VMs" in answer["msg"]


def test_all_reasons_are_reported_at_once(twin, drive):
    running = twin(seed=seeded())
    drs_off(running)
    answer = drive(running)("drs_placement", cluster="gpu", name="apart", vms=[*NAMES[:4], "x"])
    codes = [problem["code"] for problem in answer["failure"]["problems"]]
    assert codes == ["drs_off", "vm_not_in_cluster", "too_few_hosts"]


def test_rules_and_levels_of_others_stay(twin, drive):
    running = twin(seed=seeded())
    configure(
        running,
        rulesSpec=rule(vim.cluster.AntiAffinityRuleSpec, "others", "train-02", "train-03"),
        drsVmConfigSpec=level("train-03", "fullyAutomated"),
    )
    others = state({"others": (APART, NAMES[1:3], False)}, {"train-03": (True, "fullyAutomated")})
    module = drive(running)
    assert module("drs_placement", automation="manual", **CALL)["changed"]
    both = drs(running)
    assert both["rules"] == {**others["rules"], "apart": (APART, NAMES[:2], True)}
    assert both["levels"] == {**others["levels"], "train-01": (True, "manual"), "train-02": (True, "manual")}
    assert module("drs_placement", cluster="gpu", name="apart", state="absent")["changed"]
    assert drs(running) == others


def test_without_a_rule_only_the_rule_goes(twin, drive):
    running = twin(seed=seeded())
    module = drive(running)
    module("drs_placement", automation="manual", **CALL)
    answer = module("drs_placement", anti_affinity=False, **CALL)
    assert not answer["failed"], answer["msg"]
    assert drs(running) == state(levels=dict.fromkeys(NAMES[:2], (True, "manual")))


def test_a_rule_that_somebody_changed_is_mended_and_only_that(twin, drive):
    running = twin(seed=seeded())
    module = drive(running)
    module("drs_placement", **CALL)
    (cluster,) = running.world.of_kind("ClusterComputeResource")
    cluster.rules[0].enabled = False
    running.world.touch(cluster)
    answer = module("drs_placement", **CALL)
    assert [change["path"] for change in answer["cluster"]["changes"]] == ["rule.enabled"]
    assert cluster.rules[0].enabled is True


def test_vms_that_run_side_by_side_are_warned_of(twin, drive, capsys):
    running = twin(seed=seeded())
    for vm in running.world.of_kind("VirtualMachine"):
        if vm.name in NAMES[:2]:
            vm.power = "poweredOn"
            running.world.touch(vm)
    answer = drive(running)("drs_placement", **{**CALL, "mandatory": False})
    assert not answer["failed"], answer["msg"]
    # They go to the terminal where this process has been Ansible's controller before.
    reported = warned(answer, capsys)
    assert "train-01, train-02 run together on esx-01 now." in reported


def test_vms_that_earlier_tasks_will_make_count_in_check_mode_only(twin, drive):
    running = twin(seed=seeded())
    module = drive(running)
    call = {**CALL, "vms": ["new-01", "train-01"], "planned": ["new-01"]}
    answer = module("drs_placement", check=True, automation="manual", **call)
    assert answer["cluster"]["after"] == {
        "rule": {"vms": ["new-01", "train-01"], "mandatory": True, "enabled": True},
        "automation": {"new-01": "manual", "train-01": "manual"},
    }
    assert module("drs_placement", **call)["failure"]["code"] == "vm_not_in_cluster"


def test_a_request_whose_answer_is_lost_makes_no_second_rule(twin, drive):
    running = twin(seed=seeded(), faults=[("close_after", {"method": "ReconfigureComputeResource_Task"})])
    answer = drive(running)("drs_placement", automation="manual", **CALL)
    assert not answer["failed"], answer["msg"]
    (cluster,) = running.world.of_kind("ClusterComputeResource")
    assert [rule.name for rule in cluster.rules] == ["apart"]


def test_a_lost_session_is_renewed_and_the_rule_made_once(twin, drive):
    running = twin(seed=seeded(task_seconds={"ReconfigureComputeResource_Task": 0.4}))
    with meanwhile(lambda: running.requests["WaitForUpdatesEx"], running.control.drop_sessions):
        answer = drive(running)("drs_placement", **CALL)
    assert not answer["failed"], answer["msg"]
    assert running.requests["ReconfigureComputeResource_Task"] == 1


@pytest.mark.parametrize("number", range(3, 16))
def test_another_run_with_the_same_request_at_any_request_makes_no_second_rule_and_no_error(
    twin, drive, monkeypatch, number
):
    running = twin(seed=seeded(task_seconds={"ReconfigureComputeResource_Task": 0.001}))

    def other():
        (cluster,) = running.world.of_kind("ClusterComputeResource")
        if not cluster.rules:
            vms = {vm.name: vm for vm in running.world.of_kind("VirtualMachine")}
            refs = [vim.VirtualMachine(vms[name].moid) for name in NAMES[:2]]
            info = vim.cluster.AntiAffinityRuleSpec(name="apart", enabled=True, mandatory=True, vm=refs)
            level = vim.cluster.DrsVmConfigInfo(key=refs[0], enabled=True, behavior="manual")
            spec = vim.cluster.ConfigSpecEx(
                rulesSpec=[vim.cluster.RuleSpec(operation="add", info=info)],
                drsVmConfigSpec=[vim.cluster.DrsVmConfigSpec(operation="add", info=level)],
            )
            configure_model(running.world, cluster, spec)

    nth = Nth(number, other)
    monkeypatch.setattr(running.world.faults, "take_unavailable", nth)
    answer = drive(running)("drs_placement", automation="manual", **CALL)
    assert not answer["failed"], answer["msg"]
    assert nth.happened
    (cluster,) = running.world.of_kind("ClusterComputeResource")
    assert [rule.name for rule in cluster.rules] == ["apart"]


def test_a_refusal_of_vcenter_is_reported_in_its_words(twin, drive):
    fault = {"method": "ReconfigureComputeResource_Task", "fault": "NoPermission", "message": "Permission was denied."}
    running = twin(seed=seeded(), faults=[("fail_tasks", fault)])
    answer = drive(running)("drs_placement", **CALL)
    assert "Cluster gpu: cannot change its DRS configuration. vCenter answered NoPermission" in answer["msg"]
    assert "Permission was denied." in answer["msg"]
    assert drs(running) == state()


@pytest.mark.parametrize("size", [2, 20])
def test_a_fleet_of_any_size_costs_one_reconfiguration(twin, drive, size):
    seed = world(vms=size, task_seconds={"ReconfigureComputeResource_Task": 0.001})
    running = twin(seed=seed)
    module = drive(running)
    vms = [f"train-{number:02}" for number in range(1, size + 1)]
    call = {"cluster": "gpu", "name": "apart", "vms": vms, "automation": "manual", "mandatory": False}
    module("drs_placement", check=True, **call)
    running.requests.clear()
    assert module("drs_placement", **call)["changed"]
    assert running.requests["ReconfigureComputeResource_Task"] == 1
    # Where it is, what it is, what is on its way there, the task with its wait, and three times a new reading.
    assert running.requests.total() - running.requests["WaitForUpdatesEx"] <= 12
