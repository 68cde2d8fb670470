"""Playbook upgrade takes hosts to a new driver branch in waves, after a plan that rejects what cannot work."""

from __future__ import annotations

import json

import pytest

from rehearse import playbook
from vsphere_twin.model import depot
from wire.lab import NVAIE
from wire.placement_lab import ROOM

from . import dump
from .conftest import HOSTS
from .hosts import factory, hosts_of

RESTORE = playbook.ROOT / "playbooks" / "restore.yml"
UPGRADE = playbook.ROOT / "playbooks" / "upgrade.yml"
OLD, NEW = "570.158.02", "580.65.05"
# The date of a change, counters of the BMC, and what an installation writes for each VIB.
LASTING = ("bmc.", "software.modified", "software.installed_on")
PLAIN = {"network": {"path": "tcp", "ats": "ignore"}}
# The eight hosts cost about two minutes of processors, so one commit in six runs them.


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


def states(lab):
    found = [dump.of_host(host) for host in hosts_of(lab)]
    return [{path: value for path, value in host.items() if not path.startswith(LASTING)} for host in found]


def restore(lab, *arguments, **hosts):
    given = {"reboot": "allow", "evacuation": "shutdown", **hosts}
    return lab.run(*arguments, of=RESTORE, inventory=lab.inventory(site(**given)))


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


@pytest.mark.turn(5, of=6)
def test_a_vm_that_cannot_move_rejects_the_upgrade_before_the_first_host(host_lab):
    lab = host_lab(moving(3, **{"pciPassthru0.cfg.enable_uvm": "1"}))
    lab.twin.world.get("VpxSettings").values["vgpu.hotmigrate.enabled"] = True
    run = upgrade(lab, "--extra-vars", "upgrade_waves=1", reboot="allow", evacuation="drs_vgpu")
    assert run.status != 0
    assert "VMs whose vGPUs have unified memory cannot migrate: train-01 (grid_a100-40c)" in run.text
    assert "Cannot begin the upgrade. No host was changed." in run.text
    assert drivers(lab) == [(OLD, 0)] * 3


@pytest.mark.turn(2, of=6)
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


@pytest.mark.turn(5, of=6)
def test_restore_rolls_a_failed_upgrade_back_to_the_driver_before(host_lab):
    made = seed()
    made["datacenters"][0]["datastores"][0]["files"].append({"depot": {"family": "nvaie", "version": OLD}})
    lab = host_lab(made)
    before = states(lab)
    lab.twin.world.faults.lose_driver("esx-02.lab.example")
    run = upgrade(lab, "--extra-vars", "upgrade_waves=1", reboot="allow", evacuation="shutdown")
    assert run.status != 0
    # The failed wave names the way back that this test takes next.
    assert "To roll back, run the playbook restore." in run.text
    assert "set restore_driver to its package" in run.text
    assert [host.software.driver_vib().version.partition("-")[0] for host in hosts_of(lab)] == [NEW] * 2

    (run_name,) = [path.stem for path in lab.work.glob("journal/*.jsonl")]
    # No run of this collection installed the old driver.
    planned = restore(lab, "--check", "--extra-vars", f"restore_from={run_name}")
    assert planned.status == 0, planned.output
    esx_02, old = "Host esx-02.lab.example (hosts), driver", f"nvaie {OLD}-1OEM.800.1.0.20613240"
    assert f"cannot: {esx_02}. The run replaced {old}, and the journal has no package of it." in planned.text, (
        planned.output
    )
    for file, line in ((f"depots/{depot.file_name(version=OLD)}", f"{esx_02}: nvaie"), ("gone.zip", f"{esx_02}. ")):
        named = {"restore_from": run_name, "restore_driver": {OLD: f"[datastore-01] {file}"}}
        planned = restore(lab, "--check", "--diff", "--extra-vars", json.dumps(named))
        assert planned.status == 0, planned.output
        assert line in planned.text
    boots = [host.boots for host in hosts_of(lab)]
    named["restore_driver"][OLD] = f"[datastore-01] depots/{depot.file_name(version=OLD)}"
    run = restore(lab, "--extra-vars", json.dumps(named))
    assert run.status == 0, run.output
    assert f"restored: {esx_02}: nvaie {NEW}-1OEM.800.1.0.20613240 -> {old}" in run.text
    assert drivers(lab) == [(OLD, number + 1) for number in boots]
    assert [dump.differences(*pair) for pair in zip(before, states(lab), strict=True)] == [{}, {}]


@pytest.mark.turn(2, of=6)
def test_restore_brings_the_hosts_of_an_image_back_to_the_component_before(host_lab):
    made = seed()
    made["datacenters"][0]["clusters"][0]["image"] = "managed"
    lab = host_lab(made)
    cluster = hosts_of(lab)[0].parent
    new = depot.read(depot.build("nvaie", NEW, "800"))
    lab.twin.world.depots.add("by hand", "https://repo.example.com/new.zip", new, "administrator")
    before, image = states(lab), dict(cluster.image.components)
    run = lab.run(of=HOSTS, inventory=lab.inventory(site(reboot="allow", evacuation="shutdown", serial="2")))
    assert run.status == 0, run.output
    assert [version for version, _boots in drivers(lab)] == [NEW] * 2
    # vCenter restarts the hosts when it remediates them.
    assert run.text.count("is as requested, after 1 restart by vCenter.") == 2, run.output
    # The second host finds the image restored.
    run = restore(lab, serial="1")
    assert run.status == 0, run.output
    assert cluster.image.components == image
    assert [version for version, _boots in drivers(lab)] == [OLD] * 2
    assert [dump.differences(*pair) for pair in zip(before, states(lab), strict=True)] == [{}, {}]
