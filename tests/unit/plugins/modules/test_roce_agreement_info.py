# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.agreement import params
from ansible_collections.aiready.vsphere.plugins.modules import roce_agreement_info as module

from unit.plugins.module_utils.fabric.agreement_lab import Lab
from unit.plugins.modules import described

LEAF = {"name": "leaf-01", "ports": {}}


def test_the_result_has_exactly_the_documented_keys():
    lab = Lab()
    lab.leaf().trust = "pcp"
    answer = lab.ask()
    returned = yaml.safe_load(module.RETURN)
    assert set(answer) == set(returned) - {"failure", "summary"}
    assert set(answer["disagreements"][0]) == set(returned["disagreements"]["contains"])
    assert set(answer["paths"][0]) == set(returned["paths"]["contains"])
    assert set(answer["wanted"]) == set(returned["wanted"]["sample"])


@pytest.mark.parametrize(
    "wrong, complaint",
    [
        pytest.param(
            {"switches": [{"name": "x", "ports": []}]},
            "switches[0] has no name, or its ports are not a dictionary",
            id="s",
        ),
        pytest.param(
            {"hosts": [{"ports": []}]}, "hosts[0] has no name, or its ports are not a list", id="host without a name"
        ),
        pytest.param(
            {"guests": [{"name": "x"}]}, "guests[0] has no name, or its ports are not a list", id="guest without ports"
        ),
        pytest.param({"config": {"cnp_priority": 3}}, "config.", id="intent that contradicts itself"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_the_place(wrong, complaint):
    asked = described.checked({"switches": [LEAF], **wrong}, params.ARGUMENTS)
    assert complaint in " ".join(params.check_params(asked))


def test_a_fabric_that_disagrees_fails_with_its_first_sentences_and_their_number():
    lab = Lab()
    lab.everywhere(trust="pcp")
    answer = lab.ask()
    error = params.disagreement(answer, strict=False)
    assert error.code == "roce_disagreement"
    assert sum(one["msg"] in error.message for one in answer["disagreements"]) == params.SHOWN == 5
    assert error.data["count"] > params.SHOWN
    more = error.data["count"] - params.SHOWN
    assert f"`disagreements` lists {more} more" in error.message
