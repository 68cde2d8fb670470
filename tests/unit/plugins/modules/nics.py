# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""The answers of modules that give VMs network adapters, about a state that is given instead of read."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core import runner
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.params import RELATIONS, ids
from ansible_collections.aiready.vsphere.plugins.modules import pvrdma_nic, sriov_nic, vmxnet3_nic

from unit.answers import Ended, Module
from unit.plugins.module_utils.vm.nic.worlds import FABRIC
from unit.plugins.modules import described

VM = {"name": "train-01", "moid": "vm-42", "instance_uuid": "52b6d2a1", "path": "/dc1/vm/training/train-01"}
NOUNS = {pvrdma_nic: pvrdma_nic.PvrdmaNics, sriov_nic: sriov_nic.SriovNics, vmxnet3_nic: vmxnet3_nic.Vmxnet3Nics}
# What a noun has read of its host besides the fabric.
HOSTS = {pvrdma_nic: {"_tags": {"host-1": "vmk1"}}, sriov_nic: {"_holders": {"host-1": []}}, vmxnet3_nic: {}}


def asked(module, **options):
    """The parameters of a call about one VM."""
    return described.checked({**described.LOGIN, "name": "train-01", **options}, module.ARGUMENTS.spec, RELATIONS)


def plan(module, now, **options):
    """The module's result in check mode for one VM in this state."""

    class Planned(NOUNS[module]):
        def read(self, items):
            (item,) = items
            item.now = now
            self._report_expectations(items)

    (one,) = module.ARGUMENTS.requests(asked(module, **options))
    noun = Planned(Module())
    noun.fabric = FABRIC
    vars(noun).update(HOSTS[module])
    item = Item("train-01", one, {**ids(one.identity), **VM, "host": "esx-01", "cluster": "gpu"})
    with pytest.raises(Ended) as ended:
        runner.run(Module(), noun, [item], "vms")
    (result,) = ended.value.args[0]["vms"]
    return result
