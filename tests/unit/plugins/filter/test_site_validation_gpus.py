"""What the stage for validation requires of GPUs, and what it leaves out without them."""

from __future__ import annotations

import pytest

from unit.plugins.filter.seen_guests import seen, vm
from unit.plugins.filter.test_site_training import TRAINING, variables
from unit.plugins.filter.test_site_validation import validation


@pytest.mark.parametrize(
    "per_vm, found, required",
    [(1, (1, 1), 1), (2, (2, 2), 2), (2, (2, 1), 2), (2, (1, 1), 2), (1, (8, 8), 8)],
    ids=["one", "two", "one is lost", "one is lost everywhere", "a group of devices"],
)
def test_each_guest_has_to_have_the_gpus_that_the_site_gives_it(per_vm, found, required):
    parts = {"gpu": {"mode": "vgpu", "profile": "grid_a100-40c", "per_vm": per_vm}}
    one, other = found
    reported = validation(variables(seen(vm(gpus=one), vm("job-02", 2, gpus=other)), **parts), parts=parts)
    assert reported["intent"]["gpus_per_guest"] == required


def test_gpus_that_vcenter_does_not_show_are_required_all_the_same():
    reported = validation(variables(seen(vm(gpus=0), vm("job-02", 2, gpus=0))))
    assert (reported["intent"]["gpus"], reported["intent"]["gpus_per_guest"]) == ("all", 1)
    assert reported["nccl_command"][0] == "all_reduce_perf"
    assert "cluster.nccl" not in reported["intent"]["skip"]


@pytest.mark.parametrize("simulated, nccl", [([], False), (["gpu"], True)])
def test_gpus_that_the_training_does_not_use_are_looked_at_all_the_same(simulated, nccl):
    reported = validation(training={**TRAINING, "gpus": "none"}, simulated=simulated)
    assert reported["intent"]["gpus"] == "all"
    assert {one["variant"] for one in reported["trainings"]} == {"1:tcp", "2:tcp"}
    assert "cluster.rdma_gain" in reported["intent"]["skip"]
    assert bool(reported["nccl_command"]) is ("cluster.nccl" not in reported["intent"]["skip"]) is nccl


@pytest.mark.parametrize("group, size", [("Nvidia:2@NVIDIA A100 PCIe 40GB%NVLink", 2), ("Nvidia@A100%NVLink", 0)])
def test_gpus_of_a_device_group_are_nvlink_peers_within_their_set(group, size):
    parts = {
        "gpu": {"mode": "directpath", "profile": None, "per_vm": 4, "nvlink": "required"},
        "directpath": {"assignment": "group", "group": group},
    }
    reported = validation(parts=parts)["intent"]
    assert (reported["nvlink"], reported["nvlink_gpus"]) == (True, size)


@pytest.mark.parametrize("nvlink, required", [("required", True), ("ignore", False)])
def test_nvlink_that_the_site_requires_is_required_in_each_guest(nvlink, required):
    parts = {"gpu": {"mode": "vgpu", "profile": "grid_a100-40c", "per_vm": 2, "nvlink": nvlink}}
    assert validation(parts=parts)["intent"]["nvlink"] is required
