"""Options of the rest of the stack are compared with the hardware and with the other sections of the site."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.filter.filters import FilterModule
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import validation

from unit.plugins.filter.seen_guests import site

site_problems = FilterModule().filters()["site_problems"]
WHOLE = {"mode": "passthrough"}
AMPERE, ADA = {"mode": "vgpu", "profile": "grid_a100-40c"}, {"mode": "vgpu", "profile": "grid_l40s-48c"}


def stack(gpu=None, judged=True, **wish):
    more = {"gpu": gpu} if gpu else {}
    return site(guests=None, stack=wish, **({"validation": {"seconds": 5}} if judged else {}), **more)


SOUND = {
    "nothing": stack(judged=False),
    "the first level on a vGPU": stack(dcgm={"diag": 1, "health": True}),
    "every level on whole GPUs": stack(WHOLE, dcgm={"diag": 4}),
    "storage with whole GPUs": stack(WHOLE, gds={"check": "required", "read_file": "/data/sample"}),
    "storage with a vGPU of Ada": stack(ADA, gds={"check": "required"}),
    "a package alone": stack(dcgm={"package": "datacenter-gpu-manager-4-cuda12"}, judged=False),
}


@pytest.mark.parametrize("one", SOUND.values(), ids=SOUND)
def test_a_sound_stack_has_no_problems(one):
    assert site_problems(one) == []


BAD = {
    "a level that does not exist": (
        stack(WHOLE, dcgm={"diag": 5}),
        "site.stack.dcgm.diag: 5 is not a level of `dcgmi diag`. Use 1 to 4, or 0 for no diagnostic.",
    ),
    "hardware tests on a vGPU": (
        stack(dcgm={"diag": 3}),
        "site.stack.dcgm.diag: level 3 measures PCIe, power and temperature, which a vGPU does not report "
        "(site.gpu.mode is vgpu). Use level 1, or GPUs in passthrough.",
    ),
    "storage with a vGPU of Ampere": (
        stack(AMPERE, gds={"read_file": "/data/sample"}),
        "site.stack.gds.read_file: GPUDirect Storage does not support a vGPU of the board A100 PCIe 40GB "
        "(site.gpu.profile is grid_a100-40c). Use Ada, Hopper or Blackwell with the open guest driver, use "
        "passthrough, or remove it.",
    ),
    "a file of nowhere": (
        stack(WHOLE, gds={"read_file": "data/sample"}),
        "site.stack.gds.read_file: data/sample is not an absolute path of the guests. Begin it with /.",
    ),
    "SHARP": (
        stack(sharp="required"),
        "site.stack.sharp: SHARP reduces in the switches of InfiniBand, and site.network.path is pvrdma, which is "
        "Ethernet. Remove it; NCCL reduces on the GPUs over RoCE.",
    ),
    "checks without a validation": (
        stack(dcgm={"diag": 1}, judged=False),
        "site.stack: it requests checks, and the site has no validation that runs them. Add site.validation, or "
        "remove diag, health, check and read_file.",
    ),
}


@pytest.mark.parametrize("one, problem", BAD.values(), ids=BAD)
def test_what_the_hardware_does_not_support_is_rejected(one, problem):
    assert site_problems(one) == [problem]


def test_the_options_reach_the_role_and_the_judge():
    wish = {"dcgm": {"diag": 2, "package": "dcgm"}, "gds": {"read_file": "/data/sample"}}
    made = validation.validation({**stack(WHOLE, **wish)})
    told = {"dcgm_diag": 2, "dcgm_health": False, "gds": True, "gds_file": "/data/sample"}
    assert made["stack"] == {**told, "dcgm_package": "dcgm"}
    assert made["intent"]["stack"] == told
