"""What check mode announces from bare state is what the run then does, apart from what it says is decided later."""

from __future__ import annotations

import json

import pytest

from rehearse import plan, playbook
from wire.lab import NVAIE

from .conftest import HOSTS
from .fabric import configurations
from .hosts import FACTORY, READY, factory, hosts_of, state
from .machines import created, vms_of

SITE = playbook.ROOT / "playbooks" / "site.yml"
SWITCHES = ("spine-01", "leaf-01")
# What a site says of stages inside of guests. Their part of a plan needs no guest.
INSIDE = {
    "guests": {"user": "ops", "address_network": "VM Network"},
    "runtime": {"engine": "docker"},
    "validation": {"seconds": 1},
    "training": {"image": "images.example.com/train:1", "builtin": "small", "gpus": "none"},
}
ONE = {"vms": [{"name": "job-01"}]}


def bare():
    """A host and two switches as from the factory."""
    seed = factory(1, fabric=True)
    fabric = seed["fabric"]
    fabric["switches"] = [switch for switch in fabric["switches"] if switch["name"] in SWITCHES]
    here = {*SWITCHES, "esx-01.lab.example"}
    fabric["cables"] = [ends for ends in fabric["cables"] if {end.partition("/")[0] for end in ends} <= here]
    return seed


def whole(lab):
    """Everything of a lab that a run may change."""
    world = lab.twin.world
    with world.lock:
        machines = sorted((vm.name, vm.power, vm.change_version) for vm in world.of_kind("VirtualMachine"))
    hosts = {host.name: (state(host), host.boots, host.cold_boots) for host in hosts_of(lab)}
    return hosts, configurations(lab), machines


def run_and_record(lab, name, *arguments, site=None, of=SITE):
    folder = lab.work / name
    run = lab.run(*arguments, of=of, inventory=lab.inventory({**ONE, **(site or {})}), env=plan.environment(folder))
    return run, folder


def stage_of(folder, name):
    record = json.loads((folder / "stages.json").read_text())
    return next(stage for stage in record["stages"] if stage["name"] == name)


def test_plan_of_the_whole_run_from_bare_state_is_what_is_then_done(lab):
    lab = lab(bare(), faces=("ssh", "redfish", "switches"))
    before = whole(lab)
    told, planned = run_and_record(lab, "plan", "--check", "--diff", site=INSIDE)
    assert told.status == 0, told.output
    assert whole(lab) == before
    assert before[0]["esx-01.lab.example"][0] == FACTORY
    for name in ("guests", "runtime", "training", "validation"):
        (later,) = stage_of(planned, name)["decided_later"]
        assert (later["object"], later["what"], later["after"]) == ("job-01", [], "machines")
        assert stage_of(planned, name)["changes"] == []
    assert "job-01: everything will be decided after machines: the VM does not run yet." in told.text

    done, made = run_and_record(lab, "done", "--extra-vars", f"aiready_plan={planned}")
    assert done.status == 0, done.output
    (host,) = hosts_of(lab)
    assert (state(host), host.boots) == (READY, 1)
    assert [vm.power for vm in vms_of(lab, ["job-01"])] == ["poweredOn"]
    assert plan.kept(planned, made)
    # What the user reads is the same.
    assert "0 done and not announced, 0 announced and not done." in done.text
    # It is a plan: what does not depend on what was not done is in it.
    told_of = {(change["object"], change["what"]) for change in stage_of(planned, "machines")["changes"]}
    assert {("job-01", "exists"), ("job-01", "cpus"), ("job-01", "power")} <= told_of
    assert {("esx-01.lab.example", "boot_time"), ("dvs-train", "mtu.dvs-train")} <= {
        (change["object"], change["what"]) for change in stage_of(planned, "hosts")["changes"]
    }


def test_plan_of_a_host_that_only_waits_for_its_graphics_announces_the_restart_of_xorg(host_lab):
    lab = host_lab(factory(1, state="ready", driver=NVAIE | {"version": "550.54.16"}, bios={"vendor": "dell"}))
    folders = [lab.work / name for name in ("plan", "done")]
    inventory = lab.inventory({"network": {"path": "tcp", "ats": "ignore"}})
    for folder, arguments in zip(folders, (["--check", "--diff"], []), strict=True):
        run = lab.run(*arguments, of=HOSTS, inventory=inventory, env=plan.environment(folder))
        assert run.status == 0, run.output
    assert plan.kept(*folders)
    assert "graphics.xorg" in {change["what"] for change in stage_of(folders[0], "hosts")["changes"]}


@pytest.mark.parametrize("path", ["pvrdma", "sriov"])
def test_plan_for_vms_on_hosts_that_are_ready_leaves_nothing_open_but_what_devices_decide(lab, path):
    lab = lab()
    folders = [lab.work / name for name in ("plan", "done")]
    for folder, arguments in zip(folders, (["--check", "--diff"], []), strict=True):
        run = lab.run(*arguments, *lab.site(**created(path)), env=plan.environment(folder))
        assert run.status == 0, run.output
    assert plan.kept(*folders)
    open_ = {tuple(mark["what"]) for mark in stage_of(folders[0], "machines").get("decided_later", [])}
    assert open_ <= {("numa_devices",)}


@pytest.mark.parametrize(
    "arguments, entered",
    [
        pytest.param(["site_start_at=machines"], ["machines"], id="from the last"),
        pytest.param(["site_start_at=machines", "site_stop_after=machines"], ["machines"], id="one alone"),
        pytest.param(["site_stop_after=fabric"], ["hosts", "fabric"], id="up to one"),
    ],
)
def test_stages_before_the_first_and_after_the_last_are_left_out(host_lab, arguments, entered):
    seed = factory(1)
    lab = host_lab(seed)
    extra = [word for argument in arguments for word in ("--extra-vars", argument)]
    run, folder = run_and_record(lab, "run", "--check", *extra)
    looked = {
        "hosts": "Look at the host" in run.text,
        "machines": "Look at processors, memory and settings" in run.text or "Plan a host for each" in run.text,
    }
    assert looked == {name: name in entered for name in looked}, run.output
    if "machines" in entered:
        # Nobody has looked at the hosts, so nothing excuses them.
        assert run.status != 0
        assert "PVRDMA-ready hosts: 1 wanted, 0 free" in run.text
    else:
        assert run.status == 0, run.output
        assert stage_of(folder, "machines")["state"] == "skipped"


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["site_start_at=machine"], id="no such stage"),
        pytest.param(["site_stop_after=guest"], id="no such last stage"),
        pytest.param(["site_start_at=guests", "site_stop_after=hosts"], id="the wrong way round"),
    ],
)
def test_stages_that_there_are_not_are_refused_with_the_list(lab, arguments):
    lab = lab()
    extra = [word for argument in arguments for word in ("--extra-vars", argument)]
    # Also where the limit leaves out the controller, on which most stages run.
    for limit in ([], ["--limit", "esxi_hosts"]):
        run, _folder = run_and_record(lab, "run", *limit, *extra)
        assert run.status != 0
        assert "in this order, hosts, fabric, machines, guests, runtime, training, validation." in run.text
        assert "Look at the host" not in run.text


def test_limit_that_leaves_out_the_controller_heeds_the_stages_all_the_same(lab):
    lab = lab()
    run, _folder = run_and_record(lab, "run", "--limit", "esxi_hosts", "--extra-vars", "site_start_at=machines")
    assert (run.status, run.changed) == (0, 0), run.output
    assert "Look at the host" not in run.text
