"""The stage for VMs, killed at the worst moments or damaged in every part, ends where an undisturbed run ends."""

from __future__ import annotations

import copy
import time

from pyVmomi import vim

from rehearse import playbook
from wire.held import Held
from wire.observe import by_hand, client

from .conftest import MACHINES
from .kills import kill_when
from .machines import GOOD, KINDS, created, desired, setup, traffic, untouched, vms_of

NOTE = "aiready.vsphere.power_on_again"


def stage(*site):
    """The stage for VMs, in words of ansible-playbook."""
    return ["--inventory", str(playbook.LAB), str(MACHINES), *site]


def tasks_of(lab, method):
    with lab.twin.world.lock:
        return [task for task in lab.twin.world.of_kind("Task") if task.method == method]


def under_way(lab, method, name=None):
    """Whether a task of this kind runs, on this VM or on any."""
    return lambda: any(task.state == "running" and name in (None, task.entity_name) for task in tasks_of(lab, method))


def succeeded(lab, method):
    return len([task for task in tasks_of(lab, method) if task.state == "success"])


def test_killed_while_vms_are_copied_shaped_and_started_the_next_run_makes_nothing_twice(lab, monkeypatch):
    lab = lab()
    site = lab.site(**created("sriov"))
    # Copies go on when the next run begins.
    lab.twin.world.task_seconds["CloneVM_Task"] = 8
    kill_when(lab, under_way(lab, "CloneVM_Task"), stage(*site))
    for method in ("ReconfigVM_Task", "PowerOnVM_Task"):
        changes = Held(monkeypatch, lab.twin, method)
        kill_when(lab, under_way(lab, method), stage(*site))
        changes.let_go()
    lab.twin.world.task_seconds["CloneVM_Task"] = 0.05
    last = lab.run(*lab.site(**created("sriov", power="cycle")))
    assert last.status == 0, last.output
    assert [setup(vm) for vm in vms_of(lab)] == [desired(), desired()]
    assert traffic(lab, "sriov") == GOOD["sriov"]
    assert succeeded(lab, "CloneVM_Task") == 2
    before = [untouched(vm) for vm in vms_of(lab)]
    again = lab.run(*site)
    assert (again.status, again.changed) == (0, 0), again.output
    assert [untouched(vm) for vm in vms_of(lab)] == before


def test_killed_between_off_and_on_the_next_run_changes_the_vm_and_starts_it_again(lab, monkeypatch):
    lab = lab()
    assert lab.run(*lab.site(**created("tcp"))).status == 0
    one, two = vms_of(lab)
    bystander = untouched(one)
    vms = [{"name": "job-01"}, {"name": "job-02", "profiles": ["grid_a100-20c"], "cpus": 8}]
    site = lab.site(**created("tcp", vms, power="cycle"))
    starts = Held(monkeypatch, lab.twin, "PowerOnVM_Task")
    kill_when(lab, lambda: two.power == "poweredOff", stage(*site))
    assert two.setting(NOTE) == "true"
    starts.let_go()
    last = lab.run(*site)
    assert last.status == 0, last.output
    assert [setup(vm) for vm in vms_of(lab)] == [desired(), {**desired("grid_a100-20c"), "cpus": 8}]
    assert two.setting(NOTE) is None
    assert untouched(one) == bystander


def test_damage_in_every_part_of_one_vm_is_repaired_and_only_that(lab):
    lab = lab()
    site = lab.site(**created("pvrdma", power="cycle"))
    assert lab.run(*site).status == 0
    one, two = vms_of(lab)
    bystander, rules_before = untouched(two), rules(lab)
    assert rules_before
    by_hand(lab.twin, "job-01", lambda vm: vm.PowerOffVM_Task())
    by_hand(lab.twin, "job-01", lambda vm: vm.ReconfigVM_Task(damage(lab, one)))
    (other,) = [host for host in lab.twin.world.of_kind("HostSystem") if host is not one.host]
    elsewhere = vim.vm.RelocateSpec(host=vim.HostSystem(other.moid))
    by_hand(lab.twin, "job-01", lambda vm: vm.RelocateVM_Task(elsewhere))
    with client(lab.twin) as service:
        view = service.content.viewManager.CreateContainerView(
            service.content.rootFolder, [vim.ClusterComputeResource], True
        )
        (cluster,) = view.view
        gone = [vim.cluster.RuleSpec(operation="remove", removeKey=rule.key) for rule in cluster.configurationEx.rule]
        cluster.ReconfigureComputeResource_Task(vim.cluster.ConfigSpecEx(rulesSpec=gone), True)
        while cluster.configurationEx.rule:
            time.sleep(0.02)
    repaired = lab.run("--diff", *site)
    assert repaired.status == 0, repaired.output
    assert [setup(vm) for vm in vms_of(lab)] == [desired(), desired()]
    assert traffic(lab, "pvrdma") == GOOD["pvrdma"]
    assert rules(lab) == rules_before
    assert vms_of(lab)[0] is one
    assert one.host is not two.host
    assert untouched(two) == bystander
    assert "/lab/vm/training/job-02" not in repaired.output


def damage(lab, vm):
    """Another profile, port group, size and setting, as an administrator would give them."""
    adapter = copy.deepcopy(next(nic for nic in vm.nics if isinstance(nic, KINDS["pvrdma"])))
    (group,) = [one for one in lab.twin.world.of_kind("DistributedVirtualPortgroup") if one.name == "pg-train"]
    adapter.backing.port = vim.dvs.PortConnection(portgroupKey=group.moid, switchUuid=group.switch.uuid)
    (profile,) = [device for device in vm.devices if device.key in dict(vm.vgpus)]
    smaller = copy.deepcopy(profile)
    smaller.key, smaller.backing.vgpu = -1, "grid_a100-20c"
    changes = (("edit", adapter), ("remove", profile), ("add", smaller))
    return vim.vm.ConfigSpec(
        numCPUs=4,
        numCoresPerSocket=1,
        memoryMB=16384,
        extraConfig=[vim.option.OptionValue(key="pciPassthru.use64bitMMIO", value="FALSE")],
        deviceChange=[vim.vm.device.VirtualDeviceSpec(operation=how, device=device) for how, device in changes],
    )


def rules(lab):
    """The rules of the cluster, each with the names of its VMs."""
    with lab.twin.world.lock:
        (cluster,) = lab.twin.world.of_kind("ClusterComputeResource")
        return [(rule.name, sorted(lab.twin.world.get(vm._moId).name for vm in rule.vm)) for rule in cluster.rules]
