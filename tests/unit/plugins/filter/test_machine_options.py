"""What each module of the stage for VMs is asked for, once for all VMs."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.filter.filters import FilterModule

from .machine_inputs import inputs

machine_options = FilterModule().filters()["machine_options"]
VMS = [{"name": "a", "profiles": ["grid_a100-40c"]}, {"name": "b", "profiles": ["grid_a100-40c"]}]


def test_what_nobody_set_is_left_to_the_module():
    asked = machine_options(VMS, inputs())
    assert "datacenter" not in asked["config"]
    assert "cloud_init" not in asked["clone"]
    assert asked["place"]["anti_affinity"] is True


def test_an_item_of_a_content_library_is_named_as_the_module_names_it():
    clone = machine_options(VMS, inputs(content_library="images", content_item="ubuntu"))["clone"]
    assert (clone["library"], clone["library_item"]) == ("images", "ubuntu")
    assert "content_item" not in clone


@pytest.mark.parametrize("disk_gb, clone", [("120", {"disk_gb": 120}), ("0", {})], ids=["set", "as the template"])
def test_a_size_of_the_disk_is_asked_of_the_clone_and_of_the_placement(disk_gb, clone):
    asked = machine_options(VMS, inputs(template="t", disk_gb=disk_gb))
    assert {key: value for key, value in asked["clone"].items() if key == "disk_gb"} == clone
    assert [{key: value for key, value in vm.items() if key == "disk_gb"} for vm in asked["to_place"]] == (
        [clone] * len(VMS)
    )


def test_what_was_set_reaches_every_module_that_takes_it():
    asked = machine_options(VMS, inputs(datacenter="DC", cluster="gpu", path="sriov"))
    parts = ("place", "clone", "config", "power")
    assert {part: asked[part].get("datacenter") for part in parts} == dict.fromkeys(parts, "DC")


def test_first_boot_is_reported_by_cloud_init_or_by_a_customization_specification():
    asked = machine_options(VMS, inputs(metadata={"a": 1}), "#cloud-config")
    assert asked["clone"]["cloud_init"] == {"metadata": {"a": 1}, "userdata": "#cloud-config"}
    assert machine_options(VMS, inputs(customization="linux"))["clone"]["customization"] == {"spec": "linux"}


def test_user_data_beside_a_customization_is_not_dropped_so_that_vm_clone_can_refuse_both():
    clone = machine_options(VMS, inputs(customization="linux"), "#cloud-config")["clone"]
    assert clone["cloud_init"] == {"userdata": "#cloud-config"}
    assert clone["customization"] == {"spec": "linux"}


def test_port_that_a_vm_has_itself_is_placed_without_a_port_group():
    assert "portgroup" not in machine_options(VMS, inputs(path="passthrough", portgroup="pg"))["place"]
    assert machine_options(VMS, inputs(path="sriov", portgroup="pg"))["place"]["portgroup"] == "pg"


def test_rule_keeps_vms_apart_only_if_there_are_two():
    assert machine_options(VMS, inputs(template="t"))["drs"]["anti_affinity"] is True
    assert machine_options(VMS[:1], inputs(template="t"))["drs"]["anti_affinity"] is False
    assert machine_options(VMS, inputs(template="t"))["drs"]["planned"] == ["a", "b"]


def test_placement_is_asked_for_each_vm_with_what_it_needs():
    asked = machine_options(
        [{"path": "/DC/vm/a", "profiles": ["grid_a100-40c"], "host": "esx-01"}, {"name": "b", "gpus": 2}],
        inputs(cpus=16, memory_gb=64, path="sriov", gpu_mode="passthrough"),
    )
    assert asked["to_place"][1] == {
        "name": "b",
        "gpus": 2,
        "cpus": 16,
        "memory_gb": 64,
        "nics": 1,
        "job": "aiready-training",
    }
    assert (asked["to_place"][0]["path"], asked["to_place"][0]["host"]) == ("/DC/vm/a", "esx-01")
