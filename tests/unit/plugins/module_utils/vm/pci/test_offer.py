# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci import offer
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci import state as states
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci.availability import Claim
from pyVmomi import vim, vmodl

from .worlds import (
    A100,
    CLASS,
    CX6,
    GPU,
    PORT,
    PORT_2,
    device,
    dynamic_device,
    refusal,
    state,
    static,
    static_device,
    vgpu,
)

HOST = Row(vim.HostSystem("host-1"), {"name": "esx-01"}, {})


class Browser:
    """What stands at the other end of the line: it answers, or refuses."""

    def __init__(self, answer):
        self.answer = answer

    def QueryConfigTarget(self, host):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def machine(moid, power, *devices, host="host-1"):
    values = {
        "name": f"train-{moid}",
        "runtime.powerState": power,
        "runtime.host": vim.HostSystem(host),
        "config.hardware.device": list(devices),
    }
    return Row(vim.VirtualMachine(moid), values, {})


def test_who_holds_a_device_is_reported_of_each_host():
    rows = [
        machine("vm-1", "poweredOn", static_device(1, PORT), vgpu(2, "grid_a100-40c")),
        machine("vm-2", "poweredOn", dynamic_device(1, A100, assigned=GPU), host="host-2"),
        machine("vm-3", "poweredOn", dynamic_device(1, CX6)),
        machine("vm-4", "suspended", static_device(1, "0000:77:00.0")),
    ]
    assert offer.holders(rows) == {
        "host-1": {PORT: Claim("vm-1", "train-vm-1"), "0000:77:00.0": Claim("vm-4", "train-vm-4")},
        "host-2": {GPU: Claim("vm-2", "train-vm-2")},
    }


def test_what_a_host_offers_is_reported_with_its_functions_and_groups():
    target = vim.vm.ConfigTarget(
        pciPassthrough=[vim.vm.PciPassthroughInfo(name="", pciDevice=device(PORT), systemId="4c4c4544")],
        sriov=[
            vim.vm.SriovInfo(name="", pciDevice=device(PORT), systemId="", virtualFunction=False),
            vim.vm.SriovInfo(name="", pciDevice=device(PORT_2), systemId="", virtualFunction=True),
        ],
        dvxClassInfo=[
            vim.vm.DvxClassInfo(deviceClass=vim.ElementDescription(key=CLASS, label="a GPU", summary=""), vendorName="")
        ],
        vendorDeviceGroupInfo=[vim.vm.VendorDeviceGroupInfo(name="", deviceGroupName="Nvidia:2@nvlink")],
    )
    found = offer.offer_of(HOST, Browser(target), {})
    assert (set(found.targets), found.functions, set(found.groups)) == ({PORT}, {PORT_2}, {"Nvidia:2@nvlink"})
    assert (found.system, found.trouble, found.dvx) == ("4c4c4544", None, {CLASS})


def test_a_host_of_which_vcenter_reports_nothing_offers_nothing():
    found = offer.offer_of(HOST, Browser(None), {})
    assert (found.targets, found.functions, found.groups, found.trouble) == ({}, frozenset(), {}, None)


@pytest.mark.parametrize(
    "browser, expected, says",
    [
        (
            None,
            ["no_environment"],
            "Host esx-01: vCenter does not show this user the environment of the host's cluster. Give the user the "
            "role Read-only, or a role with more privileges, on the cluster.",
        ),
        (
            Browser(vmodl.fault.HostNotReachable(msg="Unable to communicate with the remote host.")),
            ["host_not_connected"],
            "Host esx-01: vCenter answered HostNotReachable: Unable to communicate with the remote host.",
        ),
    ],
    ids=["not shown", "no answer"],
)
def test_a_host_that_does_not_answer_is_reported_to_those_who_need_it_and_to_nobody_else(browser, expected, says):
    silent = offer.offer_of(HOST, browser, {})
    codes, message = refusal(state(), static(PORT), offered=silent)
    assert says in message
    assert codes == expected
    assert refusal(state(static_device(13000, PORT)), static(PORT), offered=silent) is None


@pytest.mark.parametrize("nodes, common", [([1, 1], 1), ([0], 0), ([0, 1], None), ([-1], None), ([None, 1], None)])
def test_a_group_of_devices_is_on_a_node_that_all_of_them_have(nodes, common):
    devices = [vim.vm.device.VirtualPCIPassthrough(numaNode=node) for node in nodes]
    assert states._common_node(devices) == common
