# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, documented
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.hosts import guest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.hosts.endpoint import Endpoint, as_data
from ansible_collections.aiready.vsphere.plugins.modules import esxi_roce_info, guest_roce_info


def returned(module, key):
    return yaml.safe_load(module.RETURN)[key]["contains"]


def without_samples(value):
    if isinstance(value, dict):
        return {key: without_samples(inner) for key, inner in value.items() if key != "sample"}
    return value


class Silent:
    """A system that answers nothing."""

    def __init__(self, rc=0, text=""):
        self.done = type("Completed", (), {"rc": rc, "stdout": "", "text": text})

    def run(self, argv):
        return self.done


def test_the_result_has_exactly_the_documented_keys():
    found = guest.look(Silent(), "train-01", {"interfaces": [], "traffic_class": None, "host": None})
    assert set(found) == set(returned(guest_roce_info, "guest"))
    assert set(as_data(Endpoint("ens192", "train-01"))) == set(returned(guest_roce_info, "guest")["ports"]["contains"])


def test_hosts_and_guests_are_reported_in_the_same_terms():
    of_guest = without_samples(returned(guest_roce_info, "guest")["ports"])
    assert of_guest == without_samples(returned(esxi_roce_info, "hosts")["ports"])


@pytest.mark.parametrize(
    "system, interfaces, failure, words",
    [
        (Silent(127, "sh: not found"), [], {"code": "no_shell", "rc": 127}, "127: sh: not found"),
        (
            Silent(),
            ["ens224", "ens256"],
            {"code": "no_such_adapter", "missing": ["ens224", "ens256"]},
            "ens224, ens256",
        ),
    ],
    ids=["no Linux", "no RDMA"],
)
def test_a_system_that_cannot_be_read_is_an_error(system, interfaces, failure, words):
    with pytest.raises(OperatorError) as refused:
        guest.look(system, "train-01", {"interfaces": interfaces, "traffic_class": None, "host": None})
    assert refused.value.failure == documented(**failure, subject="train-01")
    assert words in refused.value.message
