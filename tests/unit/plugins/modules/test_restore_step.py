"""The documentation of restore_step beside the options that its action plugin passes on."""

from __future__ import annotations

from types import SimpleNamespace

from ansible_collections.aiready.vsphere.plugins.action.restore_step import ActionModule
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.args import BMC
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import args
from ansible_collections.aiready.vsphere.plugins.modules import restore_step

from .described import documented


def connections(module):
    action = ActionModule.__new__(ActionModule)
    given = {"step": {}, "hostname": "vcenter", "bmc_username": "root", "system_id": "1"}
    action._task = SimpleNamespace(args=given)
    return set(action._connections(module))


def test_its_options_are_the_step_and_both_connections():
    assert set(documented(restore_step)) == {"step", *args.CONNECTION, *BMC}


def test_a_module_gets_only_the_options_of_its_own_connection():
    assert connections("esxi_kernel_setting") == {"hostname"}
    assert connections("bios_settings") == {"bmc_username", "system_id"}
    assert connections("mig_partition") == set()
