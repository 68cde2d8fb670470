"""The comparison of a host and the module of each setting give the same answer, before, during and after a change."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.host_plan import plan

from twin_labs.host_lab import ESX, GPU, NVAIE, esx, restart, seed

DEPOT = "depots/NVD-AIE-800_550.54.16-1OEM.800.1.0.20613240_23471877.zip"
# {step: a host that differs, module, its parameters, inputs of the role, whether the change waits for a restart}
PLANTED = {
    "driver": (
        {"driver": {"family": "none"}, "maintenance": True},
        "nvaie_vib",
        {"depot": f"[datastore-01] {DEPOT}"},
        {"driver": {"depot": f"[datastore-01] {DEPOT}"}},
        True,
    ),
    "kernel": (
        {},
        "esxi_kernel_setting",
        {"settings": {"atsSupport": True}},
        {"kernel_settings": {"atsSupport": True}},
        True,
    ),
    "modules": (
        {},
        "esxi_module_options",
        {"module": "nmlx5_core", "options": {"pfctx": "0x08", "max_vfs": "4,0"}},
        {"module_options": {"nmlx5_core": {"pfctx": "0x08"}}, "vfs": 4, "nics": ["vmnic2"]},
        True,
    ),
    "passthrough": (
        {},
        "pci_passthrough",
        {"devices": [{"id": GPU, "state": "enabled", "take_from_vgpu": True}]},
        {"gpu_passthrough": "enabled"},
        True,
    ),
    "pvrdma": ({}, "pvrdma_host", {"vmknic": "vmk1"}, {"pvrdma": True, "vmknic": "vmk1"}, False),
    "mtu": (
        {},
        "vmkernel_mtu",
        {"devices": ["vmk1"], "mtu": 9000, "switch": "raise"},
        {"mtu": 9000, "vmknic": "vmk1"},
        False,
    ),
    "graphics": (
        {"gpu": {"graphics_type": "shared"}},
        "host_graphics",
        {"default_type": "shared_direct", "devices": [{"id": "all", "type": "shared_direct"}]},
        {"graphics_type": "shared_direct"},
        True,
    ),
}


@pytest.mark.parametrize("step", PLANTED)
def test_a_planted_difference_is_reported_by_both_until_it_is_settled(twin, drive, step):
    differs, module, params, inputs, waits = PLANTED[step]
    world = seed(esx(**differs), mtu=1500)
    world["datacenters"][0]["datastores"][0]["files"] = [
        {"path": DEPOT, "depot": {**NVAIE, "release": "800"}},
    ]
    running = twin(seed=world)
    call = drive(running)

    def both():
        """The steps that the comparison names, whether the module would change something, and what it waits for."""
        look = call("esxi_host_info", host=ESX, kernel_settings=["atsSupport"], modules=["nmlx5_core"])
        answer = call(module, host=ESX, check=True, **params)
        assert not answer["failed"], answer["msg"]
        # Virtual functions are counted after the restart, and no module reports their number.
        steps = {gap["step"] for gap in plan({"look": look}, {"name": ESX, **inputs})["gaps"]} - {"vfs"}
        return steps, answer["changed"], bool(answer["host"]["pending"])

    assert both() == ({step}, True, waits)
    done = call(module, host=ESX, **params)
    assert not done["failed"], done["msg"]
    assert both() == ({step} if waits else set(), False, waits)
    restart(running)
    assert both() == (set(), False, False)
