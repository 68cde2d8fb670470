# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""How fast the line is that bandwidth is held to: what the site or its hosts say, else what the guests see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import listing, mapping, number
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.rungs import DIRECT_PATHS

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import About

SEEN_BY = "guest.rdma_device"
RATES = "rates_gbps"
# Soft-RoCE shows a rate that no adapter has.
SOFT = "rdma_rxe"


def keep(about: About, values: Mapping[str, Any]) -> None:
    """Keep the rate that a guest sees at the RDMA port of its data path, for the rungs above."""
    # PVRDMA shows a rate that its driver made up.
    if about.check != SEEN_BY or about.intent["data_path"] not in DIRECT_PATHS:
        return
    guest = about.subject.get("guest", "")
    rate = _rate(values, values.get("interface") or mapping(about.intent["interfaces"]).get(guest))
    if rate:
        about.below.setdefault(RATES, {})[guest] = rate


def speed(about: About) -> float | None:
    """Gb/s of the line, the fastest where guests tell, so that a slow link stands out; None where nobody does."""
    return number(about.intent["speed_gb"]) or max(_seen(about).values(), default=None)


def slower(about: About) -> dict[str, float]:
    """{guest: Gb/s} of these guests with a slower link than others; where hosts tell the line, its own rung does."""
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
