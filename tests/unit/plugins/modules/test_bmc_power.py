# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.aiready.vsphere.plugins.module_utils.core import runner
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.modules import bmc_power

from unit.answers import Ended, Module

LOGIN = {"bmc_address": "bmc-01.example.com", "bmc_username": "root", "bmc_password": "secret"}


@pytest.mark.parametrize("written, state", [(True, "on"), (False, "off"), ("on", "on"), ("off", "off")])
def test_on_and_off_may_be_written_without_quotes(written, state):
    result = ArgumentSpecValidator(bmc_power.ARGUMENTS).validate({**LOGIN, "state": written})
    assert result.error_messages == []
    assert result.validated_parameters["state"] == state


class Planned(bmc_power.ServerPower):
    """The noun on a power state that is given instead of read."""

    def __init__(self, now):
        super().__init__({**LOGIN, "bmc_validate_certs": True, "bmc_ca_file": None, "bmc_timeout_s": 5})
        self._given = now

    def read(self, items):
        (item,) = items
        item.ids.update(
            {name: yaml.safe_load(bmc_power.RETURN)["server"]["contains"][name]["sample"] for name in item.ids}
        )
        item.now = self._given


def plan(now, state):
    item = Item(
        "bmc-01.example.com",
        bmc_power.PowerRequest(state, "graceful", 60),
        dict(bmc_power.UNKNOWN_IDS, name="bmc-01.example.com"),
    )
    with pytest.raises(Ended) as ended:
        runner.run(Module(), Planned(now), [item], "server", single=True)
    return ended.value.args[0]


def test_a_result_is_the_documented_sample():
    contains = yaml.safe_load(bmc_power.RETURN)["server"]["contains"]
    assert plan("On", "off")["server"] == {key: value["sample"] for key, value in contains.items()}


@pytest.mark.parametrize(
    "now, state, changed, before",
    [("On", "on", False, "on"), ("Off", "off", False, "off"), ("PoweringOn", "on", True, "PoweringOn")],
)
def test_a_state_on_the_way_counts_as_not_reached(now, state, changed, before):
    answer = plan(now, state)
    assert (answer["changed"], answer["server"]["before"]) == (changed, {"power": before})
