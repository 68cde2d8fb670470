"""Switches, hosts and guests are compared as they are, with a site and without, and nothing is changed."""

from __future__ import annotations

import json

import pytest
import yaml

from rehearse import playbook

from .fabric import configurations, switch

CHECK = playbook.ROOT / "playbooks" / "fabric_check.yml"
SMALL = ("spine-02", "leaf-01", "leaf-03")


def check(lab, *arguments, site=None, inventory=None):
    return lab.run(*arguments, of=CHECK, inventory=inventory or lab.inventory(site))


def without_site(lab):
    """The lab's inventory as a network has it that nobody here configured."""
    folder = lab.inventory()
    file = folder / "group_vars" / "all" / "site.yml"
    kept = {name: value for name, value in yaml.safe_load(file.read_text()).items() if name != "site"}
    file.write_text(yaml.safe_dump(kept))
    return folder


def reported(run, kind):
    """The lines of a kind: error, warning, unknown."""
    return [line for line in run.text.split('"') if line.startswith(f"{kind} ")]


def test_a_fabric_as_it_is_delivered_disagrees_and_one_that_was_set_up_agrees(fabric_lab):
    lab = fabric_lab(SMALL)
    before = configurations(lab)
    run = check(lab)
    assert run.status != 0
    assert any("maps DSCP 26 to priority 1" in line for line in reported(run, "error")), run.output
    assert configurations(lab) == before
    assert lab.fabric().status == 0
    run = check(lab)
    assert (run.status, run.changed, reported(run, "error")) == (0, 0, []), run.output


def test_a_network_is_checked_without_a_site_and_its_hosts_where_a_vcenter_is_named(fabric_lab):
    lab = fabric_lab(("leaf-01", "leaf-03"))
    inventory = without_site(lab)
    run = check(lab, inventory=inventory)
    assert run.status == 0, run.output
    assert "2 switches, 0 cables with RoCE" in run.text
    vcenter = {
        "hostname": lab.twin.host,
        "port": lab.twin.port,
        "username": lab.twin.username,
        "password": lab.twin.password,
        "ca_file": str(lab.twin.ca_file),
    }
    run = check(lab, "--extra-vars", json.dumps({"fabric_check_vcenter": vcenter}), inventory=inventory)
    assert run.status != 0
    assert "2 switches, 2 cables with RoCE" in run.text
    assert any("leaf-01 Ethernet1" in line and "esx-01.lab.example vmnic2" in line for line in reported(run, "error"))


@pytest.mark.parametrize("failing, status", [(True, 2), (False, 0)], ids=["fails", "only reports"])
def test_a_switch_that_cannot_be_reached_is_reported_beside_the_others(fabric_lab, failing, status):
    lab = fabric_lab(("leaf-01", "leaf-03"))
    switch(lab, "leaf-03").refusing = True
    run = check(lab, "--extra-vars", json.dumps({"fabric_check_fail": failing}))
    assert run.status == status, run.output
    assert "unknown leaf-03 could not be read." in reported(run, "unknown")
    assert "1 switch," in run.text


def test_check_mode_of_the_stage_reports_no_errors_of_switches_that_the_run_will_change(fabric_lab):
    lab = fabric_lab(SMALL)
    run = lab.fabric("--check")
    assert run.status == 0, run.output
    assert any("maps DSCP 26 to priority 1" in line for line in reported(run, "planned")), run.output
    assert reported(run, "error") == [], run.output
    assert "which this run will change first." in run.text
