"""What the stages that follow have to know of each training VM."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.filter.filters import FilterModule

from .machine_inputs import PORT, inputs, placed

machine_facts = FilterModule().filters()["machine_facts"]
machine_steps = FilterModule().filters()["machine_steps"]
machine_table = FilterModule().filters()["machine_table"]
VMS = [{"name": "a", "profiles": ["grid_a100-40c"]}]
IDS = {"name": "a", "moid": "vm-1", "instance_uuid": "52b6", "path": "/DC/vm/a", "host": "esx-07"}
ADDRESS = {"mac": "00:50:56:00:00:01", "network": "pg", "addresses": ["10.0.0.9"]}
PVRDMA = {"path": "pvrdma", "portgroup": "pg", "template": "t"}


def seen(**after):
    return {step: [dict(IDS, after=found)] for step, found in after.items()}


def test_vm_is_reported_as_the_modules_found_it_last():
    asked = inputs(**PVRDMA)
    answers = seen(
        config={
            "vgpu": {"profiles": ["grid_a100-40c"]},
            "pvrdma": {"adapters": [{"portgroup": "pg"}, {"portgroup": "other"}]},
        },
        power={"power": "on", "address": "10.0.0.9", "addresses": [ADDRESS]},
    )
    answers["config"][0]["expects"] = {"pvrdma": {"transport": "rdma"}}
    (machine,) = machine_facts(machine_steps(VMS, asked, placed("a")), answers, placed("a"), asked)
    assert machine == {
        "name": "a",
        "moid": "vm-1",
        "instance_uuid": "52b6",
        "inventory_path": "/DC/vm/a",
        "host": "esx-07",
        "power": "on",
        "address": "10.0.0.9",
        "addresses": [ADDRESS],
        "path": "pvrdma",
        "gpus": ["grid_a100-40c"],
        "nics": [{"portgroup": "pg"}],
        "numa_nodes": [0],
        "expects": {"transport": "rdma"},
    }


def test_vm_that_is_only_planned_is_reported_as_far_as_it_is_known():
    asked = inputs(path="passthrough", template="t", gpu_mode="passthrough")
    plan = placed("a", nics=[PORT])
    (machine,) = machine_facts(machine_steps([{"name": "a"}], asked, plan), {}, plan, asked)
    assert (machine["name"], machine["moid"], machine["host"], machine["address"]) == ("a", None, "esx-01", "")
    assert (machine["gpus"], machine["nics"]) == (["0000:39:00.0"], [PORT])


@pytest.mark.parametrize(
    "path, words", [("tcp", "baseline"), ("sriov", "RDMA over a virtual function"), ("passthrough", "the port itself")]
)
def test_network_test_is_reported_what_it_has_to_show(path, words):
    asked = inputs(path=path)
    (machine,) = machine_facts(machine_steps(VMS, asked), {}, {}, asked)
    assert words in machine["expects"]["proof"]
    assert machine["expects"]["path"] == path


def test_table_names_each_adapter_by_the_best_name_that_is_known():
    machine = {
        "name": "a",
        "host": "esx-07",
        "address": "10.0.0.9",
        "gpus": ["g"],
        "path": "sriov",
        "numa_nodes": [0, 1],
    }
    nics = [
        {"portgroup": "pg", "pci": "0000:81:00.0", "mac": "00:50:56:00:00:01"},
        {"pci": "0000:82:00.0", "mac": "00:50:56:00:00:02"},
        {"mac": "00:50:56:00:00:03"},
        {},
    ]
    _head, line = machine_table([dict(machine, nics=nics)])
    assert "sriov: pg, 0000:82:00.0, 00:50:56:00:00:03, ?" in line
    assert line.split()[-2:] == ["0,", "1"]


def test_table_has_a_line_for_each_vm_below_its_head():
    asked = inputs(**PVRDMA)
    machines = machine_facts(machine_steps(VMS, asked, placed("a")), seen(config={}), placed("a"), asked)
    head, line = machine_table(machines)
    assert head.split() == ["VM", "host", "address", "GPU", "adapter", "NUMA"]
    assert line.split() == ["a", "esx-07", "-", "0000:39:00.0", "pvrdma:", "-", "0"]
