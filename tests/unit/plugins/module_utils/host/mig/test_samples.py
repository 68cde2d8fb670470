from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig import inventory, listing, outcome
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.outcome import (
    GoneCompute,
    GoneInstance,
    MadeCompute,
    MadeInstance,
    Switched,
)

from .samples import NAMES, read

# What each file says, by the parser that a caller would use. A file without an expectation fails the last test.
A100 = "NVIDIA A100-PCIE-40GB"
H100 = "NVIDIA H100 80GB HBM3"
H100_UUID = "GPU-0d0831da-0c98-2717-6446-8acd91d39b65"
PROFILES = {
    "a100-pcie40_esxi_510.47.03__lgip": [(19, 7), (20, 1), (14, 3), (9, 2), (5, 1), (0, 1)],
    "a30_535.183.01__lgip": [(14, 4), (21, 1), (5, 2), (6, 1), (0, 1)],
    "gh200-96__lgip_first-lines-only": [(19, 7), (20, 1), (15, 4), (14, 3), (9, 2), (5, 1), (0, 1)],
    "h100-sxm80_580.173.02_mig-2x1g__lgip": [(19, 7), (20, 1), (15, 4), (14, 3), (9, 2), (5, 1), (0, 1)],
    "h100-sxm80_580.173.02_mig-off__lgip": [(19, 7), (20, 1), (15, 4), (14, 3), (9, 2), (5, 1), (0, 1)],
    "rtxpro6000-server_580__lgip": [
        (14, 4), (21, 1), (47, 4), (65, 1), (67, 4), (5, 2), (35, 2), (64, 1), (66, 2), (0, 1), (32, 1),
    ],
}  # fmt: skip
SEVEN = (0, 1, 2, 3, 4, 5, 6)
PLACEMENTS = {
    "a30_535.183.01__lgipp": [
        (14, (0, 1, 2, 3), 1), (21, (0, 1, 2, 3), 1), (5, (0, 2), 2), (6, (0, 2), 2), (0, (0,), 4),
    ],
    "h100-80__lgipp": [
        (19, SEVEN, 1), (20, SEVEN, 1), (15, (0, 2, 4, 6), 2), (14, (0, 2, 4), 2), (9, (0, 4), 4), (5, (0,), 4),
        (0, (0,), 8),
    ],
}  # fmt: skip
# (profile id, instance id, start, size)
INSTANCES = {
    "a100-pcie40_esxi_510.47.03__lgi": [(19, 11, 0, 1), (19, 12, 1, 1), (14, 6, 2, 2), (9, 1, 4, 4)],
    "a30_535.183.01__lgi": [(14, 3, 0, 1), (14, 4, 1, 1), (5, 2, 2, 2)],
    "h100-sxm80_580.173.02_mig-2x1g__lgi": [(19, 11, 4, 1), (19, 13, 6, 1)],
    "rtxpro6000-server_580__lgi": [(14, 5, 6, 3), (14, 6, 9, 3), (5, 1, 0, 6)],
    "vgpu-guest__lgi_row-only": [(0, 0, 0, 8)],
}
# (GPU instance id, name, profile id, instance id, start)
COMPUTE = {
    "a100-pcie40_esxi_510.47.03__lci": [
        (11, "1g.5gb", 0, 0, 0), (12, "1g.5gb", 0, 0, 0), (6, "1c.2g.10gb", 0, 0, 0), (1, "1c.3g.20gb", 0, 0, 0),
    ],
    "h100-sxm80_580.173.02_mig-2x1g__lci": [(11, "1g.10gb", 0, 0, 0), (13, "1g.10gb", 0, 0, 0)],
}  # fmt: skip
ROWS = {
    "a100-pcie40_esxi_510.47.03__query-mig-current_after-reboot": [["00000000:0F:00.0", "Enabled"]],
    "h100-sxm80_580.173.02_mig-2x1g__query-no-mig-columns": [
        ["0", H100_UUID, H100, "[N/A]", "4225", "81559", "58", "171.29"]
    ],
    "h100-sxm80_580.173.02_mig-off__query-no-mig-columns": [
        ["0", H100_UUID, H100, "100", "4627", "81559", "66", "355.57"]
    ],
    "query__two-forms": [
        ["00000000:36:00.0", "Enabled"],
        ["NVIDIA CMP 170HX", "Enabled", "Enabled"],
        ["0", "NVIDIA GeForce RTX 4070 Laptop GPU", "[N/A]", "[N/A]"],
    ],
}
EFFECTS = {
    "a100-pcie40_esxi_510.47.03__cci-0-in-gi-11": [MadeCompute(0, 0, 11, "1g.5gb", 0)],
    "a100-pcie40_esxi_510.47.03__cci-0-in-gi-6": [MadeCompute(0, 0, 6, "1c.2g.10gb", 0)],
    "a100-pcie40_esxi_510.47.03__cgi-9-19-14-19": [
        MadeInstance(1, 0, "3g.20gb", 9),
        MadeInstance(11, 0, "1g.5gb", 19),
        MadeInstance(6, 0, "2g.10gb", 14),
        MadeInstance(12, 0, "1g.5gb", 19),
    ],
    "a100-pcie40_esxi_510.47.03__mig-1_pending": [Switched("00000000:0F:00.0", True, True, "Not Supported")],
    "a100_r450__cgi_old-wording": [MadeInstance(None, 0, None, 9)],
    "a30_535.183.01__cgi-14-C": [MadeInstance(3, 0, "1g.6gb", 14), MadeCompute(0, 0, 3, "1g.6gb", 0)],
    "a30_535.183.01__cgi-5-C": [MadeInstance(2, 0, "2g.12gb", 5), MadeCompute(0, 0, 2, "2g.12gb", 1)],
    "h100-80__cgi-7x19-C": [
        made
        for number in (13, 11, 12, 7, 8, 9, 10)
        for made in (MadeInstance(number, 0, "1g.10gb", 19), MadeCompute(0, 0, number, "1g.10gb", 0))
    ],
    "h100-80__dci-dgi-mig-0": [
        GoneCompute(0, 0, 7),
        GoneInstance(7, 0),
        Switched("00000000:16:00.0", False, False, ""),
    ],
    "mode__enabled": [Switched("00000000:36:00.0", True, False, "")],
    "mode__pending_in-use": [Switched("00000000:07:00.0", True, True, "In use by another client")],
    "mode__pending_not-supported": [Switched("00000000:00:03.0", True, True, "Not Supported")],
}
# (reason, whether it only says that nothing is there)
REASONS = {
    "a100-pcie40_esxi_510.47.03__lci-none": (None, True),
    "a30_535.183.01__lgi-none": (None, True),
    "error__no-compute-instances": (None, True),
    "error__no-gpu-instances": (None, True),
    "error__cgi_in-use": ("in_use", False),
    "error__cgi_insufficient-resources": ("insufficient_resources", False),
    "error__cgi_invalid-argument": ("invalid_argument", False),
    "error__dgi_in-use": ("in_use", False),
    "error__lci_insufficient-permissions": ("no_permission", False),
    "error__lgip_unknown-error": ("unknown_error", False),
    "error__no-mig-enabled": ("mig_is_off", False),
    "error__no-mig-supported": ("not_mig_capable", False),
    "error__pre-mig-driver": ("driver_without_mig", False),
    "h100-sxm80_580.173.02_mig-off__lci": ("mig_is_off", False),
    "h100-sxm80_580.173.02_mig-off__lgi": ("mig_is_off", False),
    "mode__reset-not-supported": ("not_supported", False),
}
# (driver, name, PCI address, device id, subsystem, MIG mode)
INVENTORY = {
    "a100__q-x_first-gpu": ("570.148.08", "NVIDIA A100-SXM4-40GB", "0000:06:00.0", 0x20B0, 0x134F, False),
    "gb200__q-x_first-gpu": ("580.173.02", "NVIDIA GB200", "0000:29:00.0", 0x2941, 0x2046, False),
    "h100__q-x_first-gpu": ("580.105.08", H100, "0000:53:00.0", 0x2330, 0x16C1, False),
    "l40s__q-x_first-gpu": ("595.91.07", "NVIDIA L40S", "0000:30:00.0", 0x26B9, 0x1851, None),
}
# Not parsed by this collection: tables and lists for people, whose figures the XML document has too.
FOR_PEOPLE = [
    "a100-pcie40_esxi_510.47.03__L_one-ci",
    "a30_535.183.01__L",
    "h100-sxm80_580.173.02_mig-2x1g__L",
    "h100-sxm80_580.173.02_mig-off__L",
    "a30_535.183.01__lcip-gi-2",
    "h100-sxm80_580.173.02_mig-2x1g__smi",
    "h100-sxm80_580.173.02_mig-off__smi",
]


