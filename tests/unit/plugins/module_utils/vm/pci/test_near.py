# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci import near, rules

from .worlds import (
    A100,
    CX6,
    FAR,
    GPU,
    GPU_FAR,
    PORT,
    SHARED_DIRECT,
    T4,
    device,
    dynamic_device,
    given,
    host,
    member,
    state,
    static_device,
    vgpu,
)


@pytest.mark.parametrize(
    "now, same_root",
    [
        (state(static_device(1, GPU), static_device(2, PORT)), True),
        (state(static_device(1, GPU_FAR), static_device(2, PORT)), False),
        (state(dynamic_device(1, A100), static_device(2, PORT)), None),
        (state(static_device(1, GPU), dynamic_device(2, CX6, label="fabric")), True),
        (state(vgpu(1, "grid_a100-40c"), static_device(2, PORT), around=SHARED_DIRECT), True),
    ],
    ids=[
        "both at addresses of one root",
        "at addresses of two roots",
        "a GPU that vSphere chooses from two roots",
        "a port that vSphere chooses from one root",
        "a vGPU of the only GPU that carries one",
    ],
)
def test_which_gpu_and_port_have_one_root_is_reported(now, same_root):
    (pair,) = near.pairs(now)
    assert pair["same_root"] is same_root


def test_each_gpu_is_reported_with_each_port_by_name():
    now = state(static_device(1, GPU), static_device(2, GPU_FAR), dynamic_device(3, CX6, label="fabric"))
    assert near.pairs(now) == [
        {"gpu": f"static {GPU}", "nic": "dynamic 15b3:101d labelled fabric", "same_root": True},
        {"gpu": f"static {GPU_FAR}", "nic": "dynamic 15b3:101d labelled fabric", "same_root": False},
    ]


def test_groups_are_not_judged_since_their_vendor_made_them():
    assert near.pairs(state(static_device(1, GPU), dynamic_device(2, CX6, **member(1, 0)))) == []


def test_only_a_port_without_any_gpu_of_its_root_is_far():
    assert rules.far_apart(state(static_device(1, GPU_FAR), static_device(2, PORT))) == [f"static {PORT}"]
    assert rules.far_apart(state(static_device(1, GPU_FAR), static_device(2, GPU), static_device(3, PORT))) == []
    assert rules.far_apart(state(dynamic_device(1, A100), static_device(2, PORT))) == []


def test_a_dynamic_device_is_chosen_from_what_is_active_and_has_the_label():
    around = host(given=[given(PORT, label="fabric"), given(GPU, active=False)])
    names = [one.address for one in around.choice(state(dynamic_device(1, CX6, label="fabric")).devices[0].asked)]
    assert names == [PORT]
    assert around.choice(state(dynamic_device(1, CX6, label="other")).devices[0].asked) == []
    assert around.choice(state(dynamic_device(1, A100)).devices[0].asked) == []


@pytest.mark.parametrize("ids, needed", [(A100, True), (T4, False), ("10de:ffff", True), (CX6, False)])
def test_large_gpus_need_efi_and_unknown_ones_are_taken_for_large(ids, needed):
    around = host(devices=[device(GPU, ids, parent=FAR)], given=[])
    assert near.needs_efi(around.tree.get(GPU)) is needed
