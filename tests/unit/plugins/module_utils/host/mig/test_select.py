# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Which GPUs of a host the names of a task mean."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, documented
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig import select
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.inventory import FoundGpu, Inventory

GPUS = tuple(
    FoundGpu(index, "NVIDIA A100-PCIE-40GB", f"GPU-{index}", f"0000:{index}f:00.0", 0x20F110DE, None, False, False)
    for index in (0, 1)
)
HOST = Inventory("550.54.14", GPUS, 2)


@pytest.mark.parametrize("names, unknown", [(["2"], ["2"]), (["0", "H200", "0000:99:00.0"], ["H200", "0000:99:00.0"])])
def test_gpus_that_the_host_does_not_have_are_named_beside_those_that_it_has(names, unknown):
    with pytest.raises(OperatorError) as refused:
        select.choose(HOST, names)
    assert refused.value.failure == documented("gpu_not_found", subject="the host", unknown=unknown)
    assert all(gpu.pci in refused.value.message for gpu in GPUS)


@pytest.mark.parametrize(
    "names, chosen", [(["1", "0"], [0, 1]), (["1", "GPU-1"], [1]), (["0000:0f:00.0"], [0]), (["all"], [0, 1])]
)
def test_gpus_are_chosen_once_and_in_the_order_of_the_host(names, chosen):
    assert [gpu.index for gpu in select.choose(HOST, names)] == chosen
