# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The adapters of an ESXi host, from answers of esxcli and vCenter, as Endpoints. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Iterable, Mapping, TypedDict, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.hosts import words
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.hosts.endpoint import Endpoint
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import bits
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Neighbour
from ansible_collections.aiready.vsphere.plugins.module_utils.host import module_text

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.module_state import Module
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.network import Port, Rdma, Vmkernel
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.port_groups import Group

    class Dcb(TypedDict):
        """The DCB status of an adapter."""

        mode: str | None
        enabled: bool | None
        pfc: list[int] | None

    class Reported(TypedDict, total=False):
        """The answers about a port; None for a failed read."""

        rdma: Rdma | None
        dcb: Dcb | None
        pause: bool | None
        core: Module | None
        rdma_module: Module | None
        neighbours: list[Neighbour] | None
        vmkernel: list[Vmkernel]
        vmknic: str
        portgroups: list[Group]


CORE, RDMA = "nmlx5_core", "nmlx5_rdma"
TRUST = {1: "pcp", 2: "dscp"}
# Driver defaults of options that are not set.
UNSET = {"trust_state": "1", "pfctx": "0", "pfcrx": "0", "dscp_force": "-1"}
DSCPS = range(64)


def dcb(answer: str | Mapping[str, Any] | None) -> Dcb | None:
    """{mode, enabled, pfc} of `esxcli network nic dcb status get`, as text or as its fields; None without an answer."""
    if not answer:
        return None
    reported = words.fields(answer) if isinstance(answer, str) else {words.key(name): answer[name] for name in answer}
    mode = str(reported.get("mode", "")).lower()
    return {
        "mode": "ieee" if "ieee" in mode else "cee" if "cee" in mode else None,
        "enabled": words.truth(reported["pfcenabled"]) if "pfcenabled" in reported else None,
        "pfc": words.flags(reported["pfcconfiguration"]) if reported.get("pfcconfiguration") else None,
    }


def pauses(rows: str | Iterable[Mapping[str, object]] | None) -> dict[str, bool]:
    """{vmnic: whether link-level pause is on} of `esxcli network nic pauseParams list`, as its table or its rows."""
    found = {}
    for row in _table(rows) if isinstance(rows, str) else rows or []:
        reported = {words.key(name): value for name, value in row.items()}
        known = [words.truth(reported[name]) for name in ("pauserx", "pausetx") if name in reported]
        if "nic" in reported and known:
            found[str(reported["nic"])] = any(known)
    return found


def neighbours(hint: object) -> list[Neighbour]:
    """Neighbours of a PhysicalNic.NetworkHint, by LLDP or else by CDP."""
    lldp, cdp = getattr(hint, "lldpInfo", None), getattr(hint, "connectedSwitchPort", None)
    if lldp is not None:
        said = {words.key(one.key): one.value for one in lldp.parameter or []}
        return [
            Neighbour(
                system=_text(said.get("systemname")),
                port=_text(lldp.portId),
                chassis=_text(lldp.chassisId),
                description=_text(said.get("portdescription")),
            )
        ]
    if cdp is not None:
        # NX-OS appends its serial number to the name: leaf-01(FDO123).
        name = _text(cdp.systemName) or (_text(cdp.devId) or "").partition("(")[0] or None
        return [Neighbour(system=name, port=_text(cdp.portId), chassis=_text(cdp.devId))]
    return []


def endpoint(owner: str, port: Port, reported: Reported) -> Endpoint:
    """The Endpoint of a port.

    port: a host.network.Port.
    reported: {rdma, dcb, pause, core, rdma_module, neighbours, vmkernel, vmknic, portgroups}, where the two modules
    are host.module_state.Modules, and a failed read is None.
    """
    rdma = reported.get("rdma")
    found = Endpoint(
        name=port.device,
        owner=owner,
        kind="esxi",
        rdma=rdma.device if rdma else None,
        driver=port.driver,
        speed=port.link_mbps // 1000 or None,
        up=port.link_mbps > 0,
        mtu=port.mtu,
        pause=reported.get("pause"),
        lldp=reported.get("neighbours"),
        vmkernel={one.device: one.mtu for one in reported.get("vmkernel") or []},
        switch=port.switch,
        portgroups=[{"name": one.name, "vlan": one.vlan} for one in reported.get("portgroups") or []],
        addresses=[_address(one, reported.get("vmknic")) for one in reported.get("vmkernel") or []],
    )
    if port.driver == CORE:
        _driver(found, reported.get("core"), reported.get("rdma_module"))
    _running(found, reported.get("dcb"))
    return found


def _address(adapter: Vmkernel, vmknic: str | None) -> dict[str, str | int | bool | None]:
    return {
        "device": adapter.device,
        "ip": adapter.ip,
        "netmask": adapter.netmask,
        "vlan": adapter.vlan,
        "portgroup": adapter.portgroup,
        "pvrdma": adapter.device == vmknic,
    }


def _driver(found: Endpoint, core: Module | None, rdma: Module | None) -> None:
    options = _acting(found, core)
    if options is not None:
        found.trust = TRUST.get(cast("int", words.whole(options.get("trust_state", UNSET["trust_state"]))))
        found.pfc_sends = bits(words.whole(options.get("pfctx", UNSET["pfctx"]), 0))
        found.pfc_obeys = bits(words.whole(options.get("pfcrx", UNSET["pfcrx"]), 0))
        found.pfc = sorted({*found.pfc_sends} & {*found.pfc_obeys})
    options = _acting(found, rdma)
    if options is not None:
        forced = words.whole(options.get("dscp_force", UNSET["dscp_force"]))
        # Without this option the adapter sets no DSCP, and the DSCP of senders is unknown here.
        found.stamps = forced in DSCPS
        found.dscp = forced if found.stamps else None


def _acting(found: Endpoint, module: Module | None) -> dict[str, str] | None:
    """The options that a module was loaded with; configured options that differ are pending."""
    if module is None or not module.loaded:
        return None
    names = ("pfctx", "pfcrx", "trust_state", "dscp_force")
    acting = module.options if module.active is None else module.active
    for name in names:
        now, then = acting.get(name, ""), module.options.get(name, "")
        if not module_text.same(now, then):
            found.pending.append(f"{module.name}.{name}")
    return acting


def _running(found: Endpoint, status: Dcb | None) -> None:
    """The running state in DCB takes precedence over the driver options."""
    if status is None:
        return
    found.dcbx = status["mode"]
    if status["enabled"] is False:
        found.pfc = []
    elif status["pfc"] is not None:
        found.pfc = status["pfc"]


def _table(text: str) -> list[dict[str, str]]:
    """Rows of an esxcli table; the ruler below its heading defines the columns."""
    lines = [line for line in text.splitlines() if line.strip()]
    ruler = next((number for number, line in enumerate(lines) if line.strip().startswith("---")), None)
    if not ruler:
        return []
    starts = [match.start() for match in re.finditer(r"-+", lines[ruler])]
    spans = list(zip(starts, [*starts[1:], None]))
    names = [lines[ruler - 1][first:last].strip() for first, last in spans]
    return [dict(zip(names, (line[first:last].strip() for first, last in spans))) for line in lines[ruler + 1 :]]


def _text(value: object) -> str | None:
    text = str(value).strip() if value is not None else ""
    return text or None
