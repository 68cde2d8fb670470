# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The line speed that bandwidth is compared with: from the site or its hosts, else from the guests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import listing, mapping, number
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.suite import DIRECT_PATHS

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import About

SEEN_BY = "guest.rdma_device"
RATES = "rates_gbps"
# The rate that Soft-RoCE reports is not real.
SOFT = "rdma_rxe"


def keep(about: About, values: Mapping[str, Any]) -> None:
    """Keep the rate that a guest reports at its RDMA port of the data path, for dependent checks."""
    # The rate that the PVRDMA driver reports is not real.
    if about.check != SEEN_BY or about.intent["data_path"] not in DIRECT_PATHS:
        return
    guest = about.subject.get("guest", "")
    rate = _rate(values, values.get("interface") or mapping(about.intent["interfaces"]).get(guest))
    if rate:
        about.below.setdefault(RATES, {})[guest] = rate


def speed(about: About) -> float | None:
    """Line speed in Gb/s, the fastest that guests report, to find slow links; None if unknown."""
    return number(about.intent["speed_gb"]) or max(_seen(about).values(), default=None)


def slower(about: About) -> dict[str, float]:
    """{guest: Gb/s} of guests with a slower link than others; if hosts report the speed, guest.rdma_device does it."""
    if number(about.intent["speed_gb"]):
        return {}
    seen, line = _seen(about), speed(about)
    return {guest: seen[guest] for guest in sorted(about.guests) if seen.get(guest, line) != line}


def _seen(about: About) -> dict[str, float]:
    return mapping(about.below.get(RATES))


def _rate(values: Mapping[str, Any], interface: str | None) -> float:
    devices = [mapping(one) for one in listing(values.get("devices"))]
    ports = [mapping(port) for one in devices if one.get("module") != SOFT for port in listing(one.get("ports"))]
    mine = [port for port in ports if not interface or interface in listing(port.get("interfaces"))]
    return max((number(port.get("rate_gbps")) or 0 for port in mine if port.get("state") == "active"), default=0)
