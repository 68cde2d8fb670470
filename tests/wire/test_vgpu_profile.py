"""vgpu_profile where the world does not play along: what it refuses, what it recovers from, what it leaves behind."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.modules import vgpu_profile

from .observe import gpu_setup

A100 = {"board": "a100_pcie_40gb", "graphics_type": "sharedDirect"}
NVAIE = {"family": "nvaie", "version": "550.54.10"}
WHOLE = {"name": "train-01", "profiles": ["grid_a100-40c"]}
READY = {
    "vgpus": ["grid_a100-40c"],
    "memory_reservation": "all",
    "extra_config": {"pciPassthru.use64bitMMIO": "TRUE", "pciPassthru.64bitMMIOSizeGB": "128"},
}


def lab(*vms, gpus=(A100,), driver=NVAIE, release="8.0.3", others=(), **host):
    """A seed with one host for the VMs, and maybe others in its cluster."""
    first = {"name": "esx-01", "driver": driver, "gpus": list(gpus), **host}
    vms = vms or ({},)
    return {
        "release": release,
        "users": {"administrator@vsphere.local": "VMware1!"},
        "datacenters": [
            {
                "name": "lab",
                "datastores": [{"name": "datastore-01", "capacity_gb": 1000}],
                "clusters": [{"name": "gpu", "hosts": [first, *others]}],
                "vms": [
                    {"name": f"train-{number:02}", "host": "esx-01", "firmware": "efi", "memory_gb": 16, **vm}
                    for number, vm in enumerate(vms, start=1)
                ],
            }
        ],
    }


def result(answer, name="train-01"):
    (found,) = [vm for vm in answer["vms"] if vm["name"] == name]
    return found


@pytest.mark.parametrize(
    "seed, profiles, code",
    [
        (lab(driver={"family": "none"}), ["grid_a100-40c"], "host_offers_nothing"),
        (lab(driver={"family": "graphics"}), ["grid_a100-40c"], "host_offers_nothing"),
        (lab(gpus=[{**A100, "graphics_type": "shared"}]), ["grid_a100-40c"], "host_offers_nothing"),
        (lab(gpus=[{**A100, "passthrough": True}]), ["grid_a100-40c"], "host_offers_nothing"),
        (lab(gpus=[]), ["grid_a100-40c"], "host_offers_nothing"),
        (lab(gpus=[{**A100, "mig": True}]), ["grid_a100-40c"], "profile_not_offered"),
        (lab(), ["grid_a100-3-20c"], "profile_not_offered"),
        (lab(), ["nvidia_a40-48c"], "profile_not_offered"),
        (lab(), ["a100"], "unknown_profile"),
        (
            lab(
                gpus=[],
                others=[{"name": "esx-02", "driver": NVAIE, "gpus": [A100]}],
            ),
            ["grid_a100-40c"],
            "profile_on_other_host",
        ),
        (lab({"firmware": "bios"}), ["grid_a100-40c"], "firmware_bios"),
        (lab(release="7.0.3"), ["grid_a100-20c", "grid_a100-20c"], "several_fractional"),
        (lab(), ["grid_a100-4c"] * 9, "too_many"),
        (lab(), ["grid_a100-40c", "grid_a100-40c"], "too_few_gpus"),
        (
            lab(gpus=[A100, {**A100, "board": "a40"}]),
            ["grid_a100-40c", "nvidia_a40-48c"],
            "mixed_boards",
        ),
        (lab({"template": True}), ["grid_a100-40c"], "template"),
        (lab({"connection": "inaccessible"}), ["grid_a100-40c"], "vm_inaccessible"),
        (lab({"power": "on"}), ["grid_a100-40c"], "vm_running"),
    ],
    ids=[
        "no driver",
        "driver of the wrong family",
        "graphics type shared",
        "GPU passed through",
        "no GPU",
        "MIG mode on",
        "MIG mode off",
        "no such board",
        "no such profile",
        "other host of the cluster",
        "BIOS firmware",
        "two fractional on 7.0",
        "nine",
        "more than the host has",
        "two boards",
        "template",
        "inaccessible",
        "running",
    ],
)
def test_a_real_data_centre_shows_the_reason_and_nothing_is_touched(twin, drive, seed, profiles, code):
    running = twin(seed=seed)
    answer = drive(running)("vgpu_profile", name="train-01", profiles=profiles)
    assert result(answer)["failure"]["code"] == code, answer["msg"]
    assert not answer["changed"]
    assert running.requests["ReconfigVM_Task"] == 0


def test_one_bad_vm_of_a_fleet_does_not_keep_the_others_from_their_gpu(twin, drive):
    running = twin(seed=lab({}, {"firmware": "bios"}, {}))
    running.control.fail_tasks(method="ReconfigVM_Task", entity="train-03", fault="FileLocked", message="Locked.")
    answer = drive(running)(
        "vgpu_profile",
        vms=[{"name": f"train-{number:02}"} for number in range(1, 5)],
        profiles=["grid_a100-40c"],
    )
    assert answer["failed"]
    assert answer["failure"]["failed"] == ["train-02", "train-03", "train-04"]
    assert [vm["failure"].get("code") for vm in answer["vms"]] == [None, "firmware_bios", "file_locked", "vm_not_found"]
    assert [vm["changed"] for vm in answer["vms"]] == [True, False, False, False]
    assert gpu_setup(running, "train-01")["train-01"]["profiles"] == ["grid_a100-40c"]


@pytest.mark.parametrize(
    "trouble",
    [
        ("close_after", {"method": "ReconfigVM_Task"}),
        ("fail_tasks", {"method": "ReconfigVM_Task", "fault": "ConcurrentAccess"}),
        ("drop_sessions", {}),
        ("unavailable", {"count": 2}),
    ],
    ids=["connection cut after the request", "somebody was faster", "session dropped", "503"],
)
def test_passing_trouble_ends_with_exactly_one_vgpu(twin, drive, trouble):
    running = twin()
    module = drive(running)
    module("vgpu_profile", check=True, **WHOLE)
    verb, options = trouble
    running.control.do(verb, **options)
    answer = module("vgpu_profile", **WHOLE)
    assert not answer["failed"], answer["msg"]
    assert answer["changed"]
    assert gpu_setup(running, "train-01")["train-01"]["profiles"] == ["grid_a100-40c"]


def test_one_vm_in_two_spellings_is_refused_in_both(twin, drive):
    running = twin()
    answer = drive(running)(
        "vgpu_profile", vms=[{"name": "train-01"}, {"path": "/lab/vm/training/train-01"}], profiles=["grid_a100-40c"]
    )
    assert {vm["failure"]["code"] for vm in answer["vms"]} == {"duplicate_vm"}
    assert not answer["changed"]


def test_only_the_vm_that_changes_is_power_cycled(twin, drive):
    running = twin(seed=lab({**READY, "power": "on"}, {"power": "on"}, gpus=[{**A100, "count": 2}]))
    answer = drive(running)(
        "vgpu_profile",
        vms=[{"name": "train-01"}, {"name": "train-02"}],
        profiles=["grid_a100-40c"],
        unified_memory="ignore",
        power="cycle",
    )
    assert not answer["failed"], answer["msg"]
    assert [vm["changed"] for vm in answer["vms"]] == [False, True]
    assert running.requests["PowerOnVM_Task"] == 1
    after = gpu_setup(running, "train-02")["train-02"]
    assert (after["profiles"], after["power"]) == (["grid_a100-40c"], "poweredOn")
    assert not any(key.startswith("aiready.") for key in after["settings"])


def test_a_vm_that_finds_no_free_gpu_runs_again_as_it_did(twin, drive):
    running = twin(seed=lab({**READY, "power": "on"}, {"power": "on"}))
    before = gpu_setup(running, "train-02")
    answer = drive(running)("vgpu_profile", name="train-02", profiles=["grid_a100-40c"], power="cycle")
    assert answer["failure"]["code"] == "power_on_refused"
    assert "The old configuration was put back, and the VM runs with it." in answer["msg"]
    assert gpu_setup(running, "train-02") == before


def test_the_examples_of_the_documentation_do_what_they_say(twin, drive):
    seed = lab({}, {}, {}, gpus=[{**A100, "count": 8}])
    seed["datacenters"][0].update(name="dc1", vm_folders=["training"])
    for vm in seed["datacenters"][0]["vms"]:
        vm["folder"] = "training"
    running = twin(seed=seed)
    module = drive(running)
    plays = yaml.safe_load(vgpu_profile.EXAMPLES)
    tasks = [task for entry in plays for task in entry.get("tasks", [entry])]
    calls = [task["aiready.vsphere.vgpu_profile"] for task in tasks if "aiready.vsphere.vgpu_profile" in task]
    for call in calls:
        params = {key: value for key, value in call.items() if key not in module.connection}
        for expected in (True, False):
            answer = module("vgpu_profile", **params)
            assert not answer["failed"], answer["msg"]
            assert answer["changed"] is expected
    profiles = {
        name: setup["profiles"] for name, setup in gpu_setup(running, "train-01", "train-02", "train-03").items()
    }
    assert profiles == {"train-01": [], "train-02": [], "train-03": ["grid_a100-10c", "grid_a100-20c"]}


KILLED = """
import json, sys
sys.path[:0] = json.loads(sys.argv[1])
import conftest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.aiready.vsphere.plugins.modules import vgpu_profile
with patch_module_args(json.loads(sys.argv[2])):
    vgpu_profile.main()
