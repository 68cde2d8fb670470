# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import refusals
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import esxcli


@pytest.mark.parametrize(
    "lines, todo",
    [
        (
            ["[MaintenanceModeError]", "MaintenanceMode is required to remove: []; install: [x]."],
            "maintenance mode with the module esxi_maintenance",
        ),
        (["[AcceptanceConfigError]", "VIB x's acceptance level is community"], "that NVIDIA has signed"),
        (
            ["[InstallationError]", "('NVD_bootbank_x', 'Could not find a trusted signer.')", "vibs = NVD_bootbank_x"],
            "that NVIDIA has signed",
        ),
        (["[InstallationError]", "[Errno 28] No space left on device"], "a full boot bank"),
        (["[DependencyError]", "VIB x requires vmkapi_2_9_0_0"], "the release of ESXi that the host runs"),
        (["[MetadataDownloadError]", "Could not download from depot"], "the host itself can reach the package"),
        (["[LockingError]", "Another process is updating"], "Wait for the other installation"),
        (["[LiveInstallationError]", "Error in running ['/etc/init.d/x']"], "Reboot the host and run again"),
        (["[SomethingNew]", "words"], "/var/log/esxupdate.log"),
        ([], "/var/log/esxupdate.log"),
    ],
)
def test_a_refusal_of_the_installer_keeps_its_words_and_gets_a_next_step(lines, todo):
    error = refusals.advised(esxcli.refusal("esx-01", "software.vib.install", lines))
    assert all(line in error.message for line in lines)
    assert todo in error.todo
    assert (error.code, error.data["errors"]) == ("esxcli_failed", lines)
