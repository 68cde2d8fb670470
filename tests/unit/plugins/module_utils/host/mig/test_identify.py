from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig import identify, inventory, listing
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.inventory import FoundGpu
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.table import GPUS

from .samples import read


@pytest.mark.parametrize(
    "device_id, name, key",
    [
        (0x20F1, "NVIDIA A100-PCIE-40GB", "a100_40gb"),
        (0x20B0, "NVIDIA A100-SXM4-40GB", "a100_40gb"),
        (0x2330, "NVIDIA H100 80GB HBM3", "h100_80gb_sxm"),
        # The bare name is the SXM card with 94 GB; the id is stronger than the name.
        (0x2339, "NVIDIA H100", "h100_94gb"),
        (0x2331, "NVIDIA H100", "h100_80gb_pcie"),
        (0x2336, "something new", "h100_80gb_sxm"),
        # Names of a GH200 contain the memory of its CPU.
        (0x2342, "NVIDIA GH200 480GB", "gh200_96gb"),
        (0x2BB3, "NVIDIA RTX PRO 5000 Blackwell", "rtx_pro_5000_blackwell"),
        (None, "nvidia a30", "a30"),
        (0x26B9, "NVIDIA L40S", None),
    ],
)
def test_a_device_is_found_in_the_table(device_id, name, key):
    assert getattr(identify.identify(device_id, name), "key", None) == key


@pytest.mark.parametrize(
    "text", ["a100_40gb", "A100_40GB", "a100_pcie_40gb", "NVIDIA A100-PCIE-40GB", "a100-pcie-40gb"]
)
def test_a_model_is_named_by_key_board_or_product(text):
    assert identify.by_model(text).key == "a100_40gb"


@pytest.mark.parametrize("text", ["", "a40", "T4", "b100"])
def test_a_model_without_mig_or_unknown_is_none(text):
    assert identify.by_model(text) is None


def found(name="NVIDIA A100-PCIE-40GB", device_id=0x20F1):
    return FoundGpu(0, name, "GPU-1", "0000:0f:00.0", device_id, None, True, True)


def test_the_profiles_are_those_that_the_device_lists():
    listed = listing.profiles(read("a100-pcie40_esxi_510.47.03__lgip"))
    table = identify.device_table(found(), GPUS["a100_40gb"], listed, [])
    # R510 has no 1g with double memory, so that it must not be planned.
    assert [profile.id for profile in table.profiles] == [19, 20, 14, 9, 5, 0]
    assert table.profile(9).starts == (0, 4)


def test_a_gpu_that_nobody_knows_is_described_by_its_own_tables():
    listed = listing.profiles(read("rtxpro6000-server_580__lgip"))
    places = [listing.ListedPlacement(0, row.id, (0, 3, 6, 9), 3) for row in listed if row.name.startswith("1g")]
    places += [listing.ListedPlacement(0, row.id, (0, 6), 6) for row in listed if row.name.startswith("2g")]
    places += [listing.ListedPlacement(0, row.id, (0,), 12) for row in listed if row.name.startswith("4g")]
    table = identify.device_table(found("NVIDIA RTX PRO 9000", 0x2FFF), None, listed, places)
    assert (table.key, table.memory_slots, table.compute_slices, table.sure) == ("rtx_pro_9000", 12, 4, False)
    known = GPUS["rtx_pro_6000_blackwell"]
    for profile in table.profiles:
        same = known.profile(profile.id)
        assert (profile.key, profile.starts, profile.attributes, profile.max_instances) == (
            same.key, same.starts, same.attributes, same.max_instances,
        )  # fmt: skip


def test_a_known_gpu_without_profiles_gets_its_slots_from_the_device():
    listed = listing.profiles(read("a30_535.183.01__lgip"))
    places = listing.placements(read("a30_535.183.01__lgipp"))
    table = identify.device_table(found(), GPUS["rtx_pro_4500_blackwell"], listed, places)
    assert (table.key, table.memory_slots, table.compute_slices) == ("rtx_pro_4500_blackwell", 4, 4)


def test_starts_that_a_device_does_not_list_because_they_are_taken_are_not_forgotten():
    listed = listing.profiles(read("a30_535.183.01__lgip"))
    places = [listing.ListedPlacement(0, 14, (1, 2, 3), 1)]
    present = listing.instances("|   0  MIG 1g.6gb  14  3  0:1  |")
    table = identify.device_table(found("NVIDIA A30X2", 0x2FFF), None, listed, places, present)
    assert table.profile(14).starts == (0, 1, 2, 3)


def test_names_that_a_driver_prints_otherwise_are_kept_and_the_known_ones_still_work():
    listed = [row._replace(name=row.name.replace("3g.40gb", "3g.39gb")) for row in
              listing.profiles(read("h100-sxm80_580.173.02_mig-off__lgip"))]  # fmt: skip
    profile = identify.device_table(found(), GPUS["h100_80gb_sxm"], listed, []).profile(9)
    assert profile.name == "3g.39gb"
    assert "3g.40gb" in profile.aliases


@pytest.mark.parametrize(
    "text, address",
    [
        ("00000000:0F:00.0", "0000:0f:00.0"),
        ("0000:0F:00.0", "0000:0f:00.0"),
        ("0f:00.0", "0000:0f:00.0"),
        ("00000001:0F:00.0", "0001:0f:00.0"),
        ("GPU-14ac2834", None),
        ("0", None),
    ],
)
def test_pci_addresses_are_written_alike(text, address):
    assert inventory.pci_address(text) == address


@pytest.mark.parametrize(
    "text, said",
    [
        ("", "no nvidia_smi_log"),
        ("sh: nvidia-smi: not found", "no nvidia_smi_log"),
        ("<nvidia_smi_log><gpu>", "incomplete"),
    ],
)
def test_what_is_no_document_is_an_error_and_no_empty_host(text, said):
    with pytest.raises(ValueError, match=said):
        inventory.parse(text)


def test_processes_are_read_with_their_instance():
    document = (
        "<nvidia_smi_log><driver_version>580.1</driver_version><gpu id='00000000:00:09.0'><processes><process_info>"
        "<gpu_instance_id>11</gpu_instance_id><pid>10385</pid><type>C</type><process_name>/tmp/loadgen</process_name>"
        "</process_info></processes></gpu></nvidia_smi_log>"
    )
    (gpu,) = inventory.parse(document).gpus
    assert gpu.processes == (inventory.Process(10385, "/tmp/loadgen", "C", 11),)
    assert (gpu.mig, gpu.pci) == (None, "0000:00:09.0")


def test_starts_of_device_and_table_are_joined():
    listed = listing.profiles(read("a30_535.183.01__lgip"))
    places = [listing.ListedPlacement(0, 14, (1, 3), 1), listing.ListedPlacement(0, 5, (1, 2), 2)]
    table = identify.device_table(found("NVIDIA A30", 0x20B7), GPUS["a30"], listed, places)
    assert table.profile(14).starts == (0, 1, 2, 3)
    assert table.profile(5).starts == (0, 1, 2)


def test_of_a_size_that_is_not_in_the_table_only_the_device_knows_the_starts():
    listed = listing.profiles(read("a30_535.183.01__lgip"))
    places = [listing.ListedPlacement(0, 5, (1,), 3)]
    table = identify.device_table(found("NVIDIA A30", 0x20B7), GPUS["a30"], listed, places)
    assert (table.profile(5).starts, table.profile(5).size) == ((1,), 3)
