"""What the stage for training VMs gets out of a site."""

from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.aiready.vsphere.plugins.filter.filters import FilterModule

site_machines = FilterModule().filters()["site_machines"]
GPU = {"mode": "vgpu", "profile": "grid_a100-20c"}


def vms(entries, **gpu):
    return site_machines({"gpu": {**GPU, **gpu}, "vms": entries})["vms"]


@pytest.mark.parametrize(
    "entry, names",
    [
        pytest.param({"count": 2}, ["train-01", "train-02"], id="from one, with two digits"),
        pytest.param({"count": 2, "first": 9}, ["train-09", "train-10"], id="from a number of choice"),
        pytest.param({"count": 2, "first": 99}, ["train-99", "train-100"], id="past the width"),
        pytest.param({"count": 1, "digits": 4}, ["train-0001"], id="wider"),
        pytest.param({"count": 1, "digits": 1, "first": 0}, ["train-0"], id="narrower, from zero"),
    ],
)
def test_row_of_vms_is_written_out(entry, names):
    assert [vm["name"] for vm in vms([{"prefix": "train-", **entry}])] == names


def test_each_vm_gets_the_profile_as_often_as_the_site_says():
    assert vms([{"name": "a"}, {"path": "/DC/vm/b"}], per_vm=2) == [
        {"name": "a", "profiles": ["grid_a100-20c", "grid_a100-20c"]},
        {"path": "/DC/vm/b", "profiles": ["grid_a100-20c", "grid_a100-20c"]},
    ]


def test_profiles_of_an_entry_win_over_those_of_the_site():
    assert vms([{"prefix": "t-", "count": 2, "profiles": ["grid_a100-40c"]}, {"name": "a"}]) == [
        {"name": "t-01", "profiles": ["grid_a100-40c"]},
        {"name": "t-02", "profiles": ["grid_a100-40c"]},
        {"name": "a", "profiles": ["grid_a100-20c"]},
    ]


def test_what_the_site_does_not_say_is_the_careful_choice():
    inputs = site_machines({"gpu": GPU, "vms": [{"name": "a"}]})
    careful = {
        "datacenter": "",
        "cluster": "",
        "template": "",
        "start": "auto",
        "power": "refuse",
        "guest_shutdown_timeout_s": 300,
        "memory_reservation": "all",
        "mmio": "auto",
        "mmio_size_gb": 0,
        "unified_memory": "enabled",
        "max_per_vm": 0,
        "most_per_gpu": {},
        "cpus": 0,
        "hardware_version": 0,
        "path": "tcp",
        "portgroup": "",
        "gpudirect": "ignore",
        "anti_affinity": True,
        "automation": "partially_automated",
    }
    assert {key: inputs[key] for key in careful} == careful


def test_entries_win_over_what_all_vms_share():
    inputs = site_machines(
        {
            "cluster": "gpu",
            "gpu": {"mode": "passthrough", "per_vm": 2},
            "machine": {"template": "t", "cpus": 16, "memory_gb": 64},
            "vms": [{"prefix": "a-", "count": 1, "cpus": 32, "host": "esx-01"}, {"name": "b", "folder": "other"}],
        }
    )
    assert inputs["vms"] == [
        {"name": "a-01", "gpus": 2, "cpus": 32, "host": "esx-01"},
        {"name": "b", "gpus": 2, "folder": "other"},
    ]
    assert (inputs["cpus"], inputs["memory_gb"], inputs["template"]) == (16, 64, "t")


@pytest.mark.parametrize(
    "network, gpudirect",
    [
        ({}, "ignore"),
        ({"path": "pvrdma"}, "ignore"),
        ({"path": "sriov"}, "enabled"),
        ({"path": "passthrough"}, "enabled"),
        ({"path": "sriov", "gpudirect": "disabled"}, "disabled"),
    ],
    ids=["TCP", "PVRDMA", "SR-IOV", "passthrough", "switched off"],
)
def test_gpu_and_adapter_talk_directly_where_the_path_can(network, gpudirect):
    assert site_machines({"gpu": GPU, "network": network, "vms": [{"name": "a"}]})["gpudirect"] == gpudirect


def test_what_the_site_says_reaches_the_stage():
    gpu = {**GPU, "unified_memory": "ignore", "mmio_size_gb": 512, "memory_reservation": "ignore"}
    inputs = site_machines(
        {"gpu": gpu, "vms": [{"name": "a"}], "power": "cycle", "datacenter": "DC1", "cluster": "gpu"}
    )
    assert (inputs["power"], inputs["datacenter"], inputs["cluster"]) == ("cycle", "DC1", "gpu")
    assert inputs["mmio_size_gb"] == 512
    assert (inputs["unified_memory"], inputs["memory_reservation"]) == ("ignore", "ignore")


def test_site_that_is_not_valid_is_not_worked_with():
    with pytest.raises(AnsibleFilterError, match="vmss"):
        site_machines({"gpu": GPU, "vmss": []})
