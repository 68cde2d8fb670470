# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The PVRDMA adapters of VMs: their part of a reconfiguration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.host.pvrdma import OPTION
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic import params, pvrdma, pvrdma_path, surroundings
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.noun import Nics
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.state import PVRDMA

if TYPE_CHECKING:
    from ansible.module_utils.basic import AnsibleModule
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.params import AdapterRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.state import Adapter, HostView, NicState
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.request import VmRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.rules import Problem

ARGUMENTS = params.arguments(
    params.PvrdmaRequest,
    adapter={"protocol": {"type": "str", "choices": ["rocev1", "rocev2"]}},
    task={
        "same_switch": {"type": "bool", "default": True},
        "host_path": {"type": "str", "choices": ["refuse", "warn"], "default": "refuse"},
        "unreserved_memory": {"type": "str", "choices": ["refuse", "allow"], "default": "refuse"},
        "gpudirect": {"type": "str", "choices": ["detect", "wanted", "ignore"], "default": "detect"},
        "guest_os": {"type": "str", "choices": ["check", "ignore"], "default": "check"},
        "max_adapters": {"type": "int"},
    },
)


class PvrdmaNics(Nics[params.PvrdmaRequest]):
    """The PVRDMA adapters of VMs."""

    KIND = PATH = PVRDMA
    KEYS = ("protocol",)
    HOST_PROPERTIES = Nics.HOST_PROPERTIES + pvrdma_path.HOST_PROPERTIES

    def __init__(self, module: AnsibleModule) -> None:
        super().__init__(module)
        # {MoID of a host: the VMkernel adapter that it uses for PVRDMA}
        self._tags: dict[str, str] = {}
        # {(MoID of a host, hardware version): the host's offer to a VM}
        self._offers: dict[tuple[str, int], surroundings.PvrdmaOffer] = {}
        # {label of a VM: the switches of its adapters}
        self._switches: dict[str, frozenset[str]] = {}
        # The same for their RoCE versions.
        self._protocols: dict[str, frozenset[str]] = {}

    def details(self, adapter: Adapter, entry: AdapterRequest, now: NicState) -> Adapter:
        return pvrdma.details(adapter, entry, now)

    def card(self, adapter: Adapter, now: NicState) -> vim.vm.device.VirtualEthernetCard:
        return pvrdma.card(adapter, now)

    def surroundings(self, items: Sequence[Item[VmRequest[params.PvrdmaRequest], NicState]]) -> None:
        super().surroundings(items)
        for item in items:
            if item.requested.settings.state == "absent" or item.now.host is None:
                continue
            self._look_around(item.now, item.requested.settings)
            wanted = self.want_settings(item.now, item.requested.settings)
            self._switches[item.label] = pvrdma.switches_of(wanted, self.fabric)
            self._protocols[item.label] = pvrdma.protocols_of(wanted)

    def against(self, item: Item[VmRequest[params.PvrdmaRequest], NicState], wanted: NicState) -> list[Problem]:
        now, requested = item.now, item.requested.settings
        offer = self._offers.get(_virtual_hardware(now), surroundings.PvrdmaOffer())
        problems = pvrdma.against(now, wanted, requested, self.fabric, offer)
        if requested.host_path == "refuse":
            problems += self._against_path(now, wanted)
        if requested.same_switch:
            problems += pvrdma.against_split(self._switches) + pvrdma.against_mix(self._protocols)
        return problems

    def doubts(self, item: Item[VmRequest[params.PvrdmaRequest], NicState], wanted: NicState) -> list[str]:
        found = pvrdma.doubts(item.now, item.requested.settings)
        if item.requested.settings.host_path == "warn":
            found += [problem.found.rstrip(".") for problem in self._against_path(item.now, wanted)]
        return found + pvrdma_path.doubts(
            cast("HostView", wanted.host), pvrdma.uuids_of(wanted), self._tags[cast("HostView", item.now.host).moid]
        )

    def _against_path(self, now: NicState, wanted: NicState) -> list[Problem]:
        return pvrdma_path.against(
            cast("HostView", now.host), pvrdma.uuids_of(wanted), self._tags[cast("HostView", now.host).moid]
        )

    def _look_around(self, now: NicState, requested: params.PvrdmaRequest) -> None:
        host = cast("HostView", now.host)
        if host.moid not in self._tags:
            self._tags[host.moid] = surroundings.option_of(host, OPTION) if host.connected else ""
        browser, key = self.fabric.browsers.get(host.moid), _virtual_hardware(now)
        # One adapter with the default protocol is possible on every host with the device, so no request is needed.
        protocols = {entry.protocol for entry in requested.adapters} | {adapter.protocol for adapter in now.adapters}
        usual = len(requested.adapters) < 2 and protocols <= {None, pvrdma.DEFAULT_PROTOCOL}
        if not usual and browser is not None and key not in self._offers:
            ref = self.vcenter.managed("HostSystem", host.moid) if host.connected else None
            self._offers[key] = surroundings.pvrdma_offer(browser, now.vm.hardware_version, ref)


def _virtual_hardware(now: NicState) -> tuple[str, int]:
    return cast("HostView", now.host).moid, now.vm.hardware_version


def check_params(given: Mapping[str, Any]) -> list[str]:
    """Everything that is wrong with the parameters."""
    return params.check(ARGUMENTS, given, needs_adapters=("present",))
