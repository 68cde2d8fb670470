# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Contradictions in the RoCE and switch settings of a site; each problem names a fix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import intent, problems
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.host_checks import LARGEST_MTU, SERIAL
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.hosts import RDMA_PATHS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

TIMES = ("confirm_timeout_s", "verify_timeout_s", "reconnect_timeout_s")
ENDS = (("host", "nic"), ("peer", "peer_port"))


def fabric_problems(site: Mapping[str, Any]) -> Iterator[str]:
    """All contradictions in the settings for RoCE and switches."""
    yield from _roce(site["roce"], site["network"])
    yield from _fabric(site["fabric"])
    yield from _cables(site["fabric"]["cables"])


def _roce(roce: Mapping[str, Any], network: Mapping[str, Any]) -> Iterator[str]:
    requested, rdma = intent(roce), network["path"] in RDMA_PATHS
    # host_checks.py reports an MTU that no adapter accepts.
    mtu = network["mtu"] if rdma and network["mtu"] <= LARGEST_MTU else None
    found = list(problems(requested, mtu))
    yield from (f"site.roce.{problem}" for problem in found)
    # The ESXi drivers have no option for another map (nmlx5_core, nmlx5_rdma).
    if rdma and not found and requested.dscp >> 3 != requested.priority:
        first = requested.priority << 3
        yield (
            f"site.roce: the ports of ESXi map DSCP {requested.dscp} to priority {requested.dscp >> 3}, but the "
            f"priority is {requested.priority}. Use a DSCP from {first} to {first + 7}, or the priority "
            f"{requested.dscp >> 3}."
        )


def _fabric(fabric: Mapping[str, Any]) -> Iterator[str]:
    if not SERIAL.fullmatch(fabric["serial"]):
        yield (
            f"site.fabric.serial: {fabric['serial']} is not a valid number of switches or percentage. Use 1, or a "
            "percentage such as 25%."
        )
    for key in TIMES:
        if not 1 <= fabric[key] <= 86400:
            yield f"site.fabric.{key}: {fabric[key]} is not a valid timeout. Use 1 to 86400 seconds."


def _cables(cables: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    used: dict[tuple[str, ...], int] = {}
    for index, cable in enumerate(cables):
        place = f"site.fabric.cables[{index}]"
        ends = [end for end in ENDS if any(cable[key] for key in end)]
        if len(ends) != 1 or not all(cable[key] for key in ends[0]):
            yield f"{place}: the other end is missing or ambiguous. Set host and nic, or peer and peer_port."
            continue
        for end in ((cable["switch"], cable["port"]), tuple(cable[key] for key in ends[0])):
            if end in used:
                yield f"{place}: {' '.join(end)} is also in site.fabric.cables[{used[end]}]. Correct one of the two."
            used.setdefault(end, index)
