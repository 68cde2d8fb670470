"""What the role esxi_host hands to its plan and to its verification, as Ansible works it out."""

from __future__ import annotations

from dataclasses import fields

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.host_request import Request

from unit.roles.variables import made_by, value_of

SEEN = {
    "name": "esx-01",
    "connection": "connected",
    "driver": {"family": "graphics", "version": "550.54.16", "loaded": True},
    "gpus": [{"id": "0000:3b:00.0", "passthrough": {"configured": False, "active": False}}],
    "nics": [{"device": "vmnic2", "driver": "nmlx5_core", "vfs": {"active": 0, "max": 8}}],
    "modules": {},
    "graphics": None,
    "profiles_offered": [],
    "services": {"TSM-SSH": {"running": False}},
}


def plan(**given):
    given = {"esxi_host_name": "esx-01", "esxi_host_bmc_address": "", "__esxi_host_seen": {"host": SEEN}, **given}
    return value_of("esxi_host", "__esxi_host_plan", **given)


def test_the_plan_gets_every_input_that_it_reads():
    names = [name.removeprefix("esxi_host_") for name in made_by("esxi_host")["__esxi_host_names"]]
    assert sorted([*names, "user"]) == sorted(one.name for one in fields(Request))


def test_the_defaults_request_nothing():
    found = plan()
    assert not any([*found["asks"].values(), *found["due"].values(), found["restores_shell"]])
    assert (found["refusals"], found["unfit"]) == ([], "")


def test_before_the_host_was_read_the_defaults_of_the_modules_can_be_worked_out():
    found = plan(__esxi_host_seen={"skipped": True}, esxi_host_gpu_passthrough="enabled")
    assert (found["passthrough"], found["loaded"]) == ([], False)


@pytest.mark.parametrize(
    "step, given",
    [
        ("bios", {"esxi_host_bmc_address": "10.0.0.1", "esxi_host_bios_functions": {"sriov": True}}),
        ("bios", {"esxi_host_bmc_address": "10.0.0.1", "esxi_host_bios_attributes": {"Sriov": "Enabled"}}),
        ("driver", {"esxi_host_driver": {"file": "x"}}),
        ("modules", {"esxi_host_module_options": {"nmlx5_core": {"pfctx": "8"}}}),
        ("modules", {"esxi_host_vfs": 4, "esxi_host_nics": ["vmnic2"]}),
        ("passthrough", {"esxi_host_gpu_passthrough": "enabled"}),
        ("passthrough", {"esxi_host_nic_passthrough": True}),
        ("firmware", {"esxi_host_nic_firmware": {"SRIOV_EN": True}, "esxi_host_nics": ["vmnic2"]}),
        ("vms", {"esxi_host_evacuation": "shutdown", "esxi_host_vms": [{"name": "a"}]}),
    ],
)
def test_each_variable_reaches_the_plan(step, given):
    assert [name for name, asked in plan(**given)["asks"].items() if asked] == [step]


STEPS = {
    "bios": {"bios": {"changed": True}},
    "mig": {"gpus": [{"changed": True}]},
    "firmware": {"devices": [{"changed": True}]},
    "modules": {"results": [{"host": {"changed": True}}]},
    **dict.fromkeys(("driver", "kernel", "passthrough", "pvrdma", "mtu", "graphics"), {"host": {"changed": True}}),
}


@pytest.mark.parametrize("step", STEPS)
def test_the_answer_of_each_module_reaches_the_plan(step):
    due = plan(**{f"__esxi_host_{step}_plan": STEPS[step]})["due"]
    assert [name for name, is_due in due.items() if is_due] == [step]


@pytest.mark.parametrize("given", [{"ansible_check_mode": True}, {"__esxi_host_only_looks": True}])
def test_the_kind_of_run_reaches_the_plan(given):
    restarted = {"__esxi_host_first": {"changed": True}}
    assert [plan(**restarted)["due"]["again"], plan(**restarted, **given)["due"]["again"]] == [True, False]


def test_the_user_of_ssh_is_the_one_of_the_connection():
    given = {
        "esxi_host_nic_firmware": {"SRIOV_EN": True},
        "esxi_host_nics": ["vmnic2"],
        "__esxi_host_seen": {"host": {**SEEN, "lockdown": "normal", "lockdown_exceptions": ["root"]}},
    }
    assert plan(**given)["blockers"] == []
    (one,) = plan(**given, ansible_user="ops")["blockers"]
    assert "ops is not an exception user" in one["found"]


VM = {"moid": "vm-1", "name": "a", "host": "esx-01", "before": {"power": "off", "power_on_again": True}}


def test_vms_and_failures_reach_the_plan():
    found = plan(
        __esxi_host_vms_left={"vms": [VM]},
        __esxi_host_shut_plan={"failed": True, "msg": "No tools."},
        __esxi_host_out_plan={"failed": True, "msg": "VMs run.", "failure": {"code": "running_vms"}},
        __esxi_host_shell={"changed": True},
    )
    assert (found["vms"]["on"], found["refusals"]) == ([{"moid": "vm-1"}], ["No tools.", "VMs run."])
    assert (found["occupied"], found["restores_shell"]) == (True, True)
    shut = plan(
        esxi_host_evacuation="shutdown",
        __esxi_host_mig_plan=STEPS["mig"],
        __esxi_host_vms_look={"vms": [{**VM, "before": {"power": "on"}}]},
    )
    assert shut["vms"]["off"] == [{"moid": "vm-1"}]
