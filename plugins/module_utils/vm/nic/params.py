# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The parameters of the modules for network adapters: their spec and the rules between them."""

from __future__ import annotations

import re
from typing import Any, Collection, Iterable, Iterator, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.state import canonical_mac
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.params import FleetArguments

_MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}\Z")
ADAPTER = {
    "portgroup": {"type": "str", "required": True},
    "switch": {"type": "str"},
    "mac": {"type": "str"},
    "connected": {"type": "bool", "default": True},
}
STATE = {"state": {"type": "str", "choices": ["present", "absent"], "default": "present"}}


def arguments(adapter: Mapping[str, Any] | None = None, task: Mapping[str, Any] | None = None) -> FleetArguments:
    """The spec of a module; adapter is what its adapters have besides ADAPTER."""
    options = dict(ADAPTER, **(adapter or {}))
    return FleetArguments(
        per_vm={"adapters": {"type": "list", "elements": "dict", "options": options}}, task=dict(STATE, **(task or {}))
    )


def check(spec: FleetArguments, params: Mapping[str, Any], needs_adapters: Collection[str]) -> list[str]:
    """Everything that is wrong with the parameters, one sentence each.

    needs_adapters: the states in which adapters have to be named.
    """
    problems = spec.problems(params, lambda wish: check_wish(wish, needs_adapters))
    problems += same_macs(spec.wishes(params))
    most = params.get("max_adapters")
    if most is not None and most < 1:
        problems.append(f"max_adapters is {most}; it must be at least 1.")
    return problems


def same_macs(wishes: Iterable[Mapping[str, Any]]) -> list[str]:
    """A sentence for each MAC address that several adapters ask for."""
    macs = [
        canonical_mac(entry["mac"])
        for wish in wishes
        for entry in wish["adapters"] or []
        if entry["mac"] and wish["state"] == "present"
    ]
    return [f"The MAC address {mac} is listed twice." for mac in sorted({one for one in macs if macs.count(one) > 1})]


def check_wish(wish: Mapping[str, Any], needs_adapters: Collection[str]) -> Iterator[str]:
    """Yield all problems of the request for one VM, one sentence each."""
    entries = wish["adapters"] or []
    if not entries and wish["state"] in needs_adapters:
        other = "; use state=absent to remove all of them" if wish["state"] == "present" else ""
        yield f"adapters must name at least one adapter{other}."
    for number, entry in enumerate(entries, start=1):
        if not entry["portgroup"].strip():
            yield f"adapter {number} has an empty portgroup; set its name."
        mac = canonical_mac(entry["mac"])
        if not mac:
            continue
        if not _MAC.match(mac):
            yield f"adapter {number} has the MAC address {entry['mac']}; write six bytes, as in 00:50:56:01:02:03."
        elif int(mac[:2], 16) & 1:
            yield (
                f"adapter {number} has the MAC address {entry['mac']}, which is a multicast address; use a unicast one."
            )
