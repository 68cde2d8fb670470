"""Restore takes hosts and VMs back to the state before the run, keeps what others changed, and survives kills."""

from __future__ import annotations

import json
import random

import pytest

import turns
from rehearse import playbook

from . import dump, third_party
from .conftest import HOSTS, MACHINES
from .fabric import configurations, switch
from .hosts import DONE, FACTORY, factory, hosts_of, state
from .kills import kill_in

RESTORE = playbook.ROOT / "playbooks" / "restore.yml"
# Ten kills and the parts of a restore cost about 25 s of processors each, so one commit in six runs them.
KILLS = 10 if turns.due(5, of=6) else 2


# One VM that exists and a new one, on one host with one GPU.
SITE = {
    "power": "cycle",
    "gpu": {"profile": "grid_a100-20c"},
    "placement": {"anti_affinity": False},
    "machine": {"cpus": 8},
    "vms": [{"name": "train-01"}, {"name": "job-01"}],
}


def restore(lab, *arguments, **env):
    return lab.run(*arguments, of=RESTORE, inventory=lab.inventory(SITE), env=env)


def vms_of(lab):
    return {vm.name: vm for vm in lab.twin.world.of_kind("VirtualMachine")}


def left(before, host):
    """What differs from the state before, but for what lasts."""
    found = dump.differences(before, dump.of_host(host))
    return {path: values for path, values in found.items() if not path.startswith((*dump.HISTORY, *dump.OF_DRIVER))}


def changed_by_another(host):
    """Another client changes two settings that the run has set; returns how they are afterwards."""
    next(adapter for adapter in host.vmkernel if adapter.device == "vmk1").mtu = 4000
    host.kernel.modules["nmlx5_core"].options = "pfctx=0x08 pfcrx=0x18 trust_state=2"
    return {"vmkernel[1].mtu": ("1500", "4000"), "kernel.modules.nmlx5_core.options": ("", "pfcrx=0x18")}


def as_the_run_left_them(host):
    next(adapter for adapter in host.vmkernel if adapter.device == "vmk1").mtu = 9000
    host.kernel.modules["nmlx5_core"].options = "pfcrx=0x08"


def test_restore_ends_in_the_state_before_the_run_and_keeps_what_others_changed(host_lab):
    lab = host_lab(factory(1))
    (host,) = hosts_of(lab)
    before = dump.of_host(host)
    vms = {name: dump.of_vm(vm) for name, vm in vms_of(lab).items()}
    seen = third_party.read(lab.twin)
    # As in a job of AWX: the results are lost, and the target has the journals.
    target = lab.work / "target"
    target.mkdir()
    env = {"ANSIBLE_CALLBACKS_ENABLED": "aiready.vsphere.record", "AIREADY_RESULTS_TARGET": str(target)}
    for stage in (HOSTS, MACHINES):
        made = lab.run(of=stage, inventory=lab.inventory(SITE), env=env)
        assert made.status == 0, made.output
    kept = changed_by_another(host)
    vms_of(lab)["train-01"].cpus = 6
    between = dump.of_host(host)

    unknown = restore(lab, "--extra-vars", "restore_from=nothing")
    assert "Cannot restore from the run nothing." in unknown.text

    planned = restore(lab, "--check", "--diff", AIREADY_JOURNAL=str(next(target.glob("journal/*"))))
    assert planned.status == 0, planned.output
    # What cannot be restored comes first.
    assert planned.text.index("cannot: esx-01.lab.example (hosts), mtu.dvs-train") < planned.text.index("due: ")
    assert "cannot: job-01 (machines), exists. These runs created the VM. Set restore_delete_vms" in planned.text
    assert "A restart is needed, because of" in planned.text
    assert "due: train-01 (machines), profiles: grid_a100-20c -> none" in planned.text
    assert "due: esx-01.lab.example (hosts), kernel.atsSupport: TRUE -> FALSE" in planned.text
    assert {path for path in dump.differences(between, dump.of_host(host)) if not path.startswith("bmc.")} == set()

    run = restore(lab, "--extra-vars", "restore_delete_vms=true")
    assert run.status == 0, run.output
    assert "restored: job-01 (machines), exists: true -> false" in run.text
    assert "changed since by another: train-01 (machines), cpus: 6, we left 8, before 16" in run.text
    assert "changed since by another: esx-01.lab.example (hosts), mtu.vmk1: 4000, we left 9000, before 1500" in run.text
    assert "changed since by another: esx-01.lab.example (hosts), nmlx5_core.pfcrx: 0x18" in run.text
    assert "restored: esx-01.lab.example (hosts), nmlx5_core.pfctx: 0x08 -> none" in run.text
    active = {"kernel.modules.nmlx5_core.active": ("", "pfcrx=0x18")}
    assert (left(before, host), host.boots) == ({**kept, **active}, 2)

    as_the_run_left_them(host)
    vms_of(lab)["train-01"].cpus = 8
    again = restore(lab)
    assert again.status == 0, again.output
    assert "changed since by another" not in again.text
    assert left(before, host) == {}
    assert vms_of(lab).keys() == vms.keys()
    assert {name: dump.differences(vms[name], dump.of_vm(vm)) for name, vm in vms_of(lab).items()} == dict.fromkeys(
        vms, {}
    )
    found = third_party.differences(seen, third_party.read(lab.twin))
    reported = {path for paths in found.values() for path in paths if not path.startswith(third_party.OF_START)}
    changed = {f"HostSystem {host.name}", "VirtualMachine train-01", "DistributedVirtualSwitch dvs-train"}
    assert (set(found), reported) == (changed, {*third_party.OF_DRIVER, *third_party.OF_MTU}), found
    idle = restore(lab)
    assert (idle.status, idle.changed) == (0, 0), idle.output


