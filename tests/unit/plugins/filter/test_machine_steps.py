"""What each module of the stage for VMs is asked for, VM by VM."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.filter.filters import FilterModule

from .machine_inputs import PORT, VF, inputs, placed

machine_steps = FilterModule().filters()["machine_steps"]
VMS = [{"name": "a", "profiles": ["grid_a100-40c"]}, {"path": "/DC/vm/jobs/b", "profiles": ["grid_a100-20c"]}]
WHOLE = [{"name": "a", "gpus": 1}]


def only(entries):
    (entry,) = entries
    return entry


def test_vms_that_exist_are_asked_for_their_gpus_and_shape_and_nothing_else():
    steps = machine_steps(VMS, inputs())
    assert {step for step, entries in steps.items() if entries} == {"config", "power"}
    assert [entry["vgpu"]["profiles"] for entry in steps["config"]] == [["grid_a100-40c"], ["grid_a100-20c"]]
    assert [entry.get("path") for entry in steps["config"]] == [None, "/DC/vm/jobs/b"]
    assert [set(entry) - {"name", "path", "planned"} for entry in steps["config"]] == [{"shape", "vgpu"}] * 2
    assert not {"cpus", "mmio_size_gb"} & set(steps["config"][0]["shape"])


def test_what_was_set_once_reaches_the_part_of_each_vm_that_takes_it():
    entry = only(machine_steps(VMS[:1], inputs(mmio_size_gb="512", max_per_vm=4, unified_memory="disabled"))["config"])
    assert entry["shape"]["mmio_size_gb"] == 512
    assert entry["vgpu"] == {
        "profiles": ["grid_a100-40c"],
        "state": "present",
        "max_per_vm": 4,
        "unified_memory": "disabled",
    }


def test_vms_go_to_the_hosts_that_were_planned_and_into_the_folders_of_their_paths():
    steps = machine_steps(VMS, inputs(template="t"), placed("a", "/DC/vm/jobs/b"))
    assert steps["clone"] == [
        {"name": "a", "host": "esx-01"},
        {"name": "b", "host": "esx-02", "folder": "/DC/vm/jobs"},
    ]


def test_everything_after_the_clone_is_planned_on_template_and_host():
    asked = inputs(template="t", hardware_version=20, path="pvrdma", portgroup="pg")
    steps = machine_steps(VMS, asked, placed("a", "/DC/vm/jobs/b"))
    planned = {"template": "t", "host": "esx-01"}
    assert [steps[step][0]["planned"] for step in ("config", "power")] == [planned] * 2
    # What one part makes of a VM, vm_config itself knows.
    assert steps["config"][0]["shape"]["hardware_version"] == 20


def test_entry_wins_over_the_common_shape_and_the_plan_gives_the_numa_nodes():
    vms = [{"name": "a", "profiles": ["grid_a100-40c"], "cpus": 32}]
    shape = only(machine_steps(vms, inputs(template="t", cpus=16, memory_gb=64), placed("a"))["config"])["shape"]
    assert (shape["cpus"], shape["memory_gb"], shape["numa_nodes"]) == (32, 64, [0])
    assert shape["gpus"] == ["grid_a100-40c"]
    shape = only(machine_steps(vms, inputs(template="t", numa="ignore"), placed("a"))["config"])["shape"]
    assert "numa_nodes" not in shape


@pytest.mark.parametrize(
    "path, changes, step, entry",
    [
        ("tcp", {"portgroup": "pg"}, "vmxnet3", {"adapters": [{"portgroup": "pg"}]}),
        (
            "pvrdma",
            {"portgroup": "pg", "switch": "dvs", "protocol": "rocev1", "adapters": 2},
            "pvrdma",
            {"adapters": [{"portgroup": "pg", "switch": "dvs", "protocol": "rocev1"}] * 2},
        ),
        ("sriov", {"portgroup": "pg"}, "sriov", {"adapters": [{"portgroup": "pg"}]}),
        (
            "sriov",
            {"portgroup": "pg", "gpudirect": "enabled"},
            "sriov",
            {"adapters": [{"portgroup": "pg", "physical_function": "vmnic3"}]},
        ),
        ("passthrough", {}, "passthrough", {"devices": [{"kind": "static", "id": "0000:3b:00.0"}]}),
        (
            "passthrough",
            {"nic_assignment": "dynamic", "nic_label": "fabric"},
            "passthrough",
            {"devices": [{"kind": "dynamic", "allowed": ["15b3:101d"], "label": "fabric"}]},
        ),
    ],
    ids=["TCP", "PVRDMA", "SR-IOV", "SR-IOV beside the GPU", "port", "port of a kind"],
)
def test_each_path_asks_for_its_own_part(path, changes, step, entry):
    nics = [VF] if path == "sriov" else [PORT]
    steps = machine_steps(VMS[:1], inputs(path=path, template="t", **changes), placed("a", nics=nics))
    asked = only(steps["config"])
    assert asked[step] == entry
    assert {other for other in ("vmxnet3", "pvrdma", "sriov", "passthrough") if other in asked} == {step}


@pytest.mark.parametrize(
    "changes, devices, ids",
    [
        ({}, [{"kind": "static", "id": "0000:39:00.0"}], ["10de:20f1"]),
        (
            {"gpu_assignment": "dynamic", "gpu_devices": ["10de:2331"]},
            [{"kind": "dynamic", "allowed": ["10de:2331"]}],
            ["10de:2331"],
        ),
    ],
    ids=["chosen board", "board of a kind"],
)
def test_whole_boards_are_devices_and_count_for_the_shape(changes, devices, ids):
    steps = machine_steps(WHOLE, inputs(gpu_mode="passthrough", **changes), placed("a"))
    entry = only(steps["config"])
    assert entry["passthrough"]["devices"] == devices
    assert entry["shape"]["gpus"] == ids
    assert "vgpu" not in entry


def test_taking_vgpus_away_asks_nothing_else():
    steps = machine_steps([{"name": "a"}], inputs(vgpu_state="absent", template="t", path="tcp", portgroup="pg"))
    assert {step for step, entries in steps.items() if entries} == {"config", "power"}
    (entry,) = steps["config"]
    assert set(entry) == {"name", "vgpu"}
    assert entry["vgpu"]["state"] == "absent"


def test_numbers_may_be_texts_as_older_cores_make_them():
    shape = only(machine_steps(VMS[:1], inputs(cpus="16", memory_gb="0", adapters="1"))["config"])["shape"]
    assert shape["cpus"] == 16
    assert "memory_gb" not in shape


def test_missing_vm_of_a_library_is_asked_nothing_but_to_be_made_and_one_of_a_template_everything():
    clones = [{"name": "a", "before": {"exists": False}}, {"name": "b", "before": {"exists": True}}]
    vms = [{"name": name, "profiles": ["grid_a100-40c"]} for name in ("a", "b")]
    steps = machine_steps(vms, inputs(content_item="ubuntu"), placed("a", "b"), clones)
    assert [len(steps[step]) for step in ("clone", "config", "power")] == [2, 1, 1]
    steps = machine_steps(vms, inputs(template="t"), placed("a", "b"), clones)
    assert [len(steps[step]) for step in ("clone", "config", "power")] == [2, 2, 2]


def test_while_hosts_are_undecided_nothing_is_asked_that_depends_on_them():
    asked = inputs(template="t", path="pvrdma", portgroup="pg", gpu_mode="passthrough")
    steps = machine_steps(VMS, asked, {}, [], True)
    assert {step for step, entries in steps.items() if entries} == {"clone", "config", "power"}
    assert [set(entry) - {"name", "path"} for entry in steps["config"]] == [{"planned", "shape"}] * 2
    assert steps["clone"][0] == {"name": "a"}
