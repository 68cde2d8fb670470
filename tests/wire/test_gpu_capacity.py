"""gpu_capacity_info says what fits now, who says so, and what blocks the rest."""

from __future__ import annotations

import pytest
from pyVim.task import WaitForTask

from .observe import virtual_machine, warned
from .placement_lab import esx, far, lab, left_to_host, near, ready

NOW, BEFORE = "9.1.0", "8.0.3"
SOURCE = {NOW: "server", BEFORE: "model"}
USER = "automation@vsphere.local"


@pytest.fixture
def capacity(twin, drive):
    """The capacity of a data centre with these hosts and VMs."""

    def ask(*hosts, vms=(), release=NOW, task=None, **more):
        running = twin(seed={**lab(*hosts, vms=vms, release=release), **more})
        answer = drive(running)("gpu_capacity_info", cluster="gpu", **task or {})
        assert not answer["failed"], answer["msg"]
        return answer["capacity"]

    return ask


def row(found, device, host="esx-01"):
    """The row of a device: a profile without its board, or None for whole GPUs."""
    name = f"grid_a100-{device}" if device else None
    return next(one for one in found["hosts"] if (one["host"], one["profile"]) == (host, name))


def causes(one):
    return {block["cause"]: block["lost"] for block in one["blocked"]}


def numbers(one):
    return (one["fits"], one["in_use"], one["max"])


BARE = {"driver": None, "module_options": None}
# Name: (GPUs of the host, further keys of it, profiles of running VMs, device, its numbers, its causes).
STATES = {
    "empty": ([near(), far()], {}, [], "40c", (2, 0, 2), {}),
    "used by the same size": ([near(), far()], {}, ["20c"], "20c", (3, 1, 4), {"in_use": 1}),
    "used by another size": ([near(), far()], {}, ["20c"], "40c", (1, 0, 2), {"other_size": 1}),
    "mixed sizes": (
        [near(vgpu_mode="mixedSize")],
        {},
        ["20c", "10c"],
        "10c",
        (1, 1, 4),
        {"in_use": 1, "mixed_memory": 2},
    ),
    "MIG": ([near(mig=True)], {}, ["3-20c"], "1-5c", (4, 0, 7), {"mig_slices": 3}),
    "MIG that is off": ([near(mig=True), far()], {}, [], "1-5c", (7, 0, 7), {"mig_off": 7}),
    "MIG that is on": ([near(mig=True), far()], {}, [], "40c", (1, 0, 1), {"mig_on": 1}),
    "passthrough of one GPU": ([near(passthrough=True), far()], {}, [], "40c", (1, 0, 1), {"in_passthrough": 1}),
    "whole GPUs": ([near(passthrough=True), far()], {}, [], None, (1, 0, 1), {"not_in_passthrough": 1}),
    "another graphics type": (
        [near(graphics_type="shared"), far()],
        {},
        [],
        "40c",
        (1, 0, 1),
        {"graphics_type": 1},
    ),
    "no driver": ([near()], BARE, [], "40c", (0, 0, 0), {"driver_missing": 1}),
    "maintenance": ([near(), far()], {"maintenance": True}, [], "40c", (0, 0, 2), {"host_out_of_use": 2}),
}


@pytest.mark.parametrize("release", [BEFORE, NOW])
@pytest.mark.parametrize("state", STATES)
def test_a_row_has_the_numbers_and_the_causes(capacity, state, release):
    gpus, more, profiles, device, expected, blocked = STATES[state]
    vms = [ready(f"v{number}", "esx-01", one, power="on") for number, one in enumerate(profiles)]
    host = {key: value for key, value in {**esx(1, gpus), **more}.items() if value is not None}
    found = capacity(host, vms=vms, release=release)
    one = row(found, device)
    assert (numbers(one), causes(one)) == (expected, blocked)
    assert one["source"] == SOURCE[release]
    assert [one["host"] for one in found["hosts"] if one["model_free"] != one["free"]] == []


def test_memory_limits_what_fits_and_not_what_is_free(capacity):
    host = esx(1, [near(), far()], hardware={"memory_gb": 128})
    found = capacity(host, task={"memory_gb": 64, "profiles": ["grid_a100-20c"]})
    one = row(found, "20c")
    assert (one["fits"], one["free"], causes(one)) == (1, 4, {"memory": 3})
    assert [numbers(one) for one in found["clusters"]] == [(1, 0, 4)]


def test_a_cluster_is_asked_as_a_whole_and_has_the_causes_of_its_hosts(capacity):
    vms = [ready("old", "esx-02", "20c", power="on")]
    found = capacity(esx(1, [near(), far()]), esx(2), vms=vms, task={"profiles": ["grid_a100-40c"]})
    (one,) = found["clusters"]
    assert (numbers(one), one["source"], causes(one)) == ((2, 0, 3), "server", {"other_size": 1})
    assert (found["source"], found["why_model"]) == ("server", [])


