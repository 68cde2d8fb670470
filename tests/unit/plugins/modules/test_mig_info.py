# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig import info
from ansible_collections.aiready.vsphere.plugins.modules import mig_info, mig_partition

from unit.plugins.module_utils.host.mig.device import Device


def fragmented():
    device = Device()
    for start in (0, 1, 5):
        device.put(19, start, 1)
    return device


def gpus(remote, names):
    return info.look(remote, names)[0]


def returned():
    return yaml.safe_load(mig_info.RETURN)["gpus"]["contains"]


def test_the_result_has_exactly_the_documented_keys():
    (gpu,) = gpus(fragmented(), ["all"])
    assert set(gpu) == set(returned())


def test_a_gpu_without_mig_has_the_same_keys():
    device = fragmented()
    document = device.run(["nvidia-smi", "-q", "-x"])
    without = (
        document.stdout.replace("Enabled</", "N/A</").replace("20B010DE", "26B910DE").replace("A100-SXM4-40GB", "L40S")
    )

    class Incapable:
        def run(self, argv):
            return type(document)(tuple(argv), 0, without, "") if "-x" in argv else device.run(argv)

    (gpu,) = gpus(Incapable(), ["all"])
    assert set(gpu) == set(returned())
    assert (gpu["mode"], gpu["mig_capable"], gpu["model"]) == ("unsupported", False, "")


@pytest.mark.parametrize(
    "key", ["free", "largest_free_region", "free_regions", "blocked", "picture", "layout", "mode", "pending_mode"]
)
def test_a_sample_in_the_documentation_is_what_the_module_says(key):
    (gpu,) = gpus(fragmented(), ["all"])
    assert returned()[key]["sample"] == gpu[key]


def test_the_layout_is_reported_as_by_the_module_that_makes_it():
    made = yaml.safe_load(mig_partition.RETURN)["gpus"]["contains"]["after"]["contains"]["layout"]["contains"]
    (gpu,) = gpus(fragmented(), ["all"])
    assert set(gpu["layout"][0]) == set(made)


def test_nothing_is_asked_that_changes_something():
    device = fragmented()
    gpus(device, ["all"])
    assert device.commands == []


def test_a_gpu_that_is_not_there_is_an_error():
    with pytest.raises(OperatorError, match="cannot find the GPUs 3"):
        gpus(fragmented(), ["3"])
