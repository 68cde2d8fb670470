"""What check mode announces is what the run then does, apart from what it says is decided later; parts of a run alone.

The whole run from bare state is held to its plan by `make rehearse CHECKS=all`.
"""

from __future__ import annotations

import json
import re

import pytest
import yaml

from rehearse import plan, playbook
from wire.lab import NVAIE

from .conftest import HOSTS
from .hosts import factory

SITE = playbook.ROOT / "playbooks" / "site.yml"
ONE = {"vms": [{"name": "job-01"}]}


def run_and_record(lab, name, *arguments, site=None, of=SITE):
    folder = lab.work / name
    run = lab.run(*arguments, of=of, inventory=lab.inventory({**ONE, **(site or {})}), env=plan.environment(folder))
    return run, folder


def _texts(page):
    """What a page shows between its tags."""
    return {text.strip() for text in re.findall(r">([^<]+)<", page)}


def stage_of(folder, name):
    record = json.loads((folder / "stages.json").read_text())
    return next(stage for stage in record["stages"] if stage["name"] == name)


def test_plan_of_a_host_that_only_waits_for_its_graphics_announces_the_restart_of_xorg(host_lab):
    lab = host_lab(factory(1, state="ready", driver=NVAIE | {"version": "550.54.16"}, bios={"vendor": "dell"}))
    folders = [lab.work / name for name in ("plan", "done")]
    inventory = lab.inventory({"network": {"path": "tcp", "ats": "ignore"}})
    for folder, arguments in zip(folders, (["--check", "--diff"], []), strict=True):
        run = lab.run(*arguments, of=HOSTS, inventory=inventory, env=plan.environment(folder))
        assert run.status == 0, run.output
    assert plan.kept(*folders)
    assert "graphics.xorg" in {change["what"] for change in stage_of(folders[0], "hosts")["changes"]}
    # A run of one stage alone has a report, and so has its plan.
    dry, made = (" ".join((folder / "run.html").read_text().split()) for folder in folders)
    assert f"Report: {folders[1] / 'run.html'}" in run.output
    assert ("Nothing was changed. This run was in check mode." in dry, "Changed to" in dry) == (True, False)
    assert ("This run was in check mode." in made, "Changed to" in made) == (False, True)
    assert [text for text in (dry, made) if not {"graphics.xorg", "No task failed."} <= _texts(text)] == []
    # Xorg was restarted, so nothing waits any more.
    assert "No setting waits for a restart or for another stage." in made


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
        "hosts": "Read the state of the host" in run.text,
        "machines": "Read the settings and devices of the training VMs" in run.text
        or "Plan a host for each" in run.text,
    }
    assert looked == {name: name in entered for name in looked}, run.output
    if "machines" in entered:
        # Nobody has looked at the hosts, so nothing excuses them.
        assert run.status != 0
        assert "PVRDMA-ready hosts: 1 requested, 0 free" in run.text
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
        assert "one of hosts, fabric, machines, guests, runtime, training, validation." in run.text
        assert "Read the state of the host" not in run.text


def test_plan_without_the_callback_that_compares_is_refused_before_anything_is_asked(lab):
    lab = lab()
    run = lab.run("--extra-vars", "aiready_plan=/nowhere/plan")
    assert run.status != 0
    assert "The callback aiready.vsphere.record, which compares, is not enabled." in run.text
    assert sum(lab.twin.requests.values()) == 0


def test_a_plan_runs_with_its_site_and_with_no_other(lab):
    lab = lab()
    folder, other = lab.work / "plan", lab.site(gpu={"mode": "vgpu", "profile": "grid_a100-20c"})
    run = lab.run(*lab.site(), "--check", env=plan.environment(folder))
    assert run.status == 0, run.output
    of_plan = ("--extra-vars", f"aiready_plan={folder}")
    refused = lab.run(*other, *of_plan, env=plan.environment(lab.work / "refused"))
    assert refused.status != 0
    assert "has changed since the plan: site.gpu.profile. Make a new plan" in refused.text
    assert lab.profiles() == {"train-01": [], "train-02": []}
    run = lab.run(*lab.site(), *of_plan, env=plan.environment(lab.work / "run"))
    assert (run.status, lab.profiles()["train-01"]) == (0, ["grid_a100-40c"]), run.output
    assert "0 made but not planned, 0 planned but not made." in run.text


def test_limit_that_leaves_out_the_controller_heeds_the_stages_all_the_same(lab):
    lab = lab()
    run, _folder = run_and_record(lab, "run", "--limit", "esxi_hosts", "--extra-vars", "site_start_at=machines")
    assert (run.status, run.changed) == (0, 0), run.output
    assert "Read the state of the host" not in run.text


# What only vCenter and the switches know, and only a stage after the restart of hosts needs.
LATE = {
    "template": (
        {"machine": {"template": "ubuntu-tmplate"}},
        {},
        (
            "vm ubuntu-tmplate: vCenter has no object of this name, or this user may not see it. Correct "
            "site.machine.template",
        ),
    ),
    "port group and datastore": (
        {"network": {"portgroup": "pg-rdmaa"}, "machine": {"datastore": "datastore-1"}},
        {},
        ("Correct site.network.portgroup", "Correct site.machine.datastore"),
    ),
    "datacenter": ({"datacenter": "labb"}, {}, ("datacenter labb", "there are: lab.", "Correct `site.datacenter`")),
    "port of a switch": (
        {},
        {"leaf-01": {"switch_host_ports": ["Ethernet1/99"]}},
        ("the ports Ethernet1/99 do not exist.", "Correct switch_host_ports or switch_fabric_ports of the switch."),
    ),
}


@pytest.mark.parametrize("site, switches, words", LATE.values(), ids=LATE)
def test_name_that_a_later_stage_needs_is_refused_before_a_host_is_changed(fabric_lab, site, switches, words):
    lab = fabric_lab()
    inventory = lab.inventory({**ONE, **site})
    (inventory / "zz.yml").write_text(yaml.safe_dump({"switches": {"hosts": switches}}))
    run = lab.run(of=SITE, inventory=inventory, env=plan.environment(lab.work / "run"))
    assert (run.status != 0, run.changed, "Read the state of the host" in run.output) == (True, 0, False), run.output
    for one in words:
        assert one in run.text, run.output


def test_right_names_are_looked_for_once_and_the_run_goes_on(fabric_lab):
    lab = fabric_lab(("leaf-01",))
    run, _folder = run_and_record(lab, "run", "--extra-vars", "site_stop_after=hosts")
    assert "Reject names" not in run.output, "Without the stage machines, its names are not needed."
    run, _folder = run_and_record(lab, "all", "--extra-vars", "site_stop_after=machines")
    assert "Reject names that vCenter does not know" in run.output
    assert "Read the switch ports of the inventory" in run.output
    assert run.status == 0, run.output
