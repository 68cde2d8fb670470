# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from types import SimpleNamespace

import pytest
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, documented
from ansible_collections.aiready.vsphere.plugins.module_utils.host.network import Network, Rdma, Switch, Vmkernel
from ansible_collections.aiready.vsphere.plugins.module_utils.host.pvrdma import Pvrdma
from ansible_collections.aiready.vsphere.plugins.modules import pvrdma_host as module

from unit.plugins.modules import described

HOST = {**described.LOGIN, "host": "esx-01.example.com"}


def test_present_needs_an_adapter():
    (problem,) = ArgumentSpecValidator(module.ARGUMENTS, **module.RELATIONS).validate(HOST).error_messages
    assert "vmknic" in problem


class Noun(module.PvrdmaHost):
    label = "Host esx-01.example.com"


def test_a_result_is_the_documented_one():
    params = described.checked({**HOST, "vmknic": "vmk1"}, module.ARGUMENTS)
    network = Network(
        switches=(Switch("dvs-train", True, 9000, ("vmnic2",)),),
        vmkernel=(Vmkernel("vmk1", 9000, (), "dvs-train"),),
        rdma=(Rdma("vmrdma0", "nmlx5_rdma", "active", 4096, "vmnic2"),),
    )
    described.assert_as_documented(module, described.plan(Noun(params, None), params, Pvrdma("", False, network)))


@pytest.mark.parametrize(
    "options, rulesets",
    [([], ["pvrdma"]), ([SimpleNamespace(value="")], []), ([SimpleNamespace(value="")], ["sshServer"])],
    ids=["no option", "no rulesets", "another ruleset"],
)
def test_a_host_that_knows_nothing_of_pvrdma_is_an_error(options, rulesets):
    manager = SimpleNamespace(advancedOption=SimpleNamespace(QueryOptions=lambda name: options))
    row = {
        "configManager": manager,
        "config.firewall.ruleset": [SimpleNamespace(key=name, enabled=True) for name in rulesets],
    }
    with pytest.raises(OperatorError) as refused:
        Noun({}, None).look(SimpleNamespace(name="esx-01", row=row), {})
    assert refused.value.failure == documented("pvrdma_unsupported", subject=Noun.label)
    assert "Net.PVRDMAVmknic" in refused.value.message
