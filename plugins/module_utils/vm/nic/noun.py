# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Network adapters of VMs, one kind at a time: common base of the modules of all kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic import expects, networks, plan, rules, spec
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic import state as states
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.params import Q
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.noun import VmNoun
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci import costs
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.rules import refusal

if TYPE_CHECKING:
    from ansible.module_utils.basic import AnsibleModule
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change, Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.params import AdapterRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.state import Adapter, NicState, Placed
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.place import Place
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.request import VmRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.rules import Problem
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import Vm


class Nics(VmNoun[Q, states.NicState]):
    """The adapters of one kind in VMs."""

    HOST_PROPERTIES: tuple[str, ...] = states.HOST_PROPERTIES
    WHAT = "network configuration"
    KIND = ""
    # Name of this data path in the table of costs.
    PATH = ""
    # Keys of an adapter that are reported besides the common ones.
    KEYS: tuple[str, ...] = ()
    # True if the request lists all adapters of this kind, whatever their port group.
    EXACT = True
    # True if adapters of this kind can be added, removed and moved while the VM runs.
    PLUGGABLE = False

    def __init__(self, module: AnsibleModule) -> None:
        super().__init__(module)
        self.fabric = networks.Fabric()

    def details(self, adapter: Adapter, entry: AdapterRequest, now: NicState) -> Adapter:
        """Set the fields of this kind of adapters."""
        return adapter

    def card(self, adapter: Adapter, now: NicState) -> vim.vm.device.VirtualEthernetCard:
        """Return the device of an adapter, without the fields common to all kinds."""
        raise NotImplementedError

    def against(self, item: Item[VmRequest[Q], NicState], wanted: NicState) -> list[Problem]:
        """Return all problems of the requested adapters beyond the rules for all kinds."""
        return []

    def doubts(self, item: Item[VmRequest[Q], NicState], wanted: NicState) -> list[str]:
        """Doubts that are warnings, not errors."""
        return []

    def rdma(self, wanted: NicState) -> bool:
        """Return whether the ports under the adapters support RDMA."""
        return False

    def read(self, items: Sequence[Item[VmRequest[Q], NicState]]) -> None:
        for item in items:
            item.ids["expects"] = {}
        super().read(items)

    def state_of(self, row: Row, vm: Vm, place: Place | None) -> NicState:
        return states.state_of(row, vm, place, self.KIND)

    def surroundings(self, items: Sequence[Item[VmRequest[Q], NicState]]) -> None:
        hosts = {item.now.host.moid for item in items if item.now.host is not None}
        self.fabric = networks.read(self.vcenter, hosts)
        self._report_expectations(items)

    def want_settings(self, now: NicState, requested: Q) -> NicState:
        return plan.want(now, requested, self.fabric, self.EXACT, self.details)

    def refuse(self, item: Item[VmRequest[Q], NicState], wanted: NicState) -> None:
        entries = item.requested.settings.adapters
        if item.requested.settings.state == "absent":
            problems = [] if self.EXACT else rules.against_removal(item.now, entries, self.fabric)
            if problems:
                names = ", ".join(entry.portgroup for entry in entries)
                raise refusal(item.label, f"cannot remove its adapters on {names}", problems)
            return
        problems = rules.against_host(item.now) or rules.against_portgroups(
            cast("Placed", item.now), entries, self.fabric
        )
        problems = problems or [*self.against(item, wanted), *rules.against_addresses(item.now, wanted)]
        if problems:
            raise refusal(item.label, self._request_in_words(entries), problems)

    def warnings(self, item: Item[VmRequest[Q], NicState], wanted: NicState) -> Sequence[str]:
        if item.requested.settings.state == "absent":
            return ()
        return [f"VM {item.label}: {doubt}." for doubt in self.doubts(item, wanted)]

    def setting_changes(self, now: NicState, wanted: NicState) -> list[Change]:
        return plan.setting_changes(now, wanted, self.fabric)

    def reconfiguration(self, now: NicState, wanted: NicState) -> vim.vm.ConfigSpec:
        return spec.reconfiguration(now, wanted, self.fabric, self.card)

    def hot(self, now: NicState, wanted: NicState) -> bool:
        return plan.hot(now, wanted, self.PLUGGABLE)

    def settings(self, state: NicState) -> dict[str, object]:
        return plan.settings(state, self.fabric, self.KEYS)

    def _request_in_words(self, entries: Sequence[AdapterRequest]) -> str:
        names = ", ".join(entry.portgroup for entry in entries)
        if len(entries) == 1:
            return f"cannot get {costs.COSTS[self.PATH].name} on {names}"
        return f"cannot get {len(entries)} adapters on {names}"

    def _report_expectations(self, items: Sequence[Item[VmRequest[Q], NicState]]) -> None:
        job = [item for item in items if item.requested.settings.state == "present"]
        places = [(item.ids["name"], item.ids["host"]) for item in job]
        for number, item in enumerate(job):
            wanted = self.want_settings(item.now, item.requested.settings)
            others = places[:number] + places[number + 1 :]
            item.ids["expects"] = expects.of(
                self.KIND, wanted, len(item.requested.settings.adapters), self.rdma(wanted), others
            )
        if len(job) > 1 and places[0][1] and len({host for dummy, host in places}) == 1:
            self.warn(
                f"All {len(job)} VMs of this task are on host {places[0][1]}. A network test between them never "
                "reaches a port, so its result does not cover the fabric."
            )
