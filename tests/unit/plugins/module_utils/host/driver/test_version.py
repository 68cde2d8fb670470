# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import names, version


@pytest.mark.parametrize(
    "text, driver, branch, esxi",
    [
        ("550.54.16-1OEM.800.1.0.20613240", "550.54.16", 550, "8.0.0"),
        ("510.47.03-1OEM.702.0.0.17630552", "510.47.03", 510, "7.0.2"),
        ("525.125.03-1OEM.703.0.0.17630552", "525.125.03", 525, "7.0.3"),
        ("470.63", "470.63", 470, None),
    ],
)
def test_the_version_of_a_vib_reports_the_driver_its_branch_and_the_release_of_esxi(text, driver, branch, esxi):
    parsed = version.parse(text)
    assert (parsed.driver, parsed.branch, parsed.esxi) == (driver, branch, esxi)


@pytest.mark.parametrize("text", ["", None, "latest", "550", "8.0.3-0.35.23794027", "550.54.16-1OEM", "550.54.16 x"])
def test_what_is_no_version_of_a_driver_is_none(text):
    assert version.parse(text) is None


def test_versions_compare_by_numbers_and_not_by_letters():
    ordered = ["470.63", "470.129.04", "525.60.12", "525.105.14", "535.54.06", "535.230.02", "550.54.10"]
    assert sorted(set(ordered), key=version.parse) == ordered
    assert sorted(ordered) != ordered
    assert version.parse("550.54.16") == version.parse("550.54.16-1OEM.800.1.0.20613240")
    assert version.parse("550.54.16") > version.parse("550.54.10")


@pytest.mark.parametrize(
    "built_for, release, fits",
    [
        ("8.0.0", "8.0.3", True),
        ("7.0.2", "7.0.3", True),
        ("7.0.3", "7.0.2", False),
        ("8.0.0", "7.0.3", False),
        ("7.0.2", "8.0.0", False),
        (None, "8.0.3", True),
    ],
)
def test_a_driver_fits_its_own_major_release_and_updates_of_it(built_for, release, fits):
    assert version.fits_release(built_for, release) is fits


@pytest.mark.parametrize(
    "name, family",
    [
        ("NVIDIA-AIE_ESXi_7.0.2_Driver", "nvaie"),
        ("NVD-AIE_ESXi_8.0.0_Driver", "nvaie"),
        ("nvd-aie-800", "nvaie"),
        ("NVIDIA-VMware_ESXi_7.0.2_Driver", "graphics"),
        ("NVD-VGPU-800", "graphics"),
        ("nvdgpumgmtdaemon", None),
        ("nvd-gpu-mgmt-daemon", None),
        ("nmlx5-core", None),
        ("esx-base", None),
    ],
)
def test_the_family_of_a_driver_is_reported_by_the_beginning_of_its_name_in_either_case(name, family):
    assert names.family_of(name) == family


def test_a_file_that_nvidia_names_for_neither_family_suggests_none():
    assert names.family_of_file("NVD-VMware-x86_64-525.125.03-1OEM.703.0.0.17630552-bundle-1.zip") is None
    assert names.family_of_file("NVD-VMware_ESXi_8.0.0_Driver_535.54.06-1OEM.800.1.0.20613240.vib") == "graphics"
    assert names.family_of_file("NVD-AIE-800_525.105.14-1OEM.800.1.0.20613240_21506612.zip") == "nvaie"
