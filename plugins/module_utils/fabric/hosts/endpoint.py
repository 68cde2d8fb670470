# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What an adapter of a host or guest does to RoCE, in the same terms for ESXi and Linux. Pure.

None means: not told. It never means that something is as it should be.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Neighbour

ECT_BITS = 0b11


@dataclass
class Endpoint:
    """One port of a host or a guest that carries RoCE."""

    name: str  # vmnic2, ens1f0np0
    owner: str  # the host or guest, as the inventory or vCenter calls it
    kind: str = "linux"  # esxi, linux
    rdma: str | None = None  # vmrdma0, mlx5_0
    driver: str | None = None
    speed: int | None = None  # Gbit/s
    up: bool | None = None
    trust: str | None = None  # dscp, pcp, both
    dscp_map: dict[int, int] | None = None  # {DSCP: priority} for what comes in, and for what goes out
    dscp: int | None = None  # that the adapter itself puts on packets of RoCE, whoever sends them
    stamps: bool | None = None  # whether it puts a DSCP on packets at all; None where that cannot be told
    # What senders put on packets: [{by, traffic_class}]; [] means that nobody marks.
    marks: list[dict[str, Any]] | None = None
    pfc: list[int] | None = None  # priorities with flow control in both directions, as it acts
    pfc_sends: list[int] | None = None  # priorities for which the port asks its peer to wait
    pfc_obeys: list[int] | None = None  # priorities for which the port waits when it is asked to
    ecn: list[int] | None = None  # priorities for which it reacts to marks, and tells the sender of them
    cnp_dscp: int | None = None
    cnp_priority: int | None = None
    mtu: int | None = None
    vmkernel: dict[str, int] = field(default_factory=dict)  # {VMkernel adapter on the same switch: its MTU}
    switch: str | None = None  # the virtual switch that it is an uplink of; '' for none, None where that is not told
    # [{name, vlan}] of the port groups of its switch, and [{device, ip, netmask, vlan, portgroup, pvrdma}] of what has
    # an address there: the VMkernel adapters of an ESXi host, or the adapter of a guest itself.
    portgroups: list[dict[str, Any]] = field(default_factory=list)
    addresses: list[dict[str, Any]] = field(default_factory=list)
    pause: bool | None = None  # link-level pause of all traffic, in either direction
    dcbx: str | None = None  # ieee, cee, off
    dcbx_owner: str | None = None  # firmware, os
    willing: bool | None = None  # whether it takes what its peer announces
    agents: list[str] = field(default_factory=list)  # programs that speak LLDP for it, where they can be seen
    cable_length_m: int | None = None
    lldp: list[Neighbour] | None = None  # neighbours; None where nothing listens
    pending: list[str] = field(default_factory=list)  # what is set and waits for a restart
    not_read: list[str] = field(default_factory=list)  # what could not be asked, as sentences

    @property
    def place(self) -> str:
        """How people name it."""
        return f"{self.owner} {self.name}"

    def dscps(self) -> list[int] | None:
        """The DSCPs that packets of RoCE leave with; None where that is not known."""
        if self.dscp is not None:
            return [self.dscp]
        if self.marks is None:
            return None
        return sorted({mark["traffic_class"] >> 2 for mark in self.marks}) or [0]

    def without_ect(self) -> list[str]:
        """Who marks packets without saying that they may be marked on the way."""
        return [mark["by"] for mark in self.marks or [] if mark["traffic_class"] and not _is_capable(mark)]


def as_data(endpoint: Endpoint) -> dict[str, Any]:
    """An Endpoint as an element of `ports` in a module's result."""
    return asdict(endpoint)


def from_data(data: Mapping[str, Any]) -> Endpoint:
    """The Endpoint that as_data made; keys that were numbers have become texts on the way through JSON."""
    known = {one.name for one in fields(Endpoint)}
    given = {key: value for key, value in data.items() if key in known and value is not None}
    if "dscp_map" in given:
        given["dscp_map"] = {int(dscp): priority for dscp, priority in given["dscp_map"].items()}
    if "lldp" in given:
        words = {one.name for one in fields(Neighbour)}
        given["lldp"] = [Neighbour(**{key: one[key] for key in one if key in words}) for one in given["lldp"]]
    return Endpoint(**dict({"name": "", "owner": ""}, **given))


def _is_capable(mark: Mapping[str, Any]) -> bool:
    return bool(mark["traffic_class"] & ECT_BITS)