def test_the_model_answers_a_user_without_the_privilege_and_says_why(capacity):
    users = {USER: "secret", "administrator@vsphere.local": "VMware1!"}
    granted = {"roles": {"readers": []}, "permissions": [{"user": USER, "role": "readers"}], "users": users}
    found = capacity(esx(1), **granted)
    assert found["source"] == "model"
    assert found["why_model"] == ["the user lacks the privilege DirectPathProfileManager.Manage"]
    assert row(found, "40c")["fits"] == 1


def test_the_model_answers_if_the_task_says_so(capacity):
    found = capacity(esx(1), task={"source": "model"})
    assert (found["source"], found["why_model"]) == ("model", ["the task sets source=model"])


def test_a_gap_that_only_vcenter_sees_is_a_warning_with_both_numbers(twin, drive, capsys):
    vms = [ready(f"v{number}", "esx-01", "10c", power="on") for number in range(4)]
    running = twin(seed=lab(esx(1, [near(vgpu_mode="mixedSize")]), vms=vms, release=NOW))
    for name in ("v0", "v2"):
        with virtual_machine(running, name) as machine:
            WaitForTask(machine.PowerOffVM_Task())
    answer = drive(running)("gpu_capacity_info", cluster="gpu", profiles=["grid_a100-20c"])
    said = (
        "Capacity for grid_a100-20c on esx-01: vCenter reports 0 free, the model of this collection computes 1. The row"
    )
    assert said in warned(answer, capsys)
    one = row(answer["capacity"], "20c")
    assert (one["free"], one["server_free"], one["model_free"]) == (0, 0, 1)


TABLE = """\
HOST           BOARD                  DEVICE         FITS  USED  MAX  BY      BLOCKED BY
gpu (cluster)  NVIDIA A100 PCIe 40GB  grid_a100-40c  1     0     2    server  other size 1
gpu (cluster)  NVIDIA A100 PCIe 40GB  grid_a100-20c  3     1     4    server  in use 1
esx-01         NVIDIA A100 PCIe 40GB  grid_a100-40c  1     0     2    server  other size 1 (grid_a100-20c)
esx-01         NVIDIA A100 PCIe 40GB  grid_a100-20c  3     1     4    server  in use 1
"""


def test_people_kueue_and_dashboards_get_the_same_numbers(capacity):
    vms = [ready("old", "esx-01", "20c", power="on")]
    profiles = ["grid_a100-40c", "grid_a100-20c"]
    found = capacity(esx(1, [near(), far()]), vms=vms, task={"profiles": profiles})
    assert found["table"] == TABLE
    (group,) = found["kueue"]["resource_groups"]
    quotas = {flavor["name"]: flavor["resources"][0]["nominalQuota"] for flavor in group["flavors"]}
    assert quotas == {"grid-a100-40c": 1, "grid-a100-20c": 4}
    flat = {(one["name"], one["profile"]): one["value"] for one in found["metrics"] if not one["cause"]}
    assert flat["aiready_gpu_capacity_fits", "grid_a100-20c"] == 3
    assert flat["aiready_gpu_capacity_in_use", "grid_a100-20c"] == 1
    assert flat["aiready_gpu_capacity_max", "grid_a100-40c"] == 2


@pytest.mark.parametrize("release, there", [("8.0.1", False), (BEFORE, True)])
def test_stun_estimates_are_those_of_vcenter_by_profile_and_bandwidth(capacity, release, there):
    found = capacity(esx(1), esx(2), release=release, task={"stun_estimates": True, "source": "model"})
    seen = [one for one in found["stun_estimates"] if one["profile"] == "grid_a100-20c"]
    times = [("gpu", 10000, 18), ("gpu", 25000, 7), ("gpu", 100000, 2)]
    assert [(one["cluster"], one["migration_mbps"], one["stun_seconds"]) for one in seen] == (times if there else [])


def test_names_that_are_wrong_end_the_task_with_their_code(twin, drive):
    answer = drive(twin())("gpu_capacity_info", cluster="none")
    assert (answer["failed"], answer["failure"]["code"]) == (True, "cluster_not_found")
    assert answer["msg"].startswith("GPU capacity: cannot read it. There is no cluster none.")


@pytest.mark.parametrize("profiles", [[], ["20c"]])
def test_both_agree_about_gpus_whose_mode_the_host_picks(twin, drive, profiles):
    vms = [ready(f"v{number}", "esx-01", one, power="on") for number, one in enumerate(profiles)]
    running = twin(seed=lab(esx(1, [near(passthrough=True), far()]), vms=vms, release=NOW))
    left_to_host(running)
    found = drive(running)("gpu_capacity_info", cluster="gpu")["capacity"]
    assert [one for one in found["hosts"] if one["server_free"] != one["model_free"]] == []
    assert {one["source"] for one in found["hosts"]} == {"server"}
    half, whole = row(found, "20c"), row(found, None)
    assert (half["free"], whole["free"]) == ((4, 2) if not profiles else (3, 1))
    assert causes(whole) == ({} if not profiles else {"not_in_passthrough": 1})
