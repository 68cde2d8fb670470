# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.baseline import noun
from ansible_collections.aiready.vsphere.plugins.modules import guest_baseline

from .described import calls, checked

RETURNED = yaml.safe_load(guest_baseline.RETURN)["baseline"]["contains"]


@pytest.mark.parametrize("call", calls(guest_baseline, login={}))
def test_every_example_is_a_call_that_the_module_takes(call):
    assert noun.check_params(checked(call, noun.ARGUMENTS)) == []


def test_the_sample_has_the_keys_of_a_result():
    shown = noun.GuestBaseline(noun.BaselineRequest("begun", ["guests"], [], "keep", 0), None, None).project(
        noun.Baseline()
    )
    assert set(shown) == set(RETURNED["after"]["contains"]) == set(RETURNED["after"]["sample"])