def test_kills_at_random_moments_of_restore_end_in_the_same_state(host_lab):
    lab = host_lab(factory(1))
    (host,) = hosts_of(lab)
    before = dump.of_host(host)
    assert lab.hosts().status == 0
    chance = random.Random(24)
    for _kill in range(KILLS):
        kill_in(lab, chance.randint(9, 20), chance.uniform(0, 2), ["--inventory", str(lab.inventory()), str(RESTORE)])
    run = restore(lab)
    assert run.status == 0, run.output
    assert (left(before, host), state(host)) == ({}, FACTORY)


def small_changes():
    """Two hosts of which only the MTU of an adapter differs from the site, which needs no restart."""
    made = factory(2, **DONE)
    for host in made["datacenters"][0]["clusters"][0]["hosts"]:
        host["gpus"][0]["graphics_type"] = "sharedDirect"
    return made


@pytest.mark.turn(5, of=6)
def test_tags_a_limit_and_names_of_vms_restore_only_that_part(host_lab):
    lab = host_lab(small_changes())
    site = {**SITE, "vms": [{"name": "train-01"}, {"name": "train-02"}]}

    def now():
        """{name: its dump}; VMs are residents of GPUs while they run."""
        hosts = {one.name: left({}, one) for one in hosts_of(lab)}
        hosts = {name: {path: one[path] for path in one if ".residents" not in path} for name, one in hosts.items()}
        return hosts | {name: dump.of_vm(vms_of(lab)[name]) for name in ("train-01", "train-02")}

    def restored(*arguments):
        """{name: whether it has its state before the runs}; the others are as the runs left them."""
        run = lab.run(*arguments, of=RESTORE, inventory=lab.inventory(site))
        assert run.status == 0, run.output
        found = now()
        other = [name for name, there in found.items() if there not in (before[name], changed[name])]
        assert other == [], {name: dump.differences(changed[name], found[name]) for name in other}
        return {name for name, there in found.items() if there == before[name]}

    before = now()
    for stage in (HOSTS, MACHINES):
        made = lab.run(of=stage, inventory=lab.inventory(site))
        assert made.status == 0, made.output
    changed = now()
    assert [name for name in before if before[name] == changed[name]] == []

    one_vm = json.dumps({"restore_vms": ["train-02"]})
    assert restored("--tags", "machines", "--extra-vars", one_vm) == {"train-02"}
    assert restored("--limit", "esx-02.lab.example") == {"train-02", "esx-02.lab.example"}
    assert restored("--tags", "hosts") == {"train-02", "esx-01.lab.example", "esx-02.lab.example"}


def test_no_change_is_made_without_a_journal(host_lab):
    lab = host_lab(factory(1))
    (lab.work / "file").write_text("")
    run = lab.run(
        of=playbook.ROOT / "playbooks" / "hosts.yml",
        inventory=lab.inventory(),
        env={"AIREADY_JOURNAL": str(lab.work / "file")},
    )
    assert run.status != 0
    assert "cannot write the journal of changes, so nothing was changed" in run.text
    lost = restore(lab, "--check", AIREADY_JOURNAL=str(lab.work / "nowhere"))
    assert lost.status != 0
    assert "Cannot restore the site. Cannot read the journal" in lost.text
    (host,) = hosts_of(lab)
    assert (state(host), host.boots) == (FACTORY, 0)


def test_restore_ends_in_the_configuration_of_the_switches_before_the_run(fabric_lab):
    lab = fabric_lab(("leaf-01", "leaf-02"))
    before = configurations(lab)
    made = lab.fabric()
    assert configurations(lab) != before, made.output
    # Another client limits a port that the run has set to jumbo frames.
    switch(lab, "leaf-02").device.load(["interface Ethernet1/1", "mtu 4000"])
    between = configurations(lab)

    planned = restore(lab, "--check", "--diff", "--tags", "fabric")
    assert planned.status == 0, planned.output
    assert "due: leaf-01 (fabric), interface Ethernet1 service-profile" in planned.text
    assert "no service-profile" in planned.text
    assert configurations(lab) == between

    one = restore(lab, "--tags", "fabric", "--limit", "leaf-01")
    assert one.status == 0, one.output
    assert configurations(lab)["leaf-01"] == before["leaf-01"]
    assert configurations(lab)["leaf-02"] == between["leaf-02"]

    run = restore(lab, "--tags", "fabric")
    assert run.status == 0, run.output
    kept = "changed since by another: leaf-02 (fabric), interface Ethernet1/1 mtu"
    assert f"{kept}: mtu 4000, we left mtu 9216, before none" in run.text
    running = [config.replace("  mtu 4000\n", "") for config in configurations(lab)["leaf-02"]]
    assert running == [*before["leaf-02"]]
