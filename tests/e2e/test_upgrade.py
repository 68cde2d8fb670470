"""Playbook upgrade takes hosts to a new driver branch in waves, after a plan that rejects what cannot work."""

from __future__ import annotations

from rehearse import playbook
from vsphere_twin.model import depot
from wire.lab import NVAIE

from .hosts import factory, hosts_of

UPGRADE = playbook.ROOT / "playbooks" / "upgrade.yml"
OLD, NEW = "570.158.02", "580.65.05"
PLAIN = {"network": {"path": "tcp", "ats": "ignore"}}


def seed():
    made = factory(2, vms={"power": "on"}, state="ready", driver=NVAIE | {"version": OLD})
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
    assert drivers(lab) == [(NEW, 1)] * 2
    vms = [vm for vm in lab.twin.world.of_kind("VirtualMachine") if vm.name.startswith("train")]
    assert [vm.power for vm in vms] == ["poweredOn"] * 2