@pytest.mark.parametrize("name", PROFILES)
def test_the_profiles_of_gpu_instances(name):
    assert [(row.id, row.total) for row in listing.profiles(read(name))] == PROFILES[name]


def test_the_engines_of_a_profile_are_read_from_both_lines():
    rows = {row.name: row for row in listing.profiles(read("rtxpro6000-server_580__lgip"))}
    engines = {name: (row.sm, row.dec, row.enc, row.ce, row.jpeg, row.ofa) for name, row in rows.items()}
    assert engines["1g.24gb+me.all"] == (46, 4, 4, 1, 4, 1)
    assert engines["4g.96gb+gfx"] == (188, 4, 4, 4, 4, 1)


def test_engines_of_a_second_line_that_is_missing_are_unknown_and_not_zero():
    assert {(row.ce, row.jpeg, row.ofa) for row in listing.profiles(read("gh200-96__lgip_first-lines-only"))} == {
        (None, None, None)
    }


@pytest.mark.parametrize("name", PLACEMENTS)
def test_the_placements_of_profiles(name):
    assert [row[1:] for row in listing.placements(read(name))] == PLACEMENTS[name]


@pytest.mark.parametrize("name", INSTANCES)
def test_the_gpu_instances(name):
    found = [(row.profile_id, row.instance_id, row.start, row.size) for row in listing.instances(read(name))]
    assert found == INSTANCES[name]


