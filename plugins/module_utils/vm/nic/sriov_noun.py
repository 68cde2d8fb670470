# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The SR-IOV adapters of VMs: their part of a reconfiguration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic import params, sriov, surroundings
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.noun import Nics
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.state import SRIOV

if TYPE_CHECKING:
    from ansible.module_utils.basic import AnsibleModule
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.params import AdapterRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.state import Adapter, HostView, NicState
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.request import VmRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.rules import Problem

ARGUMENTS = params.arguments(
    params.SriovRequest,
    adapter={"physical_function": {"type": "str"}, "guest_mtu_change": {"type": "bool"}},
    task={"port_off_switch": {"type": "str", "choices": ["refuse", "allow"], "default": "refuse"}},
)


class SriovNics(Nics[params.SriovRequest]):
    """The SR-IOV adapters of VMs."""

    KIND = PATH = SRIOV
    KEYS = ("physical_function", "guest_mtu_change")
    HOST_PROPERTIES = Nics.HOST_PROPERTIES + sriov.HOST_PROPERTIES

    def __init__(self, module: AnsibleModule) -> None:
        super().__init__(module)
        # {MoID of a host: {PCI address: data of a port for vCenter}}
        self._functions: dict[str, dict[str, vim.vm.PciPassthroughInfo]] = {}
        # {MoID of a host: [Holder]} of this task's VMs and of running ones.
        self._holders: dict[str | None, list[sriov.Holder]] = {}

    def details(self, adapter: Adapter, entry: AdapterRequest, now: NicState) -> Adapter:
        return sriov.details(adapter, entry, now)

    def card(self, adapter: Adapter, now: NicState) -> vim.vm.device.VirtualEthernetCard:
        return sriov.card(adapter, self._functions.get(now.host.moid, {}) if now.host is not None else {})

    def rdma(self, wanted: NicState) -> bool:
        return sriov.does_rdma(wanted, self.fabric)

    def surroundings(self, items: Sequence[Item[VmRequest[params.SriovRequest], NicState]]) -> None:
        super().surroundings(items)
        present = [item for item in items if item.requested.settings.state == "present" and item.now.host is not None]
        hosts = {cast("HostView", item.now.host).moid for item in present}
        if hosts:
            managed = {item.ids["moid"] for item in items}
            self._holders = surroundings.running_holders(self.vcenter, hosts, without=managed)
        for item in present:
            self._look_around(item)

    def against(self, item: Item[VmRequest[params.SriovRequest], NicState], wanted: NicState) -> list[Problem]:
        holders = self._holders.get(cast("HostView", item.now.host).moid, [])
        return sriov.against(item.now, wanted, item.requested.settings, self.fabric, holders)

    def _look_around(self, item: Item[VmRequest[params.SriovRequest], NicState]) -> None:
        host = cast("HostView", item.now.host)
        wanted = self.want_settings(item.now, item.requested.settings)
        holders = self._holders.setdefault(host.moid, [])
        holders += [sriov.Holder(item.label, one.physical_function, one.network) for one in wanted.adapters]
        named = any(one.physical_function for one in wanted.adapters)
        browser = self.fabric.browsers.get(host.moid)
        if named and host.moid not in self._functions and browser is not None and host.connected:
            ref = self.vcenter.managed("HostSystem", host.moid)
            self._functions[host.moid] = surroundings.functions_of(browser, ref, host.name)


def check_params(given: Mapping[str, Any]) -> list[str]:
    """Everything that is wrong with the parameters."""
    return params.check(ARGUMENTS, given, needs_adapters=("present",))
