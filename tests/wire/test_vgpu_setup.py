"""What vgpu_profile brings along is what a VM needs to start, and nothing else of the VM is touched."""

from __future__ import annotations

import pytest
from pyVmomi import vim

from .lab import A100, READY, lab
from .observe import bystanders, gpu_setup, power_on, reconfigure, virtual_machine

WHOLE = {"name": "train-01", "profiles": ["grid_a100-40c"]}
MEMORY = "Invalid memory setting: memory reservation (sched.mem.min) should be equal to memsize(16384)."
WINDOW = "The firmware could not allocate"
NO_GPU = "The amount of graphics resource available"
UNMANAGED_KEYS = {
    "pciPassthru.allowP2P": "TRUE",
    "pciPassthru7.cfg.note": "somebody's",
    "sched.cpu.latencySensitivity": "high",
}


@pytest.mark.parametrize(
    "seed, profiles",
    [
        (lab(), ["grid_a100-40c"]),
        (lab(release="7.0.2"), ["grid_a100-40c"]),
        (lab(gpus=[{**A100, "count": 2}]), ["grid_a100-40c", "grid_a100-40c"]),
        (lab(gpus=[{**A100, "vgpu_mode": "mixedSize"}]), ["grid_a100-20c", "grid_a100-10c"]),
        (lab(gpus=[{**A100, "mig": True}]), ["grid_a100-3-20c"]),
        (lab({"firmware": "bios"}, gpus=[{"board": "t4", "graphics_type": "sharedDirect"}]), ["grid_t4-16c"]),
    ],
    ids=["whole", "on 7.0", "two", "two sizes on one GPU", "MIG-backed", "under BIOS"],
)
def test_a_vm_with_everything_brought_along_starts(twin, drive, seed, profiles):
    running = twin(seed=seed)
    answer = drive(running)("vgpu_profile", name="train-01", profiles=profiles)
    assert not answer["failed"], answer["msg"]
    assert power_on(running, "train-01") is None


@pytest.mark.parametrize(
    "left_out, words",
    [
        ({"memory_reservation": "ignore"}, MEMORY),
        ({"mmio": "ignore"}, WINDOW),
        ({"mmio_size_gb": 64}, WINDOW),
    ],
    ids=["memory reservation", "MMIO", "large enough MMIO"],
)
def test_a_vm_without_one_of_them_does_not(twin, drive, left_out, words):
    running = twin(seed=lab())
    answer = drive(running)("vgpu_profile", **WHOLE, **left_out)
    assert not answer["failed"], answer["msg"]
    assert words in power_on(running, "train-01")


def test_bios_firmware_is_refused_because_such_a_vm_would_not_start(twin, drive):
    running = twin(seed=lab({"firmware": "bios"}, {**READY, "firmware": "bios"}))
    answer = drive(running)("vgpu_profile", **WHOLE)
    assert answer["failure"]["code"] == "firmware_bios"
    assert WINDOW in power_on(running, "train-02")


def test_a_profile_needs_a_free_gpu(twin, drive):
    running = twin(seed=lab({}, {}))
    answer = drive(running)(
        "vgpu_profile", vms=[{"name": "train-01"}, {"name": "train-02"}], profiles=["grid_a100-40c"]
    )
    assert not answer["failed"], answer["msg"]
    assert power_on(running, "train-01") is None
    assert NO_GPU in power_on(running, "train-02")


@pytest.mark.parametrize("state", ["present", "absent"])
def test_what_does_not_concern_the_gpu_is_not_touched(twin, drive, state):
    """A network adapter by passthrough, settings of others, also those with a name like ours."""
    vgpu = READY if state == "absent" else {}
    running = twin(seed=lab({**vgpu, "extra_config": {**vgpu.get("extra_config", {}), **UNMANAGED_KEYS}}))
    reconfigure(running, "train-01", annotation="Of somebody else.", deviceChange=[_adapter_by_passthrough()])
    before = bystanders(running, "train-01")
    assert "VirtualPCIPassthrough" in str(before["devices"])
    requested = WHOLE if state == "present" else {"name": "train-01"}
    answer = drive(running)("vgpu_profile", state=state, **requested)
    assert not answer["failed"], answer["msg"]
    assert answer["changed"]
    assert bystanders(running, "train-01") == before
    settings = gpu_setup(running, "train-01")["train-01"]["settings"]
    assert {key: settings[key] for key in UNMANAGED_KEYS if key in settings} == {
        key: value for key, value in UNMANAGED_KEYS.items() if key.startswith("pciPassthru")
    }


def _adapter_by_passthrough():
    backing = vim.vm.device.VirtualPCIPassthrough.DynamicBackingInfo(
        deviceName="",
        allowedDevice=[vim.vm.device.VirtualPCIPassthrough.AllowedDevice(vendorId=0x15B3, deviceId=0x101D)],
    )
    return vim.vm.device.VirtualDeviceSpec(
        operation="add", device=vim.vm.device.VirtualPCIPassthrough(key=-1, backing=backing)
    )


def test_devices_that_match_keep_their_place_and_are_not_taken_out(twin, drive):
    running = twin(seed=lab())
    module = drive(running)
    module("vgpu_profile", name="train-01", profiles=["grid_a100-10c", "grid_a100-20c"])
    before = _keys(running)
    module("vgpu_profile", name="train-01", profiles=["grid_a100-20c", "grid_a100-10c", "grid_a100-10c"])
    after = _keys(running)
    assert [after[key] for key in before] == list(before.values())
    assert len(after) == 3


def _keys(running):
    with virtual_machine(running, "train-01") as machine:
        return {
            device.key: device.backing.vgpu
            for device in machine.config.hardware.device
            if isinstance(device.backing, vim.vm.device.VirtualPCIPassthrough.VmiopBackingInfo)
        }
