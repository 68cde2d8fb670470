"""Playbook upgrade takes hosts to a new driver branch in waves, after a plan that rejects what cannot work."""

from __future__ import annotations

import pytest

from guests.faults.table import number_of_commit
from rehearse import playbook
from vsphere_twin.model import depot
from wire.lab import NVAIE
from wire.placement_lab import ROOM

from .hosts import factory, hosts_of

UPGRADE = playbook.ROOT / "playbooks" / "upgrade.yml"
OLD, NEW = "570.158.02", "580.65.05"
PLAIN = {"network": {"path": "tcp", "ats": "ignore"}}
# The eight hosts cost about two minutes of processors, so one commit in five runs them.
EVERY, TURN, OTHER_TURN = 5, 2, 4


def seed(count=2, **vms):
    made = factory(count, vms={"power": "on", **vms}, state="ready", driver=NVAIE | {"version": OLD})
    (datacenter,) = made["datacenters"]
    datacenter["datastores"][0]["files"] = [{"depot": {"family": "nvaie", "version": NEW}}]
    return made


def site(**hosts):
    names = [{"name": "train-01"}, {"name": "train-02"}]
    driver = {"depot": f"[datastore-01] depots/{depot.file_name(version=NEW)}"}
    return {**PLAIN, "driver": driver, "hosts": hosts, "vms": names}


def upgrade(lab, *arguments, **hosts):
    return lab.run(*arguments, of=UPGRADE, inventory=lab.inventory(site(**hosts)))


def drivers(lab):
    return [(host.driver.version, host.boots) for host in hosts_of(lab)]


def test_hosts_upgrade_in_waves_and_a_plan_that_cannot_work_changes_none(host_lab):
    lab = host_lab(seed())
    refused = upgrade(lab, reboot="refuse")
    assert refused.status != 0
    assert "restart_not_allowed: Cannot upgrade esx-01.lab.example." in refused.text
    assert drivers(lab) == [(OLD, 0)] * 2
    run = upgrade(lab, "--extra-vars", "upgrade_waves=1", reboot="allow", evacuation="shutdown")
    assert run.status == 0, run.output
    assert f"1. Upgrade and restart the hosts of a wave: esx-01.lab.example from {OLD} to {NEW}." in run.text
    assert "These VMs are shut down and started again: train-01" in run.text
    assert f"Wave 2 of 2 is complete: esx-02.lab.example runs {NEW}." in run.text
    assert drivers(lab) == [(NEW, 1)] * 2
    vms = [vm for vm in lab.twin.world.of_kind("VirtualMachine") if vm.name.startswith("train")]
    assert [vm.power for vm in vms] == ["poweredOn"] * 2


def moving(count=8, **keys):
    """Hosts of which two run a VM with a vGPU that DRS may move, unless keys of its VMX file prevent it."""
    made = seed(count, memory_reservation="all", vgpus=["grid_a100-40c"], extra_config={**ROOM, **keys})
    (datacenter,) = made["datacenters"]
    (cluster,) = datacenter["clusters"]
    cluster["drs"] = "fullyAutomated"
    datacenter["vms"][0].pop("count")
    datacenter["vms"][:1] = [
        {**datacenter["vms"][0], "name": f"train-{n:02}", "host": f"esx-{n:02}.lab.example"} for n in (1, 2)
    ]
    for host in cluster["hosts"]:
        host["gpus"][0]["graphics_type"] = "sharedDirect"
    return made


@pytest.mark.skipif(number_of_commit() % EVERY != OTHER_TURN, reason="one commit in five")
def test_a_vm_that_cannot_move_rejects_the_upgrade_before_the_first_host(host_lab):
    lab = host_lab(moving(3, **{"pciPassthru0.cfg.enable_uvm": "1"}))
    lab.twin.world.get("VpxSettings").values["vgpu.hotmigrate.enabled"] = True
    run = upgrade(lab, "--extra-vars", "upgrade_waves=1", reboot="allow", evacuation="drs_vgpu")
    assert run.status != 0
    assert "VMs whose vGPUs have unified memory cannot migrate: train-01 (grid_a100-40c)" in run.text
    assert "Cannot begin the upgrade. No host was changed." in run.text
    assert drivers(lab) == [(OLD, 0)] * 3


@pytest.mark.skipif(number_of_commit() % EVERY != TURN, reason="one commit in five")
def test_eight_hosts_upgrade_while_drs_moves_running_vms_with_vgpus(host_lab):
    lab = host_lab(moving())
    lab.twin.world.get("VpxSettings").values["vgpu.hotmigrate.enabled"] = True
    run = upgrade(lab, "--extra-vars", "upgrade_waves=25%", reboot="allow", evacuation="drs_vgpu")
    assert run.status == 0, run.output
    assert "These VMs are moved: train-01 (35 s at 10000 Mbit/s" in run.text
    assert [line for line in range(1, 5) if f"Wave {line} of 4 is complete: " in run.text] == [1, 2, 3, 4]
    assert drivers(lab) == [(NEW, 1)] * 8
    vms = [vm for vm in lab.twin.world.of_kind("VirtualMachine") if vm.name.startswith("train")]
    assert [vm.power for vm in vms] == ["poweredOn"] * 2
    kinds = {event.kind for event in lab.twin.world.journal.events}
    assert not kinds & {"VmPoweredOffEvent", "VmGuestShutdownEvent", "VmPoweredOnEvent"}
