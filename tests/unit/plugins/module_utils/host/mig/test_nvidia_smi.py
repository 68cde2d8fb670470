# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Each command of nvidia-smi as it is run, and the error of a host on which it fails."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.nvidia_smi import NvidiaSmi, subject
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.commands import Completed

GPU = SimpleNamespace(index=1, uuid="GPU-1", pci="00000000:3B:00.0", name="NVIDIA A100-PCIE-40GB", trouble="")
SPOT = SimpleNamespace(profile_id=9, start=4)
BY = ["-i", "GPU-1"]
LOST = "Unable to determine the device handle for GPU 0000:3B:00.0: GPU is lost. Reboot the system to recover this GPU"


@pytest.mark.parametrize(
    "call, ran, wanted",
    [
        (
            lambda smi: smi.mode(GPU),
            ["--query-gpu=mig.mode.current,mig.mode.pending", "--format=csv,noheader", *BY],
            "cannot read its MIG mode",
        ),
        (lambda smi: smi.profiles(GPU), ["mig", "-lgip", *BY], "cannot read its MIG profiles"),
        (lambda smi: smi.instances(GPU), ["mig", "-lgi", *BY], "cannot read its GPU instances"),
        (lambda smi: smi.set_mode(GPU, True), [*BY, "-mig", "1"], "cannot enable MIG mode"),
        (lambda smi: smi.set_mode(GPU, False), [*BY, "-mig", "0"], "cannot disable MIG mode"),
        (
            lambda smi: smi.create(GPU, SPOT, True, True),
            ["mig", "-cgi", "9:4", "-C", *BY],
            "cannot create a GPU instance of profile 9:4",
        ),
        (
            lambda smi: smi.create(GPU, SPOT, False, False),
            ["mig", "-cgi", "9", *BY],
            "cannot create a GPU instance of profile 9",
        ),
        (
            lambda smi: smi.create_compute(GPU, 3, [0, 1]),
            ["mig", "-cci", "0,1", "-gi", "3", *BY],
            "cannot create compute instances in GPU instance 3",
        ),
        (
            lambda smi: smi.create_compute(GPU, 3, []),
            ["mig", "-cci", "-gi", "3", *BY],
            "cannot create compute instances in GPU instance 3",
        ),
        (lambda smi: smi.destroy(GPU, 3), ["mig", "-dgi", "-gi", "3", *BY], "cannot remove GPU instance 3"),
        (
            lambda smi: smi.destroy_compute(GPU, 3),
            ["mig", "-dci", "-gi", "3", *BY],
            "cannot remove the compute instances of GPU instance 3",
        ),
    ],
)
def test_a_command_that_fails_names_the_gpu_and_what_was_wanted(call, ran, wanted):
    asked = []

    def run(argv):
        asked.append(argv)
        return Completed(tuple(argv), 15, "", LOST)

    with pytest.raises(OperatorError) as failed:
        call(NvidiaSmi(run))
    assert asked == [["nvidia-smi", *ran]]
    assert (failed.value.subject, failed.value.wanted, failed.value.code) == (subject(GPU), wanted, "gpu_lost")
