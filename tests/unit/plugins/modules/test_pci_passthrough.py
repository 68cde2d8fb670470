# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host import holders, passthrough, passthrough_rules
from ansible_collections.aiready.vsphere.plugins.module_utils.host.network import Network
from ansible_collections.aiready.vsphere.plugins.module_utils.host.pci import Device, Tree
from ansible_collections.aiready.vsphere.plugins.modules import pci_passthrough as module

from unit.plugins.modules import described

HOST = {**described.LOGIN, "host": "esx-01.example.com"}
PORT = "0000:3a:00.1"


def test_everything_that_is_wrong_with_the_parameters_is_reported_at_once():
    devices = [{"id": "vmnic3", "state": "enabled"}, {"id": PORT, "sriov_vfs": -1}]
    problems = module.check_params(described.checked({**HOST, "devices": devices}, module.ARGUMENTS))
    assert problems == [
        "vmnic3 is not a PCI address; write it as 0000:3b:00.0.",
        f"sriov_vfs of {PORT} is -1; 0 means none.",
    ]


class Noun(module.Passthrough):
    label = "Host esx-01.example.com"

    def __init__(self, params):
        super().__init__(params, None)
        tree = Tree([Device(PORT, 0x15B3, 0x101D, 0x02, "MT2892 Family [ConnectX-6 Dx]")])
        self._around = passthrough_rules.Surroundings(tree, Network())


def test_a_result_is_the_documented_one():
    devices = [{"id": PORT, "state": "enabled", "label": "roce"}]
    params = described.checked({**HOST, "devices": devices}, module.ARGUMENTS)
    state = {PORT: passthrough.Given(PORT, True, False, False)}
    described.assert_as_documented(module, described.plan(Noun(params), params, state))


@pytest.mark.parametrize(
    "code, data, lookup, reported",
    [
        ("vsphere_fault", {"fault": "ResourceInUse"}, ["train-01"], "device_held"),
        ("rest_task_failed", {}, ["train-01"], "device_held"),
        ("vsphere_fault", {}, [], "vsphere_fault"),
        ("vsphere_fault", {}, None, "vsphere_fault"),
        ("no_permission", {}, ["train-01"], "no_permission"),
        ("rest_refused", {"status": 403}, ["train-01"], "rest_refused"),
        # Its error ends if the next reading shows the change.
        ("fate_unknown", {}, ["train-01"], "fate_unknown"),
    ],
)
def test_a_running_vm_is_the_cause_only_where_no_other_is_known(monkeypatch, code, data, lookup, reported):
    def refused(_item):
        raise OperatorError("Host", "cannot change", "It was rejected", "", code, **data)

    def holding(*_words):
        if lookup is None:
            raise OperatorError("vCenter", "cannot be reached", "No answer", "", "unreachable")
        return {PORT: lookup} if lookup else {}

    noun = Noun(described.checked({**HOST, "devices": [{"id": PORT, "label": "roce"}]}, module.ARGUMENTS))
    monkeypatch.setattr(noun, "_configure", refused)
    monkeypatch.setattr(holders, "of", holding)
    before = {PORT: passthrough.Given(PORT, True, True, True)}
    item = Item("esx-01", noun.request(), now=before, wanted={PORT: passthrough.Given(PORT, True, True, True, "roce")})
    with pytest.raises(OperatorError) as caught:
        noun.change(item)
    assert caught.value.code == reported
