# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Read VMs: one request finds them, another one reads their hosts and networks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Mapping, TypedDict

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.gather import driver_of
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import find, properties
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.esxcli import Esxcli
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.info import state

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Ref
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter

    class Host(TypedDict):
        """The host of a VM, as the result reports it."""

        name: str
        moid: str
        connection: str
        driver: dict[str, object] | None


_SELECT = {
    "VirtualMachine": state.PROPERTIES,
    "HostSystem": ("name", "runtime.connectionState"),
    "Network": ("name",),
    "DistributedVirtualPortgroup": ("name", "key"),
}
_WALK = (("VirtualMachine", "runtime.host"), ("VirtualMachine", "network"))


@dataclass(frozen=True)
class _Host:
    """A host that esxcli is asked of."""

    ref: Ref
    name: str


def read(
    vcenter: VCenter, params: Mapping[str, Any], warn: Callable[[str], None]
) -> tuple[list[dict[str, object]], list[str]]:
    """Return (the report of each VM, labels of VMs that do not exist)."""
    found, missing = _find(vcenter, params)
    rows = properties.retrieve(vcenter, _SELECT, [one.ref for one in found], _WALK, skip_gone=True)
    networks = state.names_of(rows)
    states = {row.moid: state.state_of(row, networks) for row in rows if row.kind == "VirtualMachine"}
    used = {one.host for one in states.values()}
    hosts: dict[str | None, Host] = {
        row.moid: _host(vcenter, row, params["host_driver"], warn)
        for row in rows
        if row.kind == "HostSystem" and row.moid in used
    }
    reported = [
        state.project(
            states[one.moid],
            one,
            hosts.get(states[one.moid].host),
            params["address_network"],
            params["data_network"],
        )
        for one in found
        if one.moid in states
    ]
    # A VM that was removed between both requests counts as missing.
    return reported, missing + [one.name for one in found if one.moid not in states]


def _find(vcenter: VCenter, params: Mapping[str, Any]) -> tuple[list[find.Found], list[str]]:
    answers = find.find_vms(vcenter, params["vms"], params["datacenter"])
    lost = [one for one in answers if isinstance(one, OperatorError)]
    absent = [one for one in lost if one.code == "vm_not_found"]
    wrong = lost if params["missing"] == "fail" else [one for one in lost if one not in absent]
    if len(wrong) == 1:
        raise wrong[0]
    if wrong:
        raise OperatorError(
            f"{len(wrong)} VMs",
            "cannot be found once each in vCenter",
            " ".join(one.message for one in wrong),
            "Correct each of them",
            "some_not_found",
            vms=[one.subject for one in wrong],
        )
    labels = [find.label(requested) for requested, one in zip(params["vms"], answers) if one in absent]
    return [one for one in answers if not isinstance(one, OperatorError)], labels


def _host(vcenter: VCenter, row: Row, ask_driver: bool, warn: Callable[[str], None]) -> Host:
    """Return the data of the host of a VM; the driver is read only on request, since it costs one request per host."""
    connection = str(row.get("runtime.connectionState"))
    reported: Host = {
        "name": row.get("name", row.moid),
        "moid": row.moid,
        "connection": connection,
        "driver": None,
    }
    if ask_driver and connection == "connected":
        try:
            vibs = Esxcli(vcenter, _Host(row.ref, reported["name"])).call("software.vib.list")
        except OperatorError as error:
            warn(f"Cannot read the driver of a host. {error.message}")
        else:
            reported["driver"] = {key: value for key, value in driver_of(vibs, ()).items() if key != "loaded"}
    return reported
