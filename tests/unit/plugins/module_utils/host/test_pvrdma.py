# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host import pvrdma

from . import worlds


def host(vmknic="", firewall=False, **network):
    return pvrdma.Pvrdma(vmknic, firewall, worlds.network(**network))


def plan(now, vmknic="vmk1", state="present"):
    wanted = pvrdma.want("esx", now, pvrdma.PvrdmaRequest(vmknic, state))
    return [(change.path, change.before, change.after) for change in pvrdma.compare(now, wanted)]


def test_adapter_and_firewall_belong_together():
    assert plan(host()) == [("Net.PVRDMAVmknic", None, "vmk1"), ("firewall.pvrdma", "disabled", "enabled")]
    assert plan(host("vmk1", False)) == [("firewall.pvrdma", "disabled", "enabled")]
    assert plan(host("vmk1", True)) == []


def test_absent_takes_both_away():
    assert plan(host("vmk1", True), None, "absent") == [
        ("Net.PVRDMAVmknic", "vmk1", None),
        ("firewall.pvrdma", "enabled", "disabled"),
    ]


@pytest.mark.parametrize(
    "network, vmknic, words",
    [
        ({}, "vmk7", "no such VMkernel adapter; there are: vmk0 on vSwitch0, vmk1 on dvs-train"),
        ({}, "vmk0", "on vSwitch0, which is not a distributed switch"),
        ({"uplinks": ("vmnic2", "vmnic3")}, "vmk1", "2 uplinks on this host (vmnic2, vmnic3)"),
        ({"uplinks": ()}, "vmk1", "0 uplinks on this host (none)"),
    ],
)
def test_a_path_on_which_pvrdma_would_fall_back_to_tcp_is_refused(network, vmknic, words):
    with pytest.raises(OperatorError) as refused:
        plan(host(**network), vmknic)
    assert words in refused.value.message


@pytest.mark.parametrize(
    "rdma, words", [("active", []), (None, ["no RDMA device"]), ("down", ["vmrdma0 of vmnic2 is down"])]
)
def test_what_may_mend_itself_is_a_doubt(rdma, words):
    doubts = pvrdma.doubts(host("vmk1", True, rdma=rdma))
    assert len(doubts) == len(words)
    assert all(word in doubt for word, doubt in zip(words, doubts, strict=True))


@pytest.mark.parametrize("state", ["active", "activeDefer"])
def test_a_device_that_works_is_no_doubt(state):
    assert pvrdma.doubts(host("vmk1", True, rdma=state)) == []
