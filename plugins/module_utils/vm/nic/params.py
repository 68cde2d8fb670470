# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The parameters of the modules for network adapters: their spec and the rules between them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Collection, Iterable, Iterator, Mapping, Sequence, TypeVar

from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.state import canonical_mac
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.params import FleetArguments

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.args import Options

_MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}\Z")
ADAPTER = {
    "portgroup": {"type": "str", "required": True},
    "switch": {"type": "str"},
    "mac": {"type": "str"},
    "connected": {"type": "bool", "default": True},
}
STATE = {"state": {"type": "str", "choices": ["present", "absent"], "default": "present"}}


@dataclass(frozen=True)
class AdapterRequest:
    """One network adapter. The last three are options of single kinds."""

    portgroup: str
    switch: str | None
    mac: str | None
    connected: bool
    protocol: str | None = None
    physical_function: str | None = None
    guest_mtu_change: bool | None = None


@dataclass(frozen=True)
class NicRequest:
    """The adapters of one kind of one VM."""

    state: str
    adapters: Sequence[AdapterRequest]


@dataclass(frozen=True)
class PvrdmaRequest(NicRequest):
    """The PVRDMA adapters of one VM."""

    same_switch: bool
    host_path: str
    unreserved_memory: str
    gpudirect: str
    guest_os: str
    max_adapters: int | None


@dataclass(frozen=True)
class SriovRequest(NicRequest):
    """The SR-IOV adapters of one VM."""

    port_off_switch: str


Q = TypeVar("Q", bound=NicRequest)


def arguments(kind: Callable[..., Q], adapter: Options | None = None, task: Options | None = None) -> FleetArguments[Q]:
    """The spec of a module. kind: class of its requests; adapter: options besides ADAPTER."""
    options = dict(ADAPTER, **(adapter or {}))

    def settings(given: Mapping[str, Any]) -> Q:
        adapters = [request(AdapterRequest, entry) for entry in given["adapters"] or []]
        return request(kind, given, adapters=adapters)

    return FleetArguments(
        settings=settings,
        per_vm={"adapters": {"type": "list", "elements": "dict", "options": options}},
        task=dict(STATE, **(task or {})),
    )


def check(spec: FleetArguments[Q], params: Mapping[str, Any], needs_adapters: Collection[str]) -> list[str]:
    """Everything that is wrong with the parameters, one sentence each.

    needs_adapters: the states in which adapters have to be named.
    """
    problems = spec.problems(params, lambda settings: check_request(settings, needs_adapters))
    problems += same_macs(one.settings for one in spec.requests(params))
    most = params.get("max_adapters")
    if most is not None and most < 1:
        problems.append(f"max_adapters is {most}; it must be at least 1.")
    return problems


def same_macs(requests: Iterable[NicRequest]) -> list[str]:
    """A sentence for each MAC address that several adapters ask for."""
    macs = [
        canonical_mac(entry.mac)
        for requested in requests
        for entry in requested.adapters
        if entry.mac and requested.state == "present"
    ]
    return [f"The MAC address {mac} is listed twice." for mac in sorted({one for one in macs if macs.count(one) > 1})]


def check_request(requested: NicRequest, needs_adapters: Collection[str]) -> Iterator[str]:
    """Yield all problems of the request for one VM, one sentence each."""
    entries = requested.adapters
    if not entries and requested.state in needs_adapters:
        other = "; use state=absent to remove all of them" if requested.state == "present" else ""
        yield f"adapters must name at least one adapter{other}."
    for number, entry in enumerate(entries, start=1):
        if not entry.portgroup.strip():
            yield f"adapter {number} has an empty portgroup; set its name."
        mac = canonical_mac(entry.mac)
        if not mac:
            continue
        if not _MAC.match(mac):
            yield f"adapter {number} has the MAC address {entry.mac}; write six bytes, as in 00:50:56:01:02:03."
        elif int(mac[:2], 16) & 1:
            yield (
                f"adapter {number} has the MAC address {entry.mac}, which is a multicast address; use a unicast one."
            )
