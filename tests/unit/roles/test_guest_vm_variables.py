"""The role guest_vm gives its inputs and what it has read to its plan, and its tasks follow that plan."""

from __future__ import annotations

import re
from dataclasses import fields

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.guest_plan import Inputs

from unit.roles.variables import holds, made_by, tasks_of, value_of

UBUNTU = {"os_family": "Debian"}
SRIOV = {"guest_vm_data_path": "sriov", "guest_vm_data_interface": {"mac": "00:50:56:9a:00:02"}}
OFED = {**SRIOV, "guest_vm_rdma": {"stack": "ofed"}}


def found(name, **given):
    return value_of("guest_vm", f"__guest_vm_{name}", **{"ansible_facts": UBUNTU, **given})


def test_the_plan_gets_every_input_that_it_reads():
    names = made_by("guest_vm")["__guest_vm_names"]
    assert [name.removeprefix("guest_vm_") for name in names] == [one.name for one in fields(Inputs)]


def test_the_plan_gets_the_result_of_each_task_that_it_reads():
    results = re.findall(r"__guest_vm_\w+", str(made_by("guest_vm")["__guest_vm_seen"]))
    files = ("base", "check", "driver", "gpudirect", "licence", "network", "prove", "rdma", "restart", "roce", "user")
    registered = {task.get("register") for file in files for task in tasks_of("guest_vm", file)}
    assert set(results) <= registered
    assert len(results) == len(set(results)) == 20


def test_the_plan_follows_from_inputs_facts_and_results():
    plan = found("plan", guest_vm_user="ai", guest_vm_peers=[{"name": "train-01"}], ansible_play_hosts=["train-01"])
    assert (plan["family"], plan["peers"]["known"], plan["waiting"]) == ("debian", True, [])
    assert plan["gaps"][0]["object"] == "train-01"
    given = {"__guest_vm_nic_now": {"interface": {"name": "ens224", "after": {"addresses": [], "mtu": 1500}}}}
    plan = found("plan", **OFED, **given, __guest_vm_packages_seen={"rc": 1, "stdout_lines": []})
    assert (plan["nic"]["name"], plan["waiting"]) == ("ens224", ["network drivers of OFED"])


def test_a_restart_that_is_not_allowed_is_refused_with_what_waits():
    text = found("no_restart", __guest_vm_driver_now={"driver": {"pending": [{"what": "module"}]}})
    assert text.startswith("train-01: driver: module waits for a restart of the guest.")


WAITS = {"__guest_vm_driver_now": {"driver": {"pending": [{"what": "module"}]}}}
INSTALLED = {"stdout_lines": [f"ii {name} 1" for name in ("chrony", "iproute2", "iputils-ping", "openssh-client")]}
THERE = {"__guest_vm_packages_seen": INSTALLED}
CHECK = {"ansible_check_mode": True}
# (file, task, what is given, whether the task runs)
TASKS = [
    ("base", "Report packages that would be installed", CHECK, True),
    ("base", "Report packages that would be installed", {**CHECK, **THERE}, False),
    ("base", "Report packages that would be installed", {}, False),
    ("base", "Start chrony", {}, True),
    ("base", "Start chrony", CHECK, False),
    ("base", "Start chrony", {**CHECK, **THERE}, True),
    ("base", "Set the limits of services", {}, True),
    ("base", "Set the limits of services", {"guest_vm_limits": {"memlock": "as_is", "nofile": 0}}, False),
    ("check", "Read the RDMA devices of the guest", {}, False),
    ("check", "Read the RDMA devices of the guest", SRIOV, True),
    ("main", "Set up RDMA", {}, False),
    ("main", "Set up RDMA", SRIOV, True),
    ("rdma", "Load the RDMA modules now", SRIOV, True),
    ("rdma", "Load the RDMA modules now", {**OFED, "__guest_vm_packages_seen": {"rc": 1}}, False),
    ("restart", "Restart the guest", {}, False),
    ("restart", "Restart the guest", WAITS, True),
    ("restart", "Report what a run would reject", {**WAITS, **CHECK}, True),
    ("restart", "Report what a run would reject", {**WAITS, **CHECK, "guest_vm_reboot": "allow"}, False),
    ("network", "Report a firewall that blocks the training", SRIOV, False),
    (
        "network",
        "Report a firewall that blocks the training",
        {**SRIOV, "__guest_vm_zones": {"rc": 0, "stdout": ""}, "__guest_vm_default_zone": {"stdout": "public"}},
        True,
    ),
    ("roce", "Configure RoCE QoS", SRIOV, True),
    ("roce", "Configure RoCE QoS", {**SRIOV, **CHECK}, False),
    ("prove", "Read the packages again", {}, True),
    ("prove", "Read the packages again", THERE, False),
    ("prove", "Read the adapter again", SRIOV, True),
]


@pytest.mark.parametrize("file, task, given, runs", TASKS)
def test_a_task_runs_where_the_plan_has_something_for_it(file, task, given, runs):
    assert holds("guest_vm", file, task, ansible_facts=UBUNTU, **given) is runs


@pytest.mark.parametrize("given, passes", [({}, True), ({"guest_vm_licence": {"feature": "vcs"}}, False)])
def test_inputs_that_cannot_work_together_are_refused(given, passes):
    (task,) = (one for one in tasks_of("guest_vm", "check") if one["name"] == "Reject settings that cannot work")
    assert value_of("guest_vm", task["ansible.builtin.assert"]["that"], ansible_facts=UBUNTU, **given) is passes
