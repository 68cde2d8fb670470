"""Captured guests are compared with the site by the checks of the validation, without a container engine."""

from __future__ import annotations

import copy

import pytest

from rehearse import captured, captured_guests

MAC = "00:50:56:80:00:65"
SITE = {
    "vcenter": {"hostname": "vcenter.example.org", "username": "me"},
    "datacenter": "lab",
    "cluster": "train",
    "gpu": {"mode": "vgpu", "profile": "grid_a100-40c"},
    "network": {"path": "pvrdma", "portgroup": "pg-rdma", "nics": ["vmnic2"]},
    "machine": {"template": "ubuntu"},
    "vms": [{"path": "/lab/vm/training/train-01"}, {"prefix": "job-", "count": 1}],
    "guests": {
        "user": "ops",
        "driver": {"package": "/srv/nvidia-linux-grid-550_550.90.07_amd64.deb"},
        "licence": {"token_file": "t"},
    },
    "validation": {"seconds": 5},
}
GUEST = {
    "kernel": "6.8.0-45-generic",
    "driver": "550.90.07",
    "gpus": [{"address": "00000000:02:01.0", "name": "NVIDIA A100-40C", "licence": "Licensed"}],
    "missing": 0,
    "links": [{"name": "ens192", "mac": "00:50:56:80:00:01", "mtu": 1500}, {"name": "ens224", "mac": MAC, "mtu": 9000}],
    "modules": ["ib_core", "ib_uverbs", "vmw_pvrdma"],
    "without": [],
}
LIVE_MTU = "train-01: ens224 has an MTU of 1500 instead of 9000 bytes."


def adapter(kind, mac, group):
    backing = {"type": "b", "fields": {"port": {"type": "p", "fields": {"portgroupKey": group}}}}
    return {"type": kind, "fields": {"macAddress": mac, "backing": backing}}


def seed():
    devices = [
        adapter("VirtualVmxnet3", "00:50:56:80:00:01", "dvportgroup-1"),
        adapter("VirtualVmxnet3Vrdma", MAC, "dvportgroup-2"),
    ]
    vm = {"name": "train-01", "folder": "training", "moids": ["vm-101"], "host": "esx-01", "devices": devices}
    host = {"name": "esx-01", "driver": {"family": "nvaie", "version": "550.90.05"}}
    groups = [{"name": "pg-rdma", "moids": ["dvportgroup-2"]}]
    center = {"name": "lab", "networks": [], "switches": [{"portgroups": groups}], "clusters": [{"hosts": [host]}]}
    return {"datacenters": [{**center, "vms": [vm]}]}


def compared(site=None, **guest):
    return captured_guests.compared(site or SITE, seed(), {"vm-101": {**copy.deepcopy(GUEST), **guest}})


def facts(found):
    return {row["fact"]: row["reason"] for row in found.assumptions}


def test_a_guest_as_the_site_requests_it_differs_in_nothing():
    found = compared()
    assert (found.changes, found.problems, found.warnings) == ([], [], [])
    assert facts(found) == {captured_guests.NEVER: "a capture does not have them"}


@pytest.mark.parametrize(
    "guest, words",
    [
        ({"links": [{"name": "ens224", "mac": MAC, "mtu": 1500}]}, LIVE_MTU),
        ({"driver": "535.161.08"}, "train-01: The driver version is 535.161.08 instead of 550.90.07."),
        ({"modules": ["ib_core"]}, "train-01: Kernel modules not loaded: ib_uverbs, vmw_pvrdma."),
        ({"gpus": [{**GUEST["gpus"][0], "licence": "Unlicensed"}]}, "train-01: A vGPU has no licence"),
    ],
    ids=["MTU", "driver", "modules", "licence"],
)
def test_what_the_stage_guests_changes_is_a_change_and_without_it_a_problem(guest, words):
    found = compared(**guest)
    assert [row.startswith(words) and row.endswith("The stage guests changes it.") for row in found.changes] == [True]
    assert found.problems == []
    # Without the stage, no driver is requested.
    alone = compared({key: one for key, one in SITE.items() if key != "guests"}, **guest)
    assert (alone.changes, [row[: len(words)] for row in alone.problems]) == (
        [],
        [words] if "driver" not in guest else [],
    )


def test_a_vm_of_the_same_name_in_another_folder_is_not_compared():
    both = seed()
    (vm,) = both["datacenters"][0]["vms"]
    both["datacenters"][0]["vms"].append({**vm, "folder": "old", "moids": ["vm-102"]})
    guests = {"vm-101": GUEST, "vm-102": {**GUEST, "driver": "535.161.08"}}
    assert captured_guests.compared(SITE, both, guests).changes == []


def test_a_lost_gpu_is_a_problem_that_no_stage_changes():
    found = compared(gpus=[], missing=1)
    assert found.problems == ["train-01: The driver shows 0 of 1 GPUs. This is the state of the guest in the capture."]
    without = {key: one for key, one in SITE.items() if key != "validation"}
    assert compared(without, gpus=[], missing=1).warnings == ["train-01: The driver shows 0 of 1 GPUs."]


