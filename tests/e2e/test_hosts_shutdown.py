"""VMs of the site are shut down for the restart of their host and started again, by this run or the next one."""

from __future__ import annotations

from .hosts import FACTORY, READY, factory, hosts_of, state

NOTE = "aiready.vsphere.power_on_again"
# A host on which a 64-bit VM can run has virtualization enabled.
BIOS = {"vendor": "dell", "attributes": {"ProcVirtualization": "Enabled"}}
NAMES = ("train-01", "train-02")


def seed(*changes):
    """One host of the factory, whose VMs differ."""
    made = factory(1, bios=BIOS)
    (datacenter,) = made["datacenters"]
    row, template = datacenter["vms"]
    del row["count"]
    datacenter["vms"] = [*({**row, "name": name, **one} for name, one in zip(NAMES, changes, strict=True)), template]
    return made


def site(*names):
    return {"hosts": {"evacuation": "shutdown"}, "vms": [{"name": name} for name in names]}


def vms_of(lab):
    found = {vm.name: vm for vm in lab.twin.world.of_kind("VirtualMachine")}
    return [found[name] for name in NAMES]


def test_vms_of_the_site_run_again_after_the_restart_also_those_that_a_killed_run_left_off(host_lab):
    lab = host_lab(seed({"power": "on"}, {"extra_config": {NOTE: "true"}}))
    one, other = vms_of(lab)
    booted = one.booted
    planned = lab.hosts("--check", site=site(*NAMES, "train-03"))
    assert planned.status == 0, planned.output
    assert "train-01 will be shut down, and started again once the host is back." in planned.text
    assert "A run would end here:" not in planned.text
    assert [vm.power for vm in vms_of(lab)] == ["poweredOn", "poweredOff"]
    run = lab.hosts(site=site(*NAMES, "train-03"))
    assert run.status == 0, run.output
    (host,) = hosts_of(lab)
    assert (state(host), host.boots) == (READY, 1)
    assert [(vm.power, vm.setting(NOTE)) for vm in (one, other)] == [("poweredOn", None)] * 2
    assert one.booted != booted


def test_a_vm_that_is_not_of_the_site_keeps_the_host_in_service_and_all_vms_running(host_lab):
    lab = host_lab(seed({"power": "on"}, {"power": "on"}))
    run = lab.hosts(site=site("train-01"))
    assert run.status != 0
    assert "1 VMs run on it: train-02." in run.text
    (host,) = hosts_of(lab)
    assert (state(host), host.boots) == (FACTORY, 0)
    assert [vm.power for vm in vms_of(lab)] == ["poweredOn", "poweredOn"]