@pytest.mark.parametrize("name", COMPUTE)
def test_the_compute_instances(name):
    assert [row[1:6] for row in listing.compute_instances(read(name))] == COMPUTE[name]


@pytest.mark.parametrize("name", ROWS)
def test_the_rows_of_a_query_with_and_without_header(name):
    assert listing.csv_rows(read(name)) == ROWS[name]


@pytest.mark.parametrize("name", EFFECTS)
def test_what_a_command_says_it_did(name):
    assert outcome.effects(read(name)) == EFFECTS[name]


@pytest.mark.parametrize("name", REASONS)
def test_why_a_command_failed_by_its_text_alone(name):
    text = read(name)
    assert (outcome.reason(text, 0), outcome.nothing_there(text)) == REASONS[name]


@pytest.mark.parametrize("name", [*PROFILES, *INSTANCES, *COMPUTE, *PLACEMENTS, *FOR_PEOPLE])
def test_a_table_is_no_reason_to_fail(name):
    assert outcome.reason(read(name), 0) is None


@pytest.mark.parametrize("name", INVENTORY)
def test_a_gpu_in_the_xml_document(name):
    found = inventory.parse(read(name))
    (gpu,) = found.gpus
    assert (found.driver_version, gpu.name, gpu.pci, gpu.device_id, gpu.subsystem, gpu.mig) == INVENTORY[name]


@pytest.mark.parametrize("name", [*INSTANCES, *COMPUTE, *PROFILES])
def test_the_lines_of_a_terminal_end_otherwise_and_say_the_same(name):
    text = read(name)
    through_terminal = text.replace("\n", "\r\n")
    for parse in (listing.instances, listing.compute_instances, listing.profiles):
        if (
            name
            in {listing.instances: INSTANCES, listing.compute_instances: COMPUTE, listing.profiles: PROFILES}[parse]
        ):
            assert parse(through_terminal) == parse(text)


def test_every_sample_has_an_expectation():
    tables = (PROFILES, PLACEMENTS, INSTANCES, COMPUTE, ROWS, EFFECTS, REASONS, INVENTORY)
    expected = {f"{name}.txt" for table in (*tables, FOR_PEOPLE) for name in table}
    assert expected == set(NAMES)
