# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""RoCE QoS of an adapter of a host or guest, in the same terms for ESXi and Linux. Pure.

None means not reported. It never means correct.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Mapping, TypedDict

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Neighbour

if TYPE_CHECKING:

    class Mark(TypedDict):
        """A traffic class that a sender sets."""

        by: str
        traffic_class: int

    class PortGroup(TypedDict):
        """A port group and its VLAN."""

        name: str
        vlan: int | None


ECT_BITS = 0b11


@dataclass
class Endpoint:
    """One port of a host or a guest that carries RoCE."""

    name: str  # vmnic2, ens1f0np0
    owner: str  # name of the host or guest in the inventory or vCenter
    kind: str = "linux"  # esxi, linux
    rdma: str | None = None  # vmrdma0, mlx5_0
    driver: str | None = None
    speed: int | None = None  # Gbit/s
    up: bool | None = None
    trust: str | None = None  # dscp, pcp, both
    dscp_map: dict[int, int] | None = None  # {DSCP: priority} for received and sent packets
    dscp: int | None = None  # that the adapter itself sets on RoCE packets of any sender
    stamps: bool | None = None  # whether it sets a DSCP on packets at all; None if unknown
    # Traffic classes that senders set: [{by, traffic_class}]; [] means that none is set.
    marks: list[Mark] | None = None
    pfc: list[int] | None = None  # priorities with effective PFC in both directions
    pfc_sends: list[int] | None = None  # priorities for which the port sends pauses
    pfc_obeys: list[int] | None = None  # priorities for which the port obeys pauses
    ecn: list[int] | None = None  # priorities for which it reacts to ECN marks and notifies the sender
    cnp_dscp: int | None = None
    cnp_priority: int | None = None
    mtu: int | None = None
    vmkernel: dict[str, int] = field(default_factory=dict)  # {VMkernel adapter on the same switch: its MTU}
    switch: str | None = None  # the virtual switch of this uplink; '' for none, None if not reported
    # [{name, vlan}] of the port groups of its switch, and [{device, ip, netmask, vlan, portgroup, pvrdma}] of its
    # addresses: those of the VMkernel adapters of an ESXi host, or of the adapter of a guest itself.
    portgroups: list[PortGroup] = field(default_factory=list)
    addresses: list[dict[str, Any]] = field(default_factory=list)
    pause: bool | None = None  # link-level pause of all traffic, in either direction
    dcbx: str | None = None  # ieee, cee, off
    dcbx_owner: str | None = None  # firmware, os
    willing: bool | None = None  # whether it accepts the settings of its peer
    agents: list[str] = field(default_factory=list)  # visible programs that send LLDP for it
    cable_length_m: int | None = None
    lldp: list[Neighbour] | None = None  # neighbours; None if no agent listens
    pending: list[str] = field(default_factory=list)  # settings that are pending reboot
    not_read: list[str] = field(default_factory=list)  # failed reads, as sentences

    @property
    def place(self) -> str:
        """Its name for people."""
        return f"{self.owner} {self.name}"

    def dscps(self) -> list[int] | None:
        """The DSCPs of sent RoCE packets; None if unknown."""
        if self.dscp is not None:
            return [self.dscp]
        if self.marks is None:
            return None
        return sorted({mark["traffic_class"] >> 2 for mark in self.marks}) or [0]

    def without_ect(self) -> list[str]:
        """Sources of traffic classes without the ECN-capable bits."""
        return [mark["by"] for mark in self.marks or [] if mark["traffic_class"] and not _is_capable(mark)]


def as_data(endpoint: Endpoint) -> dict[str, object]:
    """An Endpoint as an element of `ports` in a module's result."""
    return asdict(endpoint)


def from_data(data: Mapping[str, Any]) -> Endpoint:
    """The Endpoint of an as_data() result; JSON has turned numeric keys into texts."""
    known = {one.name for one in fields(Endpoint)}
    given = {key: value for key, value in data.items() if key in known and value is not None}
    if "dscp_map" in given:
        given["dscp_map"] = {int(dscp): priority for dscp, priority in given["dscp_map"].items()}
    if "lldp" in given:
        words = {one.name for one in fields(Neighbour)}
        given["lldp"] = [Neighbour(**{key: one[key] for key in one if key in words}) for one in given["lldp"]]
    return Endpoint(**dict({"name": "", "owner": ""}, **given))


def _is_capable(mark: Mark) -> bool:
    return bool(mark["traffic_class"] & ECT_BITS)
