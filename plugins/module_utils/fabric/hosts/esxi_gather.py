# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Read the RoCE QoS of ESXi adapters: three requests to vCenter for all hosts, then a few to each host."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence, TypeVar

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.hosts import esxi
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.hosts.endpoint import as_data
from ansible_collections.aiready.vsphere.plugins.module_utils.host import facts, gather, port_groups, pvrdma
from ansible_collections.aiready.vsphere.plugins.module_utils.host.network import network_of
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import args, esxcli_ssh, hosts, properties
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vmodl
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.faults import explain

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.hosts.endpoint import Endpoint
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.module_state import Module
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.network import Network, Port
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.port_groups import Group
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.esxcli import Esxcli
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.esxcli_ssh import SshEsxcli
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.hosts import HostFound
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter

    T = TypeVar("T")


ARGUMENTS = dict(
    args.CONNECTION,
    **args.ESXCLI_TRANSPORT,
    hosts={"type": "list", "elements": "str", "default": []},
)
PROPERTIES = (
    "availableField",
    "config.network",
    "config.option",
    "config.virtualNicManagerInfo",
    "configManager",
    "customValue",
    "runtime.bootTime",
)
MODULES = (esxi.CORE, esxi.RDMA)
SWITCH = "VmwareDistributedVirtualSwitch"


def look(vcenter: VCenter, params: Mapping[str, Any]) -> list[dict[str, object]]:
    """All hosts as the module returns them; a host that cannot be read does not affect the others."""
    found = hosts.find_hosts(vcenter, params["hosts"], PROPERTIES)
    select = {port_groups.KIND: port_groups.PROPERTIES, SWITCH: ("name",)}
    walk = [port_groups.FROM_HOST, (port_groups.KIND, "config.distributedVirtualSwitch")]
    rows = properties.retrieve(vcenter, select, [one.ref for one in found], walk) if found else []
    return [_host(vcenter, one, params, rows) for one in found]


def _host(vcenter: VCenter, found: HostFound, params: Mapping[str, Any], rows: Sequence[Row]) -> dict[str, object]:
    groups, names = port_groups.groups_of(rows), {row.moid: row.get("name") for row in rows}
    info = found.row.get("config.network")
    network = network_of(info, found.row.get("config.virtualNicManagerInfo"), groups)
    asked = _Asked(vcenter, found, params, network)
    for group in sorted(groups.values(), key=lambda one: one.name):
        asked.portgroups.setdefault(names.get(group.switch), []).append(group)
    if found.connection == "connected":
        asked.everything()
    else:
        asked.not_read.append(f"The host is {found.connection}. Only values that vCenter has stored are known.")
    return {
        "name": found.name,
        "moid": found.moid,
        "connection": found.connection,
        "ports": [as_data(asked.endpoint(port)) for port in network.ports],
        "not_read": asked.not_read,
    }


class _Asked:
    """The answers of one host."""

    def __init__(self, vcenter: VCenter, found: HostFound, params: Mapping[str, Any], network: Network) -> None:
        self._vcenter = vcenter
        self._found = found
        self._params = params
        self._network = network
        self.not_read: list[str] = []
        self.portgroups: dict[str | None, list[Group]] = {}  # {name of a distributed switch: its groups}
        options = found.row.get("config.option") or []
        self._vmknic = next((str(one.value or "") for one in options if one.key == pvrdma.OPTION), "")
        self._modules: dict[str, Module]
        self._pauses: dict[str, bool]
        self._hints: dict[str, vim.host.PhysicalNic.NetworkHint]
        self._dcb: dict[str, esxi.Dcb | None]
        self._modules, self._pauses, self._hints, self._dcb = {}, {}, {}, {}

    def everything(self) -> None:
        self._modules = self._try(self._read_modules) or {}
        self._hints = self._try(self._read_hints) or {}
        esxcli = esxcli_ssh.open_esxcli(self._vcenter, self._found, self._params)
        self._pauses = esxi.pauses(self._try(lambda: esxcli.call("network.nic.pauseParams.list")) or [])
        for port in self._network.ports:
            if port.driver == esxi.CORE:
                self._dcb[port.device] = self._try(functools.partial(_dcb, esxcli, port.device))

    def endpoint(self, port: Port) -> Endpoint:
        reported: esxi.Reported = {
            "rdma": self._network.rdma_of(port.device),
            "dcb": self._dcb.get(port.device),
            "pause": self._pauses.get(port.device),
            "core": self._modules.get(esxi.CORE),
            "rdma_module": self._modules.get(esxi.RDMA),
            "neighbours": esxi.neighbours(self._hints[port.device]) or None if port.device in self._hints else None,
            "vmkernel": self._network.on_switch(port.switch) if port.switch else [],
            "vmknic": self._vmknic,
            "portgroups": self.portgroups.get(port.switch, []),
        }
        return esxi.endpoint(self._found.name, port, reported)

    def _try(self, read: Callable[[], T]) -> T | None:
        try:
            return read()
        except OperatorError as error:
            self.not_read.append(error.message)
            return None

    def _read_modules(self) -> dict[str, Module]:
        infos = gather.kernel_modules(self._found)
        found = facts.modules_of(self._found.row, infos, MODULES, self._network)
        return {one.name: one for one in found if one is not None}

    def _read_hints(self) -> dict[str, vim.host.PhysicalNic.NetworkHint]:
        """Neighbours of the ports; only virtual switches that listen to LLDP or CDP have them."""
        try:
            answer = self._found.row.get("configManager").networkSystem.QueryNetworkHint()
        except vmodl.MethodFault as fault:
            raise explain(
                fault, f"Host {self._found.name}", "cannot read the LLDP and CDP neighbours of its ports"
            ) from fault
        return {hint.device: hint for hint in answer or []}


def _dcb(esxcli: Esxcli | SshEsxcli, port: str) -> esxi.Dcb | None:
    try:
        return esxi.dcb(esxcli.call("network.nic.dcb.status.get", nic_name=port))
    except OperatorError as error:
        # A driver without DCB support counts as a port without DCB.
        if error.code != "esxcli_failed":
            raise
        return None