"""


def test_a_run_that_is_killed_with_the_vm_off_is_finished_by_the_next(twin, drive):
    running = twin(seed=lab({"power": "on"}))
    module = drive(running)
    wish = {**WHOLE, "power": "cycle"}
    arguments = json.dumps({**module.connection, **wish})
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, json.dumps(sys.path), arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    (machine,) = [vm for vm in running.world.of_kind("VirtualMachine") if vm.name == "train-01"]
    while machine.power == "poweredOn" and process.poll() is None:
        time.sleep(0.005)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    left = gpu_setup(running, "train-01")["train-01"]
    assert (left["power"], left["settings"]["aiready.vsphere.power_on_again"]) == ("poweredOff", "true")

    careful = module("vgpu_profile", check=True, **WHOLE)
    assert result(careful)["pending"] == [{"what": "power", "needs": "power_on"}]

    answer = module("vgpu_profile", **wish)
    assert not answer["failed"], answer["msg"]
    after = gpu_setup(running, "train-01")["train-01"]
    assert (after["power"], after["profiles"]) == ("poweredOn", ["grid_a100-40c"])
    assert "aiready.vsphere.power_on_again" not in after["settings"]


def test_a_fleet_costs_one_request_per_changed_vm_and_a_few_for_all(twin, drive):
    running = twin(seed="large")
    fleet = {
        "vms": [{"name": f"train-{number:04}"} for number in range(1, 101)],
        "profiles": ["grid_a100-4c"],
    }
    module = drive(running)
    assert module("vgpu_profile", **fleet)["changed"]
    assert running.requests.total() <= 125
    running.requests.clear()
    assert not module("vgpu_profile", **fleet)["changed"]
    assert running.requests.total() <= 3
