# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Which hardware versions the hosts of a cluster know."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape import hardware
from pyVmomi import vim

from unit.plugins.module_utils.vcenter.fakes import FakeInventory, opened


def cluster(*descriptors, fault=None):
    """A vCenter with two hosts in a cluster whose environment browser lists these versions."""
    vcenter, wire = opened()
    inventory = FakeInventory(wire)
    browser = vim.EnvironmentBrowser("envbrowser-1", vcenter.content.rootFolder._GetStub())
    parent = inventory.add(vim.ClusterComputeResource, "domain-c8", environmentBrowser=browser)
    for moid in ("host-1", "host-2"):
        inventory.add(vim.HostSystem, moid, parent=parent)

    def answer(_mo):
        if fault is not None:
            raise fault
        return [
            vim.vm.ConfigOptionDescriptor(
                key=key, upgradeSupported=upgrade, host=[vim.HostSystem(moid) for moid in hosts]
            )
            for key, upgrade, hosts in descriptors
        ]

    wire.handlers["QueryConfigOptionDescriptor"] = answer
    return vcenter


HOSTS = [SimpleNamespace(moid="host-1"), None, SimpleNamespace(moid="host-2"), SimpleNamespace(moid="host-1")]
BOTH = ["host-1", "host-2"]


@pytest.mark.parametrize(
    "descriptors, newest",
    [
        ([("vmx-19", True, BOTH), ("vmx-21", True, ["host-2"])], {"host-1": 19, "host-2": 21}),
        ([("vmx-21", True, ["host-2"]), ("vmx-19", True, BOTH)], {"host-1": 19, "host-2": 21}),
        ([("vmx-19", True, BOTH), ("vmx-21", False, BOTH)], {"host-1": 19, "host-2": 19}),
        ([("vmx-08", True, ["host-1", "host-9"]), ("vmx-x", True, BOTH)], {"host-1": 8}),
        ([("vmx-19", True, [])], {}),
    ],
    ids=["one newer", "in the other order", "no upgrade to it", "strange", "of no host"],
)
def test_the_newest_version_of_each_host_is_one_that_vms_can_be_upgraded_to(descriptors, newest):
    assert hardware.newest_versions(cluster(*descriptors), HOSTS) == newest


def test_without_hosts_nothing_is_asked():
    assert hardware.newest_versions(None, [None]) == {}


def test_a_cluster_that_refuses_the_question_is_an_error():
    with pytest.raises(OperatorError) as refused:
        hardware.newest_versions(cluster(fault=vim.fault.NoPermission(privilegeId="System.View")), HOSTS)
    assert "System.View" in refused.value.message


def test_a_vm_is_upgraded_where_its_version_is_lower():
    asked = []

    class Fleet:
        def settle(self, items, what, done, start, give_up):
            for item in items:
                before, started = done(item), start(Ref(), item)
                item.now.hardware_version = item.wanted.hardware_version
                asked.append((item.label, before, started, done(item)))

    class Ref:
        def UpgradeVM_Task(self, version):
            return version

    def item(label, now, wanted):
        states = (SimpleNamespace(hardware_version=number) for number in (now, wanted))
        return SimpleNamespace(label=label, **dict(zip(("now", "wanted"), states, strict=True)), proved=None)

    hardware.upgrade(Fleet(), [item("older", 8, 9), item("equal", 19, 19), item("newer", 21, 19)], None)
    assert asked == [("older", False, "vmx-09", True)]
