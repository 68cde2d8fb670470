# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import names


@pytest.mark.parametrize(
    "name, daemon",
    [
        ("nvdgpumgmtdaemon", True),
        ("NVD-GPU-mgmt-daemon_535.154.02-1OEM.700.1.0.15843807", True),
        ("NVD-AIE_ESXi_8.0.0_Driver", False),
        ("", False),
    ],
)
def test_the_daemon_is_reported_from_a_driver(name, daemon):
    assert names.is_daemon(name) is daemon


@pytest.mark.parametrize(
    "name, family",
    [
        ("NVD-VMware-x86_64-550.54.16.zip", None),
        ("nvd-vmware-x86_64-550.54.16.zip", None),
        ("NVD-VMware_ESXi_8.0.0.zip", names.GRAPHICS),
        ("nvd-vgpu_550.54.16.zip", names.GRAPHICS),
        ("tools.zip", None),
    ],
)
def test_a_file_name_that_both_families_use_names_none(name, family):
    assert names.family_of_file(name) == family
