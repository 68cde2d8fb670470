# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core import runner
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.params import RELATIONS, ids
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci import params
from ansible_collections.aiready.vsphere.plugins.modules import passthrough_device as module

from unit.answers import Ended, Module
from unit.plugins.module_utils.vm.pci.worlds import GPU_FAR, PORT, offer, state, static_device
from unit.plugins.modules import described

VM = {"name": "train-01", "moid": "vm-42", "instance_uuid": "52b6d2a1", "path": "/dc1/vm/training/train-01"}


class Warned(Module):
    def __init__(self):
        super().__init__()
        self.warnings = []

    def warn(self, text):
        self.warnings.append(text)


def plan(now, *devices):
    """(result, warnings) of the module in check mode for one VM whose host has everything to offer."""
    call = {**described.LOGIN, "name": "train-01", "devices": list(devices)}
    (one,) = params.ARGUMENTS.requests(described.checked(call, params.ARGUMENTS.spec, RELATIONS))
    asked = Warned()
    noun = module.PassthroughDevices(asked)
    noun._offers = {"host-1": offer(now.host)}
    item = Item("train-01", one, {**ids(one.identity), **VM, "host": "esx-01", "cluster": "gpu"})
    noun.read = lambda items: setattr(items[0], "now", now)
    with pytest.raises(Ended) as ended:
        runner.run(Module(), noun, [item], "vms")
    (result,) = ended.value.args[0]["vms"]
    return result, asked.warnings


def test_a_result_has_exactly_the_documented_keys():
    result, warnings = plan(state(), {"kind": "static", "id": PORT})
    shown = {"0000:3b:00.0": PORT}
    contains = described.yaml.safe_load(module.RETURN)["vms"]["contains"]
    assert set(result) == set(contains)
    assert set(result["after"]) == set(contains["after"]["contains"])
    assert result["before"] == contains["before"]["sample"]
    sample = contains["after"]["sample"]
    sample["devices"][0]["id"] = shown[sample["devices"][0]["id"]]
    assert result["after"] == sample
    assert result["changes"] == [{"path": "devices", "before": [], "after": [f"static {PORT}"], "needs": None}]
    assert warnings == []


def test_a_port_far_from_the_gpu_is_warned_of_when_it_comes_and_not_again():
    gpu = static_device(13000, GPU_FAR)
    requested_one = [{"kind": "static", "id": GPU_FAR}, {"kind": "static", "id": PORT}]
    result, warnings = plan(state(gpu), *requested_one)
    assert warnings == [
        f"VM train-01: static {PORT} is on another PCIe root than its GPUs, so GPUDirect RDMA between them would "
        "cross the processor or fail. Choose a GPU and a port of one root."
    ]
    assert result["after"]["pairs"] == [{"gpu": f"static {GPU_FAR}", "nic": f"static {PORT}", "same_root": False}]
    result, warnings = plan(state(gpu, static_device(13001, PORT)), *requested_one)
    assert (result["changed"], warnings) == (False, [])
