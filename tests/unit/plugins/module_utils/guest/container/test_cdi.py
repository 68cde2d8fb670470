# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container import cdi

PLAIN = "GPU 0: Tesla T4 (UUID: GPU-a)\nGPU 1: Tesla T4 (UUID: GPU-b)\n"
DIVIDED = """GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-b4895dbf)
  MIG 1g.10gb     Device  0: (UUID: MIG-3f6f389f)
  MIG 1g.10gb     Device  1: (UUID: MIG-35f93699)
"""


@pytest.mark.parametrize(
    "listing, found",
    [
        pytest.param(PLAIN, [("0", "GPU-a", False), ("1", "GPU-b", False)], id="whole GPUs"),
        pytest.param(
            DIVIDED,
            [("0", "GPU-b4895dbf", True), ("0:0", "MIG-3f6f389f", False), ("0:1", "MIG-35f93699", False)],
            id="a divided GPU and its parts",
        ),
        pytest.param("No devices were found\n", [], id="none"),
    ],
)
def test_what_the_driver_lists(listing, found):
    assert cdi.gpus(listing) == found


def named(*names):
    return [f"nvidia.com/gpu={name}" for name in names]


@pytest.mark.parametrize(
    "listing, given, missing, stale",
    [
        pytest.param(PLAIN, named("0", "1", "all"), [], [], id="by numbers, all there"),
        pytest.param(PLAIN, named("0", "GPU-a", "1", "GPU-b", "all"), [], [], id="by both, all there"),
        pytest.param(PLAIN, named("gpu0", "gpu1", "all"), [], [], id="by kind and number, all there"),
        pytest.param(DIVIDED, named("mig0:0", "mig0:1", "all"), [], [], id="divided, by kind and number"),
        pytest.param(PLAIN, named("0", "all"), ["1"], [], id="one came"),
        pytest.param(PLAIN, named("0", "1", "2", "all"), [], ["2"], id="one went"),
        pytest.param(PLAIN, [], ["0", "1"], [], id="nothing is described"),
        pytest.param(PLAIN, ["example.com/gpu=0"], ["0", "1"], [], id="devices of others do not count"),
        pytest.param(DIVIDED, named("0:0", "0:1", "all"), [], [], id="divided, by numbers"),
        pytest.param(
            DIVIDED,
            named("0:0", "MIG-old", "0:1", "MIG-35f93699"),
            ["MIG-3f6f389f"],
            ["MIG-old"],
            id="divided anew, with the same numbers",
        ),
        pytest.param(
            DIVIDED,
            named("0", "GPU-b4895dbf", "MIG-3f6f389f", "MIG-35f93699"),
            [],
            [],
            id="a divided GPU may be handed out as a whole too",
        ),
        pytest.param(DIVIDED, named("0", "GPU-b4895dbf"), ["MIG-35f93699", "MIG-3f6f389f"], [], id="not yet divided"),
    ],
)
def test_gap_between_what_is_there_and_what_is_handed_out(listing, given, missing, stale):
    assert cdi.gap(cdi.gpus(listing), given) == (missing, stale)
