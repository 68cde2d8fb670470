from __future__ import annotations

import re
from pathlib import Path

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.boards import BOARDS
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig import listing
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.table import COMPUTE_INSTANCE_PROFILES, GPUS

from .samples import read

KNOWN = {key: gpu for key, gpu in GPUS.items() if gpu.profiles}


@pytest.mark.parametrize("key", KNOWN)
def test_the_profiles_of_a_gpu_are_possible(key):
    gpu = KNOWN[key]
    assert (
        len({profile.id for profile in gpu.profiles})
        == len({profile.key for profile in gpu.profiles})
        == len(gpu.profiles)
    )
    for profile in gpu.profiles:
        assert profile.name.startswith(f"{profile.compute_slices}g.")
        assert max(profile.starts) + profile.size <= gpu.memory_slots
        assert profile.max_instances <= len(profile.starts)
        assert profile.compute_slices <= gpu.compute_slices


@pytest.mark.parametrize("key", KNOWN)
def test_the_largest_profile_is_the_whole_gpu(key):
    gpu = KNOWN[key]
    largest = max(gpu.profiles, key=lambda profile: profile.size)
    assert (largest.size, largest.compute_slices) == (gpu.memory_slots, gpu.compute_slices)


@pytest.mark.parametrize(
    "key, sample",
    [
        ("a100_40gb", "a100-pcie40_esxi_510.47.03__lgip"),
        ("a30", "a30_535.183.01__lgip"),
        ("h100_80gb_sxm", "h100-sxm80_580.173.02_mig-off__lgip"),
        ("gh200_96gb", "gh200-96__lgip_first-lines-only"),
        ("rtx_pro_6000_blackwell", "rtxpro6000-server_580__lgip"),
    ],
)
def test_the_table_agrees_with_what_devices_printed(key, sample):
    for row in listing.profiles(read(sample)):
        profile = GPUS[key].profile(row.id)
        assert (row.name, row.total, row.sm, row.dec, row.enc) == (
            profile.name, profile.max_instances, profile.sm, profile.dec, profile.enc,
        )  # fmt: skip
        if row.ce is not None:
            assert (row.ce, row.jpeg, row.ofa) == (profile.ce, profile.jpeg, profile.ofa)


@pytest.mark.parametrize("key, sample", [("a30", "a30_535.183.01__lgipp"), ("h100_80gb_sxm", "h100-80__lgipp")])
def test_the_placements_agree_with_what_devices_printed(key, sample):
    for row in listing.placements(read(sample)):
        profile = GPUS[key].profile(row.profile_id)
        assert (row.starts, row.size) == (profile.starts, profile.size)


def test_ampere_keeps_its_mode_and_needs_a_restart_and_later_ones_neither():
    for gpu in GPUS.values():
        ampere = gpu.architecture == "ampere"
        assert (gpu.mode_survives_reboot, gpu.enable_needs_gpu_reset, gpu.esxi_enable_needs_host_reboot) == (
            ampere,
        ) * 3


def test_every_vgpu_board_with_mig_is_in_the_table():
    assert {board.mig_gpu for board in BOARDS if board.mig_gpu} <= set(GPUS)


def test_what_is_derived_or_incomplete_says_so():
    assert all(gpu.note for gpu in GPUS.values() if not gpu.sure)
    assert not any(gpu.sure for gpu in GPUS.values() if not gpu.profiles)


def test_the_guide_lists_every_key_that_can_be_planned_without_a_device():
    guide = (Path(__file__).parents[6] / "docs" / "mig.md").read_text()
    listed = guide[guide.index("Keys: ") : guide.index("The keys of vGPU boards")]
    assert set(re.findall(r"`(\w+)`", listed)) == set(KNOWN)


def test_the_ids_of_compute_instances_are_those_of_nvml():
    assert COMPUTE_INSTANCE_PROFILES == {
        "1c": 0, "2c": 1, "3c": 2, "4c": 3, "7c": 4, "8c": 5, "6c": 6, "1c_rev1": 7,
    }  # fmt: skip


def test_a_pci_id_means_one_gpu():
    """A device is found by its id alone, so an id that two entries share would be a coin that is tossed."""
    ids = [(device_id, key) for key, gpu in GPUS.items() for device_id in {row[0] for row in gpu.pci}]
    assert len({device_id for device_id, _key in ids}) == len(ids)


@pytest.mark.parametrize(
    "key, seen",
    [
        ("a100_40gb", "510.47.03"),
        ("a30", "535.183.01"),
        ("h100_80gb_sxm", "580.173.02"),
        ("b200", "580.105.08"),
        ("gb200", "580.173.02"),
        ("gb300", "580.173.02"),
        ("rtx_pro_6000_blackwell", "580.65.06"),
    ],
)
def test_no_gpu_needs_a_driver_newer_than_one_it_was_seen_with(key, seen):
    """The releases are those of public captures of these GPUs."""
    needed = GPUS[key].min_driver or "0"
    assert [*map(int, needed.split("."))] <= [*map(int, seen.split("."))]