@pytest.mark.parametrize("vgpus, problems", [(1, 0), (2, 2)])
def test_a_gpu_that_the_vm_does_not_have_yet_is_not_lost(vgpus, problems):
    made = seed()
    (vm,) = made["datacenters"][0]["vms"]
    backing = {"type": "VirtualPCIPassthroughVmiopBackingInfo", "fields": {"vgpu": "grid_a100-40c"}}
    vm["devices"] += vgpus * [{"type": "VirtualPCIPassthrough", "fields": {"backing": backing}}]
    site = {**SITE, "network": {**SITE["network"], "path": "sriov"}}
    site["gpu"] = {**SITE["gpu"], "per_vm": 2, "nvlink": "required"}
    guest = {**GUEST, "nvidia-smi topo -m": "\tGPU0\tCPU Affinity\nGPU0\t X \t0-7\n"}
    assert len(captured_guests.compared(site, made, {"vm-101": guest}).problems) == problems


def test_a_driver_of_a_branch_that_the_host_refuses_is_a_warning_if_none_is_requested():
    site = {**SITE, "guests": {"user": "ops"}}
    (row,) = compared(site, driver="570.86.16").warnings
    does_not_fit = "train-01: The guest driver 570.86.16 does not fit its host esx-01. A guest of branch R570 is newer"
    assert row.startswith(does_not_fit)
    # The host driver itself may be assumed.
    assumed = {"object": "host esx-01", "fact": "version of the host driver", "value": "550.54.16", "reason": "none"}
    lines = captured.Outcome("now", [assumed], warnings=[row]).lines()
    assert [line.startswith(f"  {does_not_fit}") for line in lines if "Assumed here: version of" in line] == [True]
    assert compared(site, driver="535.161.08").warnings == []


def test_a_newer_driver_than_requested_is_a_problem_unless_the_site_allows_a_downgrade():
    found = compared(driver="550.127.05")
    assert [row.endswith(captured_guests.DOWNGRADE) for row in found.problems] == [True]
    assert found.changes == []
    guests = {**SITE["guests"], "driver": {**SITE["guests"]["driver"], "downgrade": "allow"}}
    allowed = compared({**SITE, "guests": guests}, driver="550.127.05")
    assert (len(allowed.changes), allowed.problems) == (1, [])


def test_what_the_capture_lacks_is_an_assumption_and_no_difference():
    bare = captured_guests.compared(SITE, seed(), {"vm-101": {"without": []}})
    assert (bare.changes, bare.problems, bare.warnings) == ([], [], [])
    assert facts(bare)["MTU, driver and GPUs, licence, kernel modules"] == "the capture has no outputs that show them"
    none = captured_guests.compared(SITE, seed(), {})
    assert facts(none) == {"MTU, driver and GPUs, licence, kernel modules": "the capture has no outputs of this guest"}
    lacking = captured_guests.compared(SITE, seed(), {"vm-101": {"without": ["nvidia-smi-q-x"]}})
    assert lacking.changes == ["train-01: The program nvidia-smi is missing. The stage guests changes it."]


@pytest.mark.parametrize("site", ["{{ site }}", {**SITE, "gpu": {"mode": "{{ mode }}"}}], ids=["whole", "value"])
def test_a_site_with_templates_is_not_compared_and_named(site):
    found = compared(site)
    assert [row["object"] for row in found.assumptions] == ["guest train-01"]
    assert "the site is not a mapping of plain values" in found.assumptions[0]["reason"]


def test_a_site_without_stages_for_guests_compares_none():
    bare = {key: one for key, one in SITE.items() if key not in ("guests", "validation")}
    assert compared(bare, driver="1.1") == captured_guests.Compared()


TOPOLOGY = """	GPU0	GPU1	NIC0	CPU Affinity	NUMA Affinity
GPU0	 X 	SYS	SYS	0-7	0
GPU1	SYS	 X 	SYS	0-7	0
NIC0	SYS	SYS	 X
"""


def test_nvlink_and_gpudirect_are_those_of_the_outputs():
    site = {**SITE, "network": {**SITE["network"], "path": "sriov", "gpudirect": "enabled"}}
    site["gpu"] = {"mode": "vgpu", "profile": "grid_a100-40c", "per_vm": 2, "nvlink": "required"}
    version = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.90.07"
    outputs = {"nvidia-smi topo -m": TOPOLOGY, "cat /proc/driver/nvidia/version": version}
    found = compared(site, modules=[*captured_guests.check_guest.NEEDED["sriov"]], **outputs)
    assert any("pairs of GPUs have no NVLink connection" in row for row in found.problems), found
    assert any("The adapter cannot reach GPU memory." in row for row in found.changes), found
    good = compared(site, modules=["nvidia_peermem"], **outputs)
    assert not any("cannot reach GPU memory" in row for row in good.changes)
