"""The documentation of restore_step, the options that its action plugin passes on, and the VMs that it leaves alone."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.action.restore_step import ActionModule, _item, _of_others
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.args import BMC
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import args
from ansible_collections.aiready.vsphere.plugins.modules import restore_step
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.hosts import MODE_LOST
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.judge import ALREADY, CANNOT, KEPT

from .described import documented


def connections(module):
    action = ActionModule.__new__(ActionModule)
    given = {"step": {}, "hostname": "vcenter", "bmc_username": "root", "system_id": "1", "options": {"power": "cycle"}}
    action._task = SimpleNamespace(args=given)
    return set(action._connections(module))


def test_its_options_are_the_step_and_both_connections():
    assert set(documented(restore_step)) == {"step", "options", *args.CONNECTION, *BMC}


def test_a_module_gets_only_the_options_of_its_own_connection():
    assert connections("esxi_kernel_setting") == {"hostname"}
    assert connections("bios_settings") == {"bmc_username", "system_id"}
    assert connections("mig_partition") == set()


@pytest.mark.parametrize(
    "module, whole, code, states",
    [
        ("vm_config", False, "vm_not_found", [KEPT]),
        ("vm_clone", True, "vm_not_found", [ALREADY]),
        ("vm_clone", True, "other_instance", [KEPT]),
        ("vm_clone", True, "has_snapshots", [KEPT]),
        ("vm_config", False, "has_snapshots", []),
        ("esxi_kernel_setting", False, "vm_not_found", []),
    ],
)
def test_a_vm_that_is_gone_or_another_one_is_left_alone(module, whole, code, states):
    step = {"module": module, "whole": whole, "back": {"cpus": 4}, "left": {"cpus": 16}}
    rows = _of_others(step, {"failed": True, "msg": "It is another VM.", "failure": {"code": code}})
    assert [row.state for row in rows] == states


def test_a_device_mode_that_the_device_cannot_have_leaves_the_other_settings():
    back = {"graphics.0": "shared", "graphics.0.device_mode": "system_select"}
    step = {"module": "host_graphics", "back": back, "left": dict.fromkeys(back)}
    (row,) = _of_others(step, {"failed": True, "msg": "No driver.", "failure": {"code": MODE_LOST}})
    assert (row.setting, row.state, row.why) == ("graphics.0.device_mode", CANNOT, "No driver.")


def test_only_the_devices_that_cannot_have_the_mode_are_lost():
    back = {f"graphics.0000:{bus}:00.0.device_mode": "system_select" for bus in ("3b", "86")}
    step = {"module": "host_graphics", "back": back, "left": dict.fromkeys(back)}
    failure = {"code": MODE_LOST, "devices": [{"device": "0000:86:00.0 (NVIDIA A100)"}]}
    rows = _of_others(step, {"failed": True, "msg": "No driver.", "failure": failure})
    assert [row.setting for row in rows] == ["graphics.0000:86:00.0.device_mode"]


@pytest.mark.parametrize(
    "module, failure, lost",
    [
        ("host_graphics", {"code": "graphics_impossible", "gone": ["0000:86:00.0"]}, ["graphics.0000:86:00.0"]),
        ("host_graphics", {"code": "graphics_impossible", "gone": []}, []),
        ("nic_firmware", {"code": "device_not_found"}, ["graphics.0000:3b:00.0", "graphics.0000:86:00.0"]),
        ("nic_firmware", {"code": "mst_failed"}, []),
    ],
)
def test_a_device_that_is_gone_does_not_keep_the_other_settings(module, failure, lost):
    back = {f"graphics.0000:{bus}:00.0": "shared" for bus in ("3b", "86")}
    step = {"module": module, "back": back, "left": dict.fromkeys(back)}
    rows = _of_others(step, {"failed": True, "msg": "There is no device.", "failure": failure})
    assert [(row.setting, row.state) for row in rows] == [(path, CANNOT) for path in lost]


def test_an_adapter_keeps_its_name_and_a_power_cycle_is_no_setting():
    changes = [
        {"path": "Network adapter 2", "before": "pg on dvs", "after": None},
        {"path": "power_cycle", "before": False, "after": True},
    ]
    found = _item({"vms": [{"changes": changes, "before": {}, "after": {}}]}, {"module": "vm_config"})
    assert found["changes"] == [{"path": "adapter pg on dvs", "before": "present", "after": None}]
