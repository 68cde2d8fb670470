# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Rules of support: what blocks, what is open, and what no rule covers."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import catalogue
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import support
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.specification import specification


def reported(verdicts):
    return [(one.key, one.blocks) for one in verdicts]


def boards(*keys):
    return [catalogue.board(key) for key in keys]


@pytest.mark.parametrize(
    "driver, release, expected",
    [
        ("550.54.16", "7.0.3", []),
        ("580.65.05", "7.0.3", [("esx_r580", True)]),
        ("580.65.05", "8.0.2", [("esx_r580", True)]),
        ("580.65.05", "8.0.3", []),
        ("580.65.05", "9.0.0", []),
        ("595.71.03", "8.0.2", [("esx_r595", True)]),
        ("595.71.03", "8.0.3", [("esx_r595", False)]),
        ("595.71.03", "9.0.0", [("esx_r595", True)]),
        ("595.71.03", "9.0.1", []),
        ("595.71.03", "9.1.0", []),
        ("610.10.01", "9.0.0", [("esx_r595", True)]),
        ("595.71.03", "10.0.0", []),
        ("", "9.0.0", []),
        ("595.71.03", "", []),
    ],
)
def test_a_branch_needs_a_release_of_esxi(driver, release, expected):
    assert reported(support.esx(driver, release)) == expected


@pytest.mark.parametrize(
    "driver, board, expected",
    [
        ("570.124.03", "b200", [("mig_minimum", True)]),
        ("570.133.10", "b200", []),
        ("570.148.06", "b300", [("mig_minimum", True)]),
        ("580.82.02", "b300", [("esx_mig_blackwell", False)]),
        ("570.211.01", "rtx_pro_6000_server", [("mig_minimum", True)]),
        ("595.71.03", "rtx_pro_6000_server", []),
        ("580.65.05", "a100_pcie_40gb", []),
        ("580.65.05", "t4", []),
    ],
)
def test_mig_needs_a_driver(driver, board, expected):
    assert reported(support.mig(driver, "9.0.0", boards(board))) == expected


@pytest.mark.parametrize(
    "driver, board, expected",
    [
        ("595.58.02", "v100_pcie_32gb", []),
        ("595.71.03", "v100_pcie_32gb", [("without_volta", True)]),
        ("595.71.03", "v100s_pcie_32gb", [("without_volta", True)]),
        ("595.71.03", "t4", []),
        ("610.10.01", "t4", [("without_turing", True)]),
        ("610.10.01", "a100_pcie_40gb", []),
        ("nonsense", "t4", []),
    ],
)
def test_a_release_drops_boards(driver, board, expected):
    assert reported(support.dropped(driver, boards(board))) == expected


@pytest.mark.parametrize(
    "mode, board, words",
    [
        ("vgpu", "h100_sxm_80gb", "Fabric Manager"),
        ("passthrough", "h200_sxm", "GPU passthrough"),
        ("mig", "a100_hgx_80gb", "MIG-backed"),
    ],
)
def test_a_board_with_nvswitch_is_open_in_every_mode(mode, board, words):
    (found,) = support.nvswitch(mode, boards(board), 0)
    assert (found.key, found.blocks) == ("nvswitch_boards", False)
    assert words in found.found


@pytest.mark.parametrize(
    "mode, blocks, words",
    [
        ("vgpu", False, "needs the Fabric Manager component"),
        ("directpath", True, "does not support GPU passthrough of their GPUs"),
        ("mig", True, "does not support MIG-backed types of their GPUs"),
    ],
)
def test_a_host_that_shows_nvswitches_breaks_a_sure_rule(mode, blocks, words):
    (found,) = support.nvswitch(mode, boards("h100_sxm_80gb"), 4)
    assert (found.key, found.blocks) == ("nvswitch", blocks)
    assert "The host has 4 NVSwitches" in found.found
    assert words in found.found


@pytest.mark.parametrize("driver, expected", [("595.71.03", []), ("610.10.01", [("vgpu_21", False)]), ("none", [])])
def test_the_rules_of_a_branch_that_is_newer_than_the_known_ones_are_open(driver, expected):
    assert reported(support.newer(driver)) == expected


@pytest.mark.parametrize("board", ["h100_pcie_80gb", "h100_nvl_94gb", "l40s", "rtx_pro_6000_server"])
def test_a_board_without_nvswitch_has_no_row(board):
    assert list(support.nvswitch("passthrough", boards(board), 0)) == []


@pytest.mark.parametrize(
    "host, guest, licensed, expected",
    [
        ("580.65.05", "535.230.02", False, [("guest_long_term", False)]),
        ("535.54.06", "470.256.02", True, []),
        ("580.65.05", "570.211.01", True, [("dls_3_4", False)]),
        ("580.65.05", "570.211.01", False, []),
        ("550.54.16", "550.54.15", True, []),
    ],
)
def test_pairs_of_drivers_leave_something_open(host, guest, licensed, expected):
    assert reported(support.guest(host, guest, licensed)) == expected


@pytest.mark.parametrize(
    "release, hardware, protocol, expected",
    [
        ("8.0.3", 22, "auto", [("hardware_22", True)]),
        ("8.0.1", 21, None, [("hardware_22", True)]),
        ("9.0.0", 22, "rocev2", []),
        ("9.1.0", None, "rocev1", [("roce_v1", True)]),
        ("8.0.3", None, "rocev1", []),
        ("", 22, "rocev1", []),
    ],
)
def test_a_host_has_hardware_versions_and_protocols(release, hardware, protocol, expected):
    assert reported(support.machine(release, hardware, protocol)) == expected


def test_boards_are_found_by_the_whole_name_of_their_product():
    assert [board.key for board in support.boards_of(["NVIDIA A100-PCIE-40GB", "else"])] == ["a100_pcie_40gb"]


def test_a_site_accepts_exactly_the_entries_that_are_not_sure():
    unsure = [one.key for one in support.ENTRIES if not one.sure]
    assert specification()["site"]["options"]["accept_unsure"]["choices"] == unsure


def test_keys_of_entries_are_unique():
    keys = [entry.key for entry in support.ENTRIES]
    assert len(set(keys)) == len(keys)
