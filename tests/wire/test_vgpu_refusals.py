"""What cannot work is refused before anything is touched, with the reason and with the way out."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from .lab import A100, NVAIE, assert_refused, lab

WHOLE = ["grid_a100-40c"]
HALVES = ["grid_a100-20c", "grid_a100-20c"]
A40 = {"board": "a40", "graphics_type": "sharedDirect"}


class Case(NamedTuple):
    """A data centre, what is wanted there, and what is said to it."""

    name: str
    seed: dict
    profiles: list
    code: str
    says: str
    more: dict = {}


CASES = [
    Case(
        "no driver",
        lab(driver={"family": "none"}),
        WHOLE,
        "host_offers_nothing",
        "Host esx-01 offers no vGPU profile: its NVIDIA A100 PCIe 40GB has the graphics type Basic, so no NVIDIA "
        "driver controls it. Install the NVIDIA AI Enterprise host driver",
    ),
    Case(
        "driver of the wrong family",
        lab(driver={"family": "graphics"}),
        WHOLE,
        "host_offers_nothing",
        "although its NVIDIA A100 PCIe 40GB is set to Shared Direct. Check the driver package",
    ),
    Case(
        "compute profile with the graphics driver",
        lab(driver={"family": "graphics"}, gpus=[A40]),
        ["nvidia_a40-48c"],
        "profile_not_offered",
        "this board, but not the compute series C. "
        "Install the NVIDIA AI Enterprise driver in place of the graphics driver of the host.",
    ),
    Case(
        "graphics type shared",
        lab(gpus=[{**A100, "graphics_type": "shared"}]),
        WHOLE,
        "host_offers_nothing",
        "the graphics type of its NVIDIA A100 PCIe 40GB is shared, not Shared Direct. "
        "Set the type to Shared Direct and restart Xorg, or reboot the host.",
    ),
    Case(
        "GPU passed through",
        lab(gpus=[{**A100, "passthrough": True}]),
        WHOLE,
        "host_offers_nothing",
        "is in passthrough mode. Switch passthrough off for the device",
    ),
    Case(
        "no GPU",
        lab(gpus=[]),
        WHOLE,
        "host_offers_nothing",
        "Host esx-01 offers no vGPU profile and shows no NVIDIA graphics device. Check that the GPU is seated",
    ),
    Case(
        "MIG mode on",
        lab(gpus=[{**A100, "mig": True}]),
        WHOLE,
        "profile_not_offered",
        "offer MIG-backed profiles, so they are in MIG mode. Switch MIG mode off for the GPU",
    ),
    Case(
        "MIG mode off",
        lab(),
        ["grid_a100-3-20c"],
        "profile_not_offered",
        "offer time-sliced profiles, so they are not in MIG mode. Switch MIG mode on for the GPU",
    ),
    Case(
        "no such board",
        lab(),
        ["nvidia_a40-48c"],
        "profile_not_offered",
        "Host esx-01 does not offer nvidia_a40-48c, nor does any other host of its cluster: no host of the "
        "cluster has such a board.",
    ),
    Case(
        "a size that the board does not have",
        lab(),
        ["grid_a100-30c"],
        "profile_not_offered",
        "Use one of the offered profiles: grid_a100-40c, grid_a100-20c, ",
    ),
    Case(
        "no profile at all",
        lab(),
        ["a100"],
        "unknown_profile",
        "a100 is not a vGPU profile that any host of the cluster offers or that this collection knows.",
    ),
    Case(
        "other host of the cluster",
        lab(gpus=[], others=[{"name": "esx-02", "driver": NVAIE, "gpus": [A100]}]),
        WHOLE,
        "profile_on_other_host",
        "Host esx-01 does not offer grid_a100-40c; in the same cluster esx-02 does. Move the VM to such a host.",
    ),
    Case(
        "host away",
        lab(connection="disconnected"),
        WHOLE,
        "host_not_connected",
        "Its host esx-01 is not connected, so its vGPU profiles are unknown. Connect the host in vCenter.",
    ),
    Case(
        "BIOS firmware",
        lab({"firmware": "bios"}),
        WHOLE,
        "firmware_bios",
        "Its firmware is BIOS, which cannot map the memory window of this GPU. Use a VM that was installed with EFI",
    ),
    Case(
        "two fractional on 7.0",
        lab(release="7.0.3"),
        HALVES,
        "several_fractional",
        "vSphere 7.0.3 supports several vGPUs in a VM only if each has the whole memory of its GPU; "
        "grid_a100-20c does not. Use whole-GPU profiles, give the VM a single vGPU, or move it to a host with "
        "vSphere 8.0.",
    ),
    Case(
        "nine",
        lab(),
        ["grid_a100-4c"] * 9,
        "too_many",
        "A VM supports 8 vGPUs at most on vSphere 8.0.3; 9 were requested",
    ),
    Case(
        "five on 7.0", lab(release="7.0.3"), WHOLE * 5, "too_many", "4 vGPUs at most on vSphere 7.0.3; 5 were requested"
    ),
    Case(
        "more than the user's own limit",
        lab(),
        ["grid_a100-4c"] * 3,
        "too_many",
        "A VM supports 2 vGPUs at most; 3 were requested. List fewer profiles, or set max_per_vm if your "
        "release supports more.",
        {"max_per_vm": 2},
    ),
    Case(
        "two boards",
        lab(gpus=[A100, A40]),
        [*WHOLE, "nvidia_a40-48c"],
        "mixed_boards",
        "All vGPUs of a VM must be of one board, but these are of grid_a100 and nvidia_a40. "
        "Choose profiles of one board.",
    ),
    Case(
        "two series",
        lab(gpus=[A40]),
        ["nvidia_a40-24c", "nvidia_a40-24q"],
        "profile_not_offered",
        "All vGPUs of a VM must be of one series, but these are of C and Q.",
    ),
    Case(
        "more than the host has",
        lab(),
        WHOLE * 2,
        "too_few_gpus",
        "These vGPUs need at least 2 GPUs of one host, and host esx-01 has 1. List fewer or smaller profiles",
    ),
    Case("template", lab({"template": True}), WHOLE, "template", "The VM is a template. Clone a VM from it"),
    Case(
        "inaccessible",
        lab({"connection": "inaccessible"}),
        WHOLE,
        "vm_inaccessible",
        "vCenter reports the VM as inaccessible. Restore its host or its datastore first.",
    ),
    Case(
        "running",
        lab({"power": "on"}),
        WHOLE,
        "vm_running",
        "The VM is running, and vSphere changes these settings only while a VM is off. Shut the VM down, or set "
        "power=cycle",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_reason_and_the_way_out_are_reported_and_nothing_is_touched(twin, drive, case):
    assert_refused(twin, drive, case, "vgpu_profile", profiles=case.profiles)


def test_all_reasons_are_reported_at_once(twin, drive):
    running = twin(seed=lab({"firmware": "bios"}, release="7.0.3"))
    answer = drive(running)("vgpu_profile", name="train-01", profiles=["grid_a100-20c"] * 5)
    codes = [problem["code"] for problem in answer["failure"]["problems"]]
    assert codes == ["several_fractional", "too_many", "too_few_gpus", "firmware_bios"]


def test_a_fractional_pair_is_fine_from_vsphere_8_on(twin, drive):
    answer = drive(twin(seed=lab(release="8.0.0")))("vgpu_profile", name="train-01", profiles=HALVES)
    assert not answer["failed"], answer["msg"]


@pytest.mark.parametrize(
    "params, says",
    [
        ({"name": "a", "vms": [{"name": "b"}]}, "parameters are mutually exclusive"),
        ({}, "one of the following is required"),
        ({"vms": []}, "vms is empty; list at least one VM."),
        ({"vms": [{"profiles": WHOLE}]}, "one of the following is required"),
        ({"vms": [{"name": "a"}, {"name": "a"}]}, "VM a is listed 2 times; list it once."),
        ({"name": "a", "profiles": []}, "VM a: profiles must name at least one profile; use state=absent"),
        ({"name": "a", "mmio_size_gb": 100}, "VM a: mmio_size_gb is 100; it must be a power of two, for example 128."),
        ({"name": "a", "tasks_in_flight": 0}, "tasks_in_flight is 0; it must be between 1 and 640."),
    ],
    ids=["two ways", "no VM", "empty fleet", "entry without VM", "twice", "no profiles", "odd size", "out of range"],
)
def test_wrong_parameters_are_reported_before_vcenter_is_asked(twin, drive, params, says):
    running = twin()
    answer = drive(running)("vgpu_profile", **{"profiles": WHOLE, **params})
    assert answer["failed"]
    assert says in answer["msg"]
    assert running.requests.total() == 0
