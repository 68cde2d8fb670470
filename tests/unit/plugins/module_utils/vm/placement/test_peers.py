"""Hosts whose VMkernel adapters for PVRDMA differ from those of most other hosts that take VMs."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.host import reach
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import peers

from .worlds import host


def ready(number, vlan, out_of_use=""):
    end = reach.End(f"esx-{number:02}", "vmk1", f"198.51.100.{number}", "255.255.255.0", vlan)
    return host(number, pvrdma={"dvs": ""}, vmknic=end, out_of_use=out_of_use)


@pytest.mark.parametrize(
    "away, reasons",
    [
        pytest.param("", ["", "its PVRDMA adapter vmk1 is in VLAN 222, while esx-01 vmk1 is in VLAN 111"], id="in use"),
        pytest.param("it is in maintenance mode", ["", ""], id="the first host takes no VM"),
    ],
)
def test_only_hosts_that_take_vms_are_compared(away, reasons):
    found = peers.compared([ready(1, 111, away), ready(2, 222)])
    assert [one.pvrdma["dvs"] for one in found] == reasons
