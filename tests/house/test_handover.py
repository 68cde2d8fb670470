"""A role takes everything that its playbook worked out from the site, in one variable."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.hosts import hosts
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.machines import machines
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.switches import switches

from house.collection import ROOT, load
from house.handover import defaults, from_site, handed_over, receivers

SITE = {"gpu": {"mode": "vgpu"}, "vms": []}
# The options of a role that a playbook gives it and that are not of the site.
BESIDE = {"switch": {"restore"}, "training_vm": {"restore", "undone_hosts", "userdata"}}
# What the filter returns for others than the role.
ELSEWHERE = {"switch": {"agreement", "cables"}}
WORKED_OUT = {"training_vm": machines(SITE), "esxi_host": hosts(SITE), "switch": switches(SITE, ["leaf-01"])["leaf-01"]}
STAGES = {"training_vm": "machines", "esxi_host": "hosts", "switch": "fabric"}


@pytest.mark.parametrize("role", STAGES)
def test_a_role_takes_everything_that_is_worked_out_from_the_site(role):
    reported = handed_over(STAGES[role], role) - BESIDE.get(role, set())
    assert reported == set(WORKED_OUT[role]) - ELSEWHERE.get(role, set())


@pytest.mark.parametrize("role", receivers())
def test_an_option_has_the_name_of_the_key_that_its_default_is_taken_from(role):
    assert from_site(role)
    assert [name for name, key in from_site(role).items() if name != f"{role}_{key}"] == []
    # A default that is written in another way would be compared with nothing.
    mentioned = (ROOT / "roles" / role / "defaults" / "main.yml").read_text().count(f"{role}_site.")
    assert mentioned == len(from_site(role))


@pytest.mark.parametrize("role", receivers())
def test_a_role_that_is_used_without_a_site_gets_nothing_from_it(role):
    option = load(f"roles/{role}/meta/argument_specs.yml")["argument_specs"]["main"]["options"][f"{role}_site"]
    assert (option["type"], option["default"], defaults(role)[f"{role}_site"]) == ("dict", {}, {})


def test_the_filters_for_vms_read_every_option_but_secrets_and_what_tasks_read():
    read = set(load("roles/training_vm/vars/main.yml")["__training_vm_names"])
    by_tasks = {"site", "start", "drs", "power", "restore", "undone_hosts", "userdata", "wait_for", "wait_timeout_s"}
    assert set(defaults("training_vm")) - read == {f"training_vm_{name}" for name in by_tasks}
