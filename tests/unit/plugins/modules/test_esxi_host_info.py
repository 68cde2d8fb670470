# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import json

import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.module_utils.host import facts, passthrough
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.hosts import HostFound
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
from ansible_collections.aiready.vsphere.plugins.modules import esxi_host_info as module
from pyVmomi import vim

from unit.plugins.modules import described

HOST = {**described.LOGIN, "host": "esx-01.example.com"}


def reported(answers=None, **properties):
    """What is reported of a host with these properties and no others."""
    row = Row(vim.HostSystem("host-12"), {name.replace("__", "."): value for name, value in properties.items()}, {})
    found = HostFound(
        ref=row.ref,
        moid="host-12",
        name="esx-01",
        path="/dc/host/gpu/esx-01",
        cluster="gpu",
        cluster_ref=None,
        connection="connected",
        row=row,
        datacenter="dc",
        datacenter_ref=None,
    )
    requested = described.checked(HOST, module.ARGUMENTS)
    return facts.facts(found, [], answers or facts.Answers(), requested)


def test_a_host_of_which_nothing_can_be_read_has_the_documented_keys_all_the_same():
    contains = yaml.safe_load(module.RETURN)["host"]["contains"]
    bare = reported()
    assert set(bare) == set(contains)
    json.dumps(bare)
    assert (bare["driver"], bare["graphics"], bare["gpus"], bare["pending"]) == (None, None, [], [])


def test_a_driver_that_is_installed_and_not_loaded_waits_for_a_restart():
    driver = {"family": "nvaie", "version": "550.54.16", "loaded": False}
    assert reported(facts.Answers(driver=driver))["pending"] == [{"what": "driver", "needs": "reboot"}]


@pytest.mark.parametrize(
    "answer, dcb",
    [
        (
            {"Mode": "IEEE Mode", "PFCEnabled": True, "PFCConfiguration": "0 0 0 1 0 0 0 0"},
            {"mode": "IEEE Mode", "pfc": [3]},
        ),
        ({"Mode": "Unknown", "PFCConfiguration": ""}, {"mode": "Unknown", "pfc": []}),
        (None, None),
    ],
)
def test_priorities_with_flow_control_are_reported_by_their_numbers(answer, dcb):
    assert facts.dcb_of(answer) == dcb


@pytest.mark.parametrize("active", [True, False])
def test_a_gpu_that_passes_through_after_the_next_restart_does_not_yet(active):
    given = {"0000:3b:00.0": passthrough.Given("0000:3b:00.0", True, True, active)}
    assert facts._given_of(given, "0000:3b:00.0") == {"configured": True, "active": active}
    assert facts._given_of(given, "0000:5e:00.0") == {"configured": False, "active": False}


def test_a_network_adapter_in_passthrough_mode_is_there_though_the_network_of_the_host_no_longer_has_it():
    device = vim.host.PciDevice(id="0000:5e:00.0", bus=0x5E, slot=0, function=0, classId=0x0200, vendorId=0x15B3)
    device.deviceName, device.vendorName = "ConnectX-6", "Mellanox"
    given = vim.host.PciPassthruInfo(
        id=device.id, dependentDevice=device.id, passthruCapable=True, passthruEnabled=True, passthruActive=True
    )
    answers = facts.Answers(pci=[{"Address": "0000:5e:00.0"}])
    (nic,) = reported(answers, hardware__pciDevice=[device], config__pciPassthruInfo=[given])["nics"]
    assert (nic["pci"], nic["device"], nic["passthrough"]) == (device.id, None, {"configured": True, "active": True})


@pytest.mark.parametrize("mode, listed", [("enhancedDirectPath", True), ("host", False)])
def test_a_port_that_the_network_no_longer_lists_is_reported_with_the_mode_of_enhanced_directpath(mode, listed):
    address = "0000:3b:00.0"
    port = vim.host.PciDevice(
        id=address, classId=0x0200, bus=0x3B, slot=0, function=0, vendorId=0x15B3, subVendorId=0, vendorName="",
        deviceId=0x101D, subDeviceId=0, parentBridge=None, deviceName="MT2892 Family [ConnectX-6 Dx]",
    )  # fmt: skip
    state = vim.host.PciPassthruInfo.DirectPathState(mode=mode, configurableModes=[])
    given = vim.host.PciPassthruInfo(
        id=address, dependentDevice=address, passthruEnabled=False, passthruCapable=True, passthruActive=False,
        directPathState=state,
    )  # fmt: skip
    shown = reported(facts.Answers(pci=[]), hardware__pciDevice=[port], config__pciPassthruInfo=[given])["nics"]
    assert [(one["pci"], one["device_mode"]["current"], one["passthrough"]["active"]) for one in shown] == (
        [(address, "enhanced_direct_path", False)] if listed else []
    )
