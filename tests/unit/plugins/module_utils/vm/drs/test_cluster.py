# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""A cluster with its hosts and VMs, as one request reads it."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.drs import cluster
from pyVmomi import vim


def test_names_are_those_that_people_write(monkeypatch):
    host = vim.HostSystem("host-1")
    config = vim.cluster.ConfigInfoEx(drsConfig=vim.cluster.DrsConfigInfo(enabled=True))
    rows = [
        Row(vim.ClusterComputeResource("domain-c1"), {"name": "gpu%2ftrain", "configurationEx": config}, {}),
        Row(host, {"name": "esx-01"}, {}),
        Row(
            vim.VirtualMachine("vm-1"),
            {"name": "a%2fb", "runtime.host": host, "runtime.powerState": "poweredOn"},
            {},
        ),
    ]
    monkeypatch.setattr(cluster, "retrieve", lambda *_: rows)
    read = cluster.read(None, rows[0].ref)
    assert (read.name, read.drs, read.hosts) == ("gpu/train", True, 1)
    assert [(vm.name, vm.host, vm.running) for vm in read.vms] == [("a/b", "esx-01", True)]
