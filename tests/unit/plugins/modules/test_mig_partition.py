# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import json

import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig import identify, inventory, params
from ansible_collections.aiready.vsphere.plugins.modules import mig_partition


@pytest.mark.parametrize(
    "layout, mode, problems",
    [
        (None, "enabled", 0),
        ([], "disabled", 0),
        (["3g", 9, {"profile": "1g"}], "enabled", 0),
        (["3g"], "disabled", 1),
        ([{"start": 1}, {"profile": "1g", "start": -1}], "disabled", 3),
    ],
)
def test_every_contradiction_is_reported_at_once(layout, mode, problems):
    assert len(params.check_params({"gpus": ["0"], "layout": layout, "mode": mode})) == problems


def test_the_samples_of_the_result_are_possible():
    returned = yaml.safe_load(mig_partition.RETURN)
    one = returned["gpus"]["contains"]
    assert identify.by_model(one["name"]["sample"]).key == "a100_40gb"
    assert inventory.pci_address(one["pci"]["sample"]) == one["pci"]["sample"]
    assert set(one["before"]["sample"]) == set(one["after"]["sample"]) == set(one["after"]["contains"])
    assert json.dumps(returned["failure"]["sample"]).count("illegal_layout") == 1
