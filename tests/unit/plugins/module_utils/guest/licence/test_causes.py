# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""What the journal of the licence service says, as a cause."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.smi_text import Gpu, Report
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.licence import causes, plan
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.licence.state import LicenceState

BEGIN = "Started (837)\nvGPU Software package (0)\nIgnore service provider and node-locked licensing\nNLS initialized\n"
ACQUIRING = "Acquiring license. (Info: 10.0.0.5; NVIDIA Virtual Compute Server)\n"
FAILED = "Failed to acquire license from 10.0.0.5 (Info: NVIDIA Virtual Compute Server - Error: {})\n"


def why(service, journal):
    report = Report(gpus=(Gpu("00000000:02:00.0", licence="Unlicensed (Restricted)"),))
    return causes.why("train-01", LicenceState(service=service, report=report), journal)


@pytest.mark.parametrize(
    "said, code",
    [
        (FAILED.format("No pool features found for : NVIDIA Virtual Compute Server"), "feature_type"),
        (FAILED.format("The allowed time to process response has expired"), "clock_wrong"),
        ("Failed to update local trusted store\nFailed to register client (2)\n", "certificate"),
        ("Failed server communication\nFailed to register client (2)\n", "server_unreachable"),
        (FAILED.format("Generic network communication failure"), "server_unreachable"),
        (FAILED.format("Connection reset by peer"), "server_unreachable"),
        ("Failed to register client (2)\n", "token_refused"),
        ("Unable to fetch the client configuration token file\n", "token_refused"),
        (ACQUIRING, "not_licensed"),
    ],
)
def test_the_words_of_the_service(said, code):
    error = why("active", BEGIN + said)
    assert (error.code, said.splitlines()[-1] in str(error)) == (code, True)


def test_a_service_that_ended_by_itself_is_reported_with_its_reason_and_not_with_its_end():
    end = (
        "Shutdown (1039)\nnvidia-gridd.service: Main process exited, code=exited, status=1/FAILURE\n"
        "nvidia-gridd.service: Failed with result 'exit-code'.\n"
    )
    error = why("failed", f"{BEGIN}Failed to decode signature from token received\n{end}")
    assert error.code == "service_failed"
    assert "is failed. The last log lines of the service: Failed to decode signature from token received" in str(error)
    assert plan.PORTAL in str(error)
    assert "journalctl" in str(why("failed", BEGIN + end))


def test_gpus_that_need_no_licence_are_named_with_what_nvidia_smi_reports():
    silent = causes.why("train-01", LicenceState(service="active", report=Report()), BEGIN)
    assert (silent.code, "it reports no licence state" in str(silent)) == ("no_gpu", True)
    assert "vgpu_guest_driver" in str(silent)
    lost = causes.why("train-01", LicenceState(service="active", report=Report(said="No devices were found")), BEGIN)
    assert "No devices were found" in str(lost)
