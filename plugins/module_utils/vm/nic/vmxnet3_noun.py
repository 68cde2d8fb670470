# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The vmxnet3 adapters of VMs: their part of a reconfiguration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic import params, rules
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.noun import Nics
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.state import VMXNET3

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.state import Adapter, NicState
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.request import VmRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.rules import Problem

ARGUMENTS = params.arguments(params.NicRequest)


class Vmxnet3Nics(Nics[params.NicRequest]):
    """The vmxnet3 adapters of VMs on the port groups of a task; all others stay as they are."""

    KIND = VMXNET3
    PATH = "tcp"
    EXACT = False
    PLUGGABLE = True

    def card(self, adapter: Adapter, now: NicState) -> vim.vm.device.VirtualVmxnet3:
        return vim.vm.device.VirtualVmxnet3()

    def against(self, item: Item[VmRequest[params.NicRequest], NicState], wanted: NicState) -> list[Problem]:
        return rules.against_number(item.now, wanted)


def check_params(given: Mapping[str, Any]) -> list[str]:
    """Everything that is wrong with the parameters."""
    return params.check(ARGUMENTS, given, needs_adapters=("present", "absent"))
